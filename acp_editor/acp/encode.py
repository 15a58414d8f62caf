"""What we say that both versions say alike, and the pieces that their own messages are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from acp_editor.core.model import ElicitationAnswer, Json, McpServer

Call: TypeAlias = tuple[str, Json]
"""A method and its params."""

ELICITATION: Final[Json] = {"form": {}, "url": {}}


def pairs(values: Mapping[str, str]) -> list[Json]:
    """Environment variables and headers, as the wire has them."""
    return [{"name": name, "value": value} for name, value in values.items()]


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a session works, and with which servers."""

    cwd: str
    directories: tuple[str, ...] = ()
    servers: tuple[McpServer, ...] = ()

    def params(self, *, says_stdio: bool) -> dict[str, Json]:
        """Version 1 wants `mcpServers` even where there are none, and no `type` of a stdio server."""
        params: dict[str, Json] = {
            "cwd": self.cwd,
            "mcpServers": [_server(server, says_stdio) for server in self.servers],
        }
        if self.directories:
            params["additionalDirectories"] = list(self.directories)
        return params


def _server(server: McpServer, says_stdio: bool) -> Json:
    if server.kind != "stdio":
        headers = pairs(server.headers)
        return {"type": server.kind, "name": server.name, "url": server.url, "headers": headers}
    item: dict[str, Json] = {"type": "stdio"} if says_stdio else {}
    item |= {"name": server.name, "command": server.command, "args": list(server.args)}
    return item | {"env": pairs(server.env)}


def list_sessions(cwd: str | None, cursor: str | None) -> Call:
    given = {"cwd": cwd, "cursor": cursor}
    return "session/list", {key: value for key, value in given.items() if value is not None}


def close_session(session_id: str) -> Call:
    return "session/close", {"sessionId": session_id}


def delete_session(session_id: str) -> Call:
    return "session/delete", {"sessionId": session_id}


def prompt(session_id: str, blocks: list[Json]) -> Call:
    return "session/prompt", {"sessionId": session_id, "prompt": blocks}


def cancel(session_id: str) -> Call:
    return "session/cancel", {"sessionId": session_id}


def permission_answer(option_id: str | None) -> Json:
    if option_id is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option_id}}


def elicitation_answer(answer: ElicitationAnswer) -> Json:
    if answer.action == "accept" and answer.content is not None:
        return {"action": "accept", "content": dict(answer.content)}
    return {"action": answer.action}
