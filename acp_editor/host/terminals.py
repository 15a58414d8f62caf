"""Commands that agents run in the editor's keeping: their newest output, their end, their processes."""

from __future__ import annotations

import codecs
import itertools
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVarTuple

import anyio
from anyio.abc import Process, TaskGroup

from acp_editor.core.model import ExitStatus
from acp_editor.processes.child import SpawnError, find_command, start
from acp_editor.processes.groups import end_group

__all__ = ["Output", "SpawnError", "TerminalError", "Terminals", "command_line"]

logger = logging.getLogger(__name__)

Args = TypeVarTuple("Args")

DEFAULT_LIMIT: Final = 1024 * 1024
"""Bytes of output that are kept where the agent names no limit."""

MAX_LIMIT: Final = 16 * 1024 * 1024
"""Bytes that are kept whatever the agent says."""

MAX_TERMINALS: Final = 64
"""Terminals of one session; some agents never release theirs, so the oldest that ended makes room."""

_KILL_GRACE: Final = 1.0
_QUIET_SECONDS: Final = 0.5
_SHELL_SIGNS: Final = frozenset("|&;<>()$`*?~\n")


class TerminalError(Exception):
    """A terminal is unknown, or there are too many; the message says which."""


@dataclass(frozen=True, slots=True)
class Output:
    """What is kept of a terminal's output; `truncated` says that it is not all."""

    data: bytes
    truncated: bool
    exit_status: ExitStatus | None

    @property
    def text(self) -> str:
        """The output as text; half a character at the end waits for its rest while the command runs."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(self.data, final=self.exit_status is not None)


class _Tail:
    """The newest bytes, at most `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self.truncated = False

    def add(self, data: bytes) -> None:
        self._kept += data
        if (excess := len(self._kept) - self._limit) > 0:
            del self._kept[:excess]
            self.truncated = True

    def __bytes__(self) -> bytes:
        start = 0
        if self.truncated:
            # At most three bytes of a character whose beginning was cut off.
            while start < min(3, len(self._kept)) and self._kept[start] & 0xC0 == 0x80:
                start += 1
        return bytes(self._kept[start:])


class _Terminal:
    def __init__(self, session_id: str, process: Process, limit: int) -> None:
        self.session_id = session_id
        self.process = process
        self.tail = _Tail(limit)
        self.drained = anyio.Event()
        self.ended = anyio.Event()
        self.exit_status: ExitStatus | None = None


class Terminals:
    """All terminals of all sessions, as a context: leaving it leaves no process.

    `on_output`, `on_exit` and `on_gone` are synchronous; a terminal's exit comes after the output before it,
    and nothing is said of it once it is gone.
    """

    def __init__(
        self,
        on_output: Callable[[str, bytes], None] = lambda terminal_id, data: None,
        on_exit: Callable[[str, ExitStatus], None] = lambda terminal_id, status: None,
        on_gone: Callable[[str], None] = lambda terminal_id: None,
    ) -> None:
        self._on_output = on_output
        self._on_exit = on_exit
        self._on_gone = on_gone
        self._terminals: dict[str, _Terminal] = {}
        self._ids = itertools.count(1)
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None
        await self.aclose()
        # Not told of the error, which it would wrap in a group.
        await tasks.__aexit__(None, None, None)

    async def create(
        self,
        session_id: str,
        command: str,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
    ) -> str:
        """Runs a command and gives the terminal's id; raises SpawnError or TerminalError.

        `env` is added to our own environment; `cwd` is taken as it is, to be confined by the caller.
        """
        await self._make_room(session_id)
        environment = {**os.environ, **(env or {})}
        line = command_line(command, args, environment, cwd)
        process = await start(
            command, line, environment, cwd, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        if (tasks := self._tasks) is None:
            # The editor began to close while the command was started.
            await end_group(process, _KILL_GRACE)
            raise TerminalError("No terminals can be made: the editor is closing")
        limit = DEFAULT_LIMIT if output_byte_limit is None else max(0, min(output_byte_limit, MAX_LIMIT))
        terminal = _Terminal(session_id, process, limit)
        terminal_id = f"terminal-{next(self._ids)}"
        self._terminals[terminal_id] = terminal
        tasks.start_soon(self._attend, terminal_id, terminal)
        return terminal_id

    def output(self, session_id: str, terminal_id: str) -> Output:
        terminal = self._find(session_id, terminal_id)
        return Output(bytes(terminal.tail), terminal.tail.truncated, terminal.exit_status)

    async def wait(self, session_id: str, terminal_id: str) -> ExitStatus:
        """The exit status, once what the command wrote before it is there."""
        return await self._ended(self._find(session_id, terminal_id))

    async def kill(self, session_id: str, terminal_id: str) -> ExitStatus:
        """Ends the command and its group; the output stays until `release`."""
        return await self._end(self._find(session_id, terminal_id))

    async def release(self, session_id: str, terminal_id: str) -> None:
        """Ends what still runs and forgets the terminal."""
        terminal = self._find(session_id, terminal_id)
        del self._terminals[terminal_id]
        with anyio.CancelScope(shield=True):
            await self._end(terminal)
            await terminal.process.aclose()
        self._call(self._on_gone, terminal_id)

    async def close_session(self, session_id: str) -> None:
        """Releases all terminals of a session."""
        await self._release([key for key, value in self._terminals.items() if value.session_id == session_id])

    async def aclose(self) -> None:
        """Releases all terminals of all sessions."""
        await self._release(list(self._terminals))

    async def _release(self, terminal_ids: Sequence[str]) -> None:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for terminal_id in terminal_ids:
                    tasks.start_soon(self.release, self._terminals[terminal_id].session_id, terminal_id)

    def _find(self, session_id: str, terminal_id: str) -> _Terminal:
        terminal = self._terminals.get(terminal_id)
        if terminal is None or terminal.session_id != session_id:
            raise TerminalError(f"There is no terminal {terminal_id}")
        return terminal

    async def _make_room(self, session_id: str) -> None:
        mine = [(key, value) for key, value in self._terminals.items() if value.session_id == session_id]
        if len(mine) < MAX_TERMINALS:
            return
        for terminal_id, terminal in mine:
            if terminal.exit_status is not None:
                await self.release(session_id, terminal_id)
                return
        raise TerminalError(f"More than {MAX_TERMINALS} commands run at once")

    async def _end(self, terminal: _Terminal) -> ExitStatus:
        await end_group(terminal.process, _KILL_GRACE)
        return await self._ended(terminal)

    async def _ended(self, terminal: _Terminal) -> ExitStatus:
        await terminal.ended.wait()
        assert terminal.exit_status is not None
        return terminal.exit_status

    async def _attend(self, terminal_id: str, terminal: _Terminal) -> None:
        """Lasts until the terminal is released, also when all around it is cancelled: who ends it waits."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, terminal_id, terminal)
                tasks.start_soon(self._watch, terminal_id, terminal)

    async def _read(self, terminal_id: str, terminal: _Terminal) -> None:
        assert terminal.process.stdout is not None
        try:
            async for data in terminal.process.stdout:
                terminal.tail.add(data)
                self._call(self._on_output, terminal_id, data)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            logger.debug("reading %s ended: %r", terminal_id, error)
        finally:
            terminal.drained.set()

    async def _watch(self, terminal_id: str, terminal: _Terminal) -> None:
        returncode = await terminal.process.wait()
        # A child that it left in the background may hold the pipe open for as long as it likes.
        with anyio.move_on_after(_QUIET_SECONDS):
            await terminal.drained.wait()
        terminal.exit_status = _exit_status(returncode)
        terminal.ended.set()
        self._call(self._on_exit, terminal_id, terminal.exit_status)

    def _call(self, callback: Callable[[*Args], None], *args: *Args) -> None:
        try:
            callback(*args)
        except Exception:
            # The pipe has to be read whatever becomes of its output.
            logger.exception("a callback failed")


def command_line(
    command: str, args: Sequence[str], env: Mapping[str, str], cwd: str | None
) -> str | list[str]:
    """The program and its arguments, or the text for a shell.

    Some agents send a whole shell line as `command` and no arguments.
    """
    if args or not _is_shell_line(command, cwd):
        return [find_command(command, env, cwd), *args]
    return command


def _is_shell_line(command: str, cwd: str | None) -> bool:
    if not any(character.isspace() or character in _SHELL_SIGNS for character in command.strip()):
        return False
    return not (os.path.dirname(command) and shutil.which(os.path.join(cwd or "", command)))


def _exit_status(returncode: int) -> ExitStatus:
    if returncode >= 0 or sys.platform == "win32":
        return ExitStatus(exit_code=returncode)
    try:
        return ExitStatus(signal=signal.Signals(-returncode).name)
    except ValueError:
        return ExitStatus(signal=f"SIG{-returncode}")
