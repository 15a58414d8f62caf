"""Real commands: their output, their end, and that nothing of them is left."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from processes import running
from waiting import until

from acp_editor.core.model import ExitStatus
from acp_editor.host.terminals import SpawnError, TerminalError, Terminals

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="runs sh and looks into /proc"),
]


class Watched(Terminals):
    """Terminals that note what they tell, and the groups that they made."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bytes | ExitStatus]] = []
        self.gone: list[str] = []
        super().__init__(
            lambda terminal_id, data: self.told.append((terminal_id, data)),
            lambda terminal_id, status: self.told.append((terminal_id, status)),
            self.gone.append,
        )

    def group(self, terminal_id: str) -> int:
        return self._terminals[terminal_id].process.pid

    def text(self, terminal_id: str, session_id: str = "s") -> str:
        return self.output(session_id, terminal_id).text


@asynccontextmanager
async def terminals() -> AsyncGenerator[Watched]:
    with anyio.fail_after(20):
        async with Watched() as watched:
            yield watched


async def test_output_and_exit_code(tmp_path: Path):
    async with terminals() as t:
        script = "printf 'caf\\303\\251'; pwd; echo $X >&2; exit 3"
        one = await t.create("s", "sh", ["-c", script], {"X": "y"}, str(tmp_path))
        assert await t.wait("s", one) == ExitStatus(3, None)
        output = t.output("s", one)
        assert output.text == f"café{tmp_path}\ny\n"
        assert (output.truncated, output.exit_status) == (False, ExitStatus(3, None))
        assert b"".join(data for _, data in t.told if isinstance(data, bytes)) == output.data
        assert t.told[-1] == (one, ExitStatus(3, None))


@pytest.mark.parametrize(
    ("command", "args", "output"),
    [
        ("echo a b", (), "a b\n"),
        ("echo $HOME | wc -l", (), "1\n"),
        ("exit 0;", (), ""),
        ("true&&echo", (), "\n"),
        ("echo", ("$HOME | wc",), "$HOME | wc\n"),
        ("./my tool", (), "ran\n"),
        ("./my tool", ("x",), "ran\n"),
        ("'./my tool'", (), "ran\n"),
    ],
)
async def test_a_whole_line_is_run_by_the_shell(
    tmp_path: Path, command: str, args: tuple[str, ...], output: str
):
    (tmp_path / "my tool").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "my tool").chmod(0o755)
    async with terminals() as t:
        one = await t.create("s", command, args, cwd=str(tmp_path))
        assert await t.wait("s", one) == ExitStatus(0, None)
        assert t.text(one) == output


async def test_a_command_that_cannot_be_started_says_why():
    async with terminals() as t:
        for command, cwd, message in [
            ("no-such-command", None, "no-such-command was not found on the PATH"),
            ("", None, "The command is empty"),
            ("ls -l", "/no/such", "ls -l could not be started: the folder /no/such does not exist"),
            ("a\0b", None, "could not be started|was not found"),
        ]:
            with pytest.raises(SpawnError, match=message):
                await t.create("s", command, cwd=cwd)
        one = await t.create("s", "no-such-command at all")
        assert (await t.wait("s", one)).exit_code == 127


async def test_a_signal_is_told_by_name():
    async with terminals() as t:
        one = await t.create("s", "kill -SEGV $$")
        assert await t.wait("s", one) == ExitStatus(None, "SIGSEGV")


@pytest.mark.parametrize(
    ("limit", "kept"), [(0, ""), (1, ""), (2, "é"), (3, "é"), (4, "éé"), (12, "xéééé!é"[-12:]), (13, None)]
)
async def test_the_limit_keeps_the_newest_bytes_and_whole_characters(limit: int, kept: str | None):
    text = "xéééé!é"
    async with terminals() as t:
        one = await t.create("s", "printf", [text], output_byte_limit=limit)
        await t.wait("s", one)
        output = t.output("s", one)
        if kept is None or limit >= len(text.encode()):
            assert (output.text, output.truncated) == (text, False)
        else:
            assert output.truncated
            assert text.endswith(output.text)
            assert limit - 1 <= len(output.data) <= limit or limit == 0


async def test_a_flood_is_bounded_and_bytes_that_are_no_text_stay():
    async with terminals() as t:
        flood = "head -c 20000000 /dev/zero | tr '\\0' '\\200'; printf end"
        one = await t.create("s", flood, output_byte_limit=1000)
        await t.wait("s", one)
        output = t.output("s", one)
        assert output.truncated
        assert output.data == b"\x80" * (len(output.data) - 3) + b"end"
        assert 997 <= len(output.data) <= 1000


