"""Whatever an editor does, the server keeps its memory and its order, and answers when it is read again."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fault_editor import Editor
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MIB = 1 << 20


def resident(pid: int) -> int:
    """Bytes of memory that a process has in use. Source: proc(5)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


@pytest.mark.anyio
async def test_an_editor_that_stops_reading_costs_little_and_gets_the_newest(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        await editor.prompt("warm")
        await editor.idle()
        before, received = resident(editor.process.pid), editor.received
        editor.reading.clear()
        editor.begin("workspace/executeCommand", {"command": "acpEditor.state"})
        flood = [["flood", 10_000, 20, 1000], ["chunks", 2000], ["notices", 2000]]
        flood += [["wait_for", "go on"], ["many_calls", 1], ["say", "end"]]
        prompted = asyncio.create_task(editor.prompt(flood))
        # The agent has said all of it when it comes to wait: its pipe is read though nobody reads ours.
        end = time.monotonic() + 60
        while {"fault": "waiting"} not in editor.log("one"):
            assert resident(editor.process.pid) - before < 100 * MIB
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        for _ in range(100):  # an editor that goes on asking is not answered into our memory
            editor.begin("workspace/executeCommand", {"command": "acpEditor.state"})
        await asyncio.sleep(0.3)
        assert resident(editor.process.pid) - before < 100 * MIB
        editor.reading.set()
        (editor.cwd / "go on").touch()
        await prompted
        state = await editor.idle(60)
        assert state["sessions"][0]["messages"][-1]["text"].endswith("end")

        def told() -> list[Any]:
            return [params["toolCall"] for method, params in editor.notes if method == "acpEditor/toolCall"]

        # The last value of each call reaches the editor, and of 500 updates each few were worth a send.
        await editor.until(
            lambda state: (
                {call["toolCallId"]: call for call in told()}
                == {call["toolCallId"]: call for call in state["sessions"][0]["toolCalls"]}
            )
        )
        assert max(Counter(call["toolCallId"] for call in told()).values()) < 250
        assert editor.received - received < 200 * MIB
        assert editor.wrong == []


_METHODS = [
    "workspace/applyEdit",
    "window/showDocument",
    "workspace/configuration",
    "client/registerCapability",
    "acpEditor/saveDocument",
    "workspace/codeLens/refresh",
]
_policies = st.dictionaries(
    st.sampled_from(_METHODS), st.sampled_from(["never", "error", "late", "refuse", "nonsense", "twice"])
)


@settings(
    derandomize=True,
    max_examples=3,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(_policies, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.integers(0, 10**6))
def test_whatever_an_editor_does(policy: dict[str, str], encoding: str, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_whatever(Path(folder), policy, encoding, seed))


async def _whatever(folder: Path, policy: dict[str, str], encoding: str, seed: int) -> None:
    chance = random.Random(seed)
    plans = {"one": {"version": 1}, "two": {"version": 2}}
    async with Editor(folder, plans, encoding=encoding, policy=policy) as editor:
        files = [f"f{number}.txt" for number in range(5)]
        for name in files:
            (editor.cwd / name).write_text("wörter 😀\n" * 5)
        writes = [["write_by_client", name, "agent ", 5] for name in files]
        await editor.prompt([*writes, ["edit", files[0], "x\n"], ["flood", 200]])
        await editor.command("session.new", {"agent": "two"})
        await editor.prompt([["edit", files[1], "y\n"], ["flood", 200]])
        for _ in range(150):
            _storm(editor, chance, files)
            if chance.random() < 0.1:
                await asyncio.sleep(0.01)
        editor.policy = {}
        state = await editor.until(lambda state: all(s["state"] != "running" for s in state["sessions"]), 60)
        assert len(state["sessions"]) == 2
        # It is still of use: what the disk has is what can be kept.
        await editor.command("review.keep")
        await editor.prompt("and now")
        await editor.until(
            lambda state: any("ok" in message["text"] for message in state["sessions"][1]["messages"])
        )
        assert [text for text in editor.wrong if "answer to nothing" not in text] == []


def _storm(editor: Editor, chance: random.Random, files: list[str]) -> None:
    """One thing that an editor should not do, or not so often."""
    name = chance.choice(files)
    uri = editor.uri(name)
    version = chance.choice([0, 1, 5, -1, 2**31])
    position = {"line": chance.randrange(9), "character": chance.randrange(30)}
    match chance.randrange(8):
        case 0 | 1:
            editor.open(name, version)
        case 2:
            editor.close(uri)
        case 3:
            editor.documents.setdefault(uri, (1, ""))
            editor.change(uri, "wörter 😀 " * chance.randrange(5), version)
        case 4:
            change = {"range": {"start": position, "end": {"line": 3, "character": 2}}, "text": "é\n"}
            document = {"uri": uri, "version": version}
            editor.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        case 5:
            editor.tell(
                "textDocument/didSave", {"textDocument": {"uri": chance.choice([uri, "x:y", "file:///"])}}
            )
        case 6:
            editor.tell(
                chance.choice(["$/odd", "textDocument/didOpen", "acpEditor/userActivity"]), {"uri": 7}
            )
        case _:
            editor.raw(b"\r\nnonsense\r\ncontent-length: 2\r\n\r\n[]")


@pytest.mark.anyio
async def test_a_request_that_cannot_be_read_is_answered_with_an_error(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        answer = await asyncio.wait_for(editor.begin("textDocument/hover", {"textDocument": 7}), 30)
        assert answer["error"]["code"] == -32602
        editor.raw(b"content-LENGTH : 47\r\n\r\n" + b'{"jsonrpc": "2.0", "id": "x", "method": "nope"}')
        assert (await editor.state())["sessions"] == []


@pytest.mark.anyio
async def test_what_is_wrong_with_a_request_is_said_by_name(tmp_path: Path) -> None:
    async with Editor(tmp_path, {}) as editor:
        with pytest.raises(RuntimeError) as raised:
            await editor.ask("textDocument/hover", {"textDocument": {"uri": "file:///x"}})
        assert str(raised.value) == "Invalid params: KeyError: 'position'"
