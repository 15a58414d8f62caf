"""Of thousands of pending files only some are in memory: the others behave alike; what is lost is said."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_desk import at, git, names
from review_editor import Desk

from acp_editor.review import objects, workspace
from acp_editor.review.engine import Engine
from acp_editor.review.memory import Memory
from acp_editor.review.review import Limits, ReviewError
from acp_editor.review.tracked import Tracked
from acp_editor.review.versions import EXECUTABLE, FILE, LINK, Lost, Version

pytestmark = pytest.mark.anyio

NOTHING = Limits(memory=0)
OLD = "".join(f"line {number}\n" for number in range(100))
NEW = OLD.replace("line 10\n", "ten\n").replace("line 60\n", "sixty\n")
BYTES = st.none() | st.sampled_from([b"", b"a\n", b"b\n", b"a\nb\n", b"\r\n", b"\0\xff", b"x" * 5000])
VERSIONS = st.tuples(BYTES, st.sampled_from([FILE, EXECUTABLE, LINK, 0o100600, 0o100640]))


class Loads:
    """Counts what is read from the stores."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._read = objects.read
        monkeypatch.setattr(objects, "read", self)

    def __call__(self, store: Path, oid: str) -> bytes:
        self.count += 1
        return self._read(store, oid)

    def take(self) -> int:
        count, self.count = self.count, 0
        return count


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    for name in ("a.py", "b.py", "c.py"):
        (root / name).write_text(f"# {name}\n{OLD}")
    return root


def old(name: str) -> str:
    return f"# {name}\n{OLD}"


def new(name: str) -> str:
    return f"# {name}\n{NEW}"


def engine(desk: Desk) -> Engine:
    made = desk.review._engine
    assert made is not None
    return made


def aside(desk: Desk, name: str) -> bool:
    return all(
        version.aside or not version.size for version in engine(desk).tracked[desk.path(name)].versions
    )


def empty_the_cache(desk: Desk) -> None:
    """As somebody does who needs the space, while the objects are needed."""
    for store in workspace.stores(desk.root.parent / "cache"):
        for path in (store / "objects").glob("??/*"):
            path.unlink()


def lose(desk: Desk, version: Version) -> None:
    (store,) = workspace.stores(desk.root.parent / "cache")
    (store / "objects" / version.oid[:2] / version.oid[2:]).unlink()


# -- one version ---------------------------------------------------------------------------------


@given(st.lists(VERSIONS, min_size=2, max_size=2), st.lists(st.booleans(), min_size=2, max_size=2))
def test_a_version_that_is_set_aside_is_the_same_value(made: list[tuple[bytes | None, int]], go: list[bool]):
    plain = [Version(*one) for one in made]
    kept = [Version(*one) for one in made]
    store = {version.oid: version.data or b"" for version in kept if not version.absent}
    for version, goes in zip(kept, go, strict=True):
        if not version.absent:
            version.keep_in(store.__getitem__, version.oid)
        if goes:
            version.set_aside()
            assert version.held == 0
    one, two = plain
    for left, right in (kept, (kept[0], two), (one, kept[1])):
        assert (left == right) == (made[0] == made[1])
        assert left.same(right) == (made[0][0] == made[1][0])
        assert left.cuts(right) == one.cuts(two)
    for as_it_was, now in zip(plain, kept, strict=True):
        assert now == as_it_was
        assert hash(now) == hash(as_it_was)
        what = [(v.data, v.mode, v.size, v.absent, v.is_link, v.git_mode) for v in (as_it_was, now)]
        assert what[0] == what[1]
        assert now.loaded().data == as_it_was.data
        now.bring_back()
        assert not now.aside
        assert now.held == as_it_was.size


def test_comparing_reads_nothing_and_what_is_lost_is_said():
    version, other = Version(b"one\n"), Version(b"two\n")
    version.keep_in({}.__getitem__, version.oid)
    version.set_aside()
    assert version == Version(b"one\n") != other
    assert not version.absent
    assert not other.cuts(version)
    for read in (lambda: version.data, version.loaded, version.bring_back):
        with pytest.raises(Lost):
            read()
    assert version.aside
    version.bring_back(Version(b"one\n", LINK))
    assert version.data == b"one\n"


