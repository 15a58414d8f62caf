"""What is said where a tool call left its mark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from .model import FINAL_STATUSES, Json, ToolCall
from .safe import cut, fenced, markdown

_TITLE_LIMIT = 300
_INPUT_LIMIT = 600
_VALUE_LIMIT = 200
_MAX_LINES = 14


def hover(call: ToolCall) -> str:
    """Markdown that tells what the agent does or did: title, kind, status and, shortened, its input."""
    title = call.title or call.name or call.kind
    status = call.status or ""
    if not call.active and status not in FINAL_STATUSES:
        status = f"{status}, left unfinished".removeprefix(", ")
    about = " · ".join(markdown(word, 60) for word in (call.kind, status.replace("_", " ")) if word)
    parts = [f"**{markdown(title.strip(), _TITLE_LIMIT).replace(chr(10), ' ')}**", about]
    if shown := _shown_input(call.raw_input):
        parts.append(shown)
    return "\n\n".join(parts)


def alike(one: ToolCall, other: ToolCall) -> bool:
    """Whether their marks say the same; false also where only a close look could tell."""
    return (
        one.raw_input is other.raw_input
        and one.title == other.title
        and one.status == other.status
        and one.ended == other.ended
        and one.replayed == other.replayed
        and one.kind == other.kind
        and one.name == other.name
    )


def _shown_input(raw: Json) -> str | None:
    """The input as a code block: a lone command as it is, anything else as JSON with long texts cut."""
    if raw in (None, "", {}, []):
        return None
    if isinstance(raw, str):
        return fenced(_few_lines(raw), limit=_INPUT_LIMIT)
    if isinstance(raw, Mapping):
        command = cast("Mapping[str, Json]", raw).get("command")
        if isinstance(command, str) and command.strip():
            return fenced(_few_lines(command), "sh", _INPUT_LIMIT)
    text = json.dumps(_shortened(raw, 3), indent=2, ensure_ascii=False, default=str)
    return fenced(_few_lines(text), "json", _INPUT_LIMIT)


def _few_lines(text: str) -> str:
    lines = text.strip("\r\n").split("\n", _MAX_LINES)
    return text.strip("\r\n") if len(lines) <= _MAX_LINES else "\n".join([*lines[:_MAX_LINES], "…"])


def _shortened(value: Json, depth: int) -> Json:
    match value:
        case str():
            return cut(value, _VALUE_LIMIT)
        case dict() | list() if depth == 0:
            return "…"
        case dict():
            items = list(cast("dict[str, Json]", value).items())[:_MAX_LINES]
            return {cut(str(key), 60): _shortened(item, depth - 1) for key, item in items}
        case list():
            return [_shortened(item, depth - 1) for item in cast("list[Json]", value)[:_MAX_LINES]]
        case _:
            return value
