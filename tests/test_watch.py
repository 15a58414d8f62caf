"""Watching a folder for those editors that do not, as long as the system lets us."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
import watchfiles
from review_editor import Desk
from watchfiles._rust_notify import WatchfilesRustInternalError

from acp_editor.review import review, watch

pytestmark = pytest.mark.anyio


async def written_until(path: Path, seen: set[str]) -> None:
    with anyio.fail_after(20):
        number = 0
        while str(path) not in seen:
            number += 1
            path.write_text(str(number))
            await anyio.sleep(0.05)


async def test_changes_are_seen_by_events(tmp_path: Path) -> None:
    seen: set[str] = set()
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    async with anyio.create_task_group() as group:
        group.start_soon(watch.watch, [str(tmp_path)], seen.update)
        (tmp_path / ".git" / "index").write_text("x")
        await written_until(tmp_path / "a.py", seen)
        await written_until(tmp_path / "sub" / "b.py", seen)
        group.cancel_scope.cancel()
    assert not any(".git" in path for path in seen)


async def test_folders_that_may_not_be_read_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = watchfiles.awatch, set[str]()

    def strict(*roots: str, **settings: object):
        if not settings["ignore_permission_denied"]:
            raise PermissionError("Permission denied (os error 13)")
        return real(*roots, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(watchfiles, "awatch", strict)
    async with anyio.create_task_group() as group:
        group.start_soon(watch.watch, [str(tmp_path)], seen.update)
        await written_until(tmp_path / "a.py", seen)
        group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def desk_at(root: Path) -> AsyncIterator[Desk]:
    desk = Desk(root, root.parent)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        group.start_soon(desk.review.watch)
        yield desk
        await desk.review.aclose()


@pytest.mark.parametrize(
    "error",
    [
        OSError("OS file watch limit reached. about [...]"),
        WatchfilesRustInternalError("Error creating recommended watcher: Too many open files (os error 24)"),
    ],
)
async def test_without_watches_it_is_said_and_the_disk_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*roots: str, **settings: object) -> None:
        raise error

    monkeypatch.setattr(watchfiles, "awatch", refused)
    monkeypatch.setattr(review, "_WATCH_COMMANDS", 0.05)
    monkeypatch.setattr(review, "_POLL", 0.05)
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("one\n")
    async with desk_at(root) as desk:
        await desk.until(lambda: any("watches" in said for said in desk.told), 20)
        await desk.begin()
        desk.write("a.py", "two\n")
        await desk.until(lambda: len(desk.review.changes()) == 1, 20)
        assert len([said for said in desk.told if "watches" in said]) == 1


LIMITED = "echo {limit} > /proc/sys/user/{name} && exec {python} -c '{program}' {folder}"
PROGRAM = """
import sys, anyio
from acp_editor.review import watch
async def main():
    with anyio.fail_after(20):
        await watch.watch([sys.argv[1]], print)
anyio.run(main)
"""


def limits_itself() -> bool:
    """Whether this machine lets a process have lower limits of its own."""
    if not (unshare := shutil.which("unshare")):
        return False
    command = [unshare, "-Ur", "sh", "-c", "echo 5 > /proc/sys/user/max_inotify_watches"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not limits_itself(), reason="needs a user namespace")
@pytest.mark.parametrize(("name", "limit"), [("max_inotify_watches", 5), ("max_inotify_instances", 0)])
def test_the_systems_own_limits_are_noticed(tmp_path: Path, name: str, limit: int) -> None:
    for number in range(20):
        (tmp_path / str(number)).mkdir()
    script = LIMITED.format(limit=limit, name=name, python=sys.executable, program=PROGRAM, folder=tmp_path)
    subprocess.run(["unshare", "-Ur", "sh", "-c", script], check=True, timeout=60)
