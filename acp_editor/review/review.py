"""The review, as the application uses it: what the agent changed, kept or undone.

Notifications are synchronous and only queue; one task takes them up in order, in a thread, so that the
event loop is never held. What a caller awaits comes after all that was queued before it.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from acp_editor.core.model import ToolCall
from acp_editor.review import store, watch, words, workspace
from acp_editor.review.answering import Answering
from acp_editor.review.changes import FileChange, Hunk, Listing
from acp_editor.review.checkpoint import Limits
from acp_editor.review.documents import Documents
from acp_editor.review.editor import Buffer, Editor, ReviewError
from acp_editor.review.engine import Engine
from acp_editor.review.inbox import Inbox
from acp_editor.review.locks import Lock
from acp_editor.review.originals import Originals
from acp_editor.review.patience import MOMENT, Patience
from acp_editor.review.reconcile import reconcile
from acp_editor.review.turns import Clash, Turns
from acp_editor.review.words import Words

__all__ = ["Buffer", "Editor", "FileChange", "Hunk", "Limits", "Review", "ReviewError"]

log = logging.getLogger(__name__)

T = TypeVar("T")

_REFINE = 0.05
"""Seconds between looks whether the hunks of a file are found that is one hunk until then."""
_WATCH_COMMANDS = 1.0
"""Seconds between looks at the disk while the agent runs a command."""
_POLL = 5.0
"""Seconds between looks at a disk that cannot be watched, while nothing happens."""
_WATCH_GIT = 1.0
"""Seconds between looks at the user's git while something is unanswered."""
_AGENTS_END = 7.0
"""Seconds that agents have to end when we do."""
_TAKE_OVER = 1.0
"""Seconds between looks whether the window that reviews has gone."""


