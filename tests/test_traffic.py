"""What is kept and written of an agent's traffic, and what is taken out of it."""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from agent_side import Recorder as RecordingHost
from waiting import until

from acp_editor.acp.agent import Agent, AgentFailed, AgentSpec
from acp_editor.acp.traffic import MAX_FILES, Recorder, Traffic
from acp_editor.core.redact import REDACTED, Redactor

SECRET = "zq81-very-hidden"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def note(text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "_note", "params": {"text": text}}


# -- what is taken out -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        {"env": {"SOME_NAME": SECRET}},
        {"env": [{"name": "SOME_NAME", "value": SECRET}]},
        {"headers": [{"name": "X-Thing", "value": SECRET}]},
        {"headers": {"X-Thing": SECRET}},
        {"Authorization": SECRET},
        {"apiKey": SECRET},
        {"api_key": {"value": [SECRET]}},
        {"clientSecret": SECRET},
        {"accessToken": SECRET},
        {"args": ["--verbose", "--api-key", SECRET]},
        {"args": [f"--token={SECRET}"]},
        {"command": f"OPENAI_API_KEY={SECRET} run"},
        {"command": f'export GH_TOKEN="{SECRET}"'},
        {"url": f"https://example.com/x?access_token={SECRET}&page=2"},
        {"url": f"https://me:{SECRET}@example.com/"},
        {"text": f"Authorization: Bearer {SECRET}"},
        {"result": {"action": "accept", "content": {"name": SECRET}}},
    ],
)
def test_a_secret_goes_wherever_it_stands(message: Any) -> None:
    redacted = Redactor().redact(message)
    assert SECRET not in json.dumps(redacted)
    assert REDACTED in json.dumps(redacted)
    assert redacted.keys() == message.keys()


