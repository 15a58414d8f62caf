from __future__ import annotations

import difflib
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_editor.core.diffs import Proposal, apply, proposals
from acp_editor.core.model import Location, ToolCall
from acp_editor.core.patches import parse_patch
from acp_editor.core.text import with_line_end

TEXT = "".join(f"line {n}\n" for n in range(1, 61))
LINES = st.lists(st.sampled_from(["a", "b", "c", "", "--", "++ x", "@@"]), max_size=14)


def call(
    *content: Any, kind: str = "edit", raw: Any = None, locations: tuple[Location, ...] = ()
) -> ToolCall:
    return ToolCall("c1", kind=kind, content=content, raw_input=raw, locations=locations)


def diff(old: str | None, new: str, path: str = "/ws/a.py") -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def git_patch(text: str, *changes: dict[str, Any]) -> dict[str, Any]:
    return {"type": "diff", "changes": list(changes), "patch": {"format": "git_patch", "text": text}}


def after(content: Any, text: str | None) -> str | None:
    return apply(proposals(call(content), "/ws"), text)


# -- version 1 ---------------------------------------------------------------------------------


def test_a_piece_is_replaced_where_it_stands() -> None:
    assert after(diff("line 10\n", "ten\n"), TEXT) == TEXT.replace("line 10\n", "ten\n")


def test_whole_lines_are_meant_before_parts_of_lines() -> None:
    assert after(diff("line 1", "one"), "xline 1\nline 1\n") == "xline 1\none\n"


def test_a_whole_file_is_replaced() -> None:
    assert after(diff(TEXT, "all new\n"), TEXT) == "all new\n"
    assert after(diff(None, "all new\n"), TEXT) == "all new\n"
    assert after(diff("", "all new\n"), None) == "all new\n"
    assert after({"type": "diff", "path": "a.py", "newText": "new"}, None) == "new"


def test_several_diffs_of_one_file_are_applied_in_turn() -> None:
    both = proposals(call(diff("line 3\n", "three\n"), diff("line 9\n", "nine\n")), "/ws")
    assert apply(both, TEXT) == TEXT.replace("line 3\n", "three\n").replace("line 9\n", "nine\n")


def test_a_piece_that_is_nowhere_has_no_result() -> None:
    assert after(diff("nowhere\n", "x\n"), TEXT) is None
    assert after(diff("nowhere\n", "x\n"), None) is None


def test_what_is_written_already_changes_nothing() -> None:
    assert after(diff("old words\n", "line 10\n"), TEXT) == TEXT


@pytest.mark.parametrize(
    ("old", "new", "text", "expected"),
    [
        ("b\nc\n", "B\nC\nD\n", "a\r\nb\r\nc\r\n", "a\r\nB\r\nC\r\nD\r\n"),
        ("b", "B\nC", "a\r\nb\r\n", "a\r\nB\r\nC\r\n"),
        ("a\nb\n", "A\nb\n", "a\r\nb\r\n", "A\r\nb\r\n"),
        (None, "x\ny\n", "a\r\nb\r\n", "x\r\ny\r\n"),
        ("a\r\nb", "A\r\nB", "a\nb\n", "A\nB\n"),
        ("a\nb\n", "x\ny\n", "a\nb", "x\ny"),
        ("b\n", "B\n", "a\nb", "a\nB"),
        ("a\nb", "x\ny", "a\nb\n", "x\ny\n"),
        ("a\n", "b\n", "\ufeffa\n", "\ufeffb\n"),
        ("a\nb\n", "a\r\nb\n", "a\nb\nc\n", "a\r\nb\nc\n"),
    ],
)
def test_line_ends_and_other_marks_of_the_file_stay(
    old: str | None, new: str, text: str, expected: str
) -> None:
    assert after(diff(old, new), text) == expected


def test_a_location_per_diff_tells_equal_pieces_apart() -> None:
    text = "pass\n" * 20
    found = proposals(
        call(
            diff("pass\n", "one\n"),
            diff("pass\n", "two\n"),
            locations=(Location("/ws/a.py", 5), Location("/ws/a.py", 15)),
        ),
        "/ws",
    )
    result = apply(found, text)
    assert result is not None
    assert [number for number, line in enumerate(result.split("\n")) if line in ("one", "two")] == [4, 14]


def test_paths_are_absolute() -> None:
    found = proposals(call(diff("a", "b", "x/../a.py"), diff("a", "b", "file:///ws/b%20c.py")), "/ws")
    assert [proposal.path for proposal in found] == ["/ws/a.py", "/ws/b c.py"]


