"""The built-in agent's tools: each is one tool call, told from its announcement to its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias, TypeVar

import anyio

from acp_editor.acp.connection import RpcError
from acp_editor.agents import commands, workspace
from acp_editor.agents.events import (
    ApprovalWanted,
    FileDiff,
    TerminalBegan,
    TerminalContent,
    TerminalExited,
    TerminalOutput,
    TextContent,
    ToolProgress,
    ToolResult,
)
from acp_editor.agents.turn import Turn
from acp_editor.agents.workspace import Found
from acp_editor.core.model import ExitStatus, Json, Location

Outcome: TypeAlias = Literal["applied", "rejected", "failed"]
Value = TypeVar("Value")

MAX_SHOWN = 40
"""Places of a search that are told as locations."""

OUTPUT_LIMIT = 1 << 20


async def search(turn: Turn, title: str, query: str, find: Callable[[], list[Found]]) -> list[Found]:
    """Runs `find` in a thread and tells the places, moving through a few of them."""
    call = turn.begin("search", title, "search", {"query": query, "path": turn.cwd})
    turn.emit(ToolProgress(call, status="in_progress"))
    found = await in_thread(find)
    places = [Location(hit.path, hit.line) for hit in found]
    for place in _spread(places, 4):
        turn.emit(ToolProgress(call, locations=(place,)))
        await turn.look(0.5)
    rows = [f"{hit.name}:{hit.line}: {hit.text.strip()[:120]}" for hit in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        rows.append(f"and {len(found) - MAX_SHOWN} more")
    turn.emit(
        ToolResult(
            call,
            output={"matches": len(found)},
            content=(TextContent("\n".join(f"- `{row}`" for row in rows) or "Nothing found."),),
            locations=tuple(places[:MAX_SHOWN]),
        )
    )
    return found


async def read(turn: Turn, path: str, name: str, lines: Sequence[int] = (1,)) -> str | None:
    """The file's text, unsaved changes included where the client tells; visits `lines` (from 1)."""
    first = Location(path, lines[0] if lines else 1)
    call = turn.begin("read_file", f"Read {name}", "read", {"path": path}, (first,))
    turn.emit(ToolProgress(call, status="in_progress"))
    text = await text_of(turn, path)
    if text is None:
        turn.emit(ToolResult(call, f"{name} is no text file that can be read", "failed"))
        return None
    for line in lines:
        turn.emit(ToolProgress(call, locations=(Location(path, line),)))
        await turn.look(0.7)
    turn.emit(ToolResult(call, {"lines": len(text.splitlines())}))
    return text


async def edit(turn: Turn, path: str, old: str | None, new: str, title: str, arguments: Json) -> Outcome:
    """Proposes `new` in place of `old` (None: there is no file yet), asks, and writes."""
    place = (Location(path, workspace.first_change(old or "", new)),)
    call = turn.begin("edit_file", title, "edit", {"path": path, **arguments}, place)
    turn.emit(ToolProgress(call, content=(FileDiff(path, old, new),)))
    if not workspace.inside(path, turn.roots):
        turn.emit(ToolResult(call, "outside the workspace", "failed"))
        return "failed"
    answer = await turn.ask(ApprovalWanted("edit_file", call_id=call, title=title), edit=True)
    if answer == "reject":
        turn.emit(ToolResult(call, "rejected", "failed"))
        return "rejected"
    turn.emit(ToolProgress(call, status="in_progress"))
    try:
        if await text_of(turn, path) != old:
            turn.emit(ToolResult(call, "the file was changed in the meantime", "failed"))
            return "failed"
        await _write(turn, path, new)
    except (OSError, RpcError) as error:
        turn.emit(ToolResult(call, f"it could not be written: {error}", "failed"))
        return "failed"
    await turn.look(0.5)
    turn.emit(ToolResult(call, "written", locations=place))
    return "applied"


