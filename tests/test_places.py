from __future__ import annotations

from typing import Any

import pytest

from acp_editor.core import places as places_of
from acp_editor.core.model import Location, ToolCall
from acp_editor.core.paths import absolute, inside
from acp_editor.core.places import Place, places

TEXT = "".join(f"line {n}\n" for n in range(1, 61))
FILES = {"/ws/a.py": TEXT, "/ws/b.py": TEXT.replace("\n", "\r\n"), "/ws/empty": "", "/ws/one": "x"}


def look(
    *content: Any,
    at: tuple[Location, ...] = (),
    raw: Any = None,
    kind: str = "edit",
    status: str = "pending",
    files: dict[str, str] = FILES,
) -> list[Place]:
    call = ToolCall("c", kind=kind, status=status, content=content, locations=at, raw_input=raw)
    return list(places(call, "/ws", files.get))


def diff(old: str | None, new: str, path: str = "/ws/a.py") -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def git_patch(text: str, path: str = "/ws/a.py") -> dict[str, Any]:
    changes = [{"operation": "modify", "path": path}]
    return {"type": "diff", "changes": changes, "patch": {"format": "git_patch", "text": text}}


# -- what the call names -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (Location("/ws/a.py", 5), Place("/ws/a.py", 4)),
        (Location("/ws/a.py", 99_999), Place("/ws/a.py", 59)),
        (Location("/ws/a.py", 2**40), Place("/ws/a.py", 59)),
        (Location("/ws/a.py", -3), Place("/ws/a.py", 0)),
        (Location("/ws/a.py", 0), Place("/ws/a.py", None)),
        (Location("/ws/a.py"), Place("/ws/a.py", None)),
        (Location("rel/../a.py", 5), Place("/ws/a.py", 4)),
        (Location("//ws//a.py", 5), Place("/ws/a.py", 4)),
        (Location("file:///ws/a.py", 5), Place("/ws/a.py", 4)),
        (Location("/ws/b.py", 99), Place("/ws/b.py", 59)),
        (Location("/ws/empty", 3), Place("/ws/empty", 0)),
        (Location("/ws/one", 3), Place("/ws/one", 0)),
        (Location("/ws/gone.py", 3), Place("/ws/gone.py", 2, exists=False)),
        (Location("/ws"), Place("/ws", None, exists=False)),
    ],
)
def test_a_named_place(location: Location, expected: Place) -> None:
    assert look(at=(location,)) == [expected]


def test_what_names_no_file_is_left_out() -> None:
    at = (Location(""), Location("https://example.com"), Location("a\0b"), Location("/ws/a.py", 1))
    assert look(at=at) == [Place("/ws/a.py", 0)]


def test_the_same_place_twice_is_one() -> None:
    assert look(at=(Location("/ws/a.py", 2), Location("a.py", 2))) == [Place("/ws/a.py", 1)]


def test_each_file_is_read_once() -> None:
    read: list[str] = []

    def reading(path: str) -> str | None:
        read.append(path)
        return TEXT

    content = tuple(diff(f"line {n}\n", "x\n") for n in range(1, 20))
    assert len(places(ToolCall("c", kind="edit", content=content), "/ws", reading)) == 19
    assert read == ["/ws/a.py"]


# -- inferred from diffs -----------------------------------------------------------------------


def test_from_a_piece_of_text() -> None:
    expected = [Place("/ws/a.py", 32, inferred=True)]
    assert look(diff("line 33\n", "thirty three\n")) == expected
    assert look(diff("line 33\n", "thirty three\n"), at=(Location("/ws/a.py"),)) == expected
    assert look(diff("line 33\n", "thirty three\n"), at=(Location("a.py", 0),)) == expected


def test_from_a_whole_file() -> None:
    assert look(diff(TEXT, TEXT.replace("line 50\n", "fifty\n"))) == [Place("/ws/a.py", 49, inferred=True)]
    assert look(diff(None, TEXT.replace("line 50\n", "fifty\n"))) == [Place("/ws/a.py", 49, inferred=True)]


def test_a_piece_with_context_is_where_it_begins_to_differ() -> None:
    assert look(diff("line 8\nline 9\nline 10\n", "line 8\nnine\nline 10\n")) == [
        Place("/ws/a.py", 8, inferred=True)
    ]


