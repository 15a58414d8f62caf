"""What we say that both versions say alike, and the pieces that their own messages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from acp_editor.core.model import ElicitationAnswer, Json

Call: TypeAlias = tuple[str, Json]
"""A method and its params."""

ELICITATION: Final[Json] = {"form": {}, "url": {}}


def pairs(values: Mapping[str, str]) -> list[Json]:
    """Environment variables and headers, as the wire has them."""
    return [{"name": name, "value": value} for name, value in values.items()]


def workspace(cwd: str, directories: Iterable[str], servers: list[Json]) -> dict[str, Json]:
    """Where a session works; version 1 wants `mcpServers` even where there are none."""
    params: dict[str, Json] = {"cwd": cwd, "mcpServers": servers}
    more = list(directories)
    if more:
        params["additionalDirectories"] = more
    return params


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
