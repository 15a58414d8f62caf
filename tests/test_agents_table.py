"""docs/agents.md says what the live tests saw, and nothing else."""

from __future__ import annotations

import json

import agents_table
import pytest

import lab


def test_the_page_is_current() -> None:
    text = agents_table.page(json.loads(agents_table.RESULTS.read_text(encoding="utf-8")))
    assert agents_table.PAGE.read_text(encoding="utf-8") == text, "run python scripts/agents_table.py"


def test_every_agent_of_the_lab_is_there_in_every_version() -> None:
    rows = json.loads(agents_table.RESULTS.read_text(encoding="utf-8")).values()
    assert {(row["agent"], row["protocol"]) for row in rows} == {
        (name, version) for name, agent in lab.AGENTS.items() for version in agent.versions
    }
    assert agents_table.NAMES.keys() == lab.AGENTS.keys()


@pytest.mark.parametrize(
    ("outcome", "cell"),
    [("ok", "| yes |"), ("the turn | never ended", "| **no**: the turn \\| never ended |")],
)
def test_a_failure_is_shown_with_its_reason(outcome: str, cell: str) -> None:
    row = {"agent": "kimi", "package": "kimi==1", "protocol": 1, "scenarios": {"full": outcome}}
    assert cell in agents_table.page({"kimi 1": row})