async def test_half_a_character_waits_for_its_rest():
    async with terminals() as t:
        one = await t.create("s", "printf 'a\\303'; sleep 60")
        await until(lambda: t.output("s", one).data == b"a\xc3")
        assert t.text(one) == "a"
        await t.kill("s", one)
        assert t.text(one) == "a\ufffd"


async def test_output_is_readable_while_it_runs_and_after_a_kill_until_release():
    async with terminals() as t:
        one = await t.create("s", "trap '' TERM; sleep 60 & echo started; wait")
        await until(lambda: t.text(one) == "started\n")
        assert t.output("s", one).exit_status is None
        group = t.group(one)
        assert (await t.kill("s", one)).signal == "SIGKILL"
        assert running(group) == []
        assert t.text(one) == "started\n"
        assert await t.wait("s", one) == await t.kill("s", one)
        await t.release("s", one)
        with pytest.raises(TerminalError, match=one):
            t.output("s", one)


async def test_who_waits_hears_of_the_end_also_when_it_is_released():
    async with terminals() as t:
        one = await t.create("s", "sleep 60")
        heard: list[ExitStatus] = []

        async def wait() -> None:
            heard.append(await t.wait("s", one))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(t.release, "s", one)
        assert heard == [ExitStatus(None, "SIGTERM")]


async def test_a_child_in_the_background_does_not_hold_up_the_end():
    async with terminals() as t:
        one = await t.create("s", "sleep 60 & echo started")
        assert await t.wait("s", one) == ExitStatus(0, None)
        assert t.text(one) == "started\n"
        group = t.group(one)
        assert len(running(group)) == 1
        await t.release("s", one)
        assert running(group) == []


async def test_a_terminal_belongs_to_its_session():
    async with terminals() as t:
        one = await t.create("s", "sleep 60")
        other = await t.create("other", "sleep 60")
        with pytest.raises(TerminalError):
            t.output("other", one)
        with pytest.raises(TerminalError):
            await t.release("other", one)
        groups = [t.group(one), t.group(other)]
        await t.close_session("s")
        assert running(groups[0]) == []
        assert running(groups[1]) != []


async def test_leaving_ends_everything_when_the_block_raises():
    groups: list[int] = []

    async def run() -> None:
        async with terminals() as t:
            for command in ("sleep 60", "trap '' TERM; sleep 60 & wait", "sleep 60 & exit"):
                terminal_id = await t.create("s", command)
                groups.append(t.group(terminal_id))
            raise KeyError("mine")

    with pytest.raises(KeyError):
        await run()
    assert [running(group) for group in groups] == [[], [], []]


async def test_leaving_ends_everything_when_it_is_cancelled():
    group = 0
    with anyio.CancelScope() as scope:
        async with terminals() as t:
            group = t.group(await t.create("s", "sleep 60"))
            scope.cancel()
            await anyio.sleep_forever()
    assert group
    assert running(group) == []


async def test_the_oldest_that_ended_makes_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("acp_editor.host.terminals.MAX_TERMINALS", 2)
    async with terminals() as t:
        ended = await t.create("s", "true")
        await t.wait("s", ended)
        await t.create("s", "sleep 60")
        await t.create("s", "sleep 60")
        with pytest.raises(TerminalError):
            t.output("s", ended)
        with pytest.raises(TerminalError, match="More than 2"):
            await t.create("s", "sleep 60")


async def test_a_callback_that_fails_loses_no_output(caplog: pytest.LogCaptureFixture):
    def fail(*args: object) -> None:
        raise ValueError

    with anyio.fail_after(20):
        async with Terminals(fail, fail) as t:
            one = await t.create("s", "echo out")
            await t.wait("s", one)
            assert t.output("s", one).text == "out\n"
    assert "a callback failed" in caplog.text


async def test_that_a_terminal_is_gone_is_told_last_and_once_however_it_goes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("acp_editor.host.terminals.MAX_TERMINALS", 2)
    async with terminals() as t:
        names = [await t.create("s", "true") for _ in range(2)]
        for name in names:
            await t.wait("s", name)
        names.append(await t.create("s", "sleep", ["600"]))  # makes room
        assert t.gone == names[:1]
        await t.release("s", names[1])
        assert t.gone == names[:2]
        names.append(await t.create("s", "sleep", ["600"]))
        await t.close_session("s")
        assert sorted(t.gone) == sorted(names)
        assert {name for name, said in t.told if isinstance(said, ExitStatus)} == set(names)
