"""However an agent's changes are made up, finding their place takes no more steps than there are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from acp_editor.app.permissions import Pending
from acp_editor.app.proposals import Documents, Proposals
from acp_editor.core.budget import APPLYING, Budget, OutOfBudget
from acp_editor.core.diffs import apply, pieces, proposals
from acp_editor.core.model import Json, ToolCall
from acp_editor.core.patches import parse_patch
from acp_editor.core.places import places

SAME = "a\nb\n" * 25_000


def call(*content: Json, raw: Json = None) -> ToolCall:
    return ToolCall("c1", kind="edit", content=content, raw_input=raw)


def patch(*hunks: str) -> dict[str, Any]:
    text = "--- a/x\n+++ b/x\n" + "".join(hunks)
    return {"type": "diff", "changes": [{"path": "/ws/x"}], "patch": {"text": text}}


def hunk(at: int, lines: int = 20) -> str:
    """One line more behind lines that stand nearly everywhere."""
    context = "".join(f" {'ba'[n % 2]}\n" for n in range(lines))
    return f"@@ -{at},{lines} +{at},{lines + 1} @@\n{context}+new\n"


NOWHERE = "@@ -1,3 +1,2 @@\n a\n-a\n b\n"
SNIPPET: dict[str, Any] = {"type": "diff", "path": "/ws/x", "oldText": "b\nb\n", "newText": "c\n"}
GROWING: Json = {
    "path": "/ws/x",
    "edits": [{"old_string": "a", "new_string": "a" * 1000, "replace_all": True}] * 10,
}
ALIKE: dict[str, Any] = {"type": "diff", "path": "/ws/x", "oldText": SAME[:-4] + "c\n", "newText": SAME}


@pytest.mark.parametrize(
    "hostile",
    [
        call(patch(*(hunk(1) for _ in range(4000)), NOWHERE)),
        call(patch(*(f"@@ -{n},0 +{n},1 @@\n+x\n" for n in range(1, 90_000, 2)), NOWHERE)),
        call(patch(*(f"@@ -1 +1 @@\n a\n-{'x' if n % 2 else 'a'}\n" for n in range(30_000)))),
        call(*([SNIPPET] * 1000)),
        call(*({**ALIKE, "newText": f"{n}"} for n in range(1000))),
        call(raw=GROWING),
    ],
    ids=["repeated", "inserted", "nowhere", "snippets", "whole", "growing"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_hostile_changes_take_no_more_steps_than_there_are(hostile: ToolCall, end: str) -> None:
    budget = Budget(APPLYING)
    changes = proposals(hostile, "/ws")
    text = SAME.replace("\n", end)
    try:
        assert apply(changes, text, budget) is None
    except OutOfBudget:
        assert budget.left < 0
    places(hostile, "/ws", lambda path: text)  # has an end, too


def test_a_thousand_hunks_in_a_large_file_are_no_trouble() -> None:
    text = "".join(f"line {n}\n" for n in range(50_000))
    hunks = [f"@@ -{n},2 +{n},2 @@\n line {n - 1}\n-line {n}\n+changed\n" for n in range(10, 50_000, 50)]
    budget = Budget(APPLYING)
    after = apply(proposals(call(patch(*hunks)), "/ws"), text, budget)
    assert after is not None
    assert after.count("changed\n") == len(hunks) == 1000
    assert budget.left > APPLYING // 2


def test_of_a_patch_that_is_too_long_the_files_are_known() -> None:
    other = "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-a\n+b\n"
    found = proposals(call(patch(*(hunk(1) for _ in range(5000)), other)), "/ws")
    assert [(change.path, change.hunks, change.unread) for change in found] == [
        ("/ws/x", (), True),
        ("/ws/other", (), True),
    ]
    with pytest.raises(OutOfBudget):
        apply(found[:1], SAME)


def test_of_a_patch_that_is_too_long_no_file_hides_behind_another() -> None:
    bare = "diff --git a/bare b/bare\n@@ -1 +1 @@\n-a\n+b\n"  # git takes it without the names below
    apart = "Index: apart\nand then\n--- a/x\nno names\n+++ b/x\n"
    other = "--- a/other\n+++ b/other\n@@ -1 +1 @@\n-a\n+b\n"
    for text, paths in ((bare + other, ["bare", "other"]), (apart, ["apart"])):
        short, long = parse_patch(text), parse_patch(text + "\n" * 100_001)
        assert [file.path for file in long] == [file.path for file in short] == paths
        assert all(file.unread and not file.hunks for file in long)


def test_pieces_are_what_changes_quote_and_put_there() -> None:
    found = proposals(call(patch("@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "@@ -9 +9 @@\n-d\n")), "/ws")
    assert pieces(found) == ("a\nb\nd\n", "a\nc\n")
    assert pieces(proposals(call(SNIPPET), "/ws")) == ("b\nb\n", "c\n")


# -- what is shown of requests that wait -----------------------------------------------------------


class Desk:
    """Proposals of requests in a folder of one file."""

    def __init__(self) -> None:
        self.reads = 0
        self.documents = Documents(served=True)
        self.proposals = Proposals(
            self.documents, self._read, lambda path: None, lambda path: f"file://{path}"
        )

    def _read(self, path: str) -> str:
        self.reads += 1
        return SAME

    def shown(self, request: str, asked: ToolCall) -> tuple[str | None, str | None]:
        pending = SimpleNamespace(request_id=request, entry=SimpleNamespace(cwd="/ws"))
        (row,) = self.proposals.of(cast("Pending", pending), asked)
        return self.documents.get(row["original"]), self.documents.get(row["modified"])

    def forget(self, request: str) -> None:
        self.proposals.forget(cast("Pending", SimpleNamespace(request_id=request)))


HEAVY = call(patch(hunk(1, 2), *(hunk(1) for _ in range(4000))))
LIGHT = call(patch("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"))


def test_what_takes_too_long_is_shown_as_its_pieces() -> None:
    desk = Desk()
    assert desk.shown("p1", LIGHT) == (SAME, SAME.replace("b", "c", 1))
    original, modified = desk.shown("p2", HEAVY)
    assert (original or "").startswith("b\na\nb\n")
    assert (modified or "").startswith("b\na\nnew\n")


def test_requests_that_wait_share_their_steps_and_give_them_back() -> None:
    desk = Desk()
    for number in range(3):
        desk.shown(f"heavy{number}", HEAVY)
    reads = desk.reads
    assert desk.shown("light", LIGHT) == ("a\nb\n", "a\nc\n")
    assert desk.reads == reads
    for request in ("heavy0", "light"):
        desk.forget(request)
    assert desk.shown("light", LIGHT) == (SAME, SAME.replace("b", "c", 1))


def test_a_call_that_changes_all_the_while_has_no_more_steps_than_one_that_does_not() -> None:
    desk = Desk()
    for number in range(50):
        desk.shown("p1", ToolCall("c1", kind="edit", content=tuple(HEAVY.content), sequence=number))
    assert desk.reads == 1
    for number in range(50, 100):
        changed = ToolCall("c1", kind="edit", content=(dict(cast("Any", HEAVY.content[0])),), sequence=number)
        desk.shown("p1", changed)
    assert desk.reads == 1
