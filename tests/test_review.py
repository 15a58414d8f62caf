"""The review as a whole: an editor, an agent that writes by itself, real files and real git."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from review_editor import Desk

from acp_editor.core.model import Location, ToolCall
from acp_editor.review.review import FileChange, Limits, ReviewError

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {number}\n" for number in range(1, 61))
TEN = LINES.replace("line 10\n", "ten\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work space"
    root.mkdir()
    (root / "a.py").write_text(LINES)
    return root


@contextlib.asynccontextmanager
async def at(root: Path, **settings: object) -> AsyncIterator[Desk]:
    desk = Desk(root, root.parent, **settings)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        try:
            yield desk
        finally:
            await desk.review.aclose()


def git(root: Path, *args: str) -> None:
    config = ["-c", "user.email=p@example.org", "-c", "user.name=P", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *config, *args], check=True, capture_output=True)


def names(changes: tuple[FileChange, ...]) -> dict[str, str]:
    return {os.path.basename(change.path): change.operation for change in changes}


def call(path: str = "", *, kind: str = "edit", status: str = "in_progress", **fields: object) -> ToolCall:
    locations = (Location(path),) if path else ()
    return ToolCall("c1", kind=kind, status=status, locations=locations, **fields)  # type: ignore[arg-type]


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


async def test_typing_elsewhere_survives_undo(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.reload("a.py")
        await desk.end()
        desk.type("a.py", "line 50\n", "fifty\n")
        (change,) = await desk.changes()
        assert len(change.hunks) == 1
        desk.save_by_hand("a.py")
        assert len((await desk.changes())[0].hunks) == 1
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == LINES.replace("line 50\n", "fifty\n") == desk.text("a.py")
        assert await desk.changes() == ()


async def test_what_is_typed_and_saved_at_once_during_a_turn_is_the_persons(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.reload("a.py")
        await desk.changes()
        desk.type("a.py", "line 50\n", "fifty\n")
        desk.save_by_hand("a.py")
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]


async def test_a_document_that_has_not_reloaded_yet_is_undone_on_the_disk(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        await desk.end()
        assert await desk.review.undo() == 1
        assert desk.bytes("a.py").decode() == LINES == desk.text("a.py")
        assert await desk.changes() == ()


async def test_typing_before_the_turn_is_the_persons(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        desk.type("a.py", "line 50\n", "fifty\n")
        await desk.begin()
        desk.save_by_hand("a.py")
        assert await desk.changes() == ()
        desk.write("a.py", TEN.replace("line 50\n", "fifty\n"))
        desk.reload("a.py")
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]


async def test_undo_in_a_dirty_document_leaves_it_dirty(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.reload("a.py")
        await desk.end()
        desk.type("a.py", "line 50\n", "typed\n")
        await desk.review.undo()
        assert desk.text("a.py") == LINES.replace("line 50\n", "typed\n")
        assert desk.bytes("a.py").decode() == TEN
        assert await desk.changes() == ()
        desk.save_by_hand("a.py")
        assert await desk.changes() == ()


async def test_a_refused_edit_is_said_and_nothing_is_undone(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.reload("a.py")
        await desk.end()
        desk.refuse = True
        with pytest.raises(ReviewError, match="did not take"):
            await desk.review.undo()
        assert len(desk.review.changes()) == 1


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


async def test_a_buffer_that_reloads_late_is_not_typing(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        for text in ("", TEN, TEN.replace("line 30\n", "thirty\n")):
            before = desk.documents[desk.path("a.py")]
            desk.write("a.py", text)
            await desk.changes()
            desk.documents[desk.path("a.py")] = before
        for text in ("", "never seen\n", TEN, TEN.replace("line 30\n", "thirty\n")):
            desk._replace(desk.path("a.py"), text, dirty=False, by_us=False)
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10), (29, 30)]
        assert desk.review.original(desk.path("a.py")) == LINES


async def test_unsaved_typing_and_a_write_to_the_file_are_brought_together(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.type("a.py", "line 50\n", "typed\n")
        await desk.changes()
        desk.write("a.py", TEN)
        await desk.changes()
        await desk.until(lambda: "ten\n" in desk.text("a.py"))
        assert desk.text("a.py") == TEN.replace("line 50\n", "typed\n")
        await desk.until(lambda: any("unsaved text" in message for message in desk.told))
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]
        await desk.review.undo()
        assert desk.text("a.py") == LINES.replace("line 50\n", "typed\n")
        assert desk.saves == []


async def test_typing_into_a_text_that_is_older_than_the_file_is_no_undo(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.type("a.py", "line 50\n", "typed\n")
        await desk.changes()
        await desk.until(lambda: "ten\n" in desk.text("a.py"))
        assert desk.text("a.py") == TEN.replace("line 50\n", "typed\n")
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(9, 10)]


async def test_both_changed_the_same_line_is_said(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.type("a.py", "line 10\n", "typed\n")
        await desk.changes()
        desk.write("a.py", TEN)
        await desk.changes()
        await desk.until(lambda: any("same lines" in message for message in desk.told))
        assert desk.text("a.py") == LINES.replace("line 10\n", "typed\n")
        assert desk.bytes("a.py").decode() == TEN
        await desk.end()


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


async def test_a_new_file_with_the_persons_edits_stays(root: Path):
    async with at(root) as desk:
        await desk.begin()
        desk.write("n.py", "one\ntwo\nthree\n")
        await desk.end()
        desk.open("n.py")
        desk.type("n.py", "two", "zwei")
        with pytest.raises(ReviewError, match="your own edits"):
            await desk.review.undo(desk.path("n.py"))
        desk.save_by_hand("n.py")
        with pytest.raises(ReviewError, match="your own edits"):
            await desk.review.undo()
        assert desk.bytes("n.py") == b"one\nzwei\nthree\n"


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


async def test_a_write_through_the_editor_is_the_agents_formatting_included(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        path = desk.path("a.py")
        await desk.begin()
        desk.review.agent_writes(path, "c7")
        await desk.edit(path, TEN, 1)
        desk.type("a.py", "line 12\n", "formatted\n")
        desk.save_by_hand("a.py")
        desk.review.agent_wrote(path, "c7")
        (change,) = await desk.end()
        assert [(hunk.original, hunk.tool_call_id) for hunk in change.hunks] == [
            ((9, 10), "c7"),
            ((11, 12), "c7"),
        ]


async def test_the_editors_undo_of_an_undo_brings_the_changes_back(root: Path):
    after = TEN.replace("line 30\n", "thirty\n").replace("line 50\n", "")
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.review.call_changed(call(desk.path("a.py")), str(root))
        desk.write("a.py", after)
        desk.reload("a.py")
        (change,) = await desk.end()
        texts = [after]
        for hunk in change.hunks[1:]:
            await desk.review.undo(hunk_id=hunk.hunk_id)
            texts.append(desk.text("a.py"))
        desk.type("a.py", "line 60", "mine")
        desk.type("a.py", "mine", "line 60")
        await desk.review.undo()
        assert await desk.changes() == ()
        for text, hunks in [(texts[2], change.hunks[:1]), (texts[1], change.hunks[::2])]:
            desk._replace(desk.path("a.py"), text, dirty=True, by_us=False)
            assert [hunk.hunk_id for hunk in (await desk.changes())[0].hunks] == [
                hunk.hunk_id for hunk in hunks
            ]
            assert desk.review.original(desk.path("a.py")) == LINES
        assert "a.py" in (desk.review.undone_note() or "")  # one is undone still
        desk._replace(desk.path("a.py"), after, dirty=True, by_us=False)
        assert [hunk.tool_call_id for hunk in (await desk.changes())[0].hunks] == ["c1"] * 3
        desk._replace(desk.path("a.py"), texts[1], dirty=True, by_us=False)  # the editor's redo
        assert len((await desk.changes())[0].hunks) == 2
        desk.save_by_hand("a.py")
        assert len((await desk.changes())[0].hunks) == 2
        await desk.review.undo()
        assert desk.text("a.py") == LINES == desk.bytes("a.py").decode()


async def test_an_undo_that_the_editor_took_back_is_not_told_to_the_agent(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.reload("a.py")
        await desk.end()
        await desk.review.undo()
        desk._replace(desk.path("a.py"), TEN, dirty=True, by_us=False)
        assert len(await desk.changes()) == 1
        assert desk.review.undone_note() is None
        with pytest.raises(ReviewError, match="has changed since"):
            await desk.review.restore()


async def test_the_editors_undo_and_redo_of_what_the_agent_wrote_is_the_same_change(root: Path):
    async with at(root) as desk:
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", TEN)
        desk.reload("a.py")
        (change,) = await desk.end()
        desk._replace(desk.path("a.py"), LINES, dirty=True, by_us=False)
        assert await desk.changes() == ()
        desk._replace(desk.path("a.py"), TEN, dirty=True, by_us=False)
        assert await desk.changes() == (change,)


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


def tidied(text: str) -> str:
    return text.replace("=", " = ").replace("  =  ", " = ")


@pytest.mark.parametrize("whole", [True, False])
async def test_an_undo_gives_the_bytes_back_though_the_editor_formats_what_it_saves(root: Path, whole: bool):
    before = "a=1\nb = 2\nc=3\nd = 4\n"
    (root / "a.py").write_text(before)
    async with at(root) as desk:
        desk.formats = tidied
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", before.replace("b = 2", "b = 5").replace("d = 4", "d = 6"))
        desk.reload("a.py")
        (change,) = await desk.end()
        await desk.review.undo(hunk_id=None if whole else change.hunks[0].hunk_id)
        expected = before if whole else before.replace("d = 4", "d = 6")
        assert desk.bytes("a.py").decode() == expected
        desk.reload("a.py")  # as the document was clean
        left = await desk.changes()
        assert [hunk.original for one in left for hunk in one.hunks] == ([] if whole else [(3, 4)])
        await desk.review.undo() if left else None
        assert desk.bytes("a.py").decode() == before


async def test_a_formatter_at_work_when_the_person_saves_is_the_persons(root: Path):
    (root / "a.py").write_text("a = 1\nb = 2\nc = 3\nd = 4\n")
    async with at(root) as desk:
        desk.formats = tidied
        desk.open("a.py")
        await desk.begin()
        desk.write("a.py", "a = 1\nb=5\nc = 3\nd = 4\n")
        desk.reload("a.py")
        await desk.changes()
        desk.type("a.py", "d = 4", "d=6")
        desk.save_by_hand("a.py")
        (change,) = await desk.end()
        assert [hunk.original for hunk in change.hunks] == [(1, 2)]  # formatted, too, but not theirs
        assert desk.text("a.py") == "a = 1\nb = 5\nc = 3\nd = 6\n"
        desk.formats = lambda text: text
        await desk.review.undo()
        assert desk.bytes("a.py").decode() == "a = 1\nb = 2\nc = 3\nd = 6\n"
