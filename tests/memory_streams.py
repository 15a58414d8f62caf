"""Two connected peers without a process between them."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from acp_editor.acp.connection import Connection
from acp_editor.acp.rpc import RpcError
from acp_editor.core.model import Fault, Json


@dataclass
class Heard:
    """What one peer was told, in order."""

    notifications: list[tuple[str, Json]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    traffic: list[tuple[str, Json]] = field(default_factory=list)
    noise: list[bytes] = field(default_factory=list)

    @property
    def codes(self) -> list[str]:
        return [fault.code for fault in self.faults]


async def method_not_found(method: str, params: Json) -> Json:
    raise RpcError(-32601, f"Method not found: {method}")


Pipe: TypeAlias = tuple[ObjectSendStream[bytes], ObjectReceiveStream[bytes]]


@contextmanager
def byte_pipe(size: float = math.inf) -> Generator[Pipe]:
    """A pipe that holds so many sends; without end, sends never block."""
    send, receive = anyio.create_memory_object_stream[bytes](size)
    with send, receive:
        yield send, receive


def peer(
    send: ObjectSendStream[bytes],
    receive: ObjectReceiveStream[bytes],
    on_request: Callable[[str, Json], Awaitable[Json]] = method_not_found,
    max_line: int = 1 << 28,
    max_queued: int = 1 << 26,
) -> tuple[Connection, Heard]:
    heard = Heard()
    connection = Connection(
        send,
        receive,
        on_request=on_request,
        on_notification=lambda method, params: heard.notifications.append((method, params)),
        on_fault=heard.faults.append,
        on_traffic=lambda direction, message: heard.traffic.append((direction, message)),
        on_noise=heard.noise.append,
        max_line=max_line,
        max_queued=max_queued,
    )
    return connection, heard


@contextmanager
def memory_pair(
    left: Callable[[str, Json], Awaitable[Json]] = method_not_found,
    right: Callable[[str, Json], Awaitable[Json]] = method_not_found,
) -> Generator[tuple[tuple[Connection, Heard], tuple[Connection, Heard]]]:
    """Two peers that speak to each other; both have yet to be run."""
    with byte_pipe() as (to_right, from_left), byte_pipe() as (to_left, from_right):
        yield peer(to_right, from_right, left), peer(to_left, from_left, right)
