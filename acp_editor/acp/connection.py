"""A symmetric JSON-RPC peer over a pair of byte streams, used by the client and by our own agents."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypeVarTuple

import anyio
import anyio.lowlevel
from anyio.abc import AnyByteReceiveStream, AnyByteSendStream, TaskGroup

from acp_editor.acp.rpc import (
    INTERNAL_ERROR,
    MAX_LINE,
    REQUEST_CANCELLED,
    Answer,
    ErrorAnswer,
    LineReader,
    Notification,
    Object,
    Request,
    RequestId,
    RpcError,
    classify,
    decode,
    encode,
    fault,
    is_object,
)
from acp_editor.core.errors import named
from acp_editor.core.model import Fault, Json

__all__ = ["Connection", "ConnectionClosed", "RpcError"]

logger = logging.getLogger(__name__)

Args = TypeVarTuple("Args")

MAX_QUEUED: Final = 64 * 1024 * 1024
"""Bytes that wait for a peer that does not read; one message may be larger if it is alone."""

MAX_RUNNING: Final = 4096
"""Requests of the peer's that are being worked on at once."""

MAX_ABANDONED: Final = 4096
"""Requests of ours that were given up and whose answers are still no fault, the newest."""

MAX_HELD: Final = 64 * 1024 * 1024
"""Bytes of them all together; one may be larger if it is alone."""

_SLICE: Final = 0.005
"""Seconds that reading goes on without a break: whoever else waits has its turn, however much was sent."""

_BATCH: Final = 256 * 1024
"""Bytes that are written in one go."""

_FLUSH_SECONDS: Final = 1.0
_DEAF_SECONDS: Final = 2.0

Direction: TypeAlias = Literal["in", "out"]