def test_what_is_read_and_shown_as_a_diff_is_no_change() -> None:
    assert proposals(call(diff("", TEXT), kind="read"), "/ws") == ()


@pytest.mark.parametrize(
    "item",
    [
        None,
        "diff",
        {"type": "diff"},
        {"type": "diff", "path": 3, "newText": "x"},
        {"type": "diff", "path": "", "newText": "x"},
        {"type": "diff", "path": "https://example.com/a", "newText": "x"},
        {"type": "diff", "path": "a\0b", "newText": "x"},
        {"type": "diff", "changes": "x"},
        {"type": "diff", "changes": [None, {"operation": "add"}], "patch": []},
    ],
)
def test_what_cannot_be_read_is_left_out(item: Any) -> None:
    assert proposals(call(item), "/ws") == ()


# -- version 2 ---------------------------------------------------------------------------------


def test_a_git_patch_with_absolute_paths() -> None:
    item = git_patch(
        "diff --git /ws/a.py /ws/a.py\n--- /ws/a.py\n+++ /ws/a.py\n@@ -30,1 +30,1 @@\n-line 30\n+thirty\n",
        {"operation": "modify", "path": "/ws/a.py", "fileType": "text"},
    )
    (found,) = proposals(call(item), "/ws")
    assert (found.path, found.operation) == ("/ws/a.py", "modify")
    assert apply(found, TEXT) == TEXT.replace("line 30\n", "thirty\n")
    assert apply(found, TEXT.replace("line 30\n", "thirty\n")) == TEXT.replace("line 30\n", "thirty\n")


def test_changes_of_every_operation() -> None:
    item = git_patch(
        "diff --git /ws/n /ws/n\nnew file mode 100644\n"
        "--- /dev/null\n+++ /ws/n\n@@ -0,0 +1,2 @@\n+one\n+two\n"
        "diff --git /ws/d /ws/d\ndeleted file mode 100644\n--- /ws/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
        "diff --git /ws/from /ws/to\nsimilarity index 90%\nrename from /ws/from\nrename to /ws/to\n"
        "--- /ws/from\n+++ /ws/to\n@@ -1 +1 @@\n-a\n+b\n",
        {"operation": "add", "path": "/ws/n"},
        {"operation": "delete", "path": "/ws/d"},
        {"operation": "move", "oldPath": "/ws/from", "path": "/ws/to"},
        {"operation": "copy", "oldPath": "/ws/p", "path": "/ws/q"},
        {"operation": "sing", "path": "/ws/s"},
    )
    added, deleted, moved, copied, odd = proposals(call(item), "/ws")
    assert (added.operation, apply(added, None)) == ("add", "one\ntwo\n")
    assert apply(added, "something else\n") == "one\ntwo\n"
    assert (deleted.operation, apply(deleted, "gone\n")) == ("delete", "")
    assert (moved.operation, moved.source, moved.path) == ("move", "/ws/from", "/ws/to")
    assert apply(moved, "a\n") == "b\n"
    assert (copied.operation, copied.source, apply(copied, "same\n")) == ("add", "/ws/p", "same\n")
    assert (odd.operation, apply(odd, "x")) == ("modify", None)


def test_a_change_without_a_patch_is_known_but_not_its_text() -> None:
    item = {"type": "diff", "changes": [{"operation": "modify", "path": "a.py"}], "patch": None}
    (found,) = proposals(call(item), "/ws")
    assert (found.path, apply(found, "x")) == ("/ws/a.py", None)


def test_changes_name_the_file_where_its_patch_is_relative() -> None:
    item = git_patch(
        "--- a/sub/a.py\n+++ b/sub/a.py\n@@ -1 +1 @@\n-a\n+b\n",
        {"operation": "modify", "path": "/repo/sub/a.py"},
    )
    (found,) = proposals(call(item), "/ws")
    assert (found.path, apply(found, "a\n")) == ("/repo/sub/a.py", "b\n")


