"""What of the speed does not depend on the clock: what is loaded when, what is kept, how work grows."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from acp_editor.app import offered
from acp_editor.app.commands import COMMANDS
from acp_editor.core.version import VERSION

ROOT = Path(__file__).parent.parent
NAMES = ("whole_path", "latency", "cumulative", "large", "start", "memory", "growth")
HEAVY = ("pydantic", "pygit2", "tree_sitter", "tree_sitter_bash", "pathspec", "watchfiles", "pluggy")


def test_nothing_heavy_is_loaded_before_initialize_is_answered() -> None:
    program = (
        "import sys\n"
        "from acp_editor import cli\n"
        "from acp_editor.app import logs, offered\n"
        "from acp_editor.lsp import server\n"
        f"print([name for name in {(*HEAVY, 'acp_editor.app.app', 'argparse')!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_command_is_told_to_the_editor_before_it_is_loaded() -> None:
    assert set(offered.COMMANDS) == set(COMMANDS)
    assert len(offered.COMMANDS) == len(set(offered.COMMANDS))


def test_the_version_is_the_package_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", ["whole_path", "latency", "cumulative", "large", "start", "memory", "growth"]
)
def test_a_benchmark_runs(name: str) -> None:
    command = [sys.executable, "-m", "benchmarks", "--short", "--only", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "holds" in done.stdout or "FAILS" in done.stdout
