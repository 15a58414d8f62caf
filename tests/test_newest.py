"""The newest of what an agent names: so many, and no heavier."""

from __future__ import annotations

from acp_editor.core.newest import Newest


def test_newest_lets_the_oldest_go_by_number_and_by_weight() -> None:
    kept: Newest[str, str] = Newest(3, 10_000)
    for name in "abcd":
        kept[name] = name
    assert list(kept) == ["b", "c", "d"]
    kept["b"] = "x" * 9000  # what is changed keeps its place
    kept["e"] = "x" * 5000
    assert list(kept) == ["c", "d", "e"]
    assert (kept.pop("e"), kept.pop("e"), kept.pop("e", "none")) == ("x" * 5000, None, "none")
    kept["f"] = "x" * 50_000  # one stays, however heavy
    assert list(kept) == ["f"]
    kept["f"] = "light again"
    kept["g"] = "g"
    assert list(kept) == ["f", "g"]