def test_an_object_that_is_damaged_is_written_anew(tmp_path: Path):
    oid = objects.write(tmp_path, b"one\n")
    path = tmp_path / "objects" / oid[:2] / oid[2:]
    other = objects.write(tmp_path, b"two\n")
    for damaged in (b"", (tmp_path / "objects" / other[:2] / other[2:]).read_bytes()):
        path.unlink()
        path.write_bytes(damaged)
        with pytest.raises(KeyError):
            objects.read(tmp_path, oid)
        assert objects.write(tmp_path, b"one\n") == oid
        assert objects.read(tmp_path, oid) == b"one\n"


# -- many files ----------------------------------------------------------------------------------


async def test_of_thousands_of_files_no_more_than_there_is_room_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, room = 2000, 256 * 1024
    for number in range(count):
        (root / f"f{number}.py").write_text(f"# {number}\n{OLD}")
    total = 2 * sum((root / f"f{number}.py").stat().st_size for number in range(count))
    assert total > 8 * room
    held: list[int] = []
    look_at = Engine._look_at

    def watched(self: Engine, *args: object) -> None:
        look_at(self, *args)  # type: ignore[arg-type]
        if len(self.tracked) % 50 == 0:
            held.append(self.memory.held)

    monkeypatch.setattr(Engine, "_look_at", watched)
    loads = Loads(monkeypatch)
    async with at(root, limits=Limits(memory=room)) as desk:
        await desk.begin()
        for number in range(count):
            desk.write(f"f{number}.py", f"# {number}\n{NEW}")
        assert len(await desk.end()) == count
        assert 0 < max(held) <= room + 4 * len(NEW)
        assert engine(desk).memory.held <= room

        loads.take()
        changes = await desk.changes()
        await desk.review.checkpoint()
        assert await desk.changes() is changes
        assert loads.take() == 0

        assert await desk.review.keep(desk.path("f7.py")) == 2
        assert await desk.review.keep() == 2 * (count - 1)
        assert loads.take() == 0


async def test_many_are_answered_within_that_room_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count, room = 150, 16 * 1024
    files = [f"f{number}.py" for number in range(count)]
    for name in files:
        (root / name).write_text(old(name))
    loads = Loads(monkeypatch)
    held: list[int] = []
    settle = Engine.settle

    def watched(self: Engine, tracked: Tracked) -> None:
        settle(self, tracked)
        held.append(self.memory.held)

    monkeypatch.setattr(Engine, "settle", watched)
    async with at(root, limits=Limits(memory=room)) as desk:
        await desk.begin()
        for name in files:
            desk.write(name, new(name))
        assert len(await desk.end()) == count
        loads.take()
        assert await desk.review.undo() == 2 * count
        assert loads.take() <= 2 * count
        assert [name for name in files if desk.bytes(name).decode() != old(name)] == []
        assert await desk.review.restore() == 2 * count
        assert [name for name in files if desk.bytes(name).decode() != new(name)] == []
        assert max(held) <= room + 4 * len(NEW)
    async with at(root, limits=Limits(memory=room)) as desk:
        assert len(await desk.changes()) == count
        assert engine(desk).memory.held <= room
        loads.take()
        await desk.changes()
        assert loads.take() == 0
        await desk.review.undo()
        assert [name for name in files if desk.bytes(name).decode() != old(name)] == []


async def test_what_the_person_changes_elsewhere_takes_no_room_either(root: Path) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.review.rescan()
        for name in ("a.py", "b.py", "c.py"):
            desk.write(name, new(name))
        assert await desk.changes() == ()
        await desk.begin()
        desk.write("a.py", old("a.py"))
        assert names(await desk.end()) == {"a.py": "modify"}
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == new("a.py")


# -- one file ------------------------------------------------------------------------------------