def test_line_ends_do_not_matter() -> None:
    assert look(diff("line 33\nline 34\n", "x\n", "/ws/b.py")) == [Place("/ws/b.py", 32, inferred=True)]
    assert look(diff(TEXT, TEXT.replace("line 50\n", "fifty\n"), "/ws/b.py")) == [
        Place("/ws/b.py", 49, inferred=True)
    ]


@pytest.mark.parametrize("status", ["pending", "completed"])
def test_what_is_written_already_is_found_by_its_new_text(status: str) -> None:
    new = TEXT.replace("line 33\n", "thirty three\n")
    for content in (diff("line 33\n", "thirty three\n"), diff(TEXT, new)):
        assert look(content, status=status, files={"/ws/a.py": new}) == [Place("/ws/a.py", 32, inferred=True)]


def test_a_location_with_a_line_goes_before_what_is_inferred() -> None:
    at = (Location("/ws/a.py", 7),)
    assert look(diff("line 33\n", "x\n"), at=at) == [Place("/ws/a.py", 6)]


def test_several_diffs_are_several_places() -> None:
    content = (diff("line 3\n", "x\n"), diff("line 9\n", "y\n"), diff("line 5\n", "z\n", "b.py"))
    expected = [
        Place("/ws/a.py", 2, inferred=True),
        Place("/ws/a.py", 8, inferred=True),
        Place("/ws/b.py", 4, inferred=True),
    ]
    assert look(*content) == expected
    assert look(*content, at=(Location("/ws/a.py"),)) == expected


def test_text_that_stands_nowhere_gives_the_file_alone() -> None:
    assert look(diff("nowhere\n", "x y z\n")) == [Place("/ws/a.py", None, inferred=True)]
    assert look(diff(None, "new\n", "/ws/new.py")) == [Place("/ws/new.py", None, inferred=True, exists=False)]


def test_from_a_patch() -> None:
    patch = "--- /ws/a.py\n+++ /ws/a.py\n@@ -29,3 +29,3 @@\n line 29\n-line 30\n+thirty\n line 31\n"
    new = TEXT.replace("line 30\n", "thirty\n")
    moved = "first\nsecond\n" + TEXT
    assert look(git_patch(patch)) == [Place("/ws/a.py", 29, inferred=True)]
    assert look(git_patch(patch), files={"/ws/a.py": new}) == [Place("/ws/a.py", 29, inferred=True)]
    assert look(git_patch(patch), files={"/ws/a.py": moved}) == [Place("/ws/a.py", 31, inferred=True)]
    assert look(git_patch(patch), files={"/ws/a.py": "x\n" * 40}) == [Place("/ws/a.py", 29, inferred=True)]
    assert look(git_patch(patch), files={}) == [Place("/ws/a.py", 29, inferred=True, exists=False)]


def test_a_patch_of_several_hunks_and_files() -> None:
    patch = (
        "--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-line 2\n+two\n@@ -8,1 +8,0 @@\n-line 8\n"
        "--- a/b.py\n+++ b/b.py\n@@ -4,0 +5 @@\n+new\n"
    )
    assert look(git_patch(patch)) == [
        Place("/ws/a.py", 1, inferred=True),
        Place("/ws/a.py", 7, inferred=True),
        Place("/ws/b.py", 4, inferred=True),
    ]


def test_a_moved_file_is_where_it_is() -> None:
    item = {
        "type": "diff",
        "changes": [{"operation": "move", "oldPath": "/ws/a.py", "path": "/ws/new.py"}],
        "patch": {
            "format": "git_patch",
            "text": "diff --git /ws/a.py /ws/new.py\nrename from /ws/a.py\nrename to /ws/new.py\n"
            "--- /ws/a.py\n+++ /ws/new.py\n@@ -5 +5 @@\n-line 5\n+five\n",
        },
    }
    assert look(item) == [Place("/ws/a.py", 4, inferred=True)]
    after = {"/ws/new.py": TEXT.replace("line 5\n", "five\n")}
    assert look(item, status="completed", files=after) == [Place("/ws/new.py", 4, inferred=True)]