async def run(turn: Turn, command: str) -> ExitStatus | None:
    """Asks, then runs a command line in the session's folder; None where it was not run to its end."""
    arguments = {"command": command, "cwd": turn.cwd}
    call = turn.begin("run_command", f"Run `{command}`", "execute", arguments)
    wanted = ApprovalWanted(
        "run_command", call_id=call, title=f"Run `{command}`?", command=command, cwd=turn.cwd
    )
    if await turn.ask(wanted, edit=False) == "reject":
        turn.emit(ToolResult(call, "rejected", "failed"))
        return None
    turn.emit(ToolProgress(call, status="in_progress"))
    status: ExitStatus | None = None
    with anyio.CancelScope() as scope:
        turn.stoppable[call] = scope
        try:
            status = await (_lent if turn.client.terminals else _own)(turn, call, command)
        except (OSError, RpcError) as error:
            turn.emit(ToolResult(call, f"it could not be run: {error}", "failed"))
            return None
        finally:
            del turn.stoppable[call]
    if status is None:
        turn.emit(ToolResult(call, "stopped", "cancelled"))
        return None
    output = {"exitCode": status.exit_code, "signal": status.signal}
    turn.emit(ToolResult(call, output, "completed" if status.exit_code == 0 else "failed"))
    return status


async def run_and_tell(turn: Turn, command: str) -> None:
    """As `run`, and says how it ended."""
    status = await run(turn, command)
    if status is None:
        await turn.say("It was not run to its end.")
    elif status.signal:
        await turn.say(f"`{command}` was ended by {status.signal}.")
    else:
        await turn.say(f"`{command}` ended with {status.exit_code}.")


async def text_of(turn: Turn, path: str) -> str | None:
    """The text as the client has it, else as the disk has it; None where there is none."""
    if turn.client.reads and os.path.exists(path):
        try:
            params = {"sessionId": turn.session_id, "path": path}
            answer = await turn.client.connection.request("fs/read_text_file", params)
            match answer:
                case {"content": str(content)}:
                    return content
                case _:
                    pass
        except RpcError:
            pass  # what the client does not give may still be on disk
    return workspace.read(path) if workspace.inside(path, turn.roots) else None


async def in_thread(work: Callable[[], Value]) -> Value:
    """The value of blocking work, which goes on unheard where the turn is cancelled."""
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


async def _write(turn: Turn, path: str, text: str) -> None:
    if turn.client.writes:
        params = {"sessionId": turn.session_id, "path": path, "content": text}
        await turn.client.connection.request("fs/write_text_file", params)
    else:
        workspace.write(path, text)


async def _lent(turn: Turn, call: str, command: str) -> ExitStatus:
    """In a terminal of the client's, which shows it."""
    connection = turn.client.connection
    program, args = commands.shell_line(command)
    params = {
        "sessionId": turn.session_id,
        "command": program,
        "args": list(args),
        "cwd": turn.cwd,
        "outputByteLimit": OUTPUT_LIMIT,
    }
    made = await connection.request("terminal/create", params)
    terminal = {"sessionId": turn.session_id, "terminalId": made["terminalId"]}
    turn.emit(ToolProgress(call, content=(TerminalContent(made["terminalId"]),)))
    ended = False
    try:
        answer = await connection.request("terminal/wait_for_exit", terminal)
        ended = True
    finally:

        async def let_go() -> None:
            if not ended:
                await connection.request("terminal/kill", terminal)
            await connection.request("terminal/release", terminal)

        turn.detach(let_go)
    return ExitStatus(answer.get("exitCode"), answer.get("signal"))


async def _own(turn: Turn, call: str, command: str) -> ExitStatus:
    """As a process of the agent's own."""
    terminal = f"terminal_{call}"
    turn.emit(TerminalBegan(terminal, call, command, turn.cwd, cancellable=True))
    turn.stoppable[terminal] = turn.stoppable[call]
    status = ExitStatus()
    try:
        status = await commands.run(command, turn.cwd, lambda data: turn.emit(TerminalOutput(terminal, data)))
    finally:
        del turn.stoppable[terminal]
        turn.emit(TerminalExited(terminal, status.exit_code, status.signal))
    return status


def _spread(places: Sequence[Location], count: int) -> Iterable[Location]:
    """At most `count` of them, evenly spread, the first included."""
    step = max(1, -(-len(places) // count))
    return places[::step]
