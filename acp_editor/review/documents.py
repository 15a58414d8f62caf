"""Open documents: what they hold counts, and who changed them is told from their files.

A change that makes a document what its file is, is a reload; any other one is the person's, unless it was
ours. A document that lags behind its file is given time to reload before it counts as typed into.
"""

from __future__ import annotations

import contextlib
import time

from acp_editor.core import ledger as book
from acp_editor.review import files, textlines
from acp_editor.review.encoding import UTF8, Encoding, fit, guess
from acp_editor.review.engine import Engine
from acp_editor.review.steps import Step, Steps
from acp_editor.review.tracked import State, Tracked, signature
from acp_editor.review.turns import Clash
from acp_editor.review.versions import ABSENT, FILE, Lost, Version


class Documents:
    """The open documents of an engine's workspace; synchronous like it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._encodings: dict[str, Encoding] = {}
        self._reloads: dict[str, Version] = {}
        """The last text that a document which lags had from the disk, for all that we know."""
        self._steps = Steps()
        self.returned: set[str] = set()
        """Paths of which the editor's undo has taken back every undo of ours."""
        self.lagging: set[str] = set()
        """Paths whose text is neither what the file has nor made from it."""

    def opened(self, path: str, text: str) -> None:
        """A document is open; its text is what counts from now on."""
        path = self._engine.workspace.canonical(path)
        if self._engine.workspace.find(path) is None:
            return
        self._engine.look([path])
        tracked = self._engine.tracked.get(path)
        if tracked is None:
            try:
                version = files.read(path)
            except OSError:
                version = ABSENT
            tracked = Tracked(path, version, version, version)
            tracked.signed, tracked.signed_at = signature(path), time.time_ns()
            self._engine.tracked[path] = tracked
        with contextlib.suppress(Lost):
            self._engine.memory.bring(tracked)
        data = tracked.disk.data or b""
        self._encodings[path] = fit(data, text) or guess(data)
        self._engine.open.add(path)
        now = self.version(tracked, text)
        unsaved = self._engine.unsaved.pop(path, None)
        if unsaved is not None and not unsaved.disk.same(tracked.disk):
            unsaved = None
        if now == tracked.current:
            if unsaved is not None:  # it may come in a moment
                self._steps.note(path, Step(unsaved.state, now, ours=False))
            return
        if unsaved is not None:
            tracked.put_back(unsaved.state)
        elif tracked.pending and not tracked.old_path and now.same(tracked.base):
            # It was read just before the agent wrote the file, and is about to be read again.
            tracked.before = State(tracked.base, tracked.base, (), None, False)
            return
        self._engine.person_made(tracked, now)
        self._engine.settle(tracked)

    def closed(self, path: str) -> None:
        """A document was closed: the disk is what counts; unsaved typing is gone."""
        path = self._engine.workspace.canonical(path)
        self._encodings.pop(path, None)
        self._reloads.pop(path, None)
        self._steps.forget(path)
        self._engine.open.discard(path)
        self._engine.clashes.pop(path, None)
        self._engine.look([path])
        if (tracked := self._engine.tracked.get(path)) is not None:
            tracked.before = tracked.reloaded = tracked.typed_from = None
            if tracked.current != tracked.disk:
                self._engine.person_made(tracked, tracked.disk)
            self._engine.settle(tracked)

    def saved(self, path: str) -> None:
        """A document was saved. If its file was not written since, what we took for a reload was typed."""
        path = self._engine.workspace.canonical(path)
        tracked = self._engine.tracked.get(path)
        if tracked is not None and tracked.reloaded is not None and tracked.signed == signature(path):
            now = tracked.current
            tracked.put_back(tracked.reloaded)
            if tracked.typed_from is not None and tracked.typed_from != tracked.current:
                self._engine.agent_made(tracked, tracked.typed_from)
            self._engine.person_made(tracked, now)
            self._engine.settle(tracked)
        if tracked is not None:
            tracked.reloaded = None
        self._engine.look([path])

    def lags(self, tracked: Tracked, text: str) -> bool:
        """Whether a document still has what its file had before the agent's last write."""
        return tracked.before is not None and self.version(tracked, text) == tracked.before.current

    def typed(self, path: str, before: str, after: str, *, by_us: bool, by_disk: bool = False) -> None:
        """A document changed; `by_disk`, where its file had just that text when we were told."""
        engine = self._engine
        path = engine.workspace.canonical(path)
        if path not in self._encodings:
            self.opened(path, before)
        ours = by_us or path in engine.writing
        tracked = engine.tracked.get(path)
        if tracked is not None and self.version(tracked, after) == tracked.current:
            self._has_reloaded(tracked, ours=ours)
        engine.look([path])
        tracked = engine.tracked.get(path)
        if tracked is None:
            return
        if not tracked.disk.absent and (found := fit(tracked.disk.data or b"", after)) is not None:
            self._encodings[path] = found
        now = self.version(tracked, after)
        if now == tracked.current:
            self._has_reloaded(tracked, ours=ours)
            return
        if (unsettled := engine.unsettled.get(path)) is not None and unsettled.is_at(now):
            self.lagging.add(path)
            return
        if ours:
            engine.agent_made(tracked, now)
        elif self.version(tracked, before) != tracked.current:
            self.lagging.add(path)
            if by_disk:
                self._reloads[path] = now
            return
        elif (step := self._steps.back(tracked, now)) is not None:
            self._go_back(tracked, step, now)
        else:
            was, tracked.before = tracked.state, None
            engine.person_made(tracked, now)
            if len(tracked.hunks) < len(was.hunks):
                self._steps.note(path, Step(was, now, ours=False))
        tracked.reloaded = None
        engine.settle(tracked)

    def undone(self, path: str, before: State, after: Version) -> None:
        """A document was given what an undo of ours makes of it."""
        if path in self._encodings and not after.absent and not before.current.absent:
            self._steps.note(path, Step(before, after, ours=True))

    def _go_back(self, tracked: Tracked, step: Step, now: Version) -> None:
        """The editor's undo has brought back what the agent made."""
        if tracked.base == step.before.base:
            tracked.put_back(step.before)
        else:
            self._engine.agent_made(tracked, now)
        if self._steps.is_first(tracked.path, step):
            self.returned.add(tracked.path)

    def _has_reloaded(self, tracked: Tracked, *, ours: bool) -> None:
        """The document has what its file has, as far as we know.

        `ours`: it was given that, and the file is already saved: the save that follows tells nothing new.
        """
        reload = self._reloads.pop(tracked.path, None)
        if tracked.before is None:
            return
        if not ours:
            tracked.reloaded, tracked.typed_from = tracked.before, reload
        tracked.before = None

    def overdue(self, path: str, text: str) -> None:
        """A document that lagged behind its file has had time to reload, and has this text.

        If that still is not the file's, somebody typed into a text that is older than the file.
        """
        tracked = self._engine.tracked.get(path)
        if tracked is None:
            return
        self._engine.look([path])
        now = self.version(tracked, text)
        if now == tracked.current:
            return
        if path in self._engine.unsettled:
            self.lagging.add(path)
            return
        if tracked.before is not None:
            tracked.put_back(tracked.before)
            self._engine.clashes.setdefault(path, Clash(path, tracked.current.data or b""))
        tracked.before = None
        self._engine.person_made(tracked, now)
        self._engine.settle(tracked)

    def text(self, tracked: Tracked, version: Version) -> str:
        """A version of a file as the editor shows it, or would."""
        data = version.data or b""
        known = self._encodings.get(tracked.path)
        return (known if known is not None and known.fits(data) else guess(data)).decode(data)

    def saves_exactly(self, tracked: Tracked) -> bool:
        """Whether the editor, saving this document, writes the bytes that the file had."""
        encoding = self._encodings.get(tracked.path, UTF8)
        return encoding.lossless and encoding.exact(tracked.base.data or b"")

    def version(self, tracked: Tracked, text: str) -> Version:
        """The file that this text of its buffer stands for."""
        encoding = self._encodings.get(tracked.path, UTF8)
        disk = tracked.disk.data or b""
        near = disk if encoding.decode(disk) == text else tracked.current.data or disk
        mode = tracked.disk.mode or tracked.base.mode or FILE
        return Version(encoding.encode(text, near, self._engine.differ), mode)

    def merged_into(self, path: str, text: str) -> None:
        """The document has been given what the agent did to its file."""
        tracked = self._engine.tracked.get(path)
        if tracked is not None:
            self._engine.agent_made(tracked, self.version(tracked, text))
            self._engine.settle(tracked)

    def merge(self, clash: Clash, text: str) -> str | None:
        """The buffer's text with what the agent did to the file; None where both changed the same lines."""
        tracked = self._engine.tracked.get(clash.path)
        if tracked is None or tracked.disk.absent:
            return None
        ours, theirs = self.version(tracked, text).data or b"", tracked.disk.data or b""
        if not all(map(textlines.is_text, (clash.ancestor, ours, theirs))):
            return None
        ancestor = textlines.show(clash.ancestor)
        merged = book.merged(ancestor, textlines.show(ours), textlines.show(theirs), self._engine.differ)
        if merged is None:
            return None
        return self._encodings.get(clash.path, UTF8).decode(textlines.back(merged, theirs))
