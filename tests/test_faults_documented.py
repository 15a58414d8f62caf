"""docs/faults.md has every fault that the sources can report, with its sentences."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def lister() -> ModuleType:
    spec = importlib.util.spec_from_file_location("list_faults", ROOT / "scripts/list_faults.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_current(lister: ModuleType) -> None:
    assert lister.DOCUMENT.read_text(encoding="utf-8") == lister.document(), "run scripts/list_faults.py"


def test_every_code_in_the_sources_is_found(lister: ModuleType) -> None:
    """Also by a plain search, so that no way of making a fault escapes."""
    maker = re.compile(r"\b_?(?:[Ff]ault|note)\(\s*(?:info,\s*)?\"([a-z0-9]+(?:_[a-z0-9]+)+)\"")
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "acp_editor").rglob("*.py"))
    searched = {code for text in texts for code in maker.findall(text)}
    assert searched == set(lister.faults())
    assert {"not_json", "update_after_final", "invalid_item", "cancel_unanswered"} <= searched


def test_every_fault_says_something(lister: ModuleType) -> None:
    for code, sentences in lister.faults().items():
        assert any(re.search(r"\w+ \w+", sentence) for sentence in sentences) or code == "invalid_params"
        assert all(sentence.endswith((".", "…")) for sentence in sentences), sentences
