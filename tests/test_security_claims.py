"""Every claim of SECURITY.md names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def claims() -> list[str]:
    held = PAGE.partition("## What holds")[2].partition("\n## ")[0]
    items = re.findall(r"^- (.*(?:\n  .*)*)", held, re.MULTILINE)
    return [" ".join(item.split()) for item in items]


def exists(reference: str) -> bool:
    path, _, name = reference.partition("::")
    target = ROOT / path
    if not name:
        return target.is_file() or any(target.glob("test_*.py"))
    if not target.is_file():
        return False
    tree = ast.parse(target.read_text(encoding="utf-8"))
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name for node in tree.body
    )


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim[:40])
def test_a_claim_has_tests_and_they_exist(claim: str) -> None:
    references = re.findall(r"`((?:tests|client-vscode)/[^`]+)`", claim)
    assert references, "no test shows this"
    assert [reference for reference in references if not exists(reference)] == []


def test_there_are_claims() -> None:
    assert len(claims()) > 20
    assert not exists("tests/test_files.py::test_that_is_not_there")
