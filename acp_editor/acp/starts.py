"""Answers to `session/new` and its like, as both versions have them."""

from __future__ import annotations

from collections.abc import Callable

from acp_editor.acp.lenient import Faults, read_items
from acp_editor.acp.wire import Unreadable
from acp_editor.core.model import ConfigOption, Json, is_object


def started_id(raw: Json, session_id: str | None) -> str:
    """The session that an answer is about; raises Unreadable if it is new and has no name."""
    given: Json = raw.get("sessionId") if is_object(raw) else None
    if isinstance(given, str):
        return given
    if session_id is None:
        raise Unreadable("The answer to session/new lacks `sessionId`, which must be a string")
    return session_id


def options_of(
    raw: Json, read_option: Callable[[Json, str, Faults], ConfigOption | None], faults: Faults
) -> tuple[ConfigOption, ...] | None:
    """The whole list of options in an answer, None where it has none."""
    options: Json = raw.get("configOptions") if is_object(raw) else None
    if options is None:
        return None
    return read_items(options, "configOptions", "An answer", faults, read_option)