# -- patches -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            ("x", "modify", None),
        ),
        ("--- x\t2024-01-01\n+++ x\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n", ("x", "modify", None)),
        ("--- a/x y.py\t\n+++ b/x y.py\t\n@@ -1 +1 @@\n-a\n+b\n", ("x y.py", "modify", None)),
        ("diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n", ("x y", "modify", None)),
        ("diff --git a/e b/e\nnew file mode 100644\nindex 0..e\n", ("e", "add", None)),
        ("diff --git a/e b/e\ndeleted file mode 100644\n", ("e", "delete", None)),
        ("diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", ("n", "move", "o")),
        ("diff --git a/o b/n\ncopy from o\ncopy to n\n", ("n", "add", "o")),
        ('diff --git "a/\\303\\244\\n" "b/\\303\\244\\n"\nnew file mode 100644\n', ("ä\n", "add", None)),
        ('--- "a/q\\"\\t.py"\n+++ "b/q\\"\\t.py"\n@@ -1 +1 @@\n-a\n+b\n', ('q"\t.py', "modify", None)),
        ("Index: /ws/x\n=====\n--- /ws/x\n+++ /ws/x\n@@ -1 +1 @@\n-a\n+b\n", ("/ws/x", "modify", None)),
        ("diff --git a/b.png b/b.png\nBinary files a/b.png and b/b.png differ\n", ("b.png", "modify", None)),
        ("--- /ws/o\n+++ /ws/n\n@@ -1 +1 @@\n-a\n+b\n", ("/ws/n", "move", "/ws/o")),
        ("*** Begin Patch\n*** Add File: x\n+a\n*** End Patch", ("x", "add", None)),
        ("*** Begin Patch\n*** Delete File: x\n*** End Patch", ("x", "delete", None)),
        (
            "*** Begin Patch\n*** Update File: o\n*** Move to: n\n@@\n-a\n+b\n*** End Patch",
            ("n", "move", "o"),
        ),
    ],
)
def test_names_and_operations_of_patches(text: str, expected: tuple[str, str, str | None]) -> None:
    (found,) = parse_patch(text)
    assert (found.path, found.operation, found.old_path) == expected
    (found,) = parse_patch(text.replace("\n", "\r\n") if '"' not in text else text)
    assert (found.path, found.operation, found.old_path) == expected


def patched(patch: str, text: str) -> str | None:
    return after(git_patch(patch), text)


HEAD = "--- a/x\n+++ b/x\n"


