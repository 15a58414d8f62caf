"""The list of changes that is sent: what a person can look through, whatever there is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from acp_editor.app import change_list
from acp_editor.app.change_list import MOST_FILES, MOST_HUNKS, ChangeList
from acp_editor.lsp import uris
from acp_editor.review.changes import FileChange, Hunk


def hunks(name: str, count: int) -> tuple[Hunk, ...]:
    return tuple(Hunk(f"{name}-{at}", (at, at + 1), (at, at + 1), "c1") for at in range(count))


def changed(files: int, each: int = 1) -> tuple[FileChange, ...]:
    names = [f"/w/{number:05}.py" for number in range(files)]
    return tuple(FileChange(name, "modify", None, hunks(name, each)) for name in names)


@pytest.fixture
def listed() -> ChangeList:
    return ChangeList(uris.from_path)


def test_what_can_be_looked_through_is_sent_whole(listed: ChangeList) -> None:
    listed.take(changed(20, 3))
    sent = listed.render([])
    assert [change["uri"] for change in sent["changes"]] == [f"file:///w/{at:05}.py" for at in range(20)]
    assert [len(change["hunks"]) for change in sent["changes"]] == [3] * 20
    assert "changesTotal" not in sent


def test_of_too_many_files_some_are_sent_and_the_open_ones_are_among_them(listed: ChangeList) -> None:
    listed.take(changed(20_000, 2))
    sent = listed.render(["/w/19000.py", "/w/not-changed.py"])
    assert len(sent["changes"]) == MOST_FILES
    assert sent["changes"][-1]["uri"] == "file:///w/19000.py"
    assert len(sent["changes"][-1]["hunks"]) == 2
    assert sent.get("changesTotal") == {"files": 20_000, "hunks": 40_000}
    assert len(listed) == 20_000
    assert len(json.dumps(sent)) < 1_000_000


def test_of_too_many_hunks_those_of_open_files_come_first(listed: ChangeList) -> None:
    listed.take(changed(3, MOST_HUNKS))
    sent = listed.render(["/w/00001.py"])
    assert [len(change["hunks"]) for change in sent["changes"]] == [0, MOST_HUNKS, 0]
    assert sent.get("changesTotal") == {"files": 3, "hunks": 3 * MOST_HUNKS}


def test_what_has_not_changed_is_not_made_anew(listed: ChangeList, monkeypatch: pytest.MonkeyPatch) -> None:
    first = changed(5)
    assert len(listed.take(first)) == 5
    listed.render([])
    made: list[Hunk] = []
    rendered = change_list.rendered
    monkeypatch.setattr(change_list, "rendered", lambda hunk: made.append(hunk) or rendered(hunk))
    other = replace(first[2], hunks=hunks("other", 1))
    assert listed.take([*first[:2], other, first[3]]) == ["/w/00002.py", "/w/00004.py"]
    sent = listed.render([])
    assert made == list(other.hunks)
    assert len(sent["changes"]) == 4
    assert sent["changes"][2]["hunks"][0]["hunkId"] == "other-0"
