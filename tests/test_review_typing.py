"""The review beside a person who types, saves and undoes, and an editor that formats and reloads."""

from __future__ import annotations

from pathlib import Path

import pytest
from review_desk import LINES, TEN, at, call

from acp_editor.review.review import ReviewError

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work space"
    root.mkdir()
    (root / "a.py").write_text(LINES)
    return root


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