async def test_every_kind_of_change_comes_back_from_where_it_is_set_aside(root: Path) -> None:
    before = {
        "crlf.txt": b"one\r\ntwo\r\n",
        "wide.txt": "one\ntwo\n".encode("utf-16"),
        "bytes.bin": b"\0\1\2" * 100,
        "gone.py": b"goes\n",
        "moved.py": OLD.encode() * 2,
        "empty.py": b"",
    }
    for name, data in before.items():
        (root / name).write_bytes(data)
    (root / "run.sh").write_text("run\n")
    (root / "run.sh").chmod(0o750)
    (root / "link").symlink_to("a.py")
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("crlf.txt", b"one\r\nTWO\r\n")
        desk.write("wide.txt", "one\nTWO\n".encode("utf-16"))
        desk.write("bytes.bin", b"\0\3\4" * 100)
        (root / "gone.py").unlink()
        (root / "moved.py").rename(root / "there.py")
        desk.write("empty.py", "full\n")
        (root / "run.sh").chmod(0o700)
        (root / "link").unlink()
        (root / "link").symlink_to("b.py")
        desk.write("deep/new.py", "new\n")
        changes = await desk.end()
        assert names(changes)["there.py"] == "move"
        assert len(changes) == 9
        assert all(aside(desk, os.path.relpath(one.path, root)) for one in changes)
    async with at(root, limits=NOTHING) as desk:
        assert await desk.changes() == changes
        for _ in range(2):
            await desk.review.undo()
            assert await desk.changes() == ()
            assert {name: desk.bytes(name) for name in before} == before
            assert os.readlink(root / "link") == "a.py"
            assert (root / "run.sh").stat().st_mode & 0o777 == 0o750
            assert not (root / "there.py").exists()
            assert not (root / "deep").exists()
            await desk.review.restore()
            assert await desk.changes() == changes
            assert os.readlink(root / "link") == "b.py"
            assert (root / "run.sh").stat().st_mode & 0o777 == 0o700
            assert not (root / "moved.py").exists()


@pytest.mark.parametrize("room", [0, 1 << 30])
async def test_hunks_are_answered_one_by_one(root: Path, room: int) -> None:
    async with at(root, limits=Limits(memory=room)) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        (change,) = await desk.end()
        assert aside(desk, "a.py") == (not room)
        first, second = change.hunks
        await desk.review.undo(hunk_id=first.hunk_id)
        assert desk.bytes("a.py").decode() == old("a.py").replace("line 60\n", "sixty\n")
        await desk.review.restore()
        assert desk.bytes("a.py").decode() == new("a.py")
        await desk.review.keep(hunk_id=first.hunk_id)
        await desk.review.undo(hunk_id=second.hunk_id)
        assert desk.bytes("a.py").decode() == old("a.py").replace("line 10\n", "ten\n")
        assert await desk.changes() == ()


async def test_a_file_that_is_opened_is_in_memory_until_it_is_closed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        await desk.end()
        assert aside(desk, "a.py")
        assert desk.review.original(desk.path("a.py")) == old("a.py")
        desk.open("a.py")
        await desk.begin()
        desk.write("b.py", new("b.py"))
        await desk.end()
        assert aside(desk, "b.py")
        assert not aside(desk, "a.py")
        loads = Loads(monkeypatch)
        desk.type("a.py", "line 30\n", "mine\n")
        desk.type("a.py", "ten\n", "eleven\n")
        change, _ = await desk.changes()
        assert loads.take() == 0
        assert len(change.hunks) == 2
        desk.save_by_hand("a.py")
        del desk.documents[desk.path("a.py")]
        desk.review.buffer_closed(desk.path("a.py"))
        await desk.changes()
        assert aside(desk, "a.py")
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == old("a.py").replace("line 30\n", "mine\n")


