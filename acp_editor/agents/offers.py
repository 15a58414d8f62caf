"""What the built-in agent tells of itself, as each protocol version writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from acp_editor.agents.content import Version
from acp_editor.core.model import Choice, Command, Json
from acp_editor.core.version import VERSION

MODES: Final = (
    Choice("ask", "Ask", "Asks before each edit and each command"),
    Choice("plan", "Plan only", "Reads and plans; changes and runs nothing"),
)
PACES: Final = (
    Choice("calm", "Calm", "Slow enough to follow every step"),
    Choice("brisk", "Brisk", "Three times as fast"),
    Choice("instant", "Instant", "Without a pause"),
)


def initialized(protocol: Version) -> Json:
    """The answer to `initialize`."""
    info = {"name": "acp-editor-demo", "title": "Demo agent", "version": VERSION}
    if protocol == 2:
        session: Json = {"prompt": {"embeddedContext": {}}, "delete": {}, "additionalDirectories": {}}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": session}, "authMethods": []}
    capabilities: Json = {
        "loadSession": True,
        "promptCapabilities": {"embeddedContext": True},
        "sessionCapabilities": {
            "list": {},
            "resume": {},
            "close": {},
            "delete": {},
            "additionalDirectories": {},
        },
    }
    return {
        "protocolVersion": 1,
        "agentInfo": info,
        "agentCapabilities": capabilities,
        "authMethods": [],
    }


def started(protocol: Version, mode: str, pace: str, commands: Iterable[Command]) -> dict[str, Json]:
    """Options and, as the version has them, modes or commands: part of the answers that start a session."""
    answer: dict[str, Json] = {"configOptions": options(protocol, mode, pace)}
    if protocol == 2:
        return answer | {"availableCommands": command_items(commands, 2)}
    modes = [{"id": each.value, "name": each.name, "description": each.description} for each in MODES]
    return answer | {"modes": {"currentModeId": mode, "availableModes": modes}}


def options(protocol: Version, mode: str, pace: str) -> list[Json]:
    """Version 1 has modes of its own, so that there the mode is no option."""
    made = [_select(protocol, "pace", "Pace", "How fast the agent goes", None, pace, PACES)]
    if protocol == 2:
        about = "What the agent may do"
        made.insert(0, _select(2, "mode", "Mode", about, "mode", mode, MODES))
    return made


def command_items(commands: Iterable[Command], protocol: Version) -> list[Json]:
    return [_command(command, protocol) for command in commands]


def _command(command: Command, protocol: Version) -> Json:
    made: dict[str, Json] = {"name": command.name, "description": command.description}
    if protocol == 2:
        made["type"] = "command"
    if command.hint:
        made["input"] = {"type": "text", "hint": command.hint} if protocol == 2 else {"hint": command.hint}
    return made


def _select(
    protocol: Version,
    ident: str,
    name: str,
    about: str,
    category: str | None,
    value: str,
    choices: Iterable[Choice],
) -> Json:
    made: dict[str, Json] = {
        "configId" if protocol == 2 else "id": ident,
        "name": name,
        "description": about,
        "type": "select",
        "currentValue": value,
        "options": [
            {"value": each.value, "name": each.name, "description": each.description} for each in choices
        ],
    }
    return made | ({"category": category} if category else {})
