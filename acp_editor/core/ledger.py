"""Review of one file: what it was, what it is, and the unanswered hunks between the two.

Pure: the difference is a function that is given. Texts are bytes, lines end after `\\n`, spans count
lines from 0 and leave their end out. Outside its hunks the base and the current text are the same
lines, and every operation keeps it so: keep and undo need no new difference, and cannot move a hunk
that they are not about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def moved(self, by: int) -> Span:
        return Span(self.start + by, self.end + by) if by else self


@dataclass(frozen=True, slots=True)
class Change:
    """Where one text has the lines `old`, the other one has `new`."""

    old: Span
    new: Span

    @property
    def growth(self) -> int:
        return len(self.new) - len(self.old)

    def moved(self, old: int, new: int) -> Change:
        return Change(self.old.moved(old), self.new.moved(new))


Diff: TypeAlias = Callable[[bytes, bytes], Sequence[Change]]
"""The changes from one text to another, in order, with lines that are the same between them."""

NewId: TypeAlias = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Hunk:
    """One unanswered change; `author` is the tool call that made it, where that is known."""

    hunk_id: str
    original: Span
    modified: Span
    author: str | None = None

    @property
    def growth(self) -> int:
        return len(self.modified) - len(self.original)

    def moved(self, original: int, modified: int) -> Hunk:
        if not original and not modified:
            return self
        return replace(self, original=self.original.moved(original), modified=self.modified.moved(modified))


@dataclass(frozen=True, slots=True)
class Ledger:
    """The base, the current text and the hunks from one to the other, in order."""

    base: bytes
    current: bytes
    hunks: tuple[Hunk, ...] = ()


def lines(text: bytes) -> list[bytes]:
    """The lines with their ends. Unlike with `bytes.splitlines`, a lone carriage return ends none."""
    parts = text.split(b"\n")
    rest = parts.pop()
    found = [part + b"\n" for part in parts]
    if rest:
        found.append(rest)
    return found


def opened(base: bytes, current: bytes, diff: Diff, new_id: NewId, author: str | None = None) -> Ledger:
    """A file of which every difference from the base is unanswered."""
    found = tuple(Hunk(new_id(), change.old, change.new, author) for change in diff(base, current))
    return Ledger(base, current, found)


def agent_changed(
    ledger: Ledger, current: bytes, diff: Diff, new_id: NewId, author: str | None = None
) -> Ledger:
    """The agent made the text `current`: whatever differs from the base is unanswered.

    A hunk whose text is as it was keeps its id and its author.
    """
    if current == ledger.current:
        return ledger
    return refined(ledger, Ledger(ledger.base, current), diff, new_id, author)


def refined(before: Ledger, now: Ledger, diff: Diff, new_id: NewId, author: str | None = None) -> Ledger:
    """`now` compared anew; a hunk that `before` has too keeps its id and its author."""
    return _carried(before, opened(now.base, now.current, diff, new_id, author))


def _carried(before: Ledger, after: Ledger) -> Ledger:
    """`after` with the ids and authors of those hunks that `before` has with the same text."""
    if not before.hunks:
        return after

    def by_text(ledger: Ledger) -> Iterator[tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], Hunk]]:
        base, current = lines(ledger.base), lines(ledger.current)
        for hunk in ledger.hunks:
            original = tuple(base[hunk.original.start : hunk.original.end])
            yield (original, tuple(current[hunk.modified.start : hunk.modified.end])), hunk

    known: dict[object, list[Hunk]] = {}
    for text, hunk in by_text(before):
        known.setdefault(text, []).append(hunk)
    found: list[Hunk] = []
    for text, hunk in by_text(after):
        if same := known.get(text):
            at = hunk.original.start
            nearest = min(same, key=lambda old, at=at: abs(old.original.start - at))
            same.remove(nearest)
            hunk = replace(hunk, hunk_id=nearest.hunk_id, author=nearest.author)
        found.append(hunk)
    return replace(after, hunks=tuple(found))


# -- the person's own edits --------------------------------------------------------------------


@dataclass(slots=True)
class _Cluster:
    """Edits and hunks that touch each other, and the lines of the current text that they span."""

    span: Span
    hunks: list[Hunk] = field(default_factory=list[Hunk])
    edits: list[Change] = field(default_factory=list[Change])


def person_changed(ledger: Ledger, current: bytes, diff: Diff, new_id: NewId) -> Ledger:
    """The person made the text `current`: that is theirs, so the base gets it too.

    Where it touches a hunk, the hunk stays, with what is there now against the base.
    """
    if current == ledger.current:
        return ledger
    if not ledger.hunks:
        return Ledger(current, current)
    edits = list(_line_by_line(trimmed(diff, ledger.current, current)))
    base, after = lines(ledger.base), lines(current)
    folded: list[bytes] = []
    hunks: list[Hunk] = []
    taken = 0  # lines of the old base that are in `folded`
    to_base = to_after = 0  # from a line of the old current text to that of the old base, of the new text
    for cluster in _clusters(ledger, edits, base, after):
        old = Span(cluster.span.start + to_base, cluster.span.end + to_base)
        old = Span(old.start, old.end - sum(hunk.growth for hunk in cluster.hunks))
        new = Span(cluster.span.start + to_after, cluster.span.end + to_after)
        new = Span(new.start, new.end + sum(edit.growth for edit in cluster.edits))
        folded += base[taken : old.start]
        at = len(folded)
        if not cluster.hunks:
            folded += after[new.start : new.end]
        else:
            folded += base[old.start : old.end]
            if cluster.edits:
                before, now = b"".join(base[old.start : old.end]), b"".join(after[new.start : new.end])
                author = cluster.hunks[0].author
                for change in diff(before, now):
                    here = change.moved(at, new.start)
                    hunks.append(Hunk(new_id(), here.old, here.new, author))
            else:
                hunks += [hunk.moved(at - old.start, to_after) for hunk in cluster.hunks]
        taken = old.end
        to_base -= sum(hunk.growth for hunk in cluster.hunks)
        to_after += sum(edit.growth for edit in cluster.edits)
    folded += base[taken:]
    return Ledger(b"".join(folded), current, tuple(hunks))


def _clusters(
    ledger: Ledger, edits: Iterable[Change], base: Sequence[bytes], after: Sequence[bytes]
) -> Iterator[_Cluster]:
    items: list[Hunk | Change] = [*ledger.hunks, *edits]
    items.sort(key=lambda item: _place(item))
    cluster: _Cluster | None = None
    for item in items:
        span = item.modified if isinstance(item, Hunk) else item.old
        if cluster is None or not _touches(cluster, item, base, after):
            if cluster is not None:
                yield cluster
            cluster = _Cluster(span)
        cluster.span = Span(cluster.span.start, max(cluster.span.end, span.end))
        if isinstance(item, Hunk):
            cluster.hunks.append(item)
        else:
            cluster.edits.append(item)
    if cluster is not None:
        yield cluster


def _place(item: Hunk | Change) -> tuple[int, int, int]:
    """Their order: what is inserted at the first line of a hunk comes before it."""
    span = item.modified if isinstance(item, Hunk) else item.old
    return span.start, span.end, isinstance(item, Hunk)


def _touches(cluster: _Cluster, item: Hunk | Change, base: Sequence[bytes], after: Sequence[bytes]) -> bool:
    """Whether an item, which starts no earlier, belongs with a cluster.

    Edits do not touch edits, nor hunks hunks, by themselves. A hunk of removed lines is touched by what
    is inserted where they were. Where a last line has no end, what comes next to it touches it: else two
    lines would become one.
    """
    if isinstance(item, Hunk):
        span, others = item.modified, cluster.edits
    else:
        span, others = item.old, cluster.hunks
    if span.start < cluster.span.end:
        return True
    if span.start > cluster.span.end or not others:
        return False
    if not len(span) and not len(cluster.span):
        return True
    hunk, edit = (item, cluster.edits[-1]) if isinstance(item, Hunk) else (cluster.hunks[-1], item)
    sides = (base[hunk.original.start : hunk.original.end], after[edit.new.start : edit.new.end])
    return any(side and not side[-1].endswith(b"\n") for side in sides)


def _line_by_line(changes: Iterable[Change]) -> Iterator[Change]:
    """Where as many lines come as go, each one is a change of its own: fewer of them touch a hunk."""
    for change in changes:
        if change.growth or len(change.old) < 2:
            yield change
            continue
        for at in range(len(change.old)):
            old, new = change.old.start + at, change.new.start + at
            yield Change(Span(old, old + 1), Span(new, new + 1))


def trimmed(diff: Diff, old: bytes, new: bytes) -> Sequence[Change]:
    """The changes, looked for only between what both texts begin and end with: typing is near free."""
    start = _common(old, new)
    start = old.rfind(b"\n", 0, start) + 1
    end = _common_end(old[start:], new[start:])
    if not (_starts_line(old, len(old) - end) and _starts_line(new, len(new) - end)):
        partial = old.find(b"\n", len(old) - end) + 1
        end = len(old) - partial if end and partial else 0
    before = old.count(b"\n", 0, start)
    found = diff(old[start : len(old) - end], new[start : len(new) - end])
    return [change.moved(before, before) for change in found]


def _starts_line(text: bytes, at: int) -> bool:
    return at == 0 or text[at - 1 : at] == b"\n"


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with; halving, so that the comparing is done by memcmp."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


# -- answers -----------------------------------------------------------------------------------


def kept(ledger: Ledger, hunk_ids: Collection[str] | None = None) -> Ledger:
    """The base with the text of these hunks, or of all."""
    if hunk_ids is None:
        return Ledger(ledger.current, ledger.current)
    base, current = lines(ledger.base), lines(ledger.current)
    out: list[bytes] = []
    rest: list[Hunk] = []
    taken = 0
    for hunk in ledger.hunks:
        out += base[taken : hunk.original.start]
        if hunk.hunk_id in hunk_ids:
            out += current[hunk.modified.start : hunk.modified.end]
        else:
            rest.append(hunk.moved(len(out) - hunk.original.start, 0))
            out += base[hunk.original.start : hunk.original.end]
        taken = hunk.original.end
    return Ledger(b"".join(out + base[taken:]), ledger.current, tuple(rest))


def undone(ledger: Ledger, hunk_ids: Collection[str] | None = None) -> Ledger:
    """The current text with the base's text for these hunks, or for all."""
    if hunk_ids is None:
        return Ledger(ledger.base, ledger.base)
    base, current = lines(ledger.base), lines(ledger.current)
    out: list[bytes] = []
    rest: list[Hunk] = []
    taken = 0
    for hunk in ledger.hunks:
        out += current[taken : hunk.modified.start]
        if hunk.hunk_id in hunk_ids:
            out += base[hunk.original.start : hunk.original.end]
        else:
            rest.append(hunk.moved(0, len(out) - hunk.modified.start))
            out += current[hunk.modified.start : hunk.modified.end]
        taken = hunk.modified.end
    return Ledger(ledger.base, b"".join(out + current[taken:]), tuple(rest))


