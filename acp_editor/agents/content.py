"""The content of tool calls and the rows of plans as each protocol version writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from acp_editor.agents.events import FileDiff, TerminalContent, TextContent, ToolContent
from acp_editor.agents.patch import git_patch
from acp_editor.core.model import Json, Location, PlanEntry

Version: TypeAlias = Literal[1, 2]


def content_items(content: Iterable[ToolContent], version: Version) -> list[Json]:
    """A call's content; version 1 has no deleted files, so that there the new text is empty."""
    return [_item(item, version) for item in content]


def _item(item: ToolContent, version: Version) -> Json:
    match item:
        case TextContent(text):
            return {"type": "content", "content": {"type": "text", "text": text}}
        case TerminalContent(terminal_id):
            return {"type": "terminal", "terminalId": terminal_id}
        case FileDiff(path, old, new) if version == 1:
            return {"type": "diff", "path": path, "oldText": old, "newText": new or ""}
        case FileDiff(path, old, new):
            operation = "add" if old is None else "delete" if new is None else "modify"
            return {
                "type": "diff",
                "changes": [{"operation": operation, "path": path, "fileType": "text"}],
                "patch": {"format": "git_patch", "text": git_patch(path, old, new)},
            }


def location_items(locations: Iterable[Location]) -> list[Json]:
    return [
        {"path": place.path} if place.line is None else {"path": place.path, "line": place.line}
        for place in locations
    ]


def plan_update(entries: Iterable[PlanEntry], plan_id: str, version: Version) -> Json:
    """The whole plan; version 1 knows one plan without an id."""
    rows = [
        {"content": entry.content, "priority": entry.priority, "status": entry.status} for entry in entries
    ]
    if version == 1:
        return {"sessionUpdate": "plan", "entries": rows}
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": plan_id, "entries": rows}}
