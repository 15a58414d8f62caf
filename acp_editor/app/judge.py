"""Who may do what, connected: each request goes through the policy before the person is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acp_editor.app.sessions import Entry
from acp_editor.core.model import Json, PermissionRequest, ToolCall, is_object
from acp_editor.lsp import messages
from acp_editor.settings import Settings

if TYPE_CHECKING:
    from acp_editor.app.app import App


@dataclass(frozen=True, slots=True)
class Decision:
    """An option to answer with, or None: the person is asked. `reason` says what decided."""

    option_id: str | None
    reason: str = ""


class Judge:
    def __init__(self, app: App) -> None:
        self._app = app

    def configure(self, settings: Settings) -> None: ...

    def decide(self, entry: Entry, request: PermissionRequest, call_id: str | None) -> Decision:
        return Decision(None)

    def refuses_write(self, entry: Entry, path: str) -> str | None:
        return None

    def refuses_command(self, entry: Entry, command: str, args: Sequence[str]) -> str | None:
        return None

    def command_of(self, call: ToolCall) -> str | None:
        raw = call.raw_input
        command = raw.get("command") if is_object(raw) else None
        return command if isinstance(command, str) else None

    def verdict(
        self, tool: str, kind: str | None, raw_input: Json, command: str | None, files: tuple[str, ...]
    ) -> messages.Verdict:
        return {"decision": "ask", "reason": "no rule matches"}
