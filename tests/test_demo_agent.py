"""The built-in agent as a real process, in both versions, every message against the official schema."""

from __future__ import annotations

import base64
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from acp_schemas import Version
from demo_client import DemoClient, demo
from waiting import until

from acp_editor.acp.connection import RpcError

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("version", [1, 2])
everyone = pytest.mark.parametrize(("version", "able"), [(1, True), (1, False), (2, False)])

SAMPLE = Path(__file__).parents[1] / "examples/orrery"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one word in two files, and where it must not be changed."""
    files = {
        ".gitignore": "ignored/\n",
        ".hidden/a.py": "color = 1\n",
        "ignored/a.py": "color = 1\n",
        "a.py": "color = 1\nprint(color, colors)\n",
        "lib/b.py": "import a\r\n\r\n\r\na.color\r\n",
        "c.py": "colors = 1\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    (tmp_path / "image.bin").write_bytes(b"color\0")
    return tmp_path


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "orrery", ignore=shutil.ignore_patterns("__pycache__")))


def contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_bytes().decode() for path in root.rglob("*") if path.is_file()
    }


def finals(client: DemoClient) -> list[str]:
    return [call["status"] for call in client.calls().values()]


# -- rename and replace ------------------------------------------------------------------------


@everyone
async def test_rename_approved(version: Version, able: bool, root: Path) -> None:
    before = contents(root)
    async with demo(version, root, able=able) as client:
        assert await client.prompt("/rename color colour") == "end_turn"
        after = contents(root)
        assert after == before | {
            "a.py": "colour = 1\nprint(colour, colors)\n",
            "lib/b.py": "import a\r\n\r\n\r\na.colour\r\n",
        }
        edits = client.of_kind("edit")
        assert [edit["statuses"] for edit in edits] == [["pending", "in_progress", "completed"]] * 2
        assert [edit["locations"] for edit in edits] == [
            [{"path": str(root / "a.py"), "line": 1}],
            [{"path": str(root / "lib/b.py"), "line": 4}],
        ]
        assert [edit["rawInput"]["new"] for edit in edits] == ["colour", "colour"]
        assert len(client.asked) == 2
        assert {entry["status"] for entry in client.plan()} == {"completed"}
        assert client.written == ([str(root / "a.py"), str(root / "lib/b.py")] if able else [])
        assert "2 files changed" in client.said()


@both
async def test_the_edit_is_shown_before_it_is_allowed(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        seen: list[Any] = []

        async def look(params: Any) -> None:
            seen.append((root / "a.py").read_text())
            call = params["toolCall"] if version == 1 else params["subject"]["toolCall"]
            told = client.calls()[call["toolCallId"]]
            assert told["rawInput"]["old"] == "color"
            assert told["content"] == call["content"]

        client.before_answer = look
        await client.prompt("/rename color colour")
        assert seen[0] == "color = 1\nprint(color, colors)\n"
        (diff,) = client.of_kind("edit")[0]["content"]
        if version == 1:
            assert (diff["oldText"], diff["newText"]) == (seen[0], "colour = 1\nprint(colour, colors)\n")
        else:
            assert diff["changes"] == [
                {"operation": "modify", "path": str(root / "a.py"), "fileType": "text"}
            ]
            assert "\n+colour = 1\n" in diff["patch"]["text"]


@both
async def test_rename_rejected(version: Version, root: Path) -> None:
    before = contents(root)
    async with demo(version, root) as client:
        client.answers = ["reject", "allow"]
        assert await client.prompt("/rename color colour") == "end_turn"
        changed = {name for name, text in contents(root).items() if text != before[name]}
        assert changed == {"lib/b.py"}
        assert [edit["status"] for edit in client.of_kind("edit")] == ["failed", "completed"]
        assert "1 file changed, 1 file left as you wished" in client.said()


@both
async def test_all_edits_of_a_turn_can_be_allowed_at_once(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        client.answers = ["allow_all"]
        await client.prompt("/rename color colour")
        assert len(client.asked) == 1
        await client.prompt("/rename colour color")
        assert len(client.asked) == 2


@both
async def test_replace_takes_quoted_texts(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        await client.prompt(r'/replace "color = 1" "color = \\2"')
        assert (root / "a.py").read_text().startswith("color = \\2\n")
        assert (root / "c.py").read_text() == "colors = 1\n"


async def test_an_unsaved_buffer_is_what_counts(root: Path) -> None:
    async with demo(1, root) as client:
        client.buffers[str(root / "a.py")] = "# not saved\ncolor = 1\n"
        await client.prompt("/rename color colour")
        assert (root / "a.py").read_text() == "# not saved\ncolour = 1\n"


@both
async def test_what_changed_while_it_was_asked_is_not_overwritten(version: Version, root: Path) -> None:
    async with demo(version, root) as client:

        async def meddle(params: Any) -> None:
            (root / "a.py").write_text("# mine\ncolor = 2\n")

        client.before_answer = meddle
        assert await client.prompt("/rename color colour") == "end_turn"
        assert (root / "a.py").read_text() == "# mine\ncolor = 2\n"
        assert client.of_kind("edit")[0]["status"] == "failed"


@both
async def test_nothing_leaves_the_workspace(version: Version, root: Path, tmp_path_factory: Any) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.py"
    outside.write_text("color = 1\n")
    (root / "link.py").symlink_to(outside)
    (root / "NOTES.md").symlink_to(outside.parent / "notes")
    async with demo(version, root, able=False) as client:
        await client.prompt("/rename color colour")
        await client.prompt("look around")
    assert [path.name for path in outside.parent.iterdir()] == ["a.py"]
    assert outside.read_text() == "color = 1\n"


# -- cancel ------------------------------------------------------------------------------------


@both
async def test_cancel_while_a_permission_waits(version: Version, root: Path) -> None:
    before = contents(root)
    async with demo(version, root) as client:
        cancelled_at = 0.0

        async def cancel(params: Any) -> None:
            nonlocal cancelled_at
            client.cancel()
            cancelled_at = time.monotonic()
            await anyio.sleep_forever()  # the agent takes the request back

        client.before_answer = cancel
        assert await client.prompt("/rename color colour") == "cancelled"
        assert time.monotonic() - cancelled_at < 1
        assert contents(root) == before
        assert finals(client)[-1] == ("failed" if version == 1 else "cancelled")
        assert len(client.asked) == 1
        client.before_answer = None
        assert await client.prompt("/rename color colour") == "end_turn"


@both
async def test_a_permission_answered_cancelled_ends_the_turn(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        client.answers = ["cancelled"]
        assert await client.prompt("/rename color colour") == "cancelled"


@everyone
async def test_cancel_while_a_command_runs(version: Version, able: bool, root: Path) -> None:
    async with demo(version, root, able=able) as client:
        async with anyio.create_task_group() as tasks:
            stopped: list[str] = []

            async def go() -> None:
                stopped.append(await client.prompt("/run echo $$ > pid; sleep 60; echo late"))

            tasks.start_soon(go)
            await until(lambda: (root / "pid").exists() and (root / "pid").read_text().strip())
            began = time.monotonic()
            client.cancel()
            await until(lambda: stopped)
            assert time.monotonic() - began < 1
        assert stopped == ["cancelled"]
        assert client.of_kind("execute")[0]["status"] == ("failed" if version == 1 else "cancelled")
        pid = int((root / "pid").read_text())
        await until(lambda: not _runs(pid))
        if able:
            await until(lambda: all(shell.released for shell in client.shells.values()))


@both
async def test_cancel_in_the_middle_of_a_calm_turn(version: Version, sample: Path) -> None:
    async with demo(version, sample, pace="calm") as client, anyio.create_task_group() as tasks:
        stopped: list[str] = []

        async def go() -> None:
            stopped.append(await client.prompt("show me around"))

        tasks.start_soon(go)
        await until(lambda: client.of_kind("read"))
        client.cancel()
        await until(lambda: stopped, 1)
        assert stopped == ["cancelled"]
        assert set(finals(client)) <= {"completed", "failed", "cancelled"}


async def test_one_command_can_be_cancelled_by_itself(root: Path) -> None:
    async with demo(2, root) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.prompt, "/run echo begun; sleep 60")
            await until(lambda: any("data" in update for update in client.updates))
            (call,) = client.of_kind("execute")
            assert call["capabilities"] == {"cancel": {}}
            params = {"sessionId": client.session, "toolCallId": call["toolCallId"]}
            assert await client.connection.request("tool_call/cancel", params) == {}
        (call,) = client.of_kind("execute")
        assert (call["status"], call["capabilities"]) == ("cancelled", None)
        assert client.updates[-1]["stopReason"] == "end_turn"
        with pytest.raises(RpcError) as refused:
            await client.connection.request("tool_call/cancel", params)
        assert refused.value.code == -32602


# -- commands ----------------------------------------------------------------------------------


@everyone
async def test_run(version: Version, able: bool, root: Path) -> None:
    async with demo(version, root, able=able) as client:
        await client.prompt("/run echo 'a b' && exit 3")
        (call,) = client.of_kind("execute")
        assert call["rawInput"] == {"command": "echo 'a b' && exit 3", "cwd": str(root)}
        assert call["statuses"] == ["pending", "in_progress", "failed"]
        assert call["rawOutput"]["exitCode"] == 3
        (shown,) = call["content"]
        if version == 2:
            data = b"".join(base64.b64decode(u["data"]) for u in client.updates if "data" in u)
            assert (shown["type"], data) == ("terminal", b"a b\n")
            assert client.asked[0]["subject"]["command"] == "echo 'a b' && exit 3"
        elif able:
            assert shown == {"type": "terminal", "terminalId": "t0"}
            await until(lambda: client.shells["t0"].released)
        else:
            assert shown["content"]["text"] == "```\na b\n```"


@both
async def test_run_rejected(version: Version, root: Path) -> None:
    async with demo(version, root, able=False) as client:
        client.answers = ["reject"]
        assert await client.prompt("/run touch made") == "end_turn"
        assert not (root / "made").exists()
        assert client.of_kind("execute")[0]["status"] == "failed"


@both
async def test_a_command_leaves_nothing_running(version: Version, root: Path) -> None:
    async with demo(version, root, able=False) as client:
        await client.prompt("/run sleep 60 & echo $! > pid")
        pid = int((root / "pid").read_text())
        await until(lambda: not _runs(pid))


@both
async def test_endless_output_is_cut(version: Version, root: Path) -> None:
    async with demo(version, root, able=False) as client:
        await client.prompt("/run head -c 3000000 /dev/zero | tr '\\0' x")
        assert client.of_kind("execute")[0]["status"] == "completed"
        told = sum(len(str(update)) for update in client.updates)
        assert told < 2_000_000


@both
async def test_todo(version: Version, sample: Path) -> None:
    async with demo(version, sample) as client:
        assert await client.prompt("/todo") == "end_turn"
        plan = client.plan()
        assert [entry["priority"] for entry in plan] == ["high", "medium", "medium", "low"]
        assert plan[0]["content"].startswith("FIXME orrery/kepler.py:")
        assert {entry["status"] for entry in plan} == {"pending"}
        (search,) = client.of_kind("search")
        assert len(search["locations"]) == 4
        assert all(place["line"] for place in search["locations"])
        assert not client.asked


@both
async def test_what_is_no_command_gets_a_kind_answer(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        for wrong, told in {
            "/nonsense": "/rename OLD NEW",
            "/rename one": "/rename OLD NEW",
            "/rename same same": "two different words",
            '/replace "half': "/replace OLD NEW",
            "/run": "/run COMMAND",
            "/rename absent-word other": "nothing to change",
        }.items():
            client.updates.clear()
            assert await client.prompt(wrong) == "end_turn"
            assert told in client.said()
        assert not client.asked


# -- the tour ----------------------------------------------------------------------------------


@everyone
async def test_the_tour_of_the_sample(version: Version, able: bool, sample: Path) -> None:
    async with demo(version, sample, able=able) as client:
        assert await client.prompt("Show me around") == "end_turn"
        *stops, last = client.of_kind("read")
        assert len(stops) == 3
        assert all(len(set(read["lines"])) > 1 for read in stops)
        assert {entry["status"] for entry in client.plan()} == {"completed"}
        (edit,) = client.of_kind("edit")
        assert edit["status"] == "completed"
        assert edit["rawInput"]["path"] == last["rawInput"]["path"]
        assert "f-string" in edit["title"]
        (command,) = client.of_kind("execute")
        assert command["rawOutput"]["exitCode"] == 0
        assert len(client.asked) == 2
        assert client.said("agent_thought_chunk")
        assert "/run python3 -m orrery" in client.said()
    changed = {name for name, text in contents(sample).items() if text != (SAMPLE / name).read_text()}
    assert [str(sample / name) for name in changed] == [edit["locations"][0]["path"]]
    tests = [sys.executable, "-B", "-m", "unittest", "-q"]
    assert (await anyio.run_process(tests, cwd=sample, check=False)).returncode == 0


@both
async def test_the_tour_visits_what_was_selected(version: Version, sample: Path) -> None:
    chart = sample / "orrery/chart.py"
    resource = {"uri": f"{chart.as_uri()}#L16:19", "text": "def reach …"}
    async with demo(version, sample) as client:
        await client.prompt("What is this?", {"type": "resource", "resource": resource})
        first = client.of_kind("read")[0]
        assert first["rawInput"]["path"] == str(chart)
        assert set(first["lines"]) == {16, 18}


@both
async def test_the_tour_honours_a_reject(version: Version, sample: Path) -> None:
    async with demo(version, sample) as client:
        client.answers = ["reject"]
        assert await client.prompt("Show me around") == "end_turn"
        assert len(client.asked) == 2
    assert all(text == (SAMPLE / name).read_text() for name, text in contents(sample).items())


@both
async def test_the_tour_of_nothing(version: Version, tmp_path: Path) -> None:
    async with demo(version, tmp_path) as client:
        assert await client.prompt("Hello") == "end_turn"
    assert (tmp_path / "NOTES.md").read_text() == "# Notes\n\n- Toured an empty folder (“Hello”)\n"


@both
async def test_plan_only_changes_nothing(version: Version, sample: Path) -> None:
    before = contents(sample)
    async with demo(version, sample) as client:
        if version == 1:
            params: dict[str, Any] = {"sessionId": client.session, "modeId": "plan"}
            await client.connection.request("session/set_mode", params)
        else:
            params = {"sessionId": client.session, "configId": "mode", "type": "id", "value": "plan"}
            answer = await client.connection.request("session/set_config_option", params)
            assert answer["configOptions"][0]["currentValue"] == "plan"
        for text in ("Show me around", "/rename Body Planet", "/run touch made"):
            assert await client.prompt(text) == "end_turn"
        assert not client.asked
    assert contents(sample) == before


# -- the protocol ------------------------------------------------------------------------------


@both
async def test_commands_and_options_are_offered(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        answer = await client.new_session()
        if version == 1:
            await until(lambda: client.updates)
            commands = client.updates[0]["availableCommands"]
            assert [mode["id"] for mode in answer["modes"]["availableModes"]] == ["ask", "plan"]
            (pace,) = answer["configOptions"]
            ident = {"configId": "pace", "value": "brisk"}
        else:
            commands = answer["availableCommands"]
            mode, pace = answer["configOptions"]
            assert mode["configId"] == "mode"
            ident = {"configId": "pace", "type": "id", "value": "brisk"}
        assert [command["name"] for command in commands] == [
            "rename",
            "replace",
            "todo",
            "run",
            "tour",
            "help",
        ]
        assert pace["currentValue"] == "instant"
        params = {"sessionId": client.session, **ident}
        changed = await client.connection.request("session/set_config_option", params)
        assert changed["configOptions"][-1]["currentValue"] == "brisk"
        with pytest.raises(RpcError) as refused:
            await client.connection.request("session/set_config_option", params | {"value": "hasty"})
        assert "calm, brisk, instant" in refused.value.message


@both
async def test_sessions_are_listed_and_replayed(version: Version, root: Path) -> None:
    async with demo(version, root) as client:
        await client.prompt("/rename color colour")
        listed = await client.connection.request("session/list", {"cwd": str(root)})
        assert [(row["sessionId"], row["title"]) for row in listed["sessions"]] == [
            (client.session, "/rename color colour")
        ]
        told, calls = client.said(), client.calls()
        client.updates.clear()
        params: dict[str, Any] = {"sessionId": client.session, "cwd": str(root), "mcpServers": []}
        if version == 1:
            await client.connection.request("session/load", params)
            assert client.said("user_message_chunk") == "/rename color colour"
        else:
            params["replayFrom"] = {"type": "start"}
            await client.connection.request("session/resume", params)
        assert (client.said(), client.calls()) == (told, calls)
        await client.connection.request("session/delete", {"sessionId": client.session})
        with pytest.raises(RpcError) as missing:
            await client.prompt("hello")
        assert missing.value.code == -32002


@both
async def test_a_second_prompt_has_to_wait(version: Version, root: Path) -> None:
    async with demo(version, root) as client:

        async def again(params: Any) -> None:
            client.before_answer = None
            with pytest.raises(RpcError, match="already running"):
                await client.prompt("/help")

        client.before_answer = again
        assert await client.prompt("/rename color colour") == "end_turn"


async def test_version_2_tells_its_state(root: Path) -> None:
    async with demo(2, root) as client:
        await client.prompt("/rename color colour")
        states = [update["state"] for update in client.updates if "state" in update]
        assert states == ["running", *["requires_action", "running"] * 2, "idle"]
        assert client.updates[0]["sessionUpdate"] == "user_message"


@pytest.mark.parametrize("offered", [1, 2, 99, 0, None])
async def test_the_version_is_the_highest_that_both_speak(offered: int | None, root: Path) -> None:
    async with demo(1, root) as client:
        client.problems.clear()
        answer = await client.connection.request("initialize", {"protocolVersion": offered})
        assert answer["protocolVersion"] == (2 if offered in (2, 99) else 1)
        assert ("info" in answer) == (offered in (2, 99))
        client.problems.clear()


async def test_what_it_does_not_know_it_says_so(root: Path) -> None:
    async with demo(1, root) as client:
        with pytest.raises(RpcError) as refused:
            await client.connection.request("_unknown/method", {})
        assert refused.value.code == -32601
        with pytest.raises(RpcError) as relative:
            await client.connection.request("session/new", {"cwd": "here", "mcpServers": []})
        assert relative.value.code == -32602
        client.problems.clear()


@both
async def test_closing_the_pipe_ends_what_it_runs(version: Version, root: Path) -> None:
    async with demo(version, root, able=False) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(_quietly_prompt, client, "/run echo $$ > pid; sleep 60")
        await until(lambda: (root / "pid").exists() and (root / "pid").read_text().strip())
        tasks.cancel_scope.cancel()
    pid = int((root / "pid").read_text())
    await until(lambda: not _runs(pid))


async def _quietly_prompt(client: DemoClient, text: str) -> None:
    await client.prompt(text)


def _runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return status not in (b"Z", b"X")
