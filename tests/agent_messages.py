"""Messages of scripted agents that several tests use."""

from __future__ import annotations

from typing import Any

from agent_side import Running

V1: dict[str, Any] = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1"}}
V2: dict[str, Any] = {
    "protocolVersion": 2,
    "info": {"name": "scripted", "version": "1"},
    "capabilities": {"session": {}},
}
TEXT = {"type": "text", "text": "hi"}
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]
START_V1: list[dict[str, Any]] = [
    {"take": "initialize", "result": V1},
    {"take": "session/new", "result": {"sessionId": "s1"}},
]
START_V2: list[dict[str, Any]] = [
    {"take": "initialize", "result": V2},
    {"take": "session/new", "result": {"sessionId": "s1"}},
]


def update(name: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": name, **fields}}
    return {"method": "session/update", "params": params}


def request(ident: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"id": ident, "method": method, "params": params}


def permission_v1(ident: Any, **call: Any) -> dict[str, Any]:
    call = {"toolCallId": "c", **call}
    return request(ident, "session/request_permission", sessionId="s1", toolCall=call, options=OPTIONS)


async def prompted(side: Running) -> None:
    session = await side.agent.new_session("/ws")
    await side.agent.prompt(session.session_id, [TEXT])