@pytest.mark.parametrize(
    ("patch", "text", "expected"),
    [
        # where the header is right, a little off, or has no numbers
        ("@@ -2 +2 @@\n-b\n+B\n", "a\nb\nc\n", "a\nB\nc\n"),
        ("@@ -9 +9 @@\n-b\n+B\n", "a\nb\nc\n", "a\nB\nc\n"),
        ("@@ @@\n a\n-b\n+B\n", "x\na\nb\n", "x\na\nB\n"),
        # the nearer of two
        ("@@ -5 +5 @@\n-x\n+X\n", "x\na\nb\nc\nd\nx\n", "x\na\nb\nc\nd\nX\n"),
        # context that has changed at its edges stays as it is
        ("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "other\nb\nc\n", "other\nB\nc\n"),
        ("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "other\nx\nc\n", None),
        # counts that are wrong, and blank context whose space was lost
        ("@@ -1,9 +1,9 @@\n a\n-b\n+B\n", "a\nb\n", "a\nB\n"),
        ("@@ -1,1 +1,1 @@\n a\n-b\n+B\n", "a\nb\n", "a\nB\n"),
        ("@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nb\n", "a\n\nB\n"),
        # lines that look like headers
        ("@@ -1,2 +1,1 @@\n--- a\n-b\n+++ c\n", "-- a\nb\n", "++ c\n"),
        # the last newline
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "a", "b\n"),
        ("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "a\n", "b"),
        ("@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "a\nb", "A\nb"),
        ("@@ -1 +1 @@\n-a\n+b\n", "a", "b"),
        ("@@ -1 +1,2 @@\n a\n+b\n", "a", "a\nb"),
        # insertions and deletions without context
        ("@@ -2,0 +3,1 @@\n+new\n", "a\nb\nc\n", "a\nb\nnew\nc\n"),
        ("@@ -0,0 +1 @@\n+new\n", "", "new\n"),
        ("@@ -2 +1,0 @@\n-b\n", "a\nb\nc\n", "a\nc\n"),
        ("@@ -1,2 +0,0 @@\n-a\n-b\n", "a\nb\n", ""),
        # line ends
        ("@@ -2 +2 @@\n-b\n+B\n", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
        ("@@ -2 +2,2 @@\n-b\r\n+B\r\n+C\r\n", "a\r\nb\r\n", "a\r\nB\r\nC\r\n"),
        ("@@ -2 +2 @@\n-b\r\n+B\r\n", "a\nb\n", "a\nB\n"),
        ("@@ -1 +1 @@\n-a\n+a\r\n", "a\nb\n", "a\r\nb\n"),
        ("@@ -1 +1 @@\n-x\ty\fz\n+q\n", "x\ty\fz\n", "q\n"),
        # several hunks, the second one moved by the first
        ("@@ -1 +1,3 @@\n-a\n+1\n+2\n+3\n@@ -4 +6 @@\n-x\n+X\n", "a\nx\nc\nx\n", "1\n2\n3\nx\nc\nX\n"),
        ("@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-nowhere\n+X\n", "a\nb\nc\n", None),
    ],
)
def test_hunks_go_where_their_lines_are(patch: str, text: str, expected: str | None) -> None:
    assert patched(HEAD + patch, text) == expected


def test_a_patch_of_sections() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    x\n+    y\n@@\n z\n+w\n"
        "*** End of File\n*** End Patch\n"
    )
    raw = {"input": patch}
    found = proposals(call(raw=raw), "/ws")
    assert [(proposal.path, proposal.inferred) for proposal in found] == [("/ws/a.py", True)]
    assert apply(found, "def f():\n    x\nz\n") == "def f():\n    y\nz\nw\n"
    assert (
        apply(proposals(call(raw={"command": ["apply_patch", patch]}), "/ws"), "    x\nz\n")
        == "    y\nz\nw\n"
    )
    assert parse_patch("*** Update File: a\nwhat is this\n@@ x\nand this\n")[0].hunks == ()


def test_words_that_are_no_patch_are_none() -> None:
    assert parse_patch("nothing\nof the kind\n") == ()
    assert parse_patch("") == ()


@settings(deadline=None)
@given(LINES, LINES, st.sampled_from([0, 1, 3]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_a_patch_makes_the_old_text_the_new_one(
    old: list[str], new: list[str], context: int, bare: bool, end: str
) -> None:
    texts = ["\n".join(lines) + ("\n" if lines and not bare else "") for lines in (old, new)]
    before, after_ = texts
    patch = "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(
            before.splitlines(True), after_.splitlines(True), "a/x", "b/x", n=context
        )
    )
    if before == after_:
        assert patch == ""
        return
    (found,) = proposals(call(git_patch(patch)), "/ws")
    file = with_line_end(before, end)
    result = apply(Proposal("/ws/x", "modify", hunks=found.hunks), file)
    # A file without a single line end has none that could be kept.
    assert result == (with_line_end(after_, end) if "\n" in before else after_)


@settings(deadline=None)
@given(st.text(alphabet="ab-+@ \\\n*dif:Ux1,", max_size=80))
def test_no_patch_raises(text: str) -> None:
    for item in (git_patch(HEAD + "@@ -1 +1 @@\n" + text), git_patch("*** Update File: x\n" + text)):
        apply(proposals(call(item), "/ws"), "a\nb\n")


# -- the tool's own input ----------------------------------------------------------------------


def test_an_input_with_old_and_new_text_is_a_change() -> None:
    raw = {"file_path": "/ws/a.py", "old_string": "line 5\n", "new_string": "five\n"}
    (found,) = proposals(call(raw=raw), "/ws")
    assert found.inferred
    assert apply(found, TEXT) == TEXT.replace("line 5\n", "five\n")
    assert proposals(call(raw={"file_path": "/ws/a.py", "old_string": "line"}), "/ws") == ()
    assert proposals(call(raw=raw, kind="read"), "/ws") == ()


def test_an_input_may_replace_everywhere_or_several_pieces() -> None:
    raw = {"filePath": "a.py", "oldString": "x", "newString": "y", "replaceAll": True}
    assert apply(proposals(call(raw=raw), "/ws"), "x\nx\n") == "y\ny\n"
    raw = {"path": "a.py", "edits": [{"old_text": "a", "new_text": "b"}, {"old_text": "c", "new_text": "d"}]}
    assert apply(proposals(call(raw=raw), "/ws"), "a\nc\n") == "b\nd\n"


def test_an_input_with_content_is_a_whole_file() -> None:
    raw = {"path": "/ws/a.py", "content": "new\n"}
    assert apply(proposals(call(raw=raw), "/ws"), "old\n") == "new\n"
    assert proposals(call(raw=raw, kind="execute"), "/ws") == ()


def test_the_content_goes_before_the_input() -> None:
    raw = {"path": "/ws/b.py", "content": "new\n"}
    assert [p.path for p in proposals(call(diff("a", "b"), raw=raw), "/ws")] == ["/ws/a.py"]


def test_large_and_hostile_patches_take_no_long_time() -> None:
    text = "same\n" * 50_000
    hunks = "".join(f"@@ -{n},2 +{n},2 @@\n same\n-other\n+new\n" for n in range(1, 200))
    started = time.process_time()
    assert patched(HEAD + hunks, text) is None
    many = [diff(f"line {n}\n", f"{n}\n") for n in range(1, 61)] * 20
    assert len(proposals(call(*many), "/ws")) == 1000
    assert time.process_time() - started < 5
