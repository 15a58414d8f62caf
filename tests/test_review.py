"""The review as a whole: an editor, an agent that writes by itself, real files and real git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from review_desk import LINES, TEN, at, call, git, names

from acp_editor.review.review import Limits, ReviewError

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work space"
    root.mkdir()
    (root / "a.py").write_text(LINES)
    return root


async def test_a_write_to_the_disk_is_listed_and_undone(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.review.call_changed(call(desk.path("a.py")), str(root))
        desk.write("a.py", TEN)
        (change,) = await desk.end()
        assert (change.path, change.operation) == (desk.path("a.py"), "modify")
        (hunk,) = change.hunks
        assert (hunk.original, hunk.modified, hunk.tool_call_id) == ((9, 10), (9, 10), "c1")
        assert desk.review.original(desk.path("a.py")) == LINES
        assert await desk.review.undo(desk.path("a.py")) == 1
        assert desk.bytes("a.py") == LINES.encode()
        assert desk.review.changes() == ()


async def test_a_call_that_tells_afterwards_is_the_author(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", TEN)
        assert (await desk.changes())[0].hunks[0].tool_call_id is None
        diff = {"type": "diff", "path": desk.path("a.py"), "oldText": "line 10", "newText": "ten"}
        desk.review.call_changed(call(content=(diff,), status="completed"), str(root))
        (change,) = await desk.end()
        assert change.hunks[0].tool_call_id == "c1"


async def test_what_a_command_wrote_is_the_commands(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.review.call_changed(call(kind="execute"), str(root))
        desk.write("sub/new.py", "x\n")
        await desk.until(lambda: names(desk.review.changes()) == {"new.py": "add"})
        desk.review.call_changed(call(kind="execute", status="completed"), str(root))
        (change,) = await desk.end()
        assert change.hunks[0].tool_call_id == "c1"


async def test_hunks_are_answered_one_by_one(root: Path):
    after = TEN.replace("line 30\n", "thirty\nthirty b\n").replace("line 50\n", "")
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", after)
        desk.reload("a.py")
        (change,) = await desk.end()
        first, second, third = change.hunks
        await desk.review.undo(hunk_id=second.hunk_id)
        assert desk.text("a.py") == TEN.replace("line 50\n", "") == desk.bytes("a.py").decode()
        await desk.review.keep(hunk_id=first.hunk_id)
        (change,) = desk.review.changes()
        assert [hunk.hunk_id for hunk in change.hunks] == [third.hunk_id]
        with pytest.raises(ReviewError, match="not there any more"):
            await desk.review.undo(hunk_id=second.hunk_id)
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == TEN == desk.text("a.py")
        assert await desk.changes() == ()


async def test_a_file_cut_short_in_the_turn_and_written_after_it_is_the_agents(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", "")
        assert await desk.end() == ()
        desk.write("a.py", TEN)
        (change,) = await desk.changes()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]


async def test_a_file_that_was_emptied_on_purpose_is_listed_in_a_moment(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", "")
        desk.reload("a.py")
        await desk.end()
        await desk.until(lambda: len(desk.review.changes()) == 1, 2.0)
        assert desk.review.original(desk.path("a.py")) == LINES
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == LINES


@pytest.mark.parametrize("told_first", [True, False])
async def test_a_file_emptied_before_it_is_written_is_one_change(root: Path, told_first: bool):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", "")
        if told_first:
            await desk.changes()
        desk.reload("a.py")
        if not told_first:
            await desk.changes()
        desk.write("a.py", TEN[:50])
        desk.reload("a.py")
        desk.write("a.py", TEN)
        await desk.changes()
        desk.reload("a.py")
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == LINES == desk.text("a.py")


async def test_new_deleted_and_moved_files(root: Path):
    (root / "gone.py").write_text("gone\n")
    (root / "old.py").write_text(LINES)
    (root / "empty").mkdir()
    async with at(root) as desk:
        await desk.begin()
        desk.write("new/deep/n.py", "hi\n")
        os.unlink(root / "gone.py")
        (root / "old.py").rename(root / "moved.py")
        desk.write("moved.py", TEN)
        desk.write("empty/file", "")
        changes = await desk.end()
        assert names(changes) == {"n.py": "add", "gone.py": "delete", "moved.py": "move", "file": "add"}
        assert next(change for change in changes if change.operation == "move").old_path == desk.path(
            "old.py"
        )
        assert await desk.review.undo() == 4
        assert sorted(os.listdir(root)) == ["a.py", "empty", "gone.py", "old.py"]
        assert desk.bytes("old.py").decode() == LINES
        assert desk.review.changes() == ()
        assert await desk.review.restore() == 4
        assert names(desk.review.changes()) == names(changes)
        assert desk.bytes("moved.py").decode() == TEN
        assert not (root / "old.py").exists()
        await desk.review.keep()
        assert await desk.changes() == ()
        assert desk.bytes("new/deep/n.py") == b"hi\n"


async def test_restore_stops_at_something_newer(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", TEN)
        await desk.end()
        await desk.review.undo()
        desk.write("a.py", "mine\n")
        with pytest.raises(ReviewError, match="has changed since"):
            await desk.review.restore()
        assert desk.bytes("a.py") == b"mine\n"


@pytest.mark.parametrize("whole", [True, False])
async def test_restore_leaves_what_is_newer_where_a_file_was_moved_from(root: Path, whole: bool):
    async with at(root) as desk:
        await desk.begin()
        (root / "a.py").rename(root / "moved.py")
        desk.write("moved.py", TEN.replace("line 50\n", "fifty\n"))
        (change,) = await desk.end()
        assert change.operation == "move"
        await desk.review.undo(None, None if whole else change.hunks[0].hunk_id)
        desk.write("a.py", "mine\n" + LINES)
        with pytest.raises(ReviewError, match="has changed since"):
            await desk.review.restore()
        assert desk.bytes("a.py").decode() == "mine\n" + LINES


async def test_bytes_come_back_exactly(root: Path):
    before = {
        "bom.txt": b"\xef\xbb\xbfone\ntwo",
        "latin.txt": b"caf\xe9\ny",
        "crlf.txt": b"one\r\ntwo\r\nmixed\nthree\r\n",
        "utf16.txt": "ein\nzwei\n".encode("utf-16"),
        "binary": bytes(range(256)) * 4,
        "empty": b"",
    }
    for name, data in before.items():
        (root / name).write_bytes(data)
    (root / "link").symlink_to("a.py")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "secret").write_text("s\n")
    (root / "secret").chmod(0o600)
    (root / "locked").write_text("l\n")
    (root / "locked").chmod(0o444)
    async with at(root) as desk:
        for name in ("bom.txt", "latin.txt", "crlf.txt"):
            desk.open(name)
        await desk.begin()
        for name, data in before.items():
            desk.write(name, data.replace(b"o", b"0").replace(b"y", b"X") + b"!\n")
        for name in ("bom.txt", "latin.txt", "crlf.txt"):
            desk.reload(name)
        (root / "link").unlink()
        (root / "link").symlink_to("elsewhere")
        (root / "run.sh").chmod(0o755)
        for name in ("secret", "locked"):
            os.unlink(root / name)
        changes = await desk.end()
        assert set(names(changes)) == {*before, "link", "run.sh", "secret", "locked"}
        await desk.review.undo()
        assert {name: (root / name).read_bytes() for name in before} == before
        assert os.readlink(root / "link") == "a.py"
        modes = {name: (root / name).stat().st_mode & 0o777 for name in ("run.sh", "secret", "locked")}
        assert modes == {"run.sh": 0o644, "secret": 0o600, "locked": 0o444}
        assert await desk.changes() == ()


async def test_what_other_programs_do_between_turns_is_the_persons(root: Path):
    (root / "b.py").write_text(LINES)
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", TEN)
        await desk.end()
        desk.write("a.py", TEN.replace("line 50\n", "mine\n"))
        desk.write("b.py", "mine\n")
        desk.write("c.py", "mine\n")
        (change,) = await desk.changes()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]
        await desk.begin()
        assert len(await desk.end()) == 1
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == LINES.replace("line 50\n", "mine\n")
        assert desk.bytes("b.py") == b"mine\n"


async def test_a_commit_keeps_what_it_contains(root: Path):
    (root / "b.py").write_text(LINES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", TEN)
        desk.write("b.py", TEN)
        desk.write("new.py", "n\n")
        assert len(await desk.end()) == 3
        git(root, "commit", "-qm", "agent", "a.py")
        await desk.until(lambda: names(desk.review.changes()) == {"b.py": "modify", "new.py": "add"})


async def test_a_checkout_and_a_stash_are_not_the_agents(root: Path):
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    git(root, "checkout", "-qb", "other")
    (root / "a.py").write_text(LINES.replace("line 40\n", "other\n"))
    (root / "only.py").write_text("other\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "second")
    async with at(root) as desk:
        await desk.begin()
        git(root, "checkout", "-q", "main")
        assert await desk.changes() == ()
        desk.write("a.py", TEN)
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]
        git(root, "stash", "-q")
        assert await desk.changes() == ()


async def test_nested_repositories_are_reviewed_and_left_intact(root: Path):
    for folder in (root, root / "lib"):
        folder.mkdir(exist_ok=True)
        (folder / "x.py").write_text("x\n")
        git(folder, "init", "-q")
    git(root / "lib", "add", ".")
    git(root / "lib", "commit", "-qm", "lib")
    (root / ".gitignore").write_text("*.log\n")
    before = sorted(str(path) for path in root.rglob(".git/**/*"))
    async with at(root) as desk:
        await desk.begin()
        desk.write("lib/x.py", "agent\n")
        desk.write("lib/y.py", "agent\n")
        desk.write("run.log", "ignored\n")
        changes = await desk.end()
        assert {change.path for change in changes} == {desk.path("lib/x.py"), desk.path("lib/y.py")}
        await desk.review.undo()
        assert desk.bytes("lib/x.py") == b"x\n"
        assert sorted(str(path) for path in root.rglob(".git/**/*")) == before


@pytest.mark.parametrize("cut_short", [False, True])
async def test_changes_in_nested_repositories_survive_a_restart(root: Path, cut_short: bool):
    files = {name: f"{name}\n{LINES}" for name in ("a.py", "lib/x.py", "lib/inner/x.py")}
    (root / "lib" / "inner").mkdir(parents=True)
    for name, text in files.items():
        (root / name).write_text(text)
    for folder in (root / "lib" / "inner", root / "lib"):
        git(folder, "init", "-q")
        git(folder, "add", "x.py")
        git(folder, "commit", "-qm", "first")
    async with at(root) as desk:
        await desk.begin()
        for name in files:
            desk.write(name, f"{name}\n{TEN}")
        if not cut_short:
            assert len(await desk.end()) == 3
    async with at(root) as desk:
        assert len(await desk.changes()) == 3
        assert await desk.review.undo() == 3
        assert {name: desk.bytes(name).decode() for name in files} == files
        assert desk.told == []


async def test_pending_changes_survive_a_restart(root: Path):
    (root / "old.py").write_text(TEN)
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", TEN)
        desk.write("n.py", "n\n")
        (root / "old.py").rename(root / "moved.py")
        changes = await desk.end()
    (root / "a.py").write_text(TEN.replace("line 50\n", "mine\n"))
    (root / "b.py").write_text("mine\n")
    async with at(root) as desk:
        await desk.review.rescan()
        now = desk.review.changes()
        assert [(c.path, c.operation) for c in now] == [(c.path, c.operation) for c in changes]
        assert [h.hunk_id for c in now for h in c.hunks] == [h.hunk_id for c in changes for h in c.hunks]
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == LINES.replace("line 50\n", "mine\n")
        assert sorted(os.listdir(root)) == ["a.py", "b.py", "old.py"]


async def test_a_second_window_says_that_the_first_reviews(root: Path):
    async with at(root) as first, at(root) as second:
        assert any("Another window" in message for message in second.told)
        await first.begin()
        first.write("a.py", TEN)
        assert len(await first.end()) == 1
        assert second.review.changes() == ()
        with pytest.raises(ReviewError, match="not reviewed in this window"):
            await second.review.undo()


async def test_what_is_left_out_is_said_once(root: Path):
    (root / "big").write_bytes(b"x" * 5000)
    async with at(root, limits=Limits(file_size=4000)) as desk:
        await desk.begin()
        await desk.end()
        await desk.begin()
        desk.write("big", b"y" * 5000)
        assert await desk.end() == ()
        assert len([message for message in desk.told if "big" in message]) == 1


async def test_the_agent_is_told_what_was_undone(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.write("a.py", TEN)
        await desk.end()
        assert desk.review.undone_note() is None
        await desk.review.undo()
        assert "a.py" in (desk.review.undone_note() or "")
        assert desk.review.undone_note() is None


async def test_a_hunk_comes_back_beside_one_that_was_kept_meanwhile(root: Path):
    after = TEN.replace("line 30\n", "thirty\n")
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", after)
        desk.reload("a.py")
        (change,) = await desk.end()
        await desk.review.undo(hunk_id=change.hunks[1].hunk_id)
        await desk.review.keep()
        desk._replace(desk.path("a.py"), after, dirty=True, by_us=False)
        (change,) = await desk.changes()
        assert [hunk.original for hunk in change.hunks] == [(29, 30)]
        assert desk.review.original(desk.path("a.py")) == TEN
