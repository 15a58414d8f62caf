"""Who changed an open document, whatever the order in which its edit and its save are seen."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from acp_editor.review.checkpoint import Limits
from acp_editor.review.documents import Documents
from acp_editor.review.engine import Engine


@pytest.mark.parametrize("saved_first", [False, True], ids=["seen-before-the-save", "seen-after-the-save"])
def test_what_we_write_into_a_document_for_the_agent_is_the_agents(tmp_path: Path, saved_first: bool) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    file = root / "a.py"
    file.write_text("one\n")
    engine = Engine([str(root)], tmp_path / "cache", Limits())
    documents = Documents(engine)
    path = engine.workspace.canonical(str(file))
    engine.begin()
    documents.opened(path, "one\n")
    engine.turns.start(time.time())
    engine.agent_writes(path, None)
    if saved_first:
        file.write_text("two\n")
    documents.typed(path, "one\n", "two\n", by_us=True)
    if not saved_first:
        file.write_text("two\n")
    documents.saved(path)
    engine.agent_wrote(path, None)
    engine.look()
    tracked = engine.tracked[path]
    assert tracked.pending
    assert (tracked.base.data, tracked.current.data) == (b"one\n", b"two\n")
    engine.close()


def test_a_document_that_was_read_just_before_the_agents_write_takes_nothing_back(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    file = root / "a.py"
    file.write_text("one\n")
    engine = Engine([str(root)], tmp_path / "cache", Limits())
    documents = Documents(engine)
    path = engine.workspace.canonical(str(file))
    engine.begin()
    engine.turns.start(time.time())
    engine.agent_writes(path, None)
    file.write_text("two\n")
    engine.agent_wrote(path, None)
    documents.opened(path, "one\n")  # the editor shows where the agent is, as it writes
    assert engine.tracked[path].pending
    documents.typed(path, "one\n", "two\n", by_us=False)
    tracked = engine.tracked[path]
    assert tracked.pending
    assert (tracked.base.data, tracked.current.data) == (b"one\n", b"two\n")
    engine.close()