def committed(ledger: Ledger, text: bytes, diff: Diff) -> Ledger:
    """Keeps the hunks that a commit contains: those where `text` has what the file has."""
    missing = [change.new for change in diff(text, ledger.current)]
    contained = [
        hunk.hunk_id for hunk in ledger.hunks if not any(_meet(hunk.modified, span) for span in missing)
    ]
    return kept(ledger, contained) if contained else ledger


def merged(ancestor: bytes, ours: bytes, theirs: bytes, diff: Diff) -> bytes | None:
    """Both sides' changes to what they come from; None where they changed the same lines differently."""
    changes = [(change, lines(ours)) for change in diff(ancestor, ours)]
    mine = [change.old for change, _ in changes]
    for change in diff(ancestor, theirs):
        if any(_meet(change.old, span) for span in mine):
            return ours if ours == theirs else None
        changes.append((change, lines(theirs)))
    changes.sort(key=lambda one: (one[0].old.start, one[0].old.end))
    source, out, taken = lines(ancestor), list[bytes](), 0
    for change, text in changes:
        out += source[taken : change.old.start]
        out += text[change.new.start : change.new.end]
        taken = change.old.end
    return b"".join(out + source[taken:])


def _meet(one: Span, other: Span) -> bool:
    """Whether two spans share a line, or an empty one lies in or at the edge of the other."""
    if one.start < other.end and other.start < one.end:
        return True
    return not (len(one) and len(other)) and one.start <= other.end and other.start <= one.end
