"""What of the speed does not depend on the clock: what is loaded when, what is kept, how work grows."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_editor.acp import v1
from acp_editor.app import offered, publisher
from acp_editor.app.commands import COMMANDS
from acp_editor.core import limits
from acp_editor.core.growing import GrowingCall
from acp_editor.core.model import StateUpdate, ToolCall, ToolCallUpsert
from acp_editor.core.session import Session
from acp_editor.core.version import VERSION
from benchmarks import cumulative, made
from benchmarks.editor import idle, running

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent
NAMES = ("whole_path", "latency", "cumulative", "large", "start", "memory", "growth")
HEAVY = ("pydantic", "pygit2", "tree_sitter", "tree_sitter_bash", "pathspec", "watchfiles", "pluggy")


def test_nothing_heavy_is_loaded_before_initialize_is_answered() -> None:
    late = (*HEAVY, "acp_editor.app.app", "acp_editor.core.model", "argparse")
    program = (
        "import sys\n"
        "from acp_editor import cli\n"
        "from acp_editor.app import logs, offered\n"
        "from acp_editor.lsp import server\n"
        f"print([name for name in {late!r} if name in sys.modules])"
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


def test_a_message_over_the_limit_of_the_settings_is_passed_over_as_a_fault(tmp_path: Path) -> None:
    call: dict[str, Any] = {"sessionUpdate": "tool_call", "status": "completed"}
    lines = [
        made.line({**call, "toolCallId": "long", "title": "x" * 20_000}),
        made.line({**call, "toolCallId": "short", "title": "after it"}),
    ]
    path = made.write(tmp_path / "lines", iter(lines))
    with running(tmp_path, {"maxMessageSize": 10_000}) as editor:
        editor.command("session.new")
        editor.command("prompt", {"text": f"pour {path}"})
        editor.wait_for(idle)
        state = editor.command("state")
    assert [found["title"] for found in state["sessions"][0]["toolCalls"]] == ["after it"]
    assert [found["code"] for found in state["faults"]] == ["line_too_long"]


def test_what_is_kept_of_cumulative_output_is_the_last_of_it() -> None:
    session = Session("s1", "agent", "/ws")
    session.apply(StateUpdate("running"))
    largest = 20_000
    for line in cumulative.updates(200, largest):
        _, (update,), faults = v1.decode_update(json.loads(line)["params"])
        assert faults == []
        session.apply(update)
    call = session.tool_calls["grows"]
    assert largest <= limits.weight(call.content) < 2 * largest
    assert len(session.messages) == 0


def test_calls_are_made_into_values_only_when_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    made_values = 0
    value = GrowingCall.value

    def counted(call: GrowingCall) -> ToolCall:
        nonlocal made_values
        made_values += 1
        return value(call)

    monkeypatch.setattr(GrowingCall, "value", counted)
    session = Session("s1", "agent", "/ws")
    session.apply(StateUpdate("running"))
    for number in range(1000):
        session.apply(ToolCallUpsert("c", title=str(number), status="in_progress"))
    assert made_values == 0
    assert session.tool_calls["c"].title == "999"
    assert made_values == 1


async def test_many_keys_cost_the_publisher_only_what_it_sends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many keys wait, each round looks at a few of them."""
    asked = 0

    class Sent(dict[Hashable, float]):
        def get(self, key: Hashable, default: Any = None) -> Any:
            nonlocal asked
            asked += 1
            return super().get(key, default)

    now, sent = 100.0, list[Hashable]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await real(0)

    async def drained() -> None:
        pass

    real = anyio.sleep
    monkeypatch.setattr(publisher.anyio, "sleep", sleep)
    made_ = publisher.Publisher(sent.append, drained, clock=lambda: now)
    monkeypatch.setattr(made_, "_sent", Sent())
    keys = 5000
    for number in range(keys):
        made_.mark(number)
    async with anyio.create_task_group() as group:
        group.start_soon(made_.run)
        with anyio.fail_after(60):
            while len(sent) < keys:
                await real(0)
        group.cancel_scope.cancel()
    assert sent == list(range(keys - 1, -1, -1))
    assert asked < 20 * keys
