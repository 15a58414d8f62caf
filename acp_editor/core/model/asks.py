"""What an agent asks the person: permissions and questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from acp_editor.core.model.calls import ToolCallUpsert
from acp_editor.core.model.values import Json


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """`kind` is allow_once, allow_always, reject_once, reject_always or the agent's own word."""

    option_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A request to allow something, from either version; as an update, what it says of its call.

    `tool_call` is the patch that came with it (to be applied to the session before it is shown), None
    where the subject is a command, unknown or nothing. `title` is None in version 1.
    """

    session_id: str
    options: tuple[PermissionOption, ...]
    title: str | None = None
    description: str | None = None
    tool_call: ToolCallUpsert | None = None
    command: str | None = None
    cwd: str | None = None
    terminal_id: str | None = None
    tool_call_id: str | None = None
    subject: Json = None


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A question to the person: a form (`schema`, JSON Schema of flat properties) or a `url`."""

    message: str
    mode: Literal["form", "url"]
    schema: Json = None
    url: str | None = None
    elicitation_id: str | None = None
    session_id: str | None = None
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Json] | None = None
