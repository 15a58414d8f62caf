"""A scripted agent behind the editor, where the test has a script for one; else the built-in agent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from agent_script import AGENT, Step


@pytest.fixture
def steps() -> list[Step]:
    """The script of the agent; none: the built-in one is used."""
    return []


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """What the agent received."""
    return tmp_path / "received.ndjson"


@pytest.fixture
def agent(steps: list[Step]) -> str:
    return "scripted" if steps else "demo"


@pytest.fixture
def settings(tmp_path: Path, steps: list[Step], record: Path, agent: str) -> dict[str, object]:
    script = tmp_path / "script.json"
    text = json.dumps([{"record": str(record)}, *steps]).replace("{tmp}", str(tmp_path))
    script.write_text(text)
    agents = {
        "scripted": {"command": sys.executable, "args": [str(AGENT), str(script)]},
        "demo in version 1": {
            "command": sys.executable,
            "args": ["-m", "acp_editor", "demo-agent"],
            "protocol": 1,
        },
    }
    return {
        "acpEditor.agents": agents,
        "acpEditor.agent": agent,
        "terminal.integrated.gpuAcceleration": "off",  # so that a test can read it
        "terminal.integrated.minimumContrastRatio": 1,
        "workbench.colorTheme": "Default Dark Modern",
    }