class Review:
    """The review of one workspace. `start` it in a task group of the application, `aclose` it at the end."""

    def __init__(
        self,
        roots: Sequence[str],
        cache: Path,
        state: Path,
        editor: Editor,
        *,
        limits: Limits | None = None,
        on_change: Callable[[], None] = lambda: None,
        tell: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._roots = list(roots)
        self._cache = cache
        self._state = state
        self._editor = editor
        self._limits = limits or Limits()
        self._on_change = on_change
        self._tell = tell
        self._lock_file = Lock(state, roots)
        self._store = store.Store(state)
        self._engine: Engine | None = None
        self._documents: Documents
        self._answering: Answering | None = None
        self._open_paths: set[str] = set()
        self.turns = Turns()
        self._listing = Listing()
        self._originals = Originals()
        self._lock = anyio.Lock()
        self._limiter = anyio.CapacityLimiter(1)
        self._inbox = Inbox()
        self._patience: Patience | None = None
        self._ready = anyio.Event()
        self._group: anyio.abc.TaskGroup | None = None
        self._words = Words()
        self._watching = anyio.CancelScope()
        self._polls = False
        self._closed = False

    # -- life ------------------------------------------------------------------------------------

    async def start(self, group: anyio.abc.TaskGroup) -> None:
        """Begins: the first checkpoint is made in the background, the pending review is taken up."""
        self._group = group
        if self._lock_file.take():
            group.start_soon(self._run)
            return
        self._ready.set()
        self._tell(words.ANOTHER_WINDOW)
        group.start_soon(self._take_over)

    async def _take_over(self) -> None:
        """Waits until the window that reviews has gone, or died."""
        while not self._lock_file.take():
            await anyio.sleep(_TAKE_OVER)
            if self._closed:
                return
        if self._closed:
            self._lock_file.release()
            return
        self._tell(words.THIS_WINDOW)
        self._ready = anyio.Event()
        for path in self._open_paths:
            self.buffer_opened(path)
        await self._run()

    async def _run(self) -> None:
        async with self._lock:
            try:
                await self._thread(self._open)
            except Exception:
                log.exception("the review cannot start")
                self._closed = True
                self._lock_file.release()
                self._tell(words.NO_CHECKPOINT)
                return
            finally:
                self._ready.set()
        self._publish()
        self._tell_left_out()
        while not self._closed:
            await self._inbox.wait(self._interval())
            if self._closed:
                return
            async with self._lock:
                await self._catch_up()

    def _open(self) -> None:
        workspace.clean(self._cache)
        store.clean(self._state, workspace.STORE_AGE)
        engine = Engine(self._roots, self._cache, self._limits, self.turns)
        cut_short = self._store.load(engine)
        engine.begin(cut_short)
        self._documents = Documents(engine)
        self._answering = Answering(
            engine,
            self._documents,
            self._editor,
            self._thread,
            functools.partial(self._store.save, engine),
            self._tell,
            self._words,
        )
        assert self._group is not None
        self._patience = Patience(self._group, self._inbox, self._documents, self._editor)
        self._engine = engine
        self._list()
        self._store.save(engine)
        self._store.prune(engine)

    def _interval(self) -> float:
        engine = self._engine
        if engine is None:
            return 1.0
        if engine.rough:
            return _REFINE
        if self._polls or (engine.turns.running and engine.authors.witnesses.commands_run):
            self._inbox.look(None, now=False)
            return _WATCH_COMMANDS if engine.turns.running or self._listing.shown else _POLL
        return _WATCH_GIT if self._listing.shown else 3600.0

    async def aclose(self) -> None:
        """Writes down what is unanswered and lets go of the workspace."""
        self._watching.cancel()
        if self._closed:
            self._lock_file.release()
            return
        self._closed = True
        self._inbox.wake()
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if (engine := self._engine) is not None:
                    # The agent is being ended too, and may go on writing until it is.
                    turn = time.time() + _AGENTS_END if engine.turns.running else 0.0
                    await self._thread(lambda: (self._store.save(engine, turn=turn), engine.close()))
        self._lock_file.release()

    async def forget(self) -> None:
        """Removes all that is stored of this workspace; what is unanswered is kept."""
        await self.aclose()
        await self._thread(
            lambda: (workspace.forget(self._cache, self._roots), store.forget(self._state, self._roots))
        )

    async def watch(self) -> None:
        """Watches the disk as long as there is this review, for an editor that sends no file events."""
        with self._watching:
            await watch.watch(self._roots, self.files_changed)
            self._polls = True
            self._tell(words.NO_WATCHES)
            self._inbox.wake()

    # -- what happens --------------------------------------------------------------------------

    def turn_started(self) -> None:
        self.turns.start(time.time())
        self._queue_up(lambda engine: None)  # so that it is written down that a turn runs

    def turn_ended(self) -> None:
        self.turns.end(time.time())
        if not self.turns.running:
            self._queue_up(lambda engine: engine.authors.turn_over())
        self._inbox.look(None, modes=True)

    def call_changed(self, call: ToolCall, cwd: str) -> None:
        """A tool call said something of itself."""
        if not self._reviews:
            return
        if self.turns.running:
            self.turns.work.heard(call, time.time())
        self._inbox.call(call, cwd)
        if not call.active:
            self._inbox.look(None, modes=call.kind in ("execute", "other"))

    def calls_wait(self, call_ids: Collection[str]) -> None:
        """These tool calls wait for the person's permission."""
        self.turns.work.waits(call_ids, time.time())

    def buffer_opened(self, path: str) -> None:
        self._open_paths.add(path)
        buffer = self._editor.buffer(path)
        if buffer is not None:
            self._queue_up(lambda _: self._documents.opened(path, buffer.text))

    def buffer_changed(
        self, path: str, before: str, after: str, *, by_us: bool = False, by_disk: bool = False
    ) -> None:
        """A document changed: by an edit that we asked for, to what its file has, or else by the person."""
        self._queue_up(lambda _: self._documents.typed(path, before, after, by_us=by_us, by_disk=by_disk))

    def buffer_saved(self, path: str) -> None:
        self._queue_up(lambda _: self._documents.saved(path))

    def buffer_closed(self, path: str) -> None:
        self._open_paths.discard(path)
        self._queue_up(lambda _: self._documents.closed(path))

    def agent_writes(self, path: str, call_id: str | None = None) -> None:
        """We begin to write a file for the agent: until `agent_wrote`, what changes there is the agent's."""
        self._queue_up(lambda engine: engine.agent_writes(path, call_id))

    def agent_wrote(self, path: str, call_id: str | None = None) -> None:
        self._queue_up(lambda engine: engine.agent_wrote(path, call_id))

    def files_changed(self, paths: Iterable[str]) -> None:
        """The disk changed there, says whoever watches it."""
        if self._reviews:
            self._inbox.look(paths)

    async def rescan(self, paths: Iterable[str] | None = None) -> None:
        """Looks at these paths, or everywhere, now."""
        self._inbox.look(paths)
        async with self._caught_up():
            pass

    async def checkpoint(self) -> None:
        """Before a turn: what is there now is the person's. Waits for the first one, if need be."""
        self._inbox.look(None)
        async with self._caught_up():
            if (engine := self._engine) is not None and not self._closed:
                # Before the agent can write: who finds that we have ended has to know that it may have.
                await self._thread(lambda: (self._store.save(engine, turn=math.inf), engine.differ.warm()))
        self._tell_left_out()
        self._queue_up(functools.partial(Engine.survey, moment=time.time()))

    @property
    def _reviews(self) -> bool:
        return self._lock_file.held and not self._closed

    def _queue_up(self, event: Callable[[Engine], None]) -> None:
        if self._reviews:
            self._inbox.put(event)

    # -- catching up ---------------------------------------------------------------------------

    async def _thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    @contextlib.asynccontextmanager
    async def _caught_up(self) -> AsyncGenerator[None]:
        """The lock, with everything taken up that was queued before."""
        await self._ready.wait()
        async with self._lock:
            await self._catch_up()
            yield

    async def _catch_up(self) -> None:
        """Takes up all that is queued, and looks where that was asked for. With the lock held."""
        engine = self._engine
        if engine is None or self._closed:
            return
        engine.workspace.used()
        taken = self._inbox.take()
        if not taken.empty or engine.rough or await self._thread(lambda: engine.histories.changed):
            steps = taken.work(engine)
            while await self._thread(functools.partial(self._step, steps)):
                self._publish()
            await self._thread(functools.partial(self._store.save, engine))
        self._publish()
        self._tell_left_out()
        assert self._group is not None
        for clash in list(engine.clashes.values()):
            self._group.start_soon(self._solve, clash)
        engine.clashes.clear()
        self._words.was_restored(self._documents.returned)
        self._documents.returned.clear()
        if self._patience is not None:
            self._patience.see(engine)

    def _step(self, steps: Iterator[None]) -> bool:
        """Works on for a moment and lists what there is; whether there is more to do."""
        goes_on = False
        try:
            goes_on = next(steps, self) is None
        except Exception:
            log.exception("looking at the disk failed")
        self._list()
        return goes_on

    def _list(self) -> None:
        if self._engine is not None:
            self._listing.make(self._engine.tracked)

    def _publish(self) -> None:
        if self._listing.show():
            self._on_change()

    def _tell_left_out(self) -> None:
        if self._engine is not None and (said := self._words.left_out(self._engine.workspace.left_out())):
            self._tell(said)

    async def _solve(self, clash: Clash) -> None:
        await anyio.sleep(MOMENT)
        async with self._caught_up():
            if (said := await reconcile(self._documents, self._editor, self._thread, clash)) is not None:
                self._tell(said)
            await self._thread(self._list)
            self._publish()

    # -- what there is -------------------------------------------------------------------------

    def changes(self) -> tuple[FileChange, ...]:
        return self._listing.shown

    def original(self, path: str) -> str | None:
        """The text before the changes; "" for a new file, None where there are none, or it is lost."""
        engine = self._engine
        tracked = engine.tracked.get(engine.workspace.canonical(path)) if engine is not None else None
        return self._originals.text(self._documents, tracked) if tracked and tracked.pending else None

    def undone_note(self) -> str | None:
        """What the person undid since this was last asked, for the agent to know."""
        return self._words.undone()

    # -- answers -------------------------------------------------------------------------------

    async def keep(self, path: str | None = None, hunk_id: str | None = None) -> int:
        """Keeps one hunk, one file's or all; returns how many hunks."""
        return await self._answer(lambda answering: answering.keep(path, hunk_id))

    async def undo(self, path: str | None = None, hunk_id: str | None = None) -> int:
        """Undoes one hunk, one file's or all; returns how many hunks."""
        return await self._answer(lambda answering: answering.undo(path, hunk_id))

    async def restore(self) -> int:
        """Takes the last undo back; returns how many hunks are there again."""
        return await self._answer(lambda answering: answering.restore())

    async def _answer(self, act: Callable[[Answering], Awaitable[int]]) -> int:
        async with self._caught_up():
            if self._answering is None or self._closed:
                raise ReviewError("Changes are not reviewed in this window.")
            try:
                return await act(self._answering)
            except ReviewError:
                self._inbox.look(None)  # what stood in the way is shown
                raise
            finally:
                await self._thread(self._list)
                self._publish()
