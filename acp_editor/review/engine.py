"""What changed since the checkpoint and whose it is. Synchronous, for one thread at a time.

Evidence, in this order: what the editor says of its buffers (typed, saved, ours), what the user's git
did, whether the agent was at work when the file changed, and a write that is only going on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pygit2

from acp_editor.core import ledger as book
from acp_editor.core.ledger import Hunk
from acp_editor.core.model import ToolCall
from acp_editor.review import files
from acp_editor.review.attribution import Witnesses
from acp_editor.review.checkpoint import Limits
from acp_editor.review.differ import Differ
from acp_editor.review.encoding import UTF8, Encoding, fit, guess
from acp_editor.review.files import ABSENT, Version
from acp_editor.review.history import History, Position
from acp_editor.review.tracked import State, Tracked, signature
from acp_editor.review.workspace import Workspace

log = logging.getLogger(__name__)

_SEEN = 8
_GOING_ON = 5.0
"""Seconds after a turn in which a write that was begun in it (a file emptied, say) may still end."""
_CLOCK = 0.02
"""Seconds that a file's time may be behind: the kernel stamps files with a coarser clock."""


@dataclass(frozen=True, slots=True)
class Clash:
    """An open document and its file both changed: `ancestor` is what both come from."""

    path: str
    ancestor: bytes


@dataclass(slots=True)
class Turns:
    """When the agent may write; times in seconds of the system's clock."""

    running: int = 0
    number: int = 0
    started: float = 0.0
    ended: float = 0.0

    def covers(self, moment: float) -> bool:
        return self.started - _CLOCK <= moment and (self.running > 0 or moment <= self.ended)


@dataclass(slots=True)
class Moved:
    """What the user's git did since the last look, a repository each."""

    positions: dict[str, tuple[Position, Position]] = field(
        default_factory=dict[str, tuple[Position, Position]]
    )


