"""Recorded sessions played by `acp-editor replay`, a real process, to our own client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_side import Running, running, scripted
from waiting import until

from acp_editor.acp.agent import AgentSpec
from acp_editor.acp.connection import RpcError
from acp_editor.acp.traffic import Recorder
from acp_editor.core.redact import Redactor
from acp_editor.core.session import Session

pytestmark = pytest.mark.anyio

CAPTURES = Path(__file__).parent / "data/captures"

PLAYED = (
    "claude-0.101.0-cancelshell",
    "claude-0.101.0-v2-full",
    "claude-0.101.0-v2-permcancel",
    "codex-2.6.0-permcancel",
    "fast-agent-0.10.48-cancelshell",
    "gemini-0.61.0-full",
    "kimi-1.12.0-full",
    "opencode-1.18.33-reject",
    "pydantic-1.10.0-prompterror",
)
"""With cancels, terminals, files, requests out of order, and an error at the end."""


def replay(file: Path, *options: str) -> AgentSpec:
    arguments = ("-m", "acp_editor.agents.replay", "--speed", "inf", str(file), *options)
    return AgentSpec("replay", sys.executable, arguments)


def written(tmp_path: Path, entries: list[tuple[str, dict[str, Any]]]) -> Path:
    path = tmp_path / "recording.ndjson"
    lines = (json.dumps({"dir": way, "t": 0, "msg": {"jsonrpc": "2.0", **m}}) for way, m in entries)
    path.write_text("\n".join(lines))
    return path


def answered(ident: Any, method: str, result: Any, params: Any = None) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("c2a", {"id": ident, "method": method, "params": params or {}}),
        ("a2c", {"id": ident, "result": result}),
    ]


def said(text: str) -> tuple[str, dict[str, Any]]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return "a2c", {"method": "session/update", "params": {"sessionId": "s", "update": update}}


HELLO = answered(1, "initialize", {"protocolVersion": 1})
OPENED = [*HELLO, *answered(2, "session/new", {"sessionId": "s"}, {"cwd": "/ws/demo", "mcpServers": []})]


async def turn(side: Running, cwd: Path, *, cancel: bool = False) -> Session:
    """A session, a prompt, and the turn to its end; nothing is allowed, since it makes no difference."""
    side.host.choose(None)
    start = await side.agent.new_session(str(cwd))
    await side.agent.prompt(start.session_id, [{"type": "text", "text": "go"}])
    if cancel:
        side.agent.cancel(start.session_id)
    session = side.host.session(start.session_id)
    await until(lambda: session.state == "idle", 20)
    return session


def first_turn(file: Path) -> tuple[bool, str | None]:
    """Whether the client cancelled the first turn of the record, and how it ended."""
    asked: Any = None
    cancelled = False
    for line in file.read_text().splitlines():
        entry = json.loads(line)
        message = entry.get("msg") or {}
        update = message.get("params", {}).get("update", {})
        result = message.get("result") or {}
        if message.get("method") == "session/prompt" and asked is None:
            asked = message["id"]
        elif message.get("method") == "session/cancel":
            cancelled = True
        elif entry["dir"] == "c2a":
            continue
        elif message.get("id") == asked and ("error" in message or "stopReason" in result):
            return cancelled, result.get("stopReason")
        elif asked is not None and update.get("state") == "idle":
            return cancelled, update["stopReason"]
    raise AssertionError("the record has no turn")


@pytest.mark.parametrize("name", PLAYED)
async def test_a_recorded_turn_plays_to_its_end(name: str, tmp_path: Path) -> None:
    cancel, stop_reason = first_turn(CAPTURES / f"{name}.ndjson")
    async with running(replay(CAPTURES / f"{name}.ndjson")) as side:
        session = await turn(side, tmp_path, cancel=cancel)
        assert session.stop_reason == stop_reason
        told = json.dumps([message for way, message in side.traffic if way == "in"])
        assert "/ws/demo" not in told
        if name.endswith("full"):
            assert str(tmp_path) in told


async def test_what_a_log_has_plays_again(tmp_path: Path) -> None:
    environment = {"ACP_EDITOR_DEMO_PACE": "instant"}
    demo = AgentSpec("demo", sys.executable, ("-m", "acp_editor.agents.demo"), environment)
    first_folder, second_folder = tmp_path / "first", tmp_path / "second"
    for folder in (first_folder, second_folder):
        folder.mkdir()
        (folder / "README.md").write_text("# Demo\n\nA tiny demo project.\n")
    recorder = Recorder("demo", tmp_path / "traffic", Redactor(environment))
    async with running(demo) as side:
        first = await turn(side, first_folder)
        for way, message in side.traffic:
            recorder("out" if way == "out" else "in", message)
    async with running(replay(recorder.save())) as side:
        second = await turn(side, second_folder)
    assert [m.text for m in first.messages] == [m.text for m in second.messages]
    assert [(c.title, c.status) for c in first.tool_calls.values()] == [
        (c.title, c.status) for c in second.tool_calls.values()
    ]
    places = [place.path for call in second.tool_calls.values() for place in call.locations]
    assert places
    assert all(Path(path).is_relative_to(second_folder) for path in places)


async def test_noise_on_its_output_is_in_the_log_and_plays_again(tmp_path: Path) -> None:
    spec = scripted(
        tmp_path,
        [
            {"print": "Loading…"},
            {"take": "initialize", "result": {"protocolVersion": 1}},
            {"take": "session/new", "result": {"sessionId": "s1"}},
            {"print": "42"},
            {"take": "session/prompt", "result": {"stopReason": "end_turn"}},
        ],
    )
    recorder = Recorder("scripted", tmp_path / "traffic", Redactor())
    async with running(spec, recorder) as side:
        await turn(side, tmp_path)
    first = side.host.codes()
    assert sorted(first) == ["not_an_object", "not_json"]
    async with running(replay(recorder.save())) as side:
        await turn(side, tmp_path)
        await until(lambda: sorted(side.host.codes()) == sorted(first))


async def test_other_requests_are_answered_from_the_record_or_refused(tmp_path: Path) -> None:
    options = [{"id": "pace", "name": "Pace", "type": "select", "currentValue": "slow", "options": []}]
    choice = {"sessionId": "s", "configId": "pace", "value": "slow"}
    capable = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"list": {}, "close": {}}}}
    entries = [
        *answered(1, "initialize", capable),
        *answered("two", "session/new", {"sessionId": "s", "configOptions": options}, {"cwd": "/ws/demo"}),
        *answered(3, "session/list", {"sessions": [{"sessionId": "s", "cwd": "/ws/demo"}]}),
        *answered(4, "session/set_config_option", {"configOptions": options}, choice),
        *answered(5, "session/prompt", {"stopReason": "end_turn"}),
    ]
    async with running(replay(written(tmp_path, entries))) as side:
        session = await turn(side, tmp_path)
        for _ in range(2):
            rows, _ = await side.agent.list_sessions()
            assert [row.cwd for row in rows] == [str(tmp_path)]
        assert await side.agent.set_config("s", session.config[0], "slow")
        await side.agent.close_session("s")
        with pytest.raises(RpcError, match="no further session/new"):
            await side.agent.new_session(str(tmp_path))
        await side.agent.prompt("s", [{"type": "text", "text": "more"}])
        await until(lambda: session.error)
        assert "no further session/prompt" in session.error["message"]


async def test_terminals_are_called_as_they_are_now(tmp_path: Path) -> None:
    asked = {"sessionId": "s", "terminalId": "recorded"}
    entries = [
        *OPENED,
        ("c2a", {"id": 3, "method": "session/prompt", "params": {}}),
        ("a2c", {"id": 0, "method": "terminal/create", "params": {"sessionId": "s", "command": "ls"}}),
        ("c2a", {"id": 0, "result": {"terminalId": "recorded"}}),
        ("a2c", {"id": 1, "method": "terminal/kill", "params": asked}),
        ("c2a", {"id": 1, "result": {}}),
        ("a2c", {"id": 3, "result": {"stopReason": "end_turn"}}),
    ]
    file = written(tmp_path, entries)
    async with running(replay(file)) as side:
        await turn(side, tmp_path)
        assert [call[0] for call in side.host.calls] == ["create", "kill"]
        assert side.host.calls[1] == ("kill", "t1")
    async with running(replay(file, "--no-effects")) as side:
        assert (await turn(side, tmp_path)).stop_reason == "end_turn"
        assert not side.host.calls


async def test_a_session_that_was_taken_up_can_be_new(tmp_path: Path) -> None:
    taken_up = answered(2, "session/load", {}, {"sessionId": "s", "cwd": "/ws/demo", "mcpServers": []})
    entries = [*HELLO, taken_up[0], said("from before"), taken_up[1]]
    entries += answered(3, "session/prompt", {"stopReason": "end_turn"})
    async with running(replay(written(tmp_path, entries))) as side:
        session = await turn(side, tmp_path)
        assert session.session_id == "s"
        assert "from before" in [message.text for message in session.messages]


async def test_a_prompt_goes_on_where_the_record_has_one(tmp_path: Path) -> None:
    """The record was cancelled and asked for what no client asks; today the person just goes on."""
    entries = [
        *OPENED,
        ("c2a", {"id": 3, "method": "session/prompt", "params": {}}),
        said("first"),
        ("a2c", {"id": 3, "result": {"stopReason": "end_turn"}}),
        ("c2a", {"method": "session/cancel", "params": {"sessionId": "s"}}),
        *answered(4, "_vendor/ping", {}),
        ("c2a", {"id": 5, "method": "session/prompt", "params": {}}),
        said("second"),
        ("a2c", {"id": 5, "result": {"stopReason": "end_turn"}}),
    ]
    async with running(replay(written(tmp_path, entries))) as side:
        session = await turn(side, tmp_path)
        await side.agent.prompt("s", [{"type": "text", "text": "again"}])
        await until(lambda: session.messages[-1].text == "second")


async def test_a_file_without_its_beginning_plays(tmp_path: Path) -> None:
    entries = answered(9, "session/prompt", {"stopReason": "end_turn"})
    entries.insert(1, said("hello"))
    async with running(replay(written(tmp_path, entries))) as side:
        session = await turn(side, tmp_path)
        assert session.session_id == "s"
        assert session.messages[-1].text == "hello"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no message of an agent"),
        ("nothing", "recording.ndjson:1: this line is not JSON"),
        ('{"dir": "up", "msg": {}}', "`dir` is 'up'"),
        (None, "No such file"),
    ],
)
async def test_what_cannot_be_played_is_told(tmp_path: Path, text: str | None, reason: str) -> None:
    path = tmp_path / "recording.ndjson"
    if text is not None:
        path.write_text(text)
    command = [sys.executable, "-m", "acp_editor.agents.replay", str(path)]
    done = await anyio.run_process(command, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert reason in done.stderr.decode()
    assert not done.stdout
