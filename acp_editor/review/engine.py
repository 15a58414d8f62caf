"""What changed since the checkpoint and whose it is. Synchronous, for one thread at a time.

Evidence, in this order: what the editor says of its buffers (typed, saved, ours), what the user's git
did, whether the agent was at work when the file changed, and a write that is only going on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from acp_editor.core.model import ToolCall
from acp_editor.review import commits, files, moves, work
from acp_editor.review.authors import Authors
from acp_editor.review.checkpoint import Limits
from acp_editor.review.differ import Differ
from acp_editor.review.history import Histories, Moved
from acp_editor.review.memory import Memory
from acp_editor.review.tracked import State, Tracked, signature
from acp_editor.review.turns import Clash, Turns, Unsettled
from acp_editor.review.versions import ABSENT, Lost, Version
from acp_editor.review.workspace import Workspace

log = logging.getLogger(__name__)

_MANY = 500
"""Paths from which on the whole folder is compared instead, which is faster for many."""
_STEP = 0.2
"""Seconds after which what has been found so far can be shown, where there is much to look at."""


class Engine:
    """Every path is absolute."""

    patience = 0.3
    """Seconds that a file which has just been cut short may take to be whole: many programs write so."""

    def __init__(self, roots: Sequence[str], cache: Path, limits: Limits, turns: Turns | None = None) -> None:
        self.workspace = Workspace(roots, cache, limits)
        self.tracked: dict[str, Tracked] = {}
        self.open: set[str] = set()
        """The paths of open documents: there, a file is what its document is."""
        self.memory = Memory(self.workspace, self.tracked, self.open, limits.memory)
        self.turns = turns or Turns()
        self.authors = Authors(self.turns)
        self.differ = Differ()
        self.clashes: dict[str, Clash] = {}
        self.unsettled: dict[str, Unsettled] = {}
        """To be looked at again in a moment."""
        self.unsaved: dict[str, Tracked] = {}
        """Files as they were in documents that were not saved when an earlier process ended."""
        self.next_id = 1
        self.moved_from: dict[str, str] = {}
        self.writing: dict[str, str | None] = {}
        self.histories = Histories()
        self.rough: dict[str, State] = {}
        """Files whose hunks are still looked for, with what they were before; meanwhile they are one hunk."""
        self._may_be_moves = False
        self._ready = False
        self.empty_folders: set[str] = set()
        """Folders that had nothing in them when the turn began: undo leaves them."""

    def new_id(self) -> str:
        self.next_id += 1
        return f"h{self.next_id - 1}"

    def close(self) -> None:
        self.workspace.flush()
        self.differ.close()

    def restore(self, tracked: Tracked) -> None:
        """Takes up a file whose changes were left unanswered by an earlier process."""
        if tracked.current != tracked.disk:
            # Never saved: the editor may bring it back, the disk is what there is.
            self.unsaved[tracked.path] = replace(tracked)
            self.person_made(tracked, tracked.disk)
        if tracked.pending:
            self.memory.take(*tracked.versions)
            self.tracked[tracked.path] = tracked
            if tracked.old_path:
                self.moved_from[tracked.old_path] = tracked.path

    # -- looking -------------------------------------------------------------------------------

    def begin(self, cut_short: float = 0.0) -> None:
        """The first checkpoint: what there is belongs to the person.

        Except where a turn was `cut_short` by the end of an earlier process: then what changed up to that
        moment, since the checkpoint that it left, is the agent's.
        """
        for checkpoint in self.workspace:
            self.histories.of(checkpoint.root)
        self._ready = True
        known = {*self.tracked, *self.moved_from}
        for path in known:
            files.remove_temporary(path)
        for path, tracked in self.tracked.items():
            if (tracked.base.absent or tracked.old_path) and not os.path.lexists(path):
                self.remove_empty_folders(path)  # an undo that was cut short did not come to it
        if cut_short and not any(checkpoint.empty for checkpoint in self.workspace):
            self.turns.cut_short = cut_short
            self.look(modes=True)
            self.turns.cut_short = 0.0
            return
        self.look(known)
        pending = {path: tracked for path, tracked in self.tracked.items() if tracked.pending}
        held = {path: tracked.base for path, tracked in pending.items() if not tracked.old_path}
        held |= {path: ABSENT for path, tracked in pending.items() if tracked.old_path}
        for tracked in pending.values():
            if tracked.old_path:
                held[tracked.old_path] = tracked.base
        self.workspace.refresh(held)
        self.survey(time.time())

    def look(self, paths: Collection[str] | None = None, *, modes: bool = False) -> None:
        """Takes in what the disk has now, at these paths or everywhere; `modes`: permissions alone, too."""
        for _ in self.looking(paths or (), everywhere=paths is None, modes=modes):
            pass

    def looking(
        self, paths: Collection[str], *, everywhere: bool = False, modes: bool = False
    ) -> Iterator[None]:
        """The same in steps, the quickest first; after each one there may be something to show."""
        if not self._ready:
            return
        turn, over = self.turns.number, not self.turns.running
        moved = self.histories.moved(checkpoint.root for checkpoint in self.workspace)
        everywhere = everywhere or len(paths) > _MANY or bool(moved.positions)
        if len(paths) <= _MANY:
            yield from self._look_at_all(paths, moved)
        if everywhere:
            yield from self._look_at_all({*self.workspace.compare(), *self.tracked, *paths}, moved)
        if modes:
            yield from self._look_at_all(self.workspace.chmodded(self.turns.began), moved)
        if moved.positions:
            commits.take_up(self, moved)
        moves.forget(self)
        self.authors.forget(self.tracked.values())
        self.workspace.flush()
        if self.rough:
            self.refine()
        if everywhere and over and not self.turns.running and self.turns.number == turn:
            self.turns.looked = self.turns.looked or not self.unsettled

    def _look_at_all(self, paths: Collection[str], moved: Moved) -> Iterator[None]:
        mine: dict[str, Version] = {}
        until = time.monotonic() + _STEP
        for path in sorted(self.workspace.canonical(path) for path in paths):
            try:
                self._look_at(path, moved, mine)
            except Lost as lost:
                log.warning("%s: %s", path, lost)
            if time.monotonic() > until:
                if sum(version.held for version in mine.values()) > self.memory.room:
                    self._take_as_read(mine)
                yield
                until = time.monotonic() + _STEP
        self._take_as_read(mine)
        if self._may_be_moves:
            moves.find(self)
            self._may_be_moves = False
        yield

    def refine(self) -> None:
        """Looks for the hunks of files that are one hunk for now, as far as that takes no time."""
        for path in list(self.rough):
            if self.differ.busy:
                return
            before, tracked = self.rough.pop(path), self.tracked.get(path)
            if tracked is not None and tracked.pending:
                self._bring(tracked)
                tracked.refine(before, self.differ.quick, self.new_id)
                if self.differ.rough:
                    self.rough[path] = before
                self.sign(tracked)

    def take_up(self, events: Iterable[Callable[[Engine], None]]) -> None:
        """Each in its turn; one that fails does not take the others along."""
        for event in events:
            try:
                event(self)
            except Exception:
                log.exception("an event of the review was lost")

    def take(self, paths: Iterable[str]) -> None:
        """These are the person's: the disk is the base."""
        by_checkpoint: dict[str, list[str]] = {}
        for path in paths:
            if (owner := self.workspace.find(path)) is not None:
                by_checkpoint.setdefault(owner[0].root, []).append(owner[1])
        for checkpoint in self.workspace:
            checkpoint.take(by_checkpoint.get(checkpoint.root, []))

    def _take_as_read(self, mine: dict[str, Version]) -> None:
        """These are the person's, as read: while a turn runs, the disk may be the agent's by now."""
        if self.turns.running:
            for path, version in mine.items():
                if (owner := self.workspace.find(path)) is not None:
                    owner[0].set_base(owner[1], version)
        else:
            self.take(mine)
        mine.clear()

    def _look_at(self, path: str, moved: Moved, mine: dict[str, Version]) -> None:
        owner = self.workspace.find(path)
        if owner is None:
            return
        checkpoint, name = owner
        tracked = self.tracked.get(path)
        signed, now = signature(path), time.time_ns()
        if tracked is not None and tracked.unwritten(signed):
            return
        try:
            version = files.read(path, checkpoint.limits.file_size)
        except OSError as error:
            checkpoint.left_out[name] = error.strerror or str(error)
            return
        if tracked is None:
            self._look_at_new(path, version, moved, mine)
            return
        known = tracked.disk
        if version != tracked.current and self._is_too_early(path, known, version):
            return
        tracked.signed, tracked.signed_at = signed, now
        if version == known:
            return
        self.memory.take(version)
        tracked.disk, tracked.reloaded = version, None
        if version == tracked.current:
            tracked.disk = tracked.current
            self.settle(tracked)
            return
        if not self._agents(path, version, moved):
            if path in self.open and known != tracked.current:
                return  # the person's own two hands; the editor asks which is to stay
            self.person_made(tracked, version)
        elif path in self.open and known != tracked.current and not known.absent and not version.absent:
            self.clashes.setdefault(path, Clash(path, known.data or b""))
        else:
            if tracked.before is None and path in self.open:
                tracked.before = tracked.state
            self.agent_made(tracked, version)
        self.settle(tracked)

    def _look_at_new(self, path: str, version: Version, moved: Moved, mine: dict[str, Version]) -> None:
        found = self.workspace.find(path)
        assert found is not None
        checkpoint, name = found
        if path in self.moved_from:
            if version.absent:
                return
            moves.part(self, path)
        if not checkpoint.has(name) and (version.absent or checkpoint.ignored(name)):
            return
        try:
            base = checkpoint.base(name)
        except KeyError:
            self.workspace.lose(path)
            mine[path] = version
            return
        if base == version:
            return
        if self._is_too_early(path, base, version):
            return
        if not self._agents(path, version, moved):
            mine[path] = version
            return
        self.memory.take(base, version)
        tracked = Tracked(path, base, base, version)
        tracked.signed, tracked.signed_at = signature(path), time.time_ns()
        self.tracked[path] = tracked
        self.agent_made(tracked, version)
        self.settle(tracked)

    def _is_too_early(self, path: str, known: Version, version: Version) -> bool:
        """Whether it cannot be told yet what the file will be, or whose: it is put off.

        A file that has just been cut short is not yet what it will be. Where the agent seems to have been
        idle, word of its call may be on its way.
        """
        changed_at = files.changed_at(path)
        age = time.time() - changed_at
        if age < self.patience and version.cuts(known):
            # The rest may come when the turn is over.
            by_agent = path in self.writing or (
                self.turns.covers(changed_at) and not self.turns.idle(changed_at)
            )
            self.unsettled[path] = Unsettled.at(version, by_agent)
            return True
        if path not in self.writing and age < work.LAG and self.turns.idle(changed_at):
            self.unsettled[path] = Unsettled.at(version, False)
            return True
        return False

    def _agents(self, path: str, new: Version, moved: Moved) -> bool:
        """Whether the agent made this of the file."""
        begun = self.unsettled.pop(path, None)
        if path in self.writing or (begun is not None and begun.by_agent):
            return True
        root = self._root(path) or ""
        positions = moved.positions.get(root)
        if positions is not None and not self.authors.witnesses.command_runs:
            stash = positions[0].stash if positions[0].stash != positions[1].stash else None
            if self.histories.of(root).has(path, new.data, stash):
                return False
        changed_at = files.changed_at(path)
        return self.turns.covers(changed_at) and not self.turns.idle(changed_at)

    def agent_made(self, tracked: Tracked, version: Version) -> None:
        tracked.turn = self.turns.number
        before, self.differ.rough = tracked.state, False
        self._bring(tracked)
        tracked.agent(version, self.differ.quick, self.new_id, None)
        if self.differ.rough:
            self.rough.setdefault(tracked.path, before)
        self._may_be_moves = True
        self.sign(tracked)

    def person_made(self, tracked: Tracked, version: Version) -> None:
        self._bring(tracked)
        self.be_exact(tracked)
        tracked.person(version, self.differ, self.new_id)

    def _bring(self, tracked: Tracked) -> None:
        """What is lost of a file is known to it by then: all of it is one change."""
        with contextlib.suppress(Lost):
            self.memory.bring(tracked)

    def be_exact(self, tracked: Tracked) -> None:
        """What is to be told apart from the agent's hunks needs them as they are."""
        if (before := self.rough.pop(tracked.path, None)) is not None:
            tracked.refine(before, self.differ, self.new_id)

    def sign(self, tracked: Tracked) -> None:
        """Gives hunks their authors, as far as the calls so far tell."""
        self.authors.sign(tracked, self.writing.get(tracked.path))

    def hear(self, call: ToolCall, cwd: str) -> None:
        """A tool call said something; what it says of files may tell whose a hunk is."""
        for path in self.authors.hear(call, cwd):
            tracked = self.tracked.get(self.workspace.canonical(path))
            if tracked is not None and tracked.pending:
                self.sign(tracked)

    def settle(self, tracked: Tracked) -> None:
        """Brings the checkpoint in line with a file that has changed; forgets one that is not open."""
        owner = self.workspace.find(tracked.path)
        if owner is None:
            return
        checkpoint, name = owner
        if tracked.pending:
            if not tracked.old_path and not checkpoint.is_base(name, tracked.base):
                checkpoint.set_base(name, tracked.base)
            return
        if tracked.disk == tracked.current:
            checkpoint.take([name])
            if not checkpoint.is_base(name, tracked.disk):  # written again since it was looked at
                checkpoint.set_base(name, tracked.disk)
        if tracked.path not in self.open:
            self.tracked.pop(tracked.path, None)
        moves.part(self, tracked.path)

    def _root(self, path: str) -> str | None:
        owner = self.workspace.find(path)
        return owner[0].root if owner else None

    def remove_empty_folders(self, path: str) -> None:
        """Removes the folders of a file that was the agent's, if it made them."""
        if (owner := self.workspace.find(path)) is not None:
            files.remove_empty_folders(path, owner[0].root, self.empty_folders)

    def survey(self, moment: float) -> None:
        """Notes what the checkpoint itself cannot hold, of all that has not changed since then."""
        for checkpoint in self.workspace:
            self.empty_folders |= checkpoint.survey(moment)

    # -- our own writes ------------------------------------------------------------------------

    def agent_writes(self, path: str, call_id: str | None) -> None:
        """We write for the agent, from now until `agent_wrote`: what changes there is the agent's."""
        self.writing[self.workspace.canonical(path)] = call_id

    def agent_wrote(self, path: str, call_id: str | None) -> None:
        path = self.workspace.canonical(path)
        self.writing[path] = call_id or self.writing.get(path)
        self.look([path])
        if (tracked := self.tracked.get(path)) is not None:
            self.sign(tracked)
        self.writing.pop(path, None)