@pytest.mark.parametrize(
    "text",
    [
        "sk-" + "a1B2" * 8,
        "ghp_" + "a1B2" * 8,
        "AKIA" + "ABCD1234" * 2,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_goes(text: str) -> None:
    assert Redactor().redact(f"it is {text} there") == f"it is {REDACTED} there"


@pytest.mark.parametrize(
    "message",
    [
        {"used": 1000, "size": 200_000, "inputTokens": 5, "maxTokens": "200000"},
        {"agentCapabilities": {"auth": {"logout": {}}}, "authMethods": [{"id": "login", "name": "Log in"}]},
        {"newText": "def check(token: str, password: str) -> bool:\n    return token == self.tokens[0]\n"},
        {"newText": "token = read_token(path, 3)\npassword=None\nsecret: Final = 1\n"},
        {"path": "/ws/demo/token.py", "line": 3, "uri": "file:///ws/demo/a.py"},
        {"sessionId": "501ff74f-969f-44ef-867f-847b35920921", "toolCallId": "toolu_000102_0"},
        {"type": "image", "data": base64.b64encode(bytes(range(256))).decode(), "mimeType": "image/png"},
        {"result": None, "id": 3},
    ],
)
def test_what_is_no_secret_stays(message: Any) -> None:
    assert Redactor().redact(message) == message


def test_a_secret_that_was_seen_is_known_from_then_on() -> None:
    redactor = Redactor({"MY_TOKEN": "first-secret", "PLACE": "/home/somebody", "MODEL": "claude-sonnet-4-5"})
    assert redactor.redact("first-secret in /home/somebody with claude-sonnet-4-5") == (
        f"{REDACTED} in /home/somebody with claude-sonnet-4-5"
    )
    redactor.learn(
        {"mcpServers": [{"headers": [{"name": "Authorization", "value": "Bearer second-secret"}]}]}
    )
    assert redactor.redact({"text": "I use second-secret."}) == {"text": f"I use {REDACTED}."}
    data = base64.b64encode(b"$ echo second-secret\n").decode()
    redacted = redactor.redact({"sessionUpdate": "terminal_output_chunk", "data": data})
    assert base64.b64decode(redacted["data"]).decode() == f"$ echo {REDACTED}\n"


# -- what is kept and written ----------------------------------------------------------------------


def test_lines_have_time_and_direction_and_only_the_owner_reads_them(tmp_path: Path) -> None:
    recorder = Recorder("Some Agent/1", tmp_path / "state/traffic", Redactor({"KEY": "value"}))
    recorder("out", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    recorder("in", {"jsonrpc": "2.0", "id": 1, "result": {"text": "ä\u2028"}})
    path = recorder.save()
    assert path.name.startswith("Some_Agent_1-")
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    first, second = read(path)
    assert (first["dir"], second["dir"]) == ("c2a", "a2c")
    assert second["msg"] == {"jsonrpc": "2.0", "id": 1, "result": {"text": "ä\u2028"}}
    assert 0 <= first["t"] <= second["t"]
    assert first["time"].endswith("+00:00")
    assert recorder.save() != path


def test_a_line_that_is_no_message_is_kept_in_its_turn_without_secrets(tmp_path: Path) -> None:
    recorder = Recorder("agent", tmp_path, Redactor({"A_TOKEN": SECRET}))
    recorder("in", note("before"))
    recorder.noise(f"Using {SECRET} \xff\r".encode("latin-1"))
    recorder("in", note("after"))
    entries = read(recorder.save())
    assert [entry.get("nonjson") for entry in entries] == [None, f"Using {REDACTED} \ufffd", None]
    assert [entry["dir"] for entry in entries] == ["a2c"] * 3


def test_the_beginning_and_the_newest_are_kept(tmp_path: Path) -> None:
    recorder = Recorder("agent", tmp_path, Redactor(), head=1000, tail=2000)
    for number in range(100):
        recorder("in", note(f"{number:03}"))
    recorder("in", note("x" * 2500))
    recorder("in", note("last"))
    entries = read(recorder.save())
    told = [entry["msg"]["params"]["text"] for entry in entries if "msg" in entry]
    assert told[:3] == ["000", "001", "002"]
    assert told[-2:] == ["099", "last"]
    gap, large = (entry for entry in entries if "msg" not in entry)
    assert gap["omitted"] > 3000
    assert large["omitted"] > 2500
    assert sum(len(json.dumps(entry.get("msg"))) for entry in entries) < 1600


def test_many_small_lines_and_many_that_are_too_large_are_few(tmp_path: Path) -> None:
    recorder = Recorder("agent", tmp_path, Redactor(), head=1000, tail=20_000)
    for _ in range(5000):
        recorder.line("in", b"{}")
    assert len(read(recorder.save())) < 120
    for _ in range(500):
        recorder.line("in", b"x" * 20_001)
    assert len(read(recorder.save())) < 120


def test_a_log_begins_with_what_was_kept_and_goes_on_in_further_files(tmp_path: Path) -> None:
    recorder = Recorder("agent", tmp_path, Redactor(), max_file=1500)
    recorder.log(True)
    recorder.log(False)
    assert not any(tmp_path.iterdir())
    recorder("out", note("before"))
    recorder.log(True)
    for number in range(20):
        recorder("in", note(str(number)))
    recorder.log(False)
    recorder("in", note("after"))
    files = sorted(tmp_path.iterdir(), key=lambda path: (len(path.name), path.name))
    assert len(files) > 1
    assert all(path.stat().st_size <= 1500 for path in files)
    told = [entry["msg"]["params"]["text"] for path in files for entry in read(path)]
    assert told == ["before", *map(str, range(20))]


def test_old_files_go(tmp_path: Path) -> None:
    recorder = Recorder("agent", tmp_path, Redactor())
    recorder("in", note("x"))
    made = [recorder.save() for _ in range(MAX_FILES + 5)]
    for age, path in enumerate(reversed(made)):
        if path.exists():
            os.utime(path, (1e9 - age, 1e9 - age))
    newest = recorder.save()
    left = set(tmp_path.iterdir())
    assert len(left) == MAX_FILES
    assert newest in left


def test_a_folder_that_cannot_be_written_ends_the_log_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorder = Recorder("agent", tmp_path / "file/traffic", Redactor())
    recorder.log(True)
    for _ in range(2):
        recorder("in", note("x"))
    with pytest.raises(OSError):
        recorder.save()


@pytest.mark.anyio
async def test_the_traffic_of_a_real_agent(tmp_path: Path) -> None:
    environment = {"ACP_EDITOR_DEMO_PACE": "instant", "DEMO_API_KEY": SECRET}
    spec = AgentSpec("demo", sys.executable, ("-m", "acp_editor.agents.demo"), environment)
    traffic = Traffic(tmp_path / "traffic", Redactor())
    assert traffic.save("demo") is None
    traffic.log(True)
    host = RecordingHost()
    host.choose("allow")
    agent = Agent(spec, host, on_traffic=traffic.recorder("demo", environment))

    async def life(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        with pytest.raises(AgentFailed):
            await agent.run(task_status=task_status)

    async with anyio.create_task_group() as tasks:
        await tasks.start(life)
        start = await agent.new_session(str(tmp_path))
        await agent.prompt(start.session_id, [{"type": "text", "text": f"/nothing {SECRET}"}])
        await until(lambda: host.session(start.session_id).stop_reason)
        tasks.cancel_scope.cancel()
    traffic.log(False)
    saved = traffic.save("demo")
    assert saved is not None
    (logged,) = (path for path in saved.parent.iterdir() if path != saved)
    assert [entry["msg"] for entry in read(logged)] == [entry["msg"] for entry in read(saved)]
    methods = [entry["msg"].get("method") for entry in read(logged) if entry["dir"] == "c2a"]
    assert methods[:3] == ["initialize", "session/new", "session/prompt"]
    assert SECRET not in logged.read_text()
