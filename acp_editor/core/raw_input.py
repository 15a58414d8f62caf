"""What a tool's own input says of files, lines and edits, read by the names that tools commonly use.

Only a guess where the agent says nothing better: every agent names its tools' arguments as it likes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from .model import Json, ToolCall, is_array, is_object

_PATHS = (
    "file_path",
    "filePath",
    "filepath",
    "abs_path",
    "absPath",
    "absolute_path",
    "absolutePath",
    "target_file",
    "targetFile",
    "notebook_path",
    "notebookPath",
    "relative_path",
    "relativePath",
    "path",
    "filename",
    "fileName",
    "file",
    "uri",
)
_LINES = (
    "line",
    "line_number",
    "lineNumber",
    "start_line",
    "startLine",
    "line_start",
    "lineStart",
    "insert_line",
    "offset",
)
_RANGES = ("view_range", "viewRange", "line_range", "lineRange")
_OLD = ("old_string", "oldString", "old_str", "oldStr", "old_text", "oldText", "old")
_NEW = ("new_string", "newString", "new_str", "newStr", "new_text", "newText", "new")
_WHOLE = ("content", "contents", "file_text", "fileText")
_PATCHES = ("patch", "diff", "input", "patch_text", "patchText", "unified_diff", "unifiedDiff")
_EVERYWHERE = ("replace_all", "replaceAll")
_PATCH_SIGNS = (
    "*** Begin Patch",
    "*** Update File:",
    "*** Add File:",
    "*** Delete File:",
    "diff --git ",
    "@@ ",
)
_MAX_EDITS = 200
_MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class Replacement:
    """A piece of text to be replaced; `new` is None while it has not come yet."""

    old: str
    new: str | None
    everywhere: bool = False


def input_of(call: ToolCall) -> Json:
    """The input; where the agent sends none, the JSON that some show as text while the call runs."""
    if call.raw_input is not None or not call.active:
        return call.raw_input
    match call.content:
        case ({"type": "content", "content": {"type": "text", "text": str(text)}},):
            if len(text) > _MAX_TEXT or not (text.startswith("{") and text.endswith("}")):
                return None
        case _:
            return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def path_in(raw: Json) -> str | None:
    """The file that the input names."""
    return _text(raw, _PATHS) or None


def line_in(raw: Json) -> int | None:
    """The line that the input names, as it counts it (mostly from 1)."""
    if not isinstance(raw, Mapping):
        return None
    fields = cast("Mapping[str, Json]", raw)
    for key in _LINES:
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    for key in _RANGES:
        match fields.get(key):
            case [int(first), *_]:
                return first
            case _:
                continue
    return None


def replacements_in(raw: Json) -> tuple[Replacement, ...]:
    """The pieces of text that the input wants replaced, one or a list of `edits`."""
    return tuple(_replacements(raw))


def whole_text_in(raw: Json) -> str | None:
    """What the input wants a file to hold."""
    return _text(raw, _WHOLE)


def patch_in(raw: Json) -> str | None:
    """A patch in the input, of any kind that `patches.parse_patch` reads."""
    text = raw if isinstance(raw, str) else _text(raw, _PATCHES)
    if text is None and isinstance(raw, Mapping):
        # A command of one word with the patch behind it: ["apply_patch", "*** Begin Patch…"].
        match cast("Mapping[str, Json]", raw).get("command"):
            case [str(), str(argument)]:
                text = argument
            case _:
                return None
    return text if text and any(sign in text for sign in _PATCH_SIGNS) else None


def _replacements(raw: Json) -> Iterator[Replacement]:
    if not isinstance(raw, Mapping):
        return
    fields = cast("Mapping[str, Json]", raw)
    old = _text(fields, _OLD)
    if old:
        yield Replacement(old, _text(fields, _NEW), any(fields.get(key) is True for key in _EVERYWHERE))
    for key in ("edits", "edit"):
        inner = fields.get(key)
        edits = inner if is_array(inner) else [inner]
        for edit in edits[:_MAX_EDITS]:
            if is_object(edit) and not {"edits", "edit"} & edit.keys():
                yield from _replacements(edit)


def _text(raw: Json, keys: tuple[str, ...]) -> str | None:
    if not isinstance(raw, Mapping):
        return None
    fields = cast("Mapping[str, Json]", raw)
    return next((value for key in keys if isinstance(value := fields.get(key), str)), None)
