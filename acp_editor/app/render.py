"""State as the shapes of the editor protocol. Pure, apart from asking where open documents are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from acp_editor.app.snapshot import MAX_TEXT, Rows
from acp_editor.core import model, places, safe
from acp_editor.core.session import Session
from acp_editor.lsp import messages, uris


def tool_call(call: model.ToolCall, locations: list[messages.Location]) -> messages.ToolCall:
    cutter = Cutter()
    rendered: messages.ToolCall = {
        "toolCallId": call.tool_call_id,
        "name": words(call.name),
        "title": words(cutter.cut(call.title)),
        "kind": words(call.kind),
        "status": words(call.status),
        "active": call.active,
        "locations": locations,
        "content": [cutter.cut(item) for item in call.content],
        "rawInput": cutter.cut(call.raw_input),
        "rawOutput": cutter.cut(call.raw_output),
        "meta": cutter.cut(dict(call.meta)),
        "cancellable": call.cancellable,
    }
    if cutter.did or call.truncated:
        rendered["truncated"] = True
    return rendered


def location(place: places.Place, uri: str, line_length: int | None) -> messages.Location:
    """`line_length` in the negotiated encoding's units, None where the text is not known."""
    range_: messages.Range | None = None
    if place.line is not None:
        range_ = line_range(place.line, line_length or 0)
    return {"uri": uri, "range": range_, "inferred": place.inferred}


def line_range(line: int, length: int) -> messages.Range:
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": length}}


def message(item: model.Message) -> messages.Message:
    cutter = Cutter(newest=True)
    rendered: messages.Message = {
        "role": item.role,
        "messageId": item.message_id,
        "text": cutter.cut(item.text),
        "content": [cutter.cut(block) for block in item.content],
    }
    if cutter.did or item.truncated:
        rendered["truncated"] = True
    return rendered


def plan(entries: Iterable[model.PlanEntry]) -> list[messages.PlanEntry]:
    return [
        {"content": words(e.content), "priority": words(e.priority), "status": words(e.status)}
        for e in entries
    ]


def commands(items: Iterable[model.Command]) -> list[messages.Command]:
    return [
        {"name": words(c.name), "description": words(c.description), "hint": words(c.hint)} for c in items
    ]


def usage(value: model.UsageUpdate | None) -> messages.Usage | None:
    return None if value is None else {"used": value.used, "size": value.size, "cost": value.cost}


def terminal(item: model.Terminal) -> messages.Terminal:
    text = item.output.decode("utf-8", "replace")
    truncated = item.truncated or len(text) > MAX_TEXT
    size: dict[str, Any] = item.size or {}
    cols, rows = size.get("cols"), size.get("rows")
    rendered: messages.Terminal = {
        "terminalId": item.terminal_id,
        "owner": item.owner,
        "command": words(item.command),
        "cwd": words(item.cwd),
        "output": text[-MAX_TEXT:],
        "exitStatus": None
        if item.exit_status is None
        else {"exitCode": item.exit_status.exit_code, "signal": item.exit_status.signal},
        "size": {"cols": cols, "rows": rows} if isinstance(cols, int) and isinstance(rows, int) else None,
        "cancellable": item.cancellable,
    }
    if truncated:
        rendered["truncated"] = True
    return rendered


def session(
    item: Session,
    state: str,
    told: Rows,
    calls: list[messages.ToolCall],
    options: list[messages.ConfigOption],
    queued: int,
) -> messages.Session:
    """What is told of a session: `told` of what the agent said, `calls` are its calls as rendered."""
    rendered: messages.Session = {
        "sessionId": item.session_id,
        "agent": item.agent,
        "cwd": uris.from_path(item.cwd),
        "title": words(item.title),
        "state": state,  # type: ignore[typeddict-item]
        "stopReason": words(item.stop_reason),
        "toolCalls": calls,
        "messages": [message(m) for m in told.messages],
        "plan": plan(told.plan),
        "terminals": [terminal(t) for t in told.terminals],
        "commands": commands(told.commands),
        "config": options,
        "usage": usage(item.usage),
        "notices": [
            {"severity": n.severity, "title": words(n.title), "description": words(n.description)}
            for n in told.notices
        ],
        "queued": queued,
    }
    if item.left_out or told.truncated:
        rendered["truncated"] = True
    return rendered


def auth_methods(methods: Sequence[model.AuthMethod]) -> list[messages.AuthMethod]:
    return [
        {"id": m.method_id, "name": words(m.name), "description": words(m.description), "kind": m.kind}
        for m in methods
    ]


@overload
def words(text: str) -> str: ...
@overload
def words(text: str | None) -> str | None: ...
def words(text: str | None) -> str | None:
    """An agent's words that a client shows as they are: nothing invisible, no direction turned."""
    return None if text is None else safe.visible(text[:MAX_TEXT])


def abilities(can: model.Capabilities) -> list[str]:
    named = {
        "load": can.load,
        "resume": can.resume,
        "list": can.list,
        "close": can.close,
        "delete": can.delete,
        "fork": can.fork,
        "logout": can.logout,
        "image": can.image,
        "audio": can.audio,
        "embeddedContext": can.embedded_context,
    }
    return [name for name, offered in named.items() if offered]


class Cutter:
    """Copies JSON with long strings cut; `did` says whether any was.

    With `newest` it is their end that stays: of what grows, that is what the person reads.
    """

    def __init__(self, limit: int = MAX_TEXT, *, newest: bool = False) -> None:
        self._limit = limit
        self._newest = newest
        self.did = False

    def cut(self, value: Any, depth: int = 0) -> Any:
        match value:
            case str():
                if len(value) > self._limit:
                    self.did = True
                    return value[-self._limit :] if self._newest else value[: self._limit]
                return value
            case dict():
                if depth > 60:
                    self.did = True
                    return {}
                return {key: self.cut(item, depth + 1) for key, item in value.items()}  # pyright: ignore
            case list() | tuple():
                if depth > 60:
                    self.did = True
                    return []
                return [self.cut(item, depth + 1) for item in value]  # pyright: ignore
            case _:
                return value
