"""The README names every setting and every command that VS Code offers, and its links lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANIFEST: dict[str, Any] = json.loads((ROOT / "client-vscode/package.json").read_text(encoding="utf-8"))
WORDS: dict[str, str] = json.loads((ROOT / "client-vscode/package.nls.json").read_text(encoding="utf-8"))
WITH_OTHERS = {"menu", "openLocation", "openChange"}
"""Commands that are run from a view or the status bar, and not from the palette."""


def settings() -> list[str]:
    groups = MANIFEST["contributes"]["configuration"]
    groups = groups if isinstance(groups, list) else [groups]
    return [name.removeprefix("acpEditor.") for group in groups for name in group["properties"]]


def commands() -> list[str]:
    return [
        WORDS[command["title"].strip("%")]
        for command in MANIFEST["contributes"]["commands"]
        if command["command"].removeprefix("acpEditor.ui.") not in WITH_OTHERS
    ]


@pytest.mark.parametrize("name", settings())
def test_a_setting_is_named(name: str) -> None:
    assert f"`{name}`" in README or f"`.{name.rpartition('.')[2]}`" in README


@pytest.mark.parametrize("title", commands())
def test_a_command_is_named(title: str) -> None:
    assert title in README


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
