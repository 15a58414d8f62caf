"""Files read for places and marks: what is kept of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_editor.app import texts
from acp_editor.app.texts import Texts


class NoDocuments:
    def get(self, path: str) -> None:
        return None


def test_the_texts_that_were_read_last_are_kept_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_ROOM", 10_000)
    known = Texts(NoDocuments())  # type: ignore[arg-type]
    paths = [tmp_path / f"{number}" for number in range(30)]
    for path in paths:
        path.write_text(path.name * 1000)
        assert known.read(str(path)) == path.name * 1000
    assert sum(len(text or "") for _, text in known._kept.values()) <= 10_000
    assert list(known._kept)[-1] == str(paths[-1])
    first = known.read(str(paths[-1]))
    assert known.read(str(paths[-1])) is first
    for number in range(20):
        paths[-1].write_text("x" * number)
        assert known.read(str(paths[-1])) == "x" * number
    assert known._size == sum(len(text or "") for _, text in known._kept.values())
