"""What of all sessions a snapshot has room for: an editor that asks for the state has its answer soon.

Of each session the newest, and all of those that hold little: the room that they leave is for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from acp_editor.core import limits
from acp_editor.core.calls import bare
from acp_editor.core.model import Command, Json, Message, Notice, PlanEntry, Terminal, ToolCall, is_object
from acp_editor.core.session import Session

ROOM: Final = 2_500_000
"""About the characters of a snapshot; what is told of each row beside its text counts, too."""

MAX_TEXT: Final = 200_000
"""Characters of one text in a snapshot or notification; more is cut, with `truncated` beside it."""

_ROW: Final = 400
"""Characters that a row takes without its words: names of fields, places, marks."""

_RENDERED: Final = 3
"""Times what a row takes as a value that it takes as it is told."""
_OWN_OPTIONS: Final = 20_000
"""Characters of the options that are settings of ours; they stand in the same list as the session's."""
_FEW: Final = 200
"""Rows of a session that are counted one by one."""

R = TypeVar("R")


class Share(NamedTuple):
    """The room that one session has."""

    calls: int
    messages: int
    terminals: int
    lists: int
    """Plan, commands, options, notices: for each of them."""


class Rows(NamedTuple):
    """What is told of a session, in its order; the second of a call says whether it is whole."""

    calls: list[tuple[ToolCall, bool]]
    messages: list[Message]
    terminals: list[Terminal]
    plan: Sequence[PlanEntry]
    commands: Sequence[Command]
    notices: Sequence[Notice]
    truncated: bool
    """Some rows are left out."""


def shares(sessions: Iterable[Session], room: int = ROOM) -> list[Share]:
    """Room for each of the sessions: nobody gets more than it needs, and nobody less for another's sake."""
    wanted = [part for session in sessions for part in _wanted(session)]
    left, found = room, [0] * len(wanted)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for place, index in enumerate(order):
        found[index] = min(wanted[index], left // (len(order) - place))
        left -= found[index]
    return [Share(*found[at : at + 4]) for at in range(0, len(found), 4)]


def rows(session: Session, share: Share) -> Rows:
    """The newest of a session that there is room for."""
    plan, commands = first(session.plan, share.lists), first(session.commands, share.lists)
    notices = first(tuple(session.notices), share.lists)
    whole = session.tool_calls.values(), session.messages, session.terminals.values()
    calls, messages = _calls(whole[0], share.calls), _newest(whole[1], share.messages)
    terminals = _newest(whole[2], share.terminals)
    told = [len(part) for part in (calls, messages, terminals, plan, commands, notices)]
    there = [len(part) for part in (*whole, session.plan, session.commands, session.notices)]
    truncated = told != there
    return Rows(calls, messages, terminals, plan, commands, notices, truncated)


def first(items: Sequence[R], room: int) -> Sequence[R]:
    """The first rows of a list that there is room for."""
    if limits.weight(items, room) <= room:
        return items
    for end, item in enumerate(items):
        room -= limits.weight(item)
        if room < 0:
            return items[:end]
    return items


def _wanted(session: Session) -> Share:
    sizes = session.sizes
    lists = limits.weight((session.plan, session.commands, session.config, list(session.notices)), ROOM // 8)
    if sum(count for count, _ in sizes) <= _FEW:
        items = (session.tool_calls.values(), session.messages, session.terminals.values())
        calls, messages, terminals = (sum(map(_length, each)) for each in items)
    else:
        calls, messages, terminals = (2 * size + _ROW * count for count, size in sizes)
    return Share(calls, messages, terminals, _RENDERED * lists + _OWN_OPTIONS)


def _calls(calls: Collection[ToolCall], room: int) -> list[tuple[ToolCall, bool]]:
    """All whole where there is room; else the newest, and those before them without what they are about."""
    newest = list(calls)[::-1]
    lengths: list[int] = []
    within = 0
    for call in newest:
        lengths.append(_length(call))
        within += lengths[-1]
        if within > room:
            break
    else:
        return [(call, True) for call in calls]
    found: list[tuple[ToolCall, bool]] = []
    for_bare = room // 3
    for call, length in zip(newest, lengths, strict=False):
        if found and length > room - for_bare:
            break
        found.append((call, True))
        room -= length
    for call in map(bare, newest[len(found) :]):
        room -= _ROW + len(call.title or "") + len(call.name or "")
        if room < 0:
            break
        found.append((call, False))
    return found[::-1]


Kept = TypeVar("Kept", Message, Terminal)


def _newest(items: Collection[Kept], room: int) -> list[Kept]:
    """The newest of them, in their order, that there is room for; one at the least."""
    found: list[Kept] = []
    for item in reversed(list(items)):
        room -= _length(item)
        if room < 0 and found:
            break
        found.append(item)
    return found[::-1]


def _length(item: ToolCall | Message | Terminal) -> int:
    """About how long it is when it is rendered, each text cut to its limit."""
    most = 3 * MAX_TEXT
    match item:
        case ToolCall():
            words = (item.content, item.raw_input, item.raw_output, item.name, item.title, dict(item.meta))
            return _ROW + min(limits.weight(words, most), most) + _ROW * len(item.locations[:10])
        case Message():
            return _ROW + min(2 * sum(map(_said, item.content)), most)
        case Terminal():
            return _ROW + min(len(item.output), MAX_TEXT)


def _said(block: Json) -> int:
    text = block.get("text") if is_object(block) else None
    return len(text) if isinstance(text, str) else limits.weight(block)
