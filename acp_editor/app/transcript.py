"""A session as a Markdown document that grows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from acp_editor.core import safe
from acp_editor.core.model import CompactionUpdate, Fork, Message, ToolCall, is_object
from acp_editor.core.session import Session

SCHEME: Final = "acp-session"
_MAX_OUTPUT: Final = 4000
"""Characters of one tool's input or output."""
_MAX_LENGTH: Final = 1_000_000
"""Characters of a document: it is made and sent whole, again and again while it grows."""
_Rendered: TypeAlias = dict[int, tuple[Message | ToolCall, str]]
_STATUS: Final = {"completed": "✓", "failed": "✗", "cancelled": "⊘", "in_progress": "…", "pending": "…"}


def uri(session: str) -> str:
    return f"{SCHEME}:/{quote(session, safe='')}.md"


def session_of(address: str) -> str | None:
    """The session whose document that is."""
    parts = urlsplit(address)
    if parts.scheme != SCHEME:
        return None
    return unquote(parts.path.removeprefix("/").removesuffix(".md"))


class Transcript:
    """The document of one session; what did not change since the last look is not rendered again."""

    def __init__(self, scrub: Callable[[str], str] = lambda text: text) -> None:
        self._scrub = scrub
        self._rendered: _Rendered = {}
        """By the identity of the item, which is kept; items are values, so the same one is the same text."""

    def markdown(self, session: Session, agent: str) -> str:
        """Messages and tool calls in the order in which they began."""
        parts = [f"# {safe.markdown(session.title or 'Session')}", f"*{safe.markdown(agent)}*"]
        if session.plan:
            parts.append("\n".join(_plan_line(e.content, e.status) for e in session.plan))
        parts = [self._scrub(part) for part in parts]
        known, self._rendered = self._rendered, {}
        own, too_many = self._newest(session.own_items, known, _MAX_LENGTH)
        left_out = session.left_out + too_many
        if session.fork is not None:
            room = _MAX_LENGTH - sum(map(len, own)) if not too_many else 0
            before, too_many = self._newest(session.fork.items, known, room)
            left_out += too_many
            own = [*before, self._scrub(_forked(session.fork)), *own]
        if left_out:
            parts.append(f"*{left_out} earlier messages and tool calls are left out.*")
        parts += own
        parts += [self._scrub(_compaction(each)) for each in session.compactions.values()]
        if session.stop_reason not in (None, "end_turn"):
            parts.append(f"*The turn ended: {safe.markdown(session.stop_reason or '')}.*")
        return "\n\n".join(parts) + "\n"

    def _newest(
        self, items: Sequence[Message | ToolCall], known: _Rendered, room: int
    ) -> tuple[list[str], int]:
        """Their texts in order, as far as there is room for, and how many there was none for."""
        found: list[str] = []
        for number, item in enumerate(reversed(items)):
            if room <= 0:
                return found[::-1], len(items) - number
            piece = known.get(id(item)) or (item, self._piece(item))
            self._rendered[id(item)] = piece
            if piece[1]:
                found.append(piece[1])
                room -= len(piece[1])
        return found[::-1], 0

    def _piece(self, item: Message | ToolCall) -> str:
        return self._scrub(_message(item) if isinstance(item, Message) else _call(item))


def _forked(fork: Fork) -> str:
    """The line between what was taken over and the fork's own."""
    name = f"“{safe.markdown(fork.title)}”" if fork.title else "another session"
    said = "What is above was said before." if fork.items else "What was said there is not known here."
    return f"---\n\n*Forked from {name}. {said}*"


def _compaction(update: CompactionUpdate) -> str:
    head = f"*The agent sums up what was said before ({safe.markdown(update.status)}).*"
    blocks = update.summary if isinstance(update.summary, tuple) else ()
    texts = [block["text"] for block in blocks if is_object(block) and isinstance(block.get("text"), str)]
    return "\n\n".join([head, safe.prose("".join(texts))]) if texts else head


def _plan_line(content: str, status: str) -> str:
    return f"- [{'x' if status == 'completed' else ' '}] {safe.markdown(content)}"


def _message(message: Message) -> str:
    text = message.text.strip()
    if not text:
        return ""
    if message.truncated:
        text = "…" + text
    if message.role == "user":
        return "## You\n\n" + safe.prose(text)
    if message.role == "thought":
        return "\n".join("> " + line for line in safe.prose(text).split("\n"))
    return safe.prose(text)


def _call(call: ToolCall) -> str:
    mark = _STATUS.get(call.status or "", "•")
    head = f"**{mark} {safe.markdown(call.title or call.name or call.kind)}** ({safe.markdown(call.kind)})"
    bodies: list[str] = []
    if call.raw_input not in (None, {}, ""):
        shown = (
            call.raw_input
            if isinstance(call.raw_input, str)
            else json.dumps(call.raw_input, indent=1, ensure_ascii=False)
        )
        bodies.append(safe.fenced(shown, limit=_MAX_OUTPUT))
    for item in call.content:
        inner = item.get("content") if is_object(item) else None
        text = inner.get("text") if is_object(inner) else None
        if isinstance(text, str) and text.strip():
            bodies.append(safe.fenced(text, limit=_MAX_OUTPUT))
    return "\n\n".join([head, *bodies])
