"""docs/protocol.md has every command, and every name that it links to."""

from __future__ import annotations

import re
from pathlib import Path

from acp_editor.app.commands import COMMANDS

PAGE = (Path(__file__).resolve().parents[1] / "docs/protocol.md").read_text(encoding="utf-8")


def test_every_command_is_documented_and_no_other() -> None:
    documented = re.findall(r"^\| `(acpEditor\.[\w.]+)` \|", PAGE, re.MULTILINE)
    assert sorted(documented) == sorted(COMMANDS)


def test_every_link_leads_to_a_shape() -> None:
    headings = {heading.lower() for heading in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)}
    missing = {anchor for anchor in re.findall(r"\]\(#([\w-]+)\)", PAGE) if anchor not in headings}
    assert not missing