class ConnectionClosed(Exception):
    """The connection ended before an answer came; `reason` is a clause that a person can read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True, eq=False)
class _Pending:
    """A request of ours that waits; `outcome` is set once, together with `done`."""

    on_result: Callable[[Json], None] | None
    on_error: Callable[[RpcError], None] | None
    done: anyio.Event = field(default_factory=anyio.Event)
    outcome: Answer | RpcError | ConnectionClosed | None = None

    def settle(self, outcome: Answer | RpcError | ConnectionClosed) -> None:
        self.outcome = outcome
        self.done.set()


class Connection:
    """One peer. Callbacks other than `on_request` are synchronous and come in the order of the wire.

    `on_asked` hears of a request when it is read; by the time that `on_request` runs, in a task of its
    own, later messages may have been. `on_noise` hears of the lines that are no messages, `on_traffic`
    of all the others, both ways, and `on_line` of those too, as they are on the wire, without the newline.
    The streams stay the caller's: `run` neither opens nor closes them.
    """

    def __init__(
        self,
        send: AnyByteSendStream,
        receive: AnyByteReceiveStream,
        *,
        on_request: Callable[[str, Json], Awaitable[Json]],
        on_notification: Callable[[str, Json], None],
        on_fault: Callable[[Fault], None],
        on_asked: Callable[[str, Json], None] | None = None,
        on_traffic: Callable[[Direction, Json], None] | None = None,
        on_line: Callable[[Direction, bytes], None] | None = None,
        on_noise: Callable[[bytes], None] | None = None,
        max_line: int = MAX_LINE,
        max_queued: int = MAX_QUEUED,
    ) -> None:
        self._send_stream = send
        self._receive_stream = receive
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_fault = on_fault
        self._on_asked = on_asked
        self._on_traffic = on_traffic
        self._on_line = on_line
        self._on_noise = on_noise
        self._reader = LineReader(self._fault, max_line)
        self._max_queued = max_queued
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._work = anyio.Event()
        self._next_id = 0
        self._pending: dict[RequestId, _Pending] = {}
        self._abandoned: dict[RequestId, None] = {}
        self._running: dict[RequestId, anyio.CancelScope] = {}
        self._handlers = 0
        self._held = 0
        self._scope = anyio.CancelScope()
        self._reading = True
        self._deaf = False
        self._closed: str | None = None

    @property
    def closed(self) -> str | None:
        """Why it is closed, None while it is open."""
        return self._closed

    def close(self, reason: str) -> None:
        """Fails what waits for an answer and ends `run`; the first reason stays."""
        self._fail(reason)
        self._scope.cancel()

    def _fail(self, reason: str) -> None:
        """Like `close`, but lets what is queued go out."""
        if self._closed is None:
            self._closed = reason
            for pending in self._pending.values():
                pending.settle(ConnectionClosed(reason))
            self._pending.clear()

    async def run(self) -> None:
        """Serves until the peer's stream ends or `close`; then fails pending requests, cancels handlers."""
        try:
            with self._scope:
                async with anyio.create_task_group() as writing:
                    writing.start_soon(self._write)
                    async with anyio.create_task_group() as handlers:
                        await self._read(handlers)
                        handlers.cancel_scope.cancel()
                    # Answers that are already made still go out, to a peer that still reads.
                    self._reading = False
                    self._work.set()
                    self._scope.deadline = anyio.current_time() + _FLUSH_SECONDS
        finally:
            self.close("the peer no longer reads" if self._deaf else "the connection was ended on our side")

    async def request(
        self,
        method: str,
        params: Json,
        *,
        on_result: Callable[[Json], None] | None = None,
        on_error: Callable[[RpcError], None] | None = None,
    ) -> Json:
        """The peer's result; raises RpcError for its error, ConnectionClosed if none can come any more.

        `on_result` or `on_error` is called when the answer is read, before anything after it on the
        wire; not once the request is cancelled, which tells the peer so.
        """
        if self._closed is not None:
            raise ConnectionClosed(self._closed)
        self._next_id += 1
        ident = self._next_id
        pending = self._pending[ident] = _Pending(on_result, on_error)
        try:
            self._send(_message({"id": ident, "method": method}, params))
        except (TypeError, ValueError):
            del self._pending[ident]
            raise
        try:
            await pending.done.wait()
        finally:
            if pending.outcome is None:
                self._abandon(ident)
                self.notify("$/cancel_request", {"requestId": ident})
        match pending.outcome:
            case Answer(result=result):
                return result
            case RpcError() | ConnectionClosed() as error:
                raise error
            case None:
                raise AssertionError("woken without an outcome")

    def _abandon(self, ident: RequestId) -> None:
        """Its answer may still come, and is no fault then; whoever waited for it is forgotten now."""
        self._pending.pop(ident, None)
        self._abandoned[ident] = None
        if len(self._abandoned) > MAX_ABANDONED:
            del self._abandoned[next(iter(self._abandoned))]

    def notify(self, method: str, params: Json) -> None:
        """Queues a notification; never blocks, and is lost without a word once the connection is closed."""
        self._send(_message({"method": method}, params))

    # -- out --

    def _send(self, message: Object) -> None:
        line = encode(message)
        if self._closed is not None or self._deaf:
            return
        if self._on_traffic is not None:
            self._call(self._on_traffic, "out", message)
        if self._on_line is not None:
            self._call(self._on_line, "out", line[:-1])
        if self._queued and self._queued + len(line) > self._max_queued:
            self.close(f"the peer does not read: more than {self._max_queued} bytes wait for it")
            return
        self._queue.append(line)
        self._queued += len(line)
        self._work.set()

    async def _write(self) -> None:
        while True:
            while self._queue:
                batch = [self._queue.popleft()]
                size = len(batch[0])
                while self._queue and size < _BATCH:
                    size += len(self._queue[0])
                    batch.append(self._queue.popleft())
                try:
                    await self._send_stream.send(batch[0] if len(batch) == 1 else b"".join(batch))
                except (OSError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                    logger.debug("writing failed: %r", error)
                    # What it said before it went deaf is still read, for a while.
                    self._deaf = True
                    self._queue.clear()
                    self._scope.deadline = anyio.current_time() + _DEAF_SECONDS
                    return
                self._queued -= size
            if not self._reading:
                return
            self._work = anyio.Event()
            await self._work.wait()

    # -- in --

    async def _read(self, handlers: TaskGroup) -> None:
        reason = "the peer closed its output"
        try:
            while True:
                lines = self._reader.feed(await self._receive_stream.receive())
                until = time.perf_counter() + _SLICE
                for line in lines:
                    self._line(line, handlers)
                    if time.perf_counter() > until:
                        await anyio.lowlevel.checkpoint()
                        until = time.perf_counter() + _SLICE
        except anyio.EndOfStream:
            self._line(self._reader.finish(), handlers)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            reason = f"reading from the peer failed: {error!r}"
        self._fail(reason)

    def _line(self, line: bytes, handlers: TaskGroup) -> None:
        message = decode(line, self._fault)
        if message is None:
            if self._on_noise is not None and line.strip():
                self._call(self._on_noise, line)
            return
        if self._on_line is not None:
            self._call(self._on_line, "in", line)
        if self._on_traffic is not None:
            self._call(self._on_traffic, "in", message)
        method: Json = message.get("method")
        if isinstance(method, str) and "id" not in message:  # most messages are these
            params: Json = message.get("params")
            if method == "$/cancel_request":
                self._cancel(params)
                return
            try:
                self._on_notification(method, params)
            except Exception:
                # The next message has to be read whatever this one did.
                logger.exception("a callback failed")
            return
        match classify(message, self._fault):
            case Answer() | ErrorAnswer() as answer:
                self._answered(answer, message)
            case Request() as request:
                self._start(request, handlers, len(line))
            case Notification() | None:
                pass

    def _answered(self, answer: Answer | ErrorAnswer, message: Object) -> None:
        pending = self._pending.pop(answer.id, None)
        if pending is None:
            if answer.id in self._abandoned:
                del self._abandoned[answer.id]
            else:
                self._fault(self._stray(answer.id, message))
            return
        match answer:
            case Answer(result=result):
                if pending.on_result is not None:
                    self._call(pending.on_result, result)
                pending.settle(answer)
            case ErrorAnswer(error=error):
                if pending.on_error is not None:
                    self._call(pending.on_error, error)
                pending.settle(error)

    def _stray(self, ident: RequestId, message: Object) -> Fault:
        if ident is None:
            return fault("answer_without_id", "An answer does not say to what.", message)
        if isinstance(ident, int) and 0 < ident <= self._next_id:
            return fault("answered_twice", f"Request {ident} was answered twice.", message)
        return fault("unknown_answer_id", "An answer is to a request that was never made.", message)

    def _start(self, request: Request, handlers: TaskGroup, size: int) -> None:
        if self._on_asked is not None:
            self._call(self._on_asked, request.method, request.params)
        if request.id in self._running:
            self._fault(fault("repeated_request_id", "Two requests at once have one id.", request.id))
        if self._handlers >= MAX_RUNNING:
            self._fault(fault("too_many_requests", f"More than {MAX_RUNNING} requests at once.", request.id))
            self._refuse(request, RpcError(INTERNAL_ERROR, "Too many requests at once"))
            return
        if self._held and self._held + size > MAX_HELD:
            message = f"More than {MAX_HELD} bytes of requests at once."
            self._fault(fault("requests_too_large", message, request.id))
            self._refuse(request, RpcError(INTERNAL_ERROR, "Too much asked at once"))
            return
        self._handlers += 1
        self._held += size
        scope = self._running[request.id] = anyio.CancelScope()
        handlers.start_soon(self._handle, request, scope, size, name=request.method)

    async def _handle(self, request: Request, scope: anyio.CancelScope, size: int) -> None:
        """Answers one request; the connection's own end leaves it unanswered."""
        try:
            with scope:
                self._send({"jsonrpc": "2.0", "id": request.id, "result": await self._result(request)})
            if scope.cancelled_caught:
                self._refuse(request, RpcError(REQUEST_CANCELLED, "Request cancelled"))
        except RpcError as error:
            self._refuse(request, error)
        except Exception as error:
            # A handler that fails must not take the connection along.
            logger.exception("the handler of %s failed", request.method)
            self._refuse(request, RpcError(INTERNAL_ERROR, f"Internal error: {named(error)}"))
        finally:
            self._handlers -= 1
            self._held -= size
            if self._running.get(request.id) is scope:
                del self._running[request.id]

    async def _result(self, request: Request) -> Json:
        return await self._on_request(request.method, request.params)

    def _refuse(self, request: Request, error: RpcError) -> None:
        try:
            self._send({"jsonrpc": "2.0", "id": request.id, "error": error.to_json()})
        except (TypeError, ValueError):
            logger.exception("the error data of %s is not JSON", request.method)
            plain = RpcError(error.code, error.message)
            self._send({"jsonrpc": "2.0", "id": request.id, "error": plain.to_json()})

    def _cancel(self, params: Json) -> None:
        ident: Json = params.get("requestId") if is_object(params) else None
        if not isinstance(ident, str | int | float):
            self._fault(fault("bad_cancel", "A cancel does not say which request.", params))
        elif (scope := self._running.get(ident)) is not None:
            scope.cancel()

    def _fault(self, found: Fault) -> None:
        logger.debug("fault %s: %s", found.code, found.message)
        self._call(self._on_fault, found)

    def _call(self, callback: Callable[[*Args], None], *args: *Args) -> None:
        try:
            callback(*args)
        except Exception:
            logger.exception("a callback failed")


def _message(message: Object, params: Json) -> Object:
    message = {"jsonrpc": "2.0", **message}
    if params is not None:
        message["params"] = params
    return message
