"""An agent's process: started in a group of its own, its stderr drained, and gone when it is left."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.abc import Process as AnyioProcess

from acp_editor.processes import descendants
from acp_editor.processes.groups import GRACE, end_group, group_options

if sys.platform != "win32":
    from acp_editor.processes import pipes

logger = logging.getLogger(__name__)

STDERR_TAIL: Final = 8 * 1024
"""Bytes of stderr that are kept."""

_QUIET_SECONDS: Final = 0.5
_LAST_WORDS_SECONDS: Final = 5.0


class SpawnError(Exception):
    """A command could not be started; the message names it and says why."""


class _Output(ByteReceiveStream):
    """An output that also ends when the process has, though a child of its own may hold the pipe open."""

    def __init__(self, stream: ByteReceiveStream) -> None:
        self._stream = stream
        self._scope: anyio.CancelScope | None = None
        self._until: float | None = None

    async def receive(self, max_bytes: int = 1 << 18) -> bytes:
        with anyio.CancelScope() as self._scope:
            if self._until is not None:
                self._scope.deadline = min(self._until, anyio.current_time() + _QUIET_SECONDS)
            return await self._stream.receive(max_bytes)
        raise anyio.EndOfStream

    def process_exited(self) -> None:
        """What is still in the pipe can be read until it falls silent."""
        self._until = anyio.current_time() + _LAST_WORDS_SECONDS
        if self._scope is not None:
            self._scope.deadline = anyio.current_time() + _QUIET_SECONDS

    async def aclose(self) -> None:
        await self._stream.aclose()


class Process:
    """A running child with its pipes; made by `spawn`, which also ends it."""

    def __init__(self, process: AnyioProcess, stdout: ByteReceiveStream) -> None:
        assert process.stdin is not None
        assert process.stderr is not None
        self._process = process
        self._stderr = _Output(process.stderr)
        self._stdout = stdout
        self._output = _Output(stdout)
        self._tail = b""
        self._drained = anyio.Event()
        self.stdin: ByteSendStream = process.stdin
        self.stdout: ByteReceiveStream = self._output

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr, with half a character at the cut left out."""
        return self._tail.decode("utf-8", "replace").lstrip("\ufffd")

    async def wait(self) -> int:
        return await self._process.wait()

    async def settle(self, seconds: float = 1.0) -> None:
        """Waits, at most so long, until the exit code and the end of stderr are known."""
        with anyio.move_on_after(seconds):
            await self._process.wait()
            await self._drained.wait()

    async def _drain_stderr(self) -> None:
        try:
            async for chunk in self._stderr:
                logger.debug("stderr of %d: %r", self.pid, chunk)
                self._tail = (self._tail + chunk)[-STDERR_TAIL:]
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            logger.debug("reading stderr of %d failed: %r", self.pid, error)
        finally:
            self._drained.set()

    async def _watch(self) -> None:
        await self._process.wait()
        self._output.process_exited()
        self._stderr.process_exited()

    async def _drain_stdout(self) -> None:
        """A child that is blocked on a full pipe would not notice that its stdin is closed."""
        try:
            async for _ in self._stdout:
                pass
        except (
            OSError,
            RuntimeError,
            anyio.BrokenResourceError,
            anyio.BusyResourceError,
            anyio.ClosedResourceError,
        ) as error:
            logger.debug("draining stdout of %d ended: %r", self.pid, error)

    async def _shut_down(self, grace: float) -> None:
        async with anyio.create_task_group() as draining:
            draining.start_soon(self._drain_stdout)
            await self.stdin.aclose()
            with anyio.move_on_after(grace):
                await self._process.wait()
            await end_group(self._process, grace / 2)
            draining.cancel_scope.cancel()
        await self._stdout.aclose()
        await self._process.aclose()


@asynccontextmanager
async def spawn(
    command: str,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    *,
    grace: float = GRACE,
) -> AsyncGenerator[Process]:
    """Runs a command as long as the block; raises SpawnError where it cannot be started.

    `env` is the whole environment, None for our own. Leaving takes the ladder: close stdin, wait
    `grace` seconds, SIGTERM to the group, wait half as long, SIGKILL.
    """
    process = await _start_agent(command, [find_command(command, env, cwd), *args], env, cwd)
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process._drain_stderr)  # pyright: ignore[reportPrivateUsage]
        tasks.start_soon(process._watch)  # pyright: ignore[reportPrivateUsage]
        try:
            yield process
        except Exception as error:
            # Raised again outside the task group, which would wrap it in a group.
            failure = error
        finally:
            with anyio.CancelScope(shield=True):
                await process._shut_down(grace)  # pyright: ignore[reportPrivateUsage]
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _start_agent(
    name: str, line: Sequence[str], env: Mapping[str, str] | None, cwd: str | None
) -> Process:
    if sys.platform == "win32":
        process = await start(name, line, env, cwd)
        assert process.stdout is not None
        return Process(process, process.stdout)
    readable, writable = pipes.open_pipe()
    try:
        process = await start(name, line, env, cwd, stdout=writable)
    except BaseException:
        os.close(readable)
        raise
    finally:
        os.close(writable)
    return Process(process, pipes.PipeReader(readable))


async def start(
    name: str,
    line: str | Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    *,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> AnyioProcess:
    """A process at the head of its own group, a text by the shell; raises SpawnError about `name`."""
    _check_folder(name, cwd)
    mark, environment = descendants.marked(env)
    # Cancelled half way, a process would be there that nobody knows.
    with anyio.CancelScope(shield=True):
        try:
            process = await anyio.open_process(
                line, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=environment, **group_options()
            )
        except (OSError, ValueError) as error:
            raise SpawnError(f"{name} could not be started: {_why(error)}") from error
        descendants.started(process.pid, mark)
        return process
    raise AssertionError("a scope that nobody cancels was left early")


def _check_folder(name: str, cwd: str | None) -> None:
    if cwd is not None and not os.path.isdir(cwd):
        raise SpawnError(f"{name} could not be started: the folder {cwd} does not exist")


def find_command(command: str, env: Mapping[str, str] | None, cwd: str | None) -> str:
    """The program for a command, by the PATH of `env`; raises SpawnError with a sentence."""
    _check_folder(command, cwd)
    if not command:
        raise SpawnError("The command is empty")
    environment = os.environ if env is None else env
    if os.path.dirname(command):
        path = os.path.join(cwd or "", os.path.expanduser(command))
        if not os.path.exists(path):
            raise SpawnError(f"{command} was not found")
        found = shutil.which(os.path.abspath(path))
        if found is None:
            raise SpawnError(f"{command} is not an executable file")
        return found
    found = shutil.which(command, path=environment.get("PATH", os.defpath))
    if found is None:
        raise SpawnError(f"{command} was not found on the PATH")
    return os.path.abspath(found)


def _why(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "the interpreter that its first line names was not found"
        case OSError(strerror=str(reason)):
            return reason
        case _:
            return str(error)
