"""What is kept of a folder: for one window at a time, mended where it is damaged, and not for ever."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import pytest
from review_desk import git
from review_editor import Desk

from acp_editor.review import objects, store, workspace
from acp_editor.review.engine import Engine
from acp_editor.review.locks import Lock
from acp_editor.review.review import Buffer, Limits, Review

pytestmark = pytest.mark.anyio

OLD, NEW = "one\ntwo\n", "one\nTWO\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text(OLD)
    return root


@contextlib.asynccontextmanager
async def at(root: Path, more: Sequence[Path] = (), **settings: object) -> AsyncIterator[Desk]:
    """A desk on a folder, and on more of them."""
    desk = Desk(root, root.parent, **settings)
    if more:
        home = root.parent
        roots = [str(root), *map(str, more)]
        desk.review = Review(roots, home / "cache", home / "state", desk, tell=desk.told.append)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        try:
            yield desk
        finally:
            await desk.review.aclose()


async def edit(desk: Desk) -> None:
    await desk.begin()
    desk.write("a.py", NEW)
    assert len(await desk.end()) == 1


async def test_the_second_window_takes_over_when_the_first_one_goes(root: Path) -> None:
    async with at(root) as second_to_be:
        await edit(second_to_be)
        async with anyio.create_task_group() as group:
            second = Desk(root, root.parent)
            await second.review.start(group)
            second.open("a.py")
            assert any("Another window" in said for said in second.told)
            await second.begin()  # a prompt there waits for nothing
            assert await second.end() == ()
            await second_to_be.review.aclose()
            await second.until(lambda: len(second.review.changes()) == 1, 20)
            assert any("this one now" in said for said in second.told)
            await second.review.undo()
            assert second.text("a.py") == OLD == second.bytes("a.py").decode()
            await second.review.aclose()


async def test_folders_that_share_one_are_one_workspace_at_a_time(root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    async with at(root, [other]), at(root) as second:
        assert any("Another window" in said for said in second.told)
    (root.parent / "by another name").symlink_to(root)
    async with at(root), at(root.parent / "by another name") as second:
        assert any("Another window" in said for said in second.told)


async def test_a_folder_keeps_its_changes_whatever_is_open_with_it(root: Path) -> None:
    other = root.parent / "other"
    other.mkdir()
    (other / "b.py").write_text(OLD)
    async with at(root) as desk:
        await edit(desk)
    async with at(other) as desk:
        await desk.begin()
        desk.write("b.py", NEW)
        await desk.end()
    async with at(root, [other]) as desk:
        await desk.review.rescan()
        changes = desk.review.changes()
        assert [os.path.basename(change.path) for change in changes] == ["b.py", "a.py"]
        assert len({hunk.hunk_id for change in changes for hunk in change.hunks}) == 2
        await desk.review.keep(str(other / "b.py"))
    async with at(root) as desk:
        await desk.review.rescan()
        assert len(desk.review.changes()) == 1
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == OLD


async def test_a_repository_inside_may_also_be_a_folder_of_its_own(root: Path) -> None:
    inner = root / "inner"
    inner.mkdir()
    (inner / "b.py").write_text(OLD)
    git(inner, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "first")
    async with at(root, [inner]) as desk:
        await desk.begin()
        desk.write("inner/b.py", NEW)
        changes = await desk.end()
        assert len(changes) == 1
    async with at(root) as desk:
        assert await desk.changes() == ()
    async with at(root, [inner]) as desk:
        assert await desk.changes() == changes
        await desk.review.undo()
        assert desk.bytes("inner/b.py").decode() == OLD


@pytest.mark.parametrize("damage", ["index", "config", "HEAD", "index.lock"])
async def test_a_damaged_store_is_made_anew(root: Path, damage: str) -> None:
    async with at(root) as desk:
        await desk.review.rescan()
    (kept,) = workspace.stores(root.parent / "cache")
    (kept / damage).write_bytes(b"damaged")
    async with at(root) as desk:
        await desk.begin()
        desk.write("b.py", "new\n")
        assert [os.path.basename(change.path) for change in await desk.end()] == ["b.py"]
        await desk.review.undo()
        await edit(desk)
        await desk.review.undo()
        assert os.listdir(root) == ["a.py"]
        assert desk.bytes("a.py").decode() == OLD


async def test_a_base_that_is_damaged_stops_nothing_else(root: Path) -> None:
    async with at(root) as desk:
        await desk.review.rescan()
    (kept,) = workspace.stores(root.parent / "cache")
    for path in (kept / "objects").glob("??/*"):
        path.unlink()
        path.write_bytes(b"damaged")
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", NEW)
        desk.write("b.py", "new\n")
        assert [os.path.basename(change.path) for change in await desk.end()] == ["b.py"]


def test_what_a_turn_did_is_not_the_persons_where_we_are_killed_before_it_was_looked_at(root: Path) -> None:
    """What is written down between the end of a turn and the look at what it did says that it may be more."""
    home = root.parent
    kept = store.Store(home / "state")
    first = Engine([str(root)], home / "cache", Limits())
    first.begin()
    first.turns.start(time.time())
    (root / "a.py").write_text(NEW)
    first.turns.end(time.time())
    assert first.turns.until == first.turns.ended
    kept.save(first)
    again = Engine([str(root)], home / "cache", Limits())
    cut_short = store.Store(home / "state").load(again)
    again.begin(cut_short)
    assert list(again.tracked) == [str(root / "a.py")]
    first.look([str(root / "a.py")])  # there may be more elsewhere
    assert first.turns.until == first.turns.ended
    first.look()
    assert first.turns.until == 0
    kept.save(first)
    known = Engine([str(root)], home / "cache", Limits())
    assert store.Store(home / "state").load(known) == 0
    assert list(known.tracked) == [str(root / "a.py")]


def test_what_nothing_needs_is_removed_from_a_store(tmp_path: Path) -> None:
    kept = [objects.write(tmp_path, b"%d" % number) for number in range(4)]
    assert objects.prune(tmp_path, kept[:1]) == 0  # too new: somebody may be about to need them
    assert objects.prune(tmp_path, kept[:1], time.time() + 4000) == 3
    assert objects.read(tmp_path, kept[0]) == b"0"
    with pytest.raises(KeyError):
        objects.read(tmp_path, kept[1])


async def test_pending_changes_of_long_ago_go_but_not_those_of_an_open_window(root: Path) -> None:
    async with at(root) as desk:
        await edit(desk)
        store.clean(root.parent / "state", 10, time.time() + 100)
        assert store.objects_of(root.parent / "state", str(root))
    store.clean(root.parent / "state", 10, time.time() + 100)
    assert not store.objects_of(root.parent / "state", str(root))
    lock = Lock(root.parent / "state", [str(root)])
    assert lock.take()
    lock.release()


async def test_a_file_that_grows_over_the_limit_is_left_out_and_said(root: Path) -> None:
    async with at(root, limits=Limits(file_size=4000)) as desk:
        await desk.begin()
        desk.write("a.py", b"x" * 5000)
        assert await desk.end() == ()
        assert [said for said in desk.told if "a.py" in said and "larger than" in said]


async def test_permissions_alone_are_a_change(root: Path) -> None:
    (root / "secret").mkdir(mode=0o700)
    (root / "secret" / "key").write_text("key\n")
    (root / "secret" / "key").chmod(0o600)
    async with at(root) as desk:
        await desk.begin()
        await desk.review.rescan()
        (root / "a.py").chmod(0o600)
        (root / "secret" / "key").unlink()
        (root / "secret").rmdir()
        changes = await desk.end()
        assert [(os.path.basename(one.path), one.operation) for one in changes] == [
            ("a.py", "modify"),
            ("key", "delete"),
        ]
        await desk.review.undo()
        assert (root / "a.py").stat().st_mode & 0o777 == 0o644
        assert (root / "secret" / "key").stat().st_mode & 0o777 == 0o600
        assert (root / "secret").stat().st_mode & 0o777 == 0o700


async def test_answers_while_the_agent_still_works(root: Path) -> None:
    names = [f"f{number}.py" for number in range(20)]
    for name in names:
        (root / name).write_text("".join(f"{number}\n" for number in range(30)))
    before = (root / names[0]).read_text()
    async with at(root) as desk:
        await desk.begin()
        for turn in range(6):
            for name in names:
                text = desk.bytes(name).decode().replace(f"{turn * 5}\n", f"agent {turn}\n", 1)
                desk.write(name, text)
            desk.review.files_changed([desk.path(name) for name in names])
            if turn % 2:
                await desk.review.undo(desk.path(names[turn]))
            await desk.review.keep(desk.path(names[turn + 10]))
        await desk.end()
        await desk.review.undo()
        assert [name for name in names[:10] if desk.bytes(name).decode() != before] == []
        for turn in range(6):
            kept = desk.bytes(names[turn + 10]).decode()
            assert kept.count("agent") == turn + 1  # what came after that is undone, what was kept is there


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_the_agent_made_in_an_unsaved_document_is_listed_again(root: Path, at_once: bool) -> None:
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", NEW)
        desk.reload("a.py")
        (change,) = await desk.end()
        await desk.review.undo()
        desk._replace(desk.path("a.py"), NEW, dirty=True, by_us=False)  # the editor's undo
        assert await desk.changes() == (change,)
    for _ in range(2):
        async with at(root) as desk:
            assert await desk.changes() == ()  # the file itself is as it was
    async with at(root) as desk:
        if at_once:
            desk.documents[desk.path("a.py")] = Buffer(NEW + "mine\n", 1, True)
            desk.review.buffer_opened(desk.path("a.py"))
        else:
            desk.open("a.py")
            await desk.changes()
            desk._replace(desk.path("a.py"), NEW, dirty=True, by_us=False)
        assert await desk.changes() == (change,)
        await desk.review.undo()
        assert desk.text("a.py") == OLD + ("mine\n" if at_once else "")
