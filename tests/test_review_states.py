"""A person and an agent on the same files, in any order: nobody's lines are lost, and nobody else's blamed.

The person writes in lines of their own, the agent in lines of its own, so that it is known at any time what
has to be listed: the agent's lines that nobody has answered, and nothing else.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from review_editor import Desk

T = TypeVar("T")

NAMES = ("a.py", "b.py")
LINES = range(6)
"""The person writes in those with an odd number."""
FILES = st.sampled_from(NAMES)
MINE = st.sampled_from([line for line in LINES if line % 2])
AGENTS = st.sampled_from([line for line in LINES if not line % 2])


def written(values: list[str]) -> str:
    """Each line with some below it that nobody changes."""
    return "".join(f"{value}\nunder {at}\nunder it\n" for at, value in enumerate(values))


def values(text: str) -> list[str]:
    return text.splitlines()[::3]


class Workspace(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name) / "root"
        self.root.mkdir()
        for name in NAMES:
            (self.root / name).write_text(written([f"line {at}" for at in LINES]))
        self.base = {name: [f"line {at}" for at in LINES] for name in NAMES}
        """What the agent's lines were before it; the person's are what they are."""
        self.typed = {name: [f"line {at}" for at in LINES] for name in NAMES}
        """What the person's lines have to be."""
        self.undone: dict[str, set[str]] = {name: set() for name in NAMES}
        """Lines of the agent's that went; where the editor's undo brings them back, they are listed again."""
        self.undo_stack: dict[str, list[str]] = {}
        self.numbers = itertools.count(1)
        self.in_turn = False
        self.portal_made = start_blocking_portal()
        self.portal: BlockingPortal = self.portal_made.__enter__()
        self.start()

    # -- the machinery -------------------------------------------------------------------------------

    def start(self) -> None:
        async def make() -> None:
            self.desk = Desk(self.root, self.root.parent)
            self.stop, self.started = anyio.Event(), anyio.Event()

        async def live() -> None:
            async with anyio.create_task_group() as group:
                await self.desk.review.start(group)
                self.started.set()
                await self.stop.wait()
                await self.desk.review.aclose()

        async def started() -> None:
            await self.started.wait()
            await self.desk.review.rescan()

        self.portal.call(make)
        self.living: Future[None] = self.portal.start_task_soon(live)
        self.portal.call(started)

    def end(self) -> None:
        self.portal.call(self.stop.set)
        self.living.result(30)

    def teardown(self) -> None:
        self.end()
        self.portal_made.__exit__(None, None, None)
        self.folder.cleanup()

    def do(self, *work: Callable[[], Awaitable[object]] | Callable[[], object]) -> None:
        """These, one right after the other; then all of it is taken up."""

        async def run() -> None:
            for one in work:
                done = one()
                if isinstance(done, Awaitable):
                    await done
            await self.desk.review.rescan()

        self.portal.call(run)

    def is_open(self, name: str) -> bool:
        return self.desk.path(name) in self.desk.documents

    def dirty(self, name: str) -> bool:
        return self.is_open(name) and self.desk.documents[self.desk.path(name)].dirty

    def current(self, name: str) -> str:
        return self.desk.text(name) if self.is_open(name) else (self.root / name).read_text()

    def show(self, name: str, text: str) -> None:
        self.undo_stack.setdefault(name, []).append(self.desk.text(name))
        self.desk._replace(self.desk.path(name), text, dirty=True, by_us=False)

    def pending(self, name: str) -> set[int]:
        now = values(self.current(name))
        return {at for at in LINES if not at % 2 and now[at] != self.base[name][at]}

    # -- the editor ----------------------------------------------------------------------------------

    @initialize(opened=st.sets(FILES), in_turn=st.booleans())
    def begin(self, opened: set[str], in_turn: bool) -> None:
        for name in sorted(opened):
            self.open(name)
        if in_turn:
            self.begin_turn()

    @rule(name=FILES)
    def open(self, name: str) -> None:
        if not self.is_open(name):
            self.do(lambda: self.desk.open(name))

    @rule(name=FILES)
    def close(self, name: str) -> None:
        if self.is_open(name) and not self.dirty(name):

            def closed() -> None:
                del self.desk.documents[self.desk.path(name)]
                self.desk.review.buffer_closed(self.desk.path(name))

            self.undo_stack.pop(name, None)
            self.undone[name].clear()
            self.do(closed)

    @rule(name=FILES, line=MINE, at_once=st.booleans())
    def type(self, name: str, line: int, at_once: bool) -> None:
        if self.is_open(name):
            now = values(self.desk.text(name))
            now[line] = self.typed[name][line] = f"typed {next(self.numbers)}"
            steps = [lambda: self.show(name, written(now))]
            self.do(*steps, *([lambda: self.desk.save_by_hand(name)] if at_once else []))

    @rule(name=FILES)
    def save(self, name: str) -> None:
        if self.dirty(name):
            self.do(lambda: self.desk.save_by_hand(name))

    @rule(name=FILES)
    def editors_undo(self, name: str) -> None:
        if self.undo_stack.get(name):
            before = values(self.desk.text(name))
            text = self.undo_stack[name].pop()
            listed = self.pending(name)
            self.do(lambda: self.desk._replace(self.desk.path(name), text, dirty=True, by_us=False))
            now = values(text)
            for at in LINES:
                if at % 2:
                    self.typed[name][at] = now[at]
                elif now[at] != before[at] and at not in listed and now[at] not in self.undone[name]:
                    self.base[name][at] = now[at]  # the person takes back what was answered otherwise

    # -- the agent -----------------------------------------------------------------------------------

    @precondition(lambda self: not self.in_turn)
    @rule()
    def begin_turn(self) -> None:
        self.in_turn = True
        self.portal.call(self.desk.begin)

    @precondition(lambda self: self.in_turn)
    @rule()
    def end_turn(self) -> None:
        self.in_turn = False
        self.portal.call(self.desk.end)

    @precondition(lambda self: self.in_turn)
    @rule(name=FILES, line=AGENTS)
    def agent_writes_the_file(self, name: str, line: int) -> None:
        now = values((self.root / name).read_text())
        if now[line] != values(self.current(name))[line]:
            return  # both have changed it: that is told, and nobody's is taken
        now[line] = f"agent {next(self.numbers)}"

        async def reload() -> None:
            if not self.is_open(name):
                return
            self.undo_stack.setdefault(name, []).append(self.desk.text(name))
            if not self.desk.documents[self.desk.path(name)].dirty:
                self.desk.reload(name)
            else:  # the document gets it, and keeps what is typed
                await self.desk.review.rescan()
                await self.desk.until(lambda: now[line] in self.desk.text(name), 10)

        self.do(lambda: self.desk.write(name, written(now)), reload)

    @precondition(lambda self: self.in_turn)
    @rule(name=FILES, line=AGENTS)
    def agent_writes_through_the_editor(self, name: str, line: int) -> None:
        path = self.desk.path(name)
        now = values(self.current(name))
        now[line] = f"agent {next(self.numbers)}"

        async def edit() -> None:
            self.desk.review.agent_writes(path)
            if self.is_open(name):
                self.undo_stack.setdefault(name, []).append(self.desk.text(name))
                assert await self.desk.edit(path, written(now), self.desk.documents[path].version)
                self.desk.save_by_hand(name)
            else:
                self.desk.write(name, written(now))
            self.desk.review.agent_wrote(path)

        self.do(edit)

    @precondition(lambda self: not self.in_turn)
    @rule(name=FILES, line=MINE)
    def another_program_of_the_persons_writes(self, name: str, line: int) -> None:
        if not self.is_open(name):
            now = values((self.root / name).read_text())
            now[line] = self.typed[name][line] = f"other {next(self.numbers)}"
            self.do(lambda: self.desk.write(name, written(now)))

    # -- answers -------------------------------------------------------------------------------------

    @rule(name=FILES, keep=st.booleans(), number=st.integers(0, 2))
    def answer_a_hunk(self, name: str, keep: bool, number: int) -> None:
        if not (listed := sorted(self.pending(name))):
            return
        line = listed[number % len(listed)]
        change = next(one for one in self.desk.review.changes() if one.path == self.desk.path(name))
        hunk = next(hunk for hunk in change.hunks if hunk.modified[0] == 3 * line)
        now = values(self.current(name))
        if keep:
            self.base[name][line] = now[line]
            self.undone[name].discard(now[line])
            self.do(lambda: self.desk.review.keep(hunk_id=hunk.hunk_id))
        else:
            self.remember(name)
            self.undone[name].add(now[line])
            self.do(lambda: self.desk.review.undo(hunk_id=hunk.hunk_id))

    @rule()
    def keep_all(self) -> None:
        for name in NAMES:
            now = values(self.current(name))
            self.base[name] = [now[at] if not at % 2 else was for at, was in enumerate(self.base[name])]
            self.undone[name].difference_update(now)
        self.do(lambda: self.desk.review.keep())
        assert self.desk.review.changes() == ()

    @rule(restore=st.booleans())
    def undo_all(self, restore: bool) -> None:
        before = {name: self.current(name) for name in NAMES}
        if not any(self.pending(name) for name in NAMES):
            return
        for name in NAMES:
            self.remember(name)
            self.undone[name].update(values(before[name])[at] for at in self.pending(name))
        self.do(lambda: self.desk.review.undo())
        assert self.desk.review.changes() == ()
        if restore:
            for name in NAMES:
                self.remember(name)
            self.do(lambda: self.desk.review.restore())
            assert {name: self.current(name) for name in NAMES} == before

    def remember(self, name: str) -> None:
        if self.is_open(name):
            self.undo_stack.setdefault(name, []).append(self.desk.text(name))

    # -- the end of the process ----------------------------------------------------------------------

    @precondition(lambda self: not self.in_turn)
    @rule()
    def restart(self) -> None:
        """Of the server; the editor keeps its documents, and what it can take back."""
        documents = self.desk.documents
        self.end()
        self.start()
        self.desk.documents.update(documents)
        self.undo_stack.clear()  # what was undone before is not known any more to be the agent's
        self.do(*(lambda path=path: self.desk.review.buffer_opened(path) for path in documents))

    # -- what holds ----------------------------------------------------------------------------------

    def original(self, name: str) -> list[str] | None:
        text = self.desk.review.original(self.desk.path(name))
        return None if text is None else values(text)

    @invariant()
    def the_persons_lines_are_there_and_are_theirs(self) -> None:
        for name in NAMES:
            now, shown = values(self.current(name)), self.original(name)
            for at in LINES:
                if at % 2:
                    assert now[at] == self.typed[name][at]
                    assert shown is None or shown[at] == now[at]

    @invariant()
    def what_is_listed_is_what_the_agent_made(self) -> None:
        changes = {one.path: one for one in self.desk.review.changes()}
        for name in NAMES:
            change = changes.pop(self.desk.path(name), None)
            hunks = {hunk.modified[0] // 3 for hunk in change.hunks} if change else set()
            assert hunks == self.pending(name)
        assert not changes


TestWorkspace = Workspace.TestCase
TestWorkspace.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
