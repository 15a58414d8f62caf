"""Steps of conversations that tests share, and how a conversation is played."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

from . import drive

SERVER = [sys.executable, "-m", "acp_editor"]
HERE = Path(__file__).resolve().parent

Step = dict[str, Any]

PROMPT: Step = {"on": "session/prompt", "as": "p"}
DONE: Step = {"reply": "p", "result": {"stopReason": "end_turn"}}
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject once", "kind": "reject_once"},
]
IDLE: Step = {"state": "sessions[0].state", "is": "idle", "timeout": 10}

NEW: Step = {"command": "acpEditor.session.new"}
TOLD: Step = {"last": "acpEditor/session", "key": {"sessionId": "s1"}}

MODE = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [
        {"group": "careful", "name": "Careful", "options": [{"value": "ask", "name": "Ask"}]},
        {"group": "bold", "name": "Bold", "options": [{"value": "go", "name": "Go ahead"}]},
    ],
}
FAST = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False}
NOTE = {"id": "note", "name": "Note", "type": "string", "currentValue": "none"}
DEPTH = {"id": "depth", "name": "Depth", "type": "integer", "currentValue": 3}


def say(text: str, session: str = "s1") -> Step:
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}, "session": session}


def call(call_id: str, session: str = "s1", **fields: Any) -> Step:
    update = {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": f"Call {call_id}", **fields}
    return {"update": {"kind": "other", "status": "pending", **update}, "session": session}


def ask(call_id: str, ident: int = 7, session: str = "s1") -> Step:
    params = {"sessionId": session, "toolCall": {"toolCallId": call_id}, "options": OPTIONS}
    return {"request": "session/request_permission", "as": call_id, "id": ident, "params": params}


def prompt(text: str, **more: Any) -> Step:
    return {"command": "acpEditor.prompt", "args": {"text": text, **more}}


def got_prompt(text: str) -> Step:
    return {"method": "session/prompt", "params": {"prompt": [{"text": text}]}}


def initialized(capabilities: dict[str, Any], **more: Any) -> dict[str, Any]:
    info = {"name": "scripted", "version": "1"}
    return {
        "initialize": {
            "protocolVersion": 1,
            "agentCapabilities": capabilities,
            "authMethods": [],
            "agentInfo": info,
            **more,
        }
    }


def started(*options: dict[str, Any]) -> dict[str, Any]:
    return {"session/new": {"sessionId": "s1", "configOptions": list(options)}}


def answers(*options: dict[str, Any]) -> Step:
    return {"on": "session/set_config_option", "result": {"configOptions": list(options)}}


def change(key: str, value: Any, **more: Any) -> Step:
    return {"command": "acpEditor.config.set", "args": {"configId": key, "value": value}, **more}


async def play(agent: list[Step], editor: list[Step], **case: Any) -> None:
    whole = {"title": "conversation", "agent": agent, "editor": editor, **copy.deepcopy(case)}
    _, failed = await drive.run(whole, SERVER, verbose=False, keep=False)
    assert failed is None, failed