async def test_what_the_editor_shows_is_not_read_at_every_change(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        for name in ("a.py", "b.py", "c.py"):
            desk.write(name, new(name))
        a, b, c = await desk.end()
        loads = Loads(monkeypatch)
        for _ in range(3):
            assert desk.review.original(a.path) == old("a.py")
            assert desk.review.original(b.path) == old("b.py")
        assert loads.take() == 2
        await desk.review.keep(hunk_id=a.hunks[0].hunk_id)
        assert desk.review.original(a.path) == old("a.py").replace("line 10\n", "ten\n")
        monkeypatch.setattr("acp_editor.review.originals._ROOM", len(old("a.py")))
        loads.take()
        for change in (c, a, b, b):
            desk.review.original(change.path)
        assert loads.take() == 3  # the last one asked for had room


async def test_who_else_changes_a_file_that_is_set_aside(root: Path) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        for name in ("a.py", "b.py"):
            desk.write(name, new(name))
        (a, _) = await desk.end()
        desk.write("a.py", new("a.py").replace("line 30\n", "mine\n"))  # the person, by another program
        await desk.begin()
        desk.write("b.py", new("b.py").replace("line 30\n", "thirty\n"))
        (again, b) = await desk.end()
        assert [hunk.hunk_id for hunk in again.hunks] == [hunk.hunk_id for hunk in a.hunks]
        assert len(b.hunks) == 3
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == old("a.py").replace("line 30\n", "mine\n")
        assert desk.bytes("b.py").decode() == old("b.py")


async def test_a_commit_reads_only_what_it_is_about(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "before")
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        for name in ("a.py", "b.py", "c.py"):
            desk.write(name, new(name))
        desk.write("new.py", "new\n")
        assert len(await desk.end()) == 4
        loads = Loads(monkeypatch)
        git(root, "add", "a.py")
        git(root, "commit", "-q", "-m", "a")
        await desk.until(lambda: len(desk.review.changes()) == 3)
        assert loads.take() == 0
        desk.write("b.py", old("b.py").replace("line 10\n", "ten\n"))
        git(root, "add", "b.py")
        desk.write("b.py", new("b.py"))
        git(root, "commit", "-q", "-m", "half of b")
        await desk.until(lambda: [len(change.hunks) for change in desk.review.changes()] == [1, 2, 1])
        await desk.review.undo()
        assert desk.bytes("b.py").decode() == old("b.py").replace("line 10\n", "ten\n")


# -- what is lost --------------------------------------------------------------------------------


@pytest.fixture
def only_a_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that come later find room."""
    make = Memory._set_aside

    def first(self: Memory, size: int) -> None:
        tracked = {path: one for path, one in self._tracked.items() if path.endswith("a.py")}
        make(Memory(self._workspace, tracked, self._open, 0), size)

    monkeypatch.setattr(Memory, "_set_aside", first)


@pytest.mark.parametrize("whole_folder", [False, True])
async def test_what_is_lost_is_said_and_the_rest_goes_on(
    root: Path, only_a_aside: None, whole_folder: bool
) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        for name in ("a.py", "b.py"):
            desk.write(name, new(name))
        (a, _) = await desk.end()
        assert aside(desk, "a.py")
        assert not aside(desk, "b.py")
        if whole_folder:
            shutil.rmtree(root.parent / "cache")
        else:
            empty_the_cache(desk)

        assert desk.review.original(desk.path("a.py")) is None
        for answer in (desk.review.undo, desk.review.keep):
            with pytest.raises(ReviewError, match=r"What a\.py was before these changes cannot be read"):
                await answer(hunk_id=a.hunks[0].hunk_id)
        assert await desk.review.undo() == 2  # of b
        assert any("a.py" in said and "cache folder" in said for said in desk.told)
        assert desk.bytes("a.py").decode() == new("a.py")
        assert desk.bytes("b.py").decode() == old("b.py")
        assert sorted(os.listdir(root)) == ["a.py", "b.py", "c.py"]
        assert names(await desk.changes()) == {"a.py": "modify"}

        await desk.begin()
        desk.write("a.py", new("a.py").replace("line 30\n", "thirty\n"))
        desk.write("c.py", new("c.py"))
        a, *_ = await desk.end()
        assert len(a.hunks) == 1
        desk.open("a.py")
        desk.type("a.py", "line 50\n", "mine\n")
        desk.save_by_hand("a.py")
        await desk.changes()
        assert engine(desk).tracked[desk.path("a.py")].current.data == desk.bytes("a.py")
        with pytest.raises(ReviewError, match=r"a\.py"):
            await desk.review.undo(desk.path("a.py"))
        assert "mine\n" in desk.bytes("a.py").decode()
        assert await desk.review.keep(desk.path("a.py")) == 1
        assert "a.py" not in names(await desk.changes())


async def test_an_undo_is_taken_back_as_far_as_nothing_is_lost(root: Path) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        for name in ("a.py", "b.py"):
            desk.write(name, new(name))
        a, _ = await desk.end()
        assert await desk.review.undo() == 4
        (lost,) = (one.before.current for one in desk.review._answering._last if one.path == a.path)  # type: ignore[union-attr]
        lose(desk, lost)
        assert await desk.review.restore() == 2
        assert any("a.py" in said for said in desk.told)
        assert desk.bytes("a.py").decode() == old("a.py")
        assert desk.bytes("b.py").decode() == new("b.py")
        assert names(await desk.changes()) == {"b.py": "modify"}


async def test_an_undo_may_be_taken_back_after_the_cache_was_emptied(root: Path) -> None:
    """What is on the disk is kept before it is written over."""
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("new.py", new("new.py"))
        await desk.end()
        empty_the_cache(desk)
        assert await desk.review.undo() == 1
        assert not (root / "new.py").exists()
        assert await desk.review.restore() == 1
        assert desk.bytes("new.py").decode() == new("new.py")
        assert names(await desk.changes()) == {"new.py": "add"}


async def test_what_an_undo_put_back_is_kept_before_it_is_written_over(root: Path) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        await desk.end()
        base = engine(desk).tracked[desk.path("a.py")].base
        assert await desk.review.undo() == 2
        lose(desk, base)
        assert await desk.review.restore() == 2
        assert desk.bytes("a.py").decode() == new("a.py")
        assert await desk.review.undo() == 2
        assert desk.bytes("a.py").decode() == old("a.py")


async def test_what_was_lost_only_for_a_while_has_its_lines_again(root: Path) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        await desk.end()
        (store,) = workspace.stores(root.parent / "cache")
        (store / "objects").rename(store / "elsewhere")
        await desk.begin()
        desk.write("a.py", new("a.py") + "end\n")
        (change,) = await desk.end()
        assert len(change.hunks) == 1
        shutil.copytree(store / "elsewhere", store / "objects", dirs_exist_ok=True)
        desk.open("a.py")
        await desk.changes()
        desk.type("a.py", "line 30\n", "mine\n")
        desk.save_by_hand("a.py")
        (change,) = await desk.changes()
        assert len(change.hunks) == 4  # whose the new one is could not be told
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == old("a.py")


async def test_nothing_is_begun_for_a_file_that_is_lost(root: Path) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "er.py").write_text("goes\n")
    (root / "moves.py").write_text(old("moves.py"))
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        shutil.rmtree(root / "deep")
        (root / "moves.py").rename(root / "moved.py")
        desk.write("moved.py", new("moves.py"))
        changes = await desk.end()
        assert names(changes) == {"er.py": "delete", "moved.py": "move"}
        empty_the_cache(desk)
        with pytest.raises(ReviewError, match=r"er\.py.*moved\.py"):
            await desk.review.undo()
        assert sorted(os.listdir(root)) == ["a.py", "b.py", "c.py", "moved.py"]
        assert desk.bytes("moved.py").decode() == new("moves.py")
        assert await desk.changes() == changes
        assert await desk.review.keep() == 3
        assert await desk.changes() == ()


async def test_a_lost_file_that_is_written_while_it_is_kept_is_what_the_disk_has(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        await desk.end()
        keep = Tracked.keep

        def written_meanwhile(*args: Any) -> None:
            desk.write("a.py", "mine\n")
            keep(*args)

        monkeypatch.setattr(Tracked, "keep", written_meanwhile)
        empty_the_cache(desk)
        await desk.review.keep()
        assert await desk.changes() == ()
        assert desk.bytes("a.py") == b"mine\n"


async def test_what_is_lost_between_two_starts_is_said(root: Path) -> None:
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        assert len(await desk.end()) == 1
    empty_the_cache(desk)
    async with at(root) as desk:
        assert await desk.changes() == ()
        assert any("a.py (what it was is gone" in said for said in desk.told)
        await desk.begin()
        desk.write("b.py", new("b.py"))  # of which the base is gone too
        await desk.end()
        assert any("b.py (what it was is gone" in said for said in desk.told)
        assert desk.bytes("a.py").decode() == new("a.py")


async def test_what_cannot_be_stored_stays_in_memory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(store: Path, data: bytes) -> str:
        raise OSError("no space left")

    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        monkeypatch.setattr(objects, "write", full)
        desk.write("a.py", new("a.py"))
        assert len(await desk.end()) == 1
        assert engine(desk).tracked[desk.path("a.py")].current.held
        assert await desk.review.undo() == 2
        assert desk.bytes("a.py").decode() == old("a.py")
        assert await desk.review.restore() == 2
        assert desk.bytes("a.py").decode() == new("a.py")


async def test_pruning_leaves_what_is_set_aside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_AGE", 0.0)
    async with at(root, limits=NOTHING) as desk:
        await desk.begin()
        desk.write("a.py", new("a.py"))
        desk.write("b.py", "".join(reversed(NEW)))
        await desk.end()
        await desk.review.keep(desk.path("b.py"))
    (store,) = workspace.stores(root.parent / "cache")
    stray = objects.write(store, b"needed by nobody")
    long_ago = time.time() - 10**6
    os.utime(store / "pruned", (long_ago, long_ago))
    async with at(root, limits=NOTHING) as desk:
        await desk.changes()
        assert not objects.has(store, stray)
        assert aside(desk, "a.py")
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == old("a.py")