class Engine:
    """Every path is absolute. `texts` are the open documents, as far as the caller told."""

    def __init__(self, roots: Sequence[str], cache: Path, limits: Limits) -> None:
        self.workspace = Workspace(roots, cache, limits)
        self.tracked: dict[str, Tracked] = {}
        self.encodings: dict[str, Encoding] = {}
        """Of the open documents."""
        self.turns = Turns()
        self.witnesses = Witnesses()
        self.differ = Differ()
        self.clashes: dict[str, Clash] = {}
        self.lagging: set[str] = set()
        """Open documents whose text is neither what the file has nor made from it."""
        self.next_id = 1
        self._moved_from: dict[str, str] = {}
        self._writing: dict[str, str | None] = {}
        self._histories: dict[str, History] = {}
        self._strength: dict[str, int] = {}
        self._ready = False
        self._empty_folders: set[str] = set()

    def new_id(self) -> str:
        self.next_id += 1
        return f"h{self.next_id - 1}"

    def close(self) -> None:
        self.workspace.flush()
        self.differ.close()

    def restore(self, tracked: Tracked) -> None:
        """Takes up a file whose changes were left unanswered by an earlier process."""
        if tracked.current != tracked.disk:
            # Typed and never saved: the editor may bring it back, the disk is what there is.
            tracked.person(tracked.disk, self.differ, self.new_id)
        if tracked.pending:
            self.tracked[tracked.path] = tracked
            if tracked.old_path:
                self._moved_from[tracked.old_path] = tracked.path

    # -- looking -------------------------------------------------------------------------------

    def begin(self, cut_short: bool) -> None:
        """The first checkpoint: what there is belongs to the person.

        Except where a turn was `cut_short` by the end of an earlier process: then what changed since the
        checkpoint that it left is the agent's.
        """
        for checkpoint in self.workspace:
            self._histories.setdefault(checkpoint.root, History(checkpoint.root))
        self._ready = True
        if cut_short and not any(checkpoint.empty for checkpoint in self.workspace):
            self.turns = Turns(number=1, ended=time.time())
            self.look()
            return
        self.look(list(self.tracked))
        pending = {path: tracked for path, tracked in self.tracked.items() if tracked.pending}
        held = {path: tracked.base for path, tracked in pending.items() if not tracked.old_path}
        held |= {path: ABSENT for path, tracked in pending.items() if tracked.old_path}
        for tracked in pending.values():
            if tracked.old_path:
                held[tracked.old_path] = tracked.base
        self.workspace.refresh(held)
        self.survey(time.time())

    def turn_started(self, moment: float) -> None:
        if not self.turns.running:
            self.turns.number += 1
            self.turns.started = moment
        self.turns.running += 1

    def turn_ended(self, moment: float) -> None:
        self.turns.running = max(0, self.turns.running - 1)
        if not self.turns.running:
            self.turns.ended = moment
            self.witnesses.turn_over()

    def look(self, paths: Collection[str] | None = None) -> None:
        """Takes in what the disk has now, at these paths or everywhere."""
        if not self._ready:
            return
        moved = self._git()
        if paths is None or len(paths) > 500 or moved.positions:
            paths = {*self.workspace.compare(), *self.tracked, *(paths or ())}
        mine: list[str] = []
        for path in sorted(self.workspace.canonical(path) for path in paths):
            self._look_at(path, moved, mine)
        self._take(mine)
        for path in [path for path, tracked in self.tracked.items() if tracked.pending]:
            self._committed(path, moved)
        self._find_moves()
        self._tidy()
        self.workspace.flush()

    def _take(self, paths: Iterable[str]) -> None:
        """These are the person's: the disk is the base."""
        by_checkpoint: dict[str, list[str]] = {}
        for path in paths:
            if (owner := self.workspace.find(path)) is not None:
                by_checkpoint.setdefault(owner[0].root, []).append(owner[1])
        for checkpoint in self.workspace:
            checkpoint.take(by_checkpoint.get(checkpoint.root, []))

    def _look_at(self, path: str, moved: Moved, mine: list[str]) -> None:
        owner = self.workspace.find(path)
        if owner is None:
            return
        checkpoint, name = owner
        tracked = self.tracked.get(path)
        signed, now = signature(path), time.time_ns()
        if tracked is not None and tracked.unwritten(signed):
            return
        try:
            version = files.read(path)
        except OSError as error:
            checkpoint.left_out[name] = str(error)
            return
        if tracked is None:
            self._look_at_new(path, version, moved, mine)
            return
        tracked.signed, tracked.signed_at = signed, now
        if version == tracked.disk:
            return
        known = tracked.disk
        tracked.disk = version
        tracked.seen = [*tracked.seen, version.data or b""][-_SEEN:]
        if version == tracked.current:
            self._settle(tracked)
            return
        if not self._agents(path, known, version, moved, tracked):
            if path in self.encodings and known != tracked.current:
                return  # the person's own two hands; the editor asks which is to stay
            tracked.person(version, self.differ, self.new_id)
        elif path in self.encodings and known != tracked.current and not known.absent and not version.absent:
            self.clashes.setdefault(path, Clash(path, known.data or b""))
        else:
            if tracked.before is None and path in self.encodings:
                tracked.before = tracked.state
            self._agent_wrote(tracked, version)
        self._settle(tracked)

    def _look_at_new(self, path: str, version: Version, moved: Moved, mine: list[str]) -> None:
        found = self.workspace.find(path)
        assert found is not None
        checkpoint, name = found
        if path in self._moved_from:
            if version.absent:
                return
            self._part(path)
        base_id = checkpoint.base_id(name)
        if base_id is None and (version.absent or checkpoint.ignored(name)):
            return
        base = checkpoint.base(name)
        if base == version:
            return
        if not self._agents(path, base, version, moved, None):
            mine.append(path)
            return
        tracked = Tracked(path, base, base, version)
        tracked.signed, tracked.signed_at = signature(path), time.time_ns()
        tracked.seen = [version.data or b""]
        self.tracked[path] = tracked
        self._agent_wrote(tracked, version)
        self._settle(tracked)

    def _agents(self, path: str, old: Version, new: Version, moved: Moved, tracked: Tracked | None) -> bool:
        """Whether the agent made this of the file."""
        if path in self._writing:
            return True
        if self._root(path) in moved.positions and not self.witnesses.command_runs:
            history = self._history(path)
            if history is not None and history.has(path, new.data):
                return False
        if self.turns.covers(files.changed_at(path)):
            return self.turns.number > 0
        if tracked is not None and tracked.turn == self.turns.number and not new.absent:
            begun = not old.data or (new.data or b"").startswith(old.data)
            return begun and time.time() - self.turns.ended < _GOING_ON and old != tracked.base
        return False

    def _agent_wrote(self, tracked: Tracked, version: Version) -> None:
        tracked.turn = self.turns.number
        tracked.agent(version, self.differ, self.new_id, None)
        self._sign(tracked)

    def _sign(self, tracked: Tracked) -> None:
        """Gives hunks their authors, as far as the calls so far tell."""
        writer = self._writing.get(tracked.path)
        signed: list[Hunk] = []
        base = current = None
        for hunk in tracked.hunks:
            strength = self._strength.get(hunk.hunk_id, 0)
            if strength < 3:
                if base is None or current is None:
                    base, current = (
                        book.lines(tracked.base.data or b""),
                        book.lines(tracked.current.data or b""),
                    )
                found = self.witnesses.author(
                    tracked.path,
                    base[hunk.original.start : hunk.original.end],
                    current[hunk.modified.start : hunk.modified.end],
                )
                call_id, reached = found.call_id, found.strength
                if writer is not None:
                    call_id, reached = writer, 3
                if reached > strength:
                    hunk = replace(hunk, author=call_id)
                    self._strength[hunk.hunk_id] = reached
            signed.append(hunk)
        tracked.hunks = tuple(signed)

    def hear(self, call: ToolCall, cwd: str) -> None:
        """A tool call said something; what it says of files may tell whose a hunk is."""
        found = self.witnesses.hear(call, cwd)
        for path in found.paths:
            tracked = self.tracked.get(self.workspace.canonical(path))
            if tracked is not None and tracked.pending:
                self._sign(tracked)

    def _settle(self, tracked: Tracked) -> None:
        """Brings the checkpoint in line with a file that has changed; forgets one that is not open."""
        owner = self.workspace.find(tracked.path)
        if owner is None:
            return
        checkpoint, name = owner
        if tracked.pending:
            if not tracked.old_path and not self._has_base(tracked):
                checkpoint.set_base(name, tracked.base)
            return
        if tracked.disk == tracked.current:
            checkpoint.take([name])
        if tracked.path not in self.encodings:
            self.tracked.pop(tracked.path, None)
        self._part(tracked.path)

    def _has_base(self, tracked: Tracked) -> bool:
        owner = self.workspace.find(tracked.path)
        known = owner[0].base_id(owner[1]) if owner else None
        if known is None or tracked.base.data is None:
            return known is None and tracked.base.data is None
        return known == (str(pygit2.hash(tracked.base.data)), tracked.base.mode)

    # -- git -----------------------------------------------------------------------------------

    def _root(self, path: str) -> str | None:
        owner = self.workspace.find(path)
        return owner[0].root if owner else None

    def _history(self, path: str) -> History | None:
        root = self._root(path)
        if root is None:
            return None
        if root not in self._histories:
            self._histories[root] = History(root)
        return self._histories[root]

    def git_moved(self) -> bool:
        """Whether a repository's branch has moved since the last look."""
        return any(history.changed for history in self._histories.values())

    def _git(self) -> Moved:
        moved = Moved()
        for root, history in self._histories.items():
            if (positions := history.moved()) is not None:
                moved.positions[root] = positions
        return moved

    def _committed(self, path: str, moved: Moved) -> None:
        """What a commit contains is kept."""
        positions = moved.positions.get(self._root(path) or "")
        tracked, history = self.tracked[path], self._history(path)
        if positions is None or history is None or not positions[1].committed:
            return
        committed = history.committed(path)
        if tracked.current.absent:
            if committed is None:
                tracked.keep(None, self.new_id)
        elif history.has(path, tracked.current.data):
            tracked.keep(None, self.new_id)
        elif committed is not None:
            tracked.commit(committed, self.differ, self.new_id)
        self._settle(tracked)

    # -- moves ---------------------------------------------------------------------------------

    def _find_moves(self) -> None:
        gone = {
            p: t.base for p, t in self.tracked.items() if t.current.absent and t.pending and not t.old_path
        }
        come = {
            p: t.current
            for p, t in self.tracked.items()
            if t.base.absent and not t.current.absent and t.current.data
        }
        if not gone or not come:
            return
        checkpoint = next(iter(self.workspace))
        names = {f"g/{at}": path for at, path in enumerate(gone)} | {
            f"c/{at}": p for at, p in enumerate(come)
        }
        found = checkpoint.moves(
            {name: gone[path] for name, path in names.items() if name.startswith("g/")},
            {name: come[path] for name, path in names.items() if name.startswith("c/")},
        )
        for new_name, old_name in found.items():
            new, old = self.tracked[names[new_name]], names[old_name]
            new.begin_move(old, self.tracked[old].base, self.differ, self.new_id)
            self._sign(new)
            self._moved_from[old] = new.path
            if old not in self.encodings:
                del self.tracked[old]

    def _part(self, path: str) -> None:
        """A file is again where one was moved away from, or the moved one is answered: no move any more."""
        new = self._moved_from.pop(path, None)
        tracked = self.tracked.get(new) if new else None
        if tracked is not None and tracked.old_path == path:
            tracked.end_move(self.differ, self.new_id)
            self._settle(tracked)

    def _tidy(self) -> None:
        ids = {hunk.hunk_id for tracked in self.tracked.values() for hunk in tracked.hunks}
        self._strength = {name: strength for name, strength in self._strength.items() if name in ids}
        self._moved_from = {
            old: new
            for old, new in self._moved_from.items()
            if (tracked := self.tracked.get(new)) is not None and tracked.old_path == old
        }

    # -- buffers -------------------------------------------------------------------------------

    def opened(self, path: str, text: str) -> None:
        """A document is open; its text is what counts from now on."""
        path = self.workspace.canonical(path)
        if self.workspace.find(path) is None:
            return
        self.look([path])
        tracked = self.tracked.get(path)
        if tracked is None:
            try:
                version = files.read(path)
            except OSError:
                version = ABSENT
            tracked = Tracked(path, version, version, version, seen=[version.data or b""])
            tracked.signed, tracked.signed_at = signature(path), time.time_ns()
            self.tracked[path] = tracked
        data = tracked.disk.data or b""
        self.encodings[path] = fit(data, text) or guess(data)
        now = self.version(tracked, text)
        if now != tracked.current:
            tracked.person(now, self.differ, self.new_id)
            self._settle(tracked)

    def closed(self, path: str) -> None:
        """A document was closed: the disk is what counts; unsaved typing is gone."""
        path = self.workspace.canonical(path)
        self.encodings.pop(path, None)
        self.clashes.pop(path, None)
        self.look([path])
        if (tracked := self.tracked.get(path)) is not None:
            tracked.before = None
            if tracked.current != tracked.disk:
                tracked.person(tracked.disk, self.differ, self.new_id)
            self._settle(tracked)

    def saved(self, path: str) -> None:
        self.look([path])

    def typed(self, path: str, before: str, after: str, *, by_us: bool) -> None:
        """A document changed."""
        path = self.workspace.canonical(path)
        if path not in self.encodings:
            self.opened(path, before)
        self.look([path])
        tracked = self.tracked.get(path)
        if tracked is None:
            return
        if tracked.disk.data is not None:
            found = fit(tracked.disk.data, after)
            if found is not None:
                self.encodings[path] = found
        now = self.version(tracked, after)
        if now == tracked.current:
            tracked.before = None
            return
        if by_us or path in self._writing:
            self._agent_wrote(tracked, now)
        elif self.version(tracked, before) != tracked.current:
            self.lagging.add(path)
            return
        else:
            tracked.before = None
            tracked.person(now, self.differ, self.new_id)
        self._settle(tracked)

    def overdue(self, path: str, text: str) -> None:
        """A document that lagged behind its file has had time to reload, and has this text.

        If that still is not the file's, somebody typed into a text that is older than the file.
        """
        tracked = self.tracked.get(path)
        if tracked is None:
            return
        self.look([path])
        now = self.version(tracked, text)
        if now == tracked.current:
            return
        if tracked.before is not None:
            tracked.put_back(tracked.before)
            self.clashes.setdefault(path, Clash(path, tracked.current.data or b""))
        tracked.before = None
        tracked.person(now, self.differ, self.new_id)
        self._settle(tracked)

    def text(self, tracked: Tracked, version: Version) -> str:
        """A version of a file as the editor shows it, or would."""
        data = version.data or b""
        encoding = self.encodings.get(tracked.path) or guess(tracked.disk.data or data)
        return encoding.decode(data)

    def saves_exactly(self, tracked: Tracked) -> bool:
        """Whether the editor, saving this document, writes the bytes that the file had."""
        encoding = self.encodings.get(tracked.path, UTF8)
        return encoding.lossless and encoding.exact(tracked.base.data or b"")

    def version(self, tracked: Tracked, text: str) -> Version:
        """The file that this text of its buffer stands for."""
        encoding = self.encodings.get(tracked.path, UTF8)
        disk = tracked.disk.data or b""
        near = disk if encoding.decode(disk) == text else tracked.current.data or disk
        mode = tracked.disk.mode or tracked.base.mode or files.FILE
        return Version(encoding.encode(text, near, self.differ), mode)

    def merged_into(self, path: str, text: str) -> None:
        """The document has been given what the agent did to its file."""
        tracked = self.tracked.get(path)
        if tracked is not None:
            self._agent_wrote(tracked, self.version(tracked, text))
            self._settle(tracked)

    def merge(self, clash: Clash, text: str) -> str | None:
        """The buffer's text with what the agent did to the file; None where both changed the same lines."""
        tracked = self.tracked.get(clash.path)
        if tracked is None or tracked.disk.data is None:
            return None
        ours = self.version(tracked, text).data or b""
        merged = book.merged(clash.ancestor, ours, tracked.disk.data, self.differ)
        return None if merged is None else self.encodings.get(clash.path, UTF8).decode(merged)

    # -- answers -------------------------------------------------------------------------------

    def keep(self, tracked: Tracked, hunk_ids: Collection[str] | None) -> None:
        old_path = tracked.old_path
        tracked.keep(hunk_ids, self.new_id)
        if old_path is not None and tracked.old_path is None:
            self._moved_from.pop(old_path, None)
            self._take([old_path])
        self._settle(tracked)

    def undo(self, tracked: Tracked, hunk_ids: Collection[str] | None) -> None:
        """Takes note that the file, or its document, has been put back."""
        tracked.undo(hunk_ids, self.new_id)
        self._reread(tracked)

    def moved_back(self, tracked: Tracked) -> None:
        """Takes note that a moved file is where it was."""
        self._moved_from.pop(tracked.old_path or "", None)
        tracked.base = tracked.current = tracked.disk = ABSENT
        tracked.hunks, tracked.old_path = (), None
        self._reread(tracked)

    def as_undone(self, path: str, base: Version, after: Version) -> Tracked | None:
        """The file, if it still is as an undo left it."""
        tracked = self.tracked.get(path)
        if tracked is not None:
            return tracked if tracked.current == after else None
        now = files.read(path)
        return Tracked(path, base, now, now) if now == after else None

    def redo(self, tracked: Tracked, before: State) -> None:
        """Takes note that the file is again as it was before an undo."""
        tracked.put_back(before)
        self.tracked[tracked.path] = tracked
        if before.old_path is not None:
            files.put(before.old_path, ABSENT)
            self.tracked.pop(before.old_path, None)
            self._moved_from[before.old_path] = tracked.path
        self._reread(tracked)

    def _reread(self, tracked: Tracked) -> None:
        tracked.disk = files.read(tracked.path)
        tracked.seen = [*tracked.seen, tracked.disk.data or b""][-_SEEN:]
        tracked.signed = None
        tracked.before = None
        self._settle(tracked)

    def permissions(self, path: str) -> int | None:
        """The exact permission bits that a file had."""
        owner = self.workspace.find(path)
        return owner[0].permissions(owner[1]) if owner else None

    def survey(self, moment: float) -> None:
        """Notes what the checkpoint itself cannot hold, of all that has not changed since then."""
        for checkpoint in self.workspace:
            self._empty_folders |= checkpoint.survey(moment)

    def remove_empty_folders(self, path: str) -> None:
        """Removes the folders of a file that was the agent's, if it made them."""
        owner = self.workspace.find(path)
        if owner is not None:
            files.remove_empty_folders(path, owner[0].root, self._empty_folders)

    # -- our own writes ------------------------------------------------------------------------

    def agent_writes(self, path: str, call_id: str | None) -> None:
        """We write for the agent, from now until `agent_wrote`: what changes there is the agent's."""
        self._writing[self.workspace.canonical(path)] = call_id

    def agent_wrote(self, path: str, call_id: str | None) -> None:
        path = self.workspace.canonical(path)
        self._writing[path] = call_id or self._writing.get(path)
        self.look([path])
        if (tracked := self.tracked.get(path)) is not None:
            self._sign(tracked)
        self._writing.pop(path, None)
