"""An agent whose every word is a trick: what reaches the person shows it, and holds none of their secrets."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_editor.core.redact import REDACTED

from . import drive
from .steps import PROMPT, SERVER, Step, ask, call, prompt, say

pytestmark = pytest.mark.anyio

TRICK = "a\u202eb\u2066c\u200bd\x1b[31me\x00f\u2028g\ufeffh\U000e0041i"
SECRET = "sk-proj-0123456789abcdefghijklmnop"
PASSWORD = "correct-horse-battery"
"""Looks like nothing: it is known to be a secret because a configured variable says so."""

RAW = frozenset({"rawInput", "rawOutput", "meta", "text", "output"})
"""What clients get as the agent said it, for those who have another use for it than to show it."""
NAMES = frozenset(
    {"sessionId", "toolCallId", "messageId", "optionId", "requestId", "value", "uri", "configId"}
)
"""Names that are sent back as they came, and are shown nowhere."""


def shown(value: Any, path: str = "", key: str = "") -> Iterator[tuple[str, str]]:
    """Every string that a client may show, with where it is."""
    match value:
        case str():
            if key not in RAW and key not in NAMES:
                yield path, value
        case dict() if key not in RAW:
            for name, item in value.items():  # pyright: ignore[reportUnknownVariableType]
                yield from shown(item, f"{path}.{name}", name)  # pyright: ignore[reportUnknownArgumentType]
        case list() if key not in ("content", *RAW):
            for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
                yield from shown(item, f"{path}[{index}]", key)
        case _:
            pass


def hidden(text: str) -> list[str]:
    kinds = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")
    return [f"{ord(c):04X}" for c in text if c not in "\n\t" and unicodedata.category(c) in kinds]


def initialized(version: int) -> dict[str, Any]:
    methods = [{"id": "login", "name": TRICK, "description": TRICK}]
    info = {"name": "scripted", "title": TRICK, "version": TRICK}
    if version == 1:
        return {
            "protocolVersion": 1,
            "agentCapabilities": {},
            "authMethods": methods,
            "agentInfo": info,
        }
    methods = [{"methodId": "login", "name": TRICK, "description": TRICK, "type": "agent"}]
    return {"protocolVersion": 2, "capabilities": {}, "authMethods": methods, "info": info}


OPTION = {
    "id": "o",
    "configId": "o",
    "name": TRICK,
    "description": TRICK,
    "type": "select",
    "currentValue": "x",
    "options": [{"value": "x", "name": TRICK, "description": TRICK}],
}
COMMAND = {"name": "do", "description": TRICK, "input": {"hint": TRICK, "type": "text"}}

OF_BOTH: list[Step] = [
    {
        "update": {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [COMMAND],
            "commands": [COMMAND],
        }
    },
    {"update": {"sessionUpdate": "config_option_update", "configOptions": [OPTION]}},
    {"update": {"sessionUpdate": "session_info_update", "title": TRICK}},
    {"update": {"sessionUpdate": TRICK, "x": SECRET + PASSWORD}},
    {
        "notify": "session/update",
        "params": {"sessionId": "s1", "update": {"sessionUpdate": None, "x": TRICK}},
    },
    {"raw": f"{TRICK} {PASSWORD}\n"},
    say(f"{TRICK} <img src=x> ![i](http://x.example) [run](command:evil) {SECRET} {PASSWORD}"),
]

OPTIONS = [
    {"optionId": "yes", "name": TRICK, "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def agent(version: int) -> list[Step]:
    plan = {"entries": [{"content": TRICK, "priority": "high", "status": "pending"}]}
    steps = [PROMPT, *OF_BOTH]
    if version == 1:
        steps += [
            {"update": {"sessionUpdate": "plan", **plan}},
            call(
                "c1",
                title=TRICK,
                rawInput={"command": TRICK, "key": PASSWORD},
                locations=[{"path": "{cwd}/a.py", "line": 1}],
            ),
            {
                **ask("c1"),
                "params": {"sessionId": "s1", "toolCall": {"toolCallId": "c1"}, "options": OPTIONS},
            },
        ]
    else:
        steps += [
            {"update": {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", **plan}}},
            {
                "update": {
                    "sessionUpdate": "notice",
                    "severity": "error",
                    "title": TRICK,
                    "description": TRICK,
                }
            },
            {
                "update": {
                    "sessionUpdate": "tool_call_update",
                    "toolCallId": "c1",
                    "title": TRICK,
                    "name": TRICK,
                    "kind": "execute",
                    "status": "pending",
                    "rawInput": {"command": TRICK, "key": PASSWORD},
                    "locations": [{"path": "{cwd}/a.py", "line": 1}],
                }
            },
            {
                "request": "session/request_permission",
                "as": "c1",
                "id": 7,
                "params": {
                    "sessionId": "s1",
                    "title": TRICK,
                    "description": TRICK,
                    "subject": {"type": "command", "command": TRICK, "cwd": "{cwd}"},
                    "options": OPTIONS,
                },
            },
        ]
    steps += [
        {"await": "c1"},
        {"reply": "p", "error": {"code": -32603, "message": f"{TRICK} {SECRET} {PASSWORD}"}},
        PROMPT,
        {"stderr": f"{TRICK} {SECRET} {PASSWORD}\n"},
        {"exit": 3},
    ]
    return steps


def editor(draws: list[str]) -> list[Step]:
    marks: Step = (
        {"last": "acpEditor/decorations", "key": {}, "at": "decorations", "size": 1}
        if draws
        else {"hints": "a.py", "size": 1}
    )
    return [
        {"open": "a.py"},
        prompt("go"),
        {"state": "permissions", "size": 1, "timeout": 10},
        {"command": "acpEditor.session.list", "eventually": True},
        {"command": "acpEditor.commands"},
        marks,
        {"text": "acp-session:/s1.md", "has": "# "},
        {"command": "acpEditor.permission.approve", "eventually": True},
        {"state": "sessions[0].state", "is": "idle", "timeout": 10},
        {"text": "acp-session:/s1.md", "has": "# "},
        prompt("again"),
        {"state": "agents.scripted.state", "is": "failed", "timeout": 15},
    ]


@pytest.mark.parametrize("draws", [drive.ALL, []], ids=["VS Code", "plain LSP"])
@pytest.mark.parametrize("version", [1, 2])
async def test_no_trick_and_no_secret_reaches_the_person(
    version: int, draws: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    received: list[dict[str, Any]] = []
    receive = drive.Editor.receive

    async def kept(editor: drive.Editor, message: dict[str, Any]) -> None:
        received.append(message)
        await receive(editor, message)

    monkeypatch.setattr(drive.Editor, "receive", kept)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(drive.shutil, "rmtree", lambda *_, **__: None)  # what is left behind is looked at
    case = {
        "title": "tricks",
        "editor_draws": draws,
        "agent_entry": {"env": {"THEIR_PASSWORD": PASSWORD}},
        "settings": {"log": {"protocol": True}},
        "files": {"a.py": "a = 1\n"},
        "agent": [{"on": "initialize", "result": initialized(version)}, *agent(version)],
        "editor": editor(draws),
    }
    _, failed = await drive.run(case, SERVER, verbose=False, keep=True)
    assert failed is None, failed
    words = list(shown(received))
    assert any("a⟨202E⟩b" in text for _, text in words), "the tricks did not come as far as this"
    found = {path: hidden(text) for path, text in words if hidden(text)}
    assert not found, list(found.items())[:8]

    documents = [text for message in received if isinstance(text := document(message), str)]
    assert any(r"\<img" in text and REDACTED in text and "](command:" not in text for text in documents)
    for secret in (SECRET, PASSWORD):
        assert not [path for path, text in words if secret in text and not path.endswith(".hover")]
        assert not [text for text in documents if secret in text]
        (root,) = tmp_path.iterdir()
        logs = [root / "server.stderr", *(root / "home").rglob("*")]
        assert not [path for path in logs if path.is_file() and secret.encode() in path.read_bytes()]


def document(message: dict[str, Any]) -> Any:
    result = message.get("result")
    return result.get("text") if isinstance(result, dict) else None  # pyright: ignore