# -- inferred from the tool's input ------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"file_path": "/ws/a.py"}, Place("/ws/a.py", None, True)),
        ({"path": "a.py", "line": 7}, Place("/ws/a.py", 6, True)),
        ({"filePath": "/ws/a.py", "offset": 7, "limit": 2}, Place("/ws/a.py", 6, True)),
        ({"abs_path": "/ws/a.py", "start_line": 7}, Place("/ws/a.py", 6, True)),
        ({"absolute_path": "/ws/a.py", "line_number": 7}, Place("/ws/a.py", 6, True)),
        ({"notebook_path": "/ws/a.py"}, Place("/ws/a.py", None, True)),
        ({"uri": "file:///ws/a.py", "line": 0}, Place("/ws/a.py", 0, True)),
        ({"path": "a.py", "view_range": [7, 9]}, Place("/ws/a.py", 6, True)),
        ({"path": "a.py", "line": 99_999}, Place("/ws/a.py", 59, True)),
        ({"path": "a.py", "line": True}, Place("/ws/a.py", None, True)),
        ({"file_path": "a.py", "old_string": "line 33\n"}, Place("/ws/a.py", 32, True)),
        ({"filePath": "a.py", "oldString": "line 33", "newString": "x"}, Place("/ws/a.py", 32, True)),
        ({"path": "a.py", "old_str": "nowhere"}, Place("/ws/a.py", None, True)),
        ({"path": "/ws/gone.py"}, Place("/ws/gone.py", None, True, exists=False)),
        (
            {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-line 9\n+nine\n"},
            Place("/ws/a.py", 8, True),
        ),
    ],
)
def test_from_the_input(raw: Any, expected: Place) -> None:
    kind = "edit" if "old" in str(raw) or "Patch" in str(raw) else "read"
    assert look(raw=raw, kind=kind) == [expected]


@pytest.mark.parametrize(
    "raw", [None, 3, "text", [], {}, {"path": 3}, {"path": ""}, {"command": "ls", "cwd": "/ws"}]
)
def test_an_input_that_names_no_file(raw: Any) -> None:
    assert look(raw=raw, kind="other") == []


def test_an_input_that_is_shown_as_text_while_the_call_runs() -> None:
    def text(words: str) -> dict[str, Any]:
        return {"type": "content", "content": {"type": "text", "text": words}}

    whole = '{"path": "/ws/a.py", "edit": {"old": "line 33", "new": "x"}}'
    assert look(text(whole), kind="other") == [Place("/ws/a.py", 32, True)]
    assert look(text(whole[:-3]), kind="other") == []
    assert look(text(whole), kind="other", status="completed") == []
    assert look(text("{}"), kind="other") == []
    assert look(text("[" * 100_000), kind="other") == []


def test_the_input_adds_a_line_to_a_location_without_one() -> None:
    at = (Location("/ws/a.py"),)
    assert look(at=at, raw={"filePath": "/ws/a.py", "offset": 2}, kind="read") == [Place("/ws/a.py", 1, True)]
    assert look(at=at, raw={"offset": 2}, kind="read") == [Place("/ws/a.py", 1, True)]
    assert look(at=at, raw={"path": "/ws/b.py", "line": 2}, kind="read") == [Place("/ws/a.py", None)]


def test_a_read_that_is_shown_as_a_diff_is_a_read() -> None:
    assert look(diff("", TEXT), at=(Location("a.py"),), raw={"path": "a.py"}, kind="read") == [
        Place("/ws/a.py", None)
    ]


# -- paths -------------------------------------------------------------------------------------


def test_inside() -> None:
    assert inside("/ws/a.py", ["/ws"])
    assert inside("/ws", ["/other", "/ws/"])
    assert inside("/anything", ["/"])
    assert not inside("/ws2/a.py", ["/ws"])
    assert not inside("/a.py", ["/ws"])
    assert not inside("/ws/a.py", [])
    outside = absolute("../x", "/ws")
    assert outside == "/x"
    assert not inside(outside, ["/ws"])


def test_what_one_call_is_looked_for_in_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in characters that are searched: a call may name large files and quote what is not there."""
    searched: list[int] = []

    def find(text: str, piece: str, near: int | None = None) -> None:
        searched.append(len(text))

    monkeypatch.setattr(places_of, "find_snippet", find)
    text = "a line of a large file\n" * 30_000
    diffs = tuple(
        {"type": "diff", "path": f"/ws/{n}.txt", "oldText": "not there\n", "newText": "x\n"}
        for n in range(150)
    )
    found = places_of.places(ToolCall("c", kind="edit", content=diffs), "/ws", lambda path: text)
    assert len(found) == 150
    assert all(place.exists and place.line is None for place in found)
    assert 0 < sum(searched) <= 2 * places_of._MAX_SEARCHED
    named = tuple(Location(f"/ws/{n}.txt", 29_000) for n in range(150))
    found = places_of.places(ToolCall("c", locations=named), "/ws", lambda path: text * 9)
    assert {place.line for place in found} == {28_999}
