"""Single tool calls and terminals: ended by themselves, and looked at."""

from __future__ import annotations

from acp_editor.acp.agent import Agent
from acp_editor.app import render
from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.registry import Commands, command
from acp_editor.app.sessions import Entry
from acp_editor.core.model import Terminal
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError


@command("toolCall.cancel")
async def _cancel_call(commands: Commands, arguments: Arguments) -> None:
    entry = commands.app.entry(arguments.maybe_text("sessionId"))
    call_id = arguments.text("toolCallId")
    call = entry.session.tool_call(call_id)
    if call is None:
        raise CommandError(f"there is no tool call {call_id!r}")
    if not call.cancellable:
        raise CommandError(f"{entry.agent} does not offer to cancel {call.title or call_id!r} alone")
    await _agent_of(commands, entry).cancel_tool_call(entry.own_id, call_id)


@command("terminal.cancel")
async def _cancel_terminal(commands: Commands, arguments: Arguments) -> None:
    entry, terminal = _terminal(commands, arguments)
    shown = terminal.command or terminal.terminal_id
    if terminal.exit_status is not None:
        raise CommandError(f"{shown} has already ended")
    if not terminal.cancellable:
        raise CommandError(f"{entry.agent} does not offer to end {shown}")
    if terminal.owner == "client":
        await commands.app.terminals.kill(entry, terminal.terminal_id)
    else:
        await _agent_of(commands, entry).cancel_terminal(entry.own_id, terminal.terminal_id)


@command("terminal.read")
async def _read_terminal(commands: Commands, arguments: Arguments) -> messages.Terminal:
    return render.terminal(_terminal(commands, arguments)[1])


def _terminal(commands: Commands, arguments: Arguments) -> tuple[Entry, Terminal]:
    entry = commands.app.entry(arguments.maybe_text("sessionId"))
    terminal_id = arguments.text("terminalId")
    if (terminal := entry.session.terminal(terminal_id)) is None:
        raise CommandError(f"there is no terminal {terminal_id!r}")
    return entry, terminal


def _agent_of(commands: Commands, entry: Entry) -> Agent:
    if (agent := commands.running(entry)) is None:
        raise CommandError(f"{entry.agent} is not running")
    return agent
