"""The process that reviews is killed before every single thing that it does to files: nothing gets lost."""

from __future__ import annotations

import os
import signal
import stat
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from review_editor import Desk

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

OPERATIONS = frozenset(
    {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.symlink", "os.utime"}
)
"""What Python tells its audit hooks just before it does it."""

LINES = "".join(f"line {number}\n" for number in range(40))
EDITED = LINES.replace("line 5\n", "five\n").replace("line 20\n", "").replace("line 30\n", "30\nthirty\n")

Tree = dict[str, tuple[str | bytes, int]]
Act = Callable[[Desk], Awaitable[object]]


def tree(root: Path) -> Tree:
    """Every file with its bytes and permissions, every link with its target."""
    found: Tree = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(one for one in folders if os.path.islink(os.path.join(folder, one)))]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                found[os.path.relpath(path, root)] = os.readlink(path), 0
            else:
                data = Path(path).read_bytes()
                found[os.path.relpath(path, root)] = data, stat.S_IMODE(status.st_mode)
    return found


def make(root: Path) -> None:
    root.mkdir(parents=True)
    for name in ("a.py", "b.py", "gone.py", "sub/old.py", "secret"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(f"{name}\n{LINES}")
    (root / "secret").chmod(0o600)
    (root / "link").symlink_to("a.py")


def change(root: Path) -> None:
    """What the agent does, in some steps."""
    for name in ("a.py", "b.py", "secret"):
        (root / name).write_text(f"{name}\n{EDITED}")
    (root / "secret").chmod(0o644)
    (root / "gone.py").unlink()
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "n.py").write_text("new\n")
    (root / "sub" / "old.py").rename(root / "moved.py")
    (root / "moved.py").write_text(f"sub/old.py\n{EDITED}")
    (root / "link").unlink()
    (root / "link").symlink_to("b.py")


async def at_desk(root: Path, act: Act) -> None:
    desk = Desk(root, root.parent)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.review.rescan()
        await act(desk)
        await desk.review.aclose()


async def agent_changes(desk: Desk) -> None:
    await desk.begin()
    change(desk.root)
    await desk.end()


def killed(root: Path, prepare: Act | None, act: Act, operation: int) -> bool:
    """Does this in a process that is killed before that operation of `act`; whether it came so far."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return os.WIFSIGNALED(status)
    done = 0
    above = os.fspath(root.parent)
    armed = False

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal done
        if armed and event in OPERATIONS and isinstance(args[0], str | os.PathLike):
            reads = event == "open" and not int(str(args[2])) & (os.O_WRONLY | os.O_RDWR)
            if os.fspath(args[0]).startswith(above) and not reads:  # type: ignore[union-attr]
                done += 1
                if done == operation:
                    os.kill(os.getpid(), signal.SIGKILL)

    async def armed_act(desk: Desk) -> None:
        nonlocal armed
        if prepare is not None:
            await prepare(desk)
        armed = True
        await act(desk)
        armed = False

    try:
        sys.addaudithook(hook)
        anyio.run(at_desk, root, armed_act)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def each_operation(
    folder: Path,
    act: Act,
    check: Callable[[Path, Tree, Tree], None],
    *,
    before: Act | None = None,
    prepare: Act | None = None,
) -> None:
    """The act is cut short before its first operation, before its second one, until it is not any more.

    What comes `before` is done by another process, what it needs to `prepare` by the same one.
    """
    for operation in range(1, 500):
        root = folder / str(operation) / "root"
        make(root)
        original = tree(root)
        if before is not None:
            anyio.run(at_desk, root, before)
        changed = tree(root)
        more = killed(root, prepare, act, operation)
        check(root, original, changed)
        if not more:
            assert operation > 5
            return
    raise AssertionError("it never came to an end")


def whole(root: Path, *versions: Tree) -> None:
    """Each file is in one of these versions, and nothing else is there once the review has begun again."""
    for name, content in tree(root).items():
        assert any(version.get(name) == content for version in versions), name


def test_in_an_undo(tmp_path: Path) -> None:
    def check(root: Path, original: Tree, changed: Tree) -> None:
        async def look(desk: Desk) -> None:
            whole(root, original, changed)
            listed = {os.path.relpath(one.path, root) for one in desk.review.changes()}
            now = tree(root)
            for name in ("a.py", "b.py", "secret", "gone.py", "new/deep/n.py", "link"):
                assert (name in listed) == (now.get(name) != original.get(name)), name
            if listed:
                await desk.review.undo()
            assert tree(root) == original
            assert not (root / "new").exists()

        anyio.run(at_desk, root, look)

    each_operation(tmp_path, lambda desk: desk.review.undo(), check, before=agent_changes)


def test_in_an_undo_of_one_hunk(tmp_path: Path) -> None:
    async def undo(desk: Desk) -> None:
        change = next(one for one in desk.review.changes() if one.path == desk.path("a.py"))
        await desk.review.undo(hunk_id=change.hunks[1].hunk_id)

    def check(root: Path, original: Tree, changed: Tree) -> None:
        async def look(desk: Desk) -> None:
            hunks = next(one.hunks for one in desk.review.changes() if one.path == desk.path("a.py"))
            assert len(hunks) == (3 if tree(root)["a.py"] == changed["a.py"] else 2)
            await desk.review.undo()
            assert tree(root) == original

        anyio.run(at_desk, root, look)

    each_operation(tmp_path, undo, check, before=agent_changes)


def test_in_a_restore(tmp_path: Path) -> None:
    async def undone(desk: Desk) -> None:
        await agent_changes(desk)
        await desk.review.undo()

    def check(root: Path, original: Tree, changed: Tree) -> None:
        async def look(desk: Desk) -> None:
            if desk.review.changes():
                await desk.review.undo()
            assert tree(root) == original

        anyio.run(at_desk, root, look)

    each_operation(tmp_path, lambda desk: desk.review.restore(), check, prepare=undone)


def test_in_a_keep(tmp_path: Path) -> None:
    async def keep(desk: Desk) -> None:
        change = next(one for one in desk.review.changes() if one.path == desk.path("a.py"))
        await desk.review.keep(hunk_id=change.hunks[1].hunk_id)
        await desk.review.keep(desk.path("b.py"))
        await desk.review.keep()

    def check(root: Path, original: Tree, changed: Tree) -> None:
        async def look(desk: Desk) -> None:
            assert tree(root) == changed
            listed = {os.path.relpath(one.path, root) for one in desk.review.changes()}
            if listed:
                await desk.review.undo()
            now = tree(root)
            for name in ("b.py", "secret", "gone.py", "new/deep/n.py", "link"):
                assert now.get(name) == (original if name in listed else changed).get(name), name

        anyio.run(at_desk, root, look)

    each_operation(tmp_path, keep, check, before=agent_changes)


def test_in_a_turn(tmp_path: Path) -> None:
    async def turn(desk: Desk) -> None:
        await desk.begin()
        await desk.review.rescan()
        change(desk.root)
        await desk.changes()
        desk.write("late.py", "late\n")
        await desk.end()

    def check(root: Path, original: Tree, changed: Tree) -> None:
        async def look(desk: Desk) -> None:
            listed = {os.path.relpath(one.path, root) for one in desk.review.changes()}
            now = tree(root)
            assert ("a.py" in listed) == (now["a.py"] != original["a.py"])
            if listed:
                await desk.review.undo()
            assert tree(root) == original

        anyio.run(at_desk, root, look)

    each_operation(tmp_path, turn, check)
