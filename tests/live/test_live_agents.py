"""Real agents through the whole server, with a language model that plays a script.

By default a few of the lab; ACP_EDITOR_AGENTS=all takes all, and ACP_EDITOR_AGENTS="codex kimi" those.
ACP_EDITOR_AGENTS_RESULTS=FILE keeps what was seen, for docs/agents.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import mock_llm
import pytest
from acp_schemas import Deviations, Version
from agent_side import check_ours
from server import drive

import lab

from . import results
from .conversation import APP, EDITED, PATIENCE, TALKERS, WRITERS, Conversation, Protocol, conversation

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc for what was left running"),
]

ABLE = {
    # Their commands are seen to be told of as such.
    "script": frozenset({"claude", "codex", "gemini", "opencode"}),
    "fork": frozenset({"claude", "codex", "opencode", "pydantic"}),
}
"""Scenarios that only some agents can play."""


UNABLE = {
    ("gemini", "again"): "it does not find the session that it was in before",
    ("pydantic", "fork"): "it offers forks, and its SDK has them switched off",
}
"""What an agent does wrong itself, whatever its client does; docs/agents.md says so."""


def chosen() -> Iterator[tuple[str, Version]]:
    for name in lab.chosen():
        for version in lab.AGENTS[name].versions:
            yield name, version


def setting(name: str, version: Version) -> Protocol:
    """The newest version is what has to come of "auto"; the other one is asked for."""
    if version == max(lab.AGENTS[name].versions):
        return "auto"
    return 1


@pytest.fixture(scope="module")
def llm() -> Iterator[str]:
    with mock_llm.serving() as address:
        yield address


async def full(talk: Conversation) -> None:
    """Everything is approved; then the person takes all of it back."""
    await talk.ask("full")
    await talk.settle("approve")
    await talk.do({"state": "sessions[0].stopReason", "is": "end_turn"})
    if talk.name in TALKERS:
        await talk.do({"state": "sessions[0].messages", "has": [{"role": "agent"}]})
        return
    made = {"uri": talk.editor.uri("NOTES.md")}
    edited = {"uri": talk.editor.uri("app.py")}
    if talk.name in WRITERS:
        await talk.do({"state": "changes", "has": [made], "timeout": 10})
    else:
        await talk.do(
            {"shown": "app.py"},
            {"disk": "app.py", "is": EDITED},
            {"state": "changes", "has": [edited], "timeout": 10},
        )
    await talk.do(
        {"command": "acpEditor.review.undo"},
        {"disk": "app.py", "is": APP},
        {"buffer": "app.py", "is": APP},
        {"no_file": "NOTES.md"},
        {"state": "changes", "lacks": [made]},
        {"state": "changes", "lacks": [edited]},
    )
    if talk.name not in WRITERS:
        await talk.do({"state": "changes", "size": 0})


async def script(talk: Conversation) -> None:
    """A command rewrites files, and nothing tells of them: what it did is listed as its own, and undone."""
    await talk.ask("script")
    await talk.settle("approve")
    await talk.do({"state": "sessions[0].stopReason", "is": "end_turn"})
    state = await talk.editor.command("acpEditor.state")
    (ran,) = [call["toolCallId"] for call in state["sessions"][0]["toolCalls"] if call["kind"] == "execute"]
    for name, operation in (("app.py", "modify"), ("made.txt", "add")):
        change = {"uri": talk.editor.uri(name), "operation": operation, "hunks": [{"toolCallId": ran}]}
        await talk.do({"state": "changes", "has": [change], "timeout": 10})
    await talk.do(
        {"disk": "app.py", "is": APP.replace("Hello", "Goodbye")},
        {"disk": "made.txt", "is": "x"},
        {"state": "changes", "size": 2},
        {"command": "acpEditor.review.undo"},
        {"disk": "app.py", "is": APP},
        {"buffer": "app.py", "is": APP},
        {"no_file": "made.txt"},
        {"state": "changes", "size": 0},
    )


async def reject(talk: Conversation) -> None:
    """Nothing that was rejected happens."""
    await talk.ask("reject")
    await talk.settle("reject")
    await talk.do(
        {"disk": "app.py", "is": APP},
        {"no_file": "rejected-marker.txt"},
        {"state": "changes", "lacks": [{"uri": talk.editor.uri("app.py")}]},
    )


async def permcancel(talk: Conversation) -> None:
    """A cancel while a permission is pending ends the turn and takes the question back."""
    await talk.ask("permcancel")
    await talk.do(
        {"state": "permissions", "has": [{}], "timeout": PATIENCE},
        {"command": "acpEditor.cancel"},
        {"state": "sessions[0].state", "is": "idle", "timeout": 30},
        {"state": "permissions", "size": 0},
        {"disk": "app.py", "is": APP},
        {"no_file": "cancelled-marker.txt"},
    )


async def cancelshell(talk: Conversation) -> None:
    """A cancel while a command runs ends both; the next prompt is a turn like any other."""
    await talk.ask("cancelshell")
    await talk.until(lambda: sleeping(talk), "the command runs", approve=True)
    await talk.do(
        {"command": "acpEditor.cancel"},
        {"state": "sessions[0].state", "is": "idle", "timeout": 30},
    )
    await talk.ask("hello")
    await talk.settle("approve")
    await talk.do({"state": "sessions[0].stopReason", "is": "end_turn"})


async def again(talk: Conversation) -> None:
    """The agent is started anew and takes the session up: the conversation is there, once, and goes on."""
    await hello(talk, "sessions[0]", 1)
    await talk.do(
        {"command": "acpEditor.agent.restart", "timeout": PATIENCE},
        {"command": "acpEditor.session.resume", "args": {"sessionId": "{sid}"}, "timeout": PATIENCE},
    )
    await knows(talk, "sessions[0]", 1)
    await hello(talk, "sessions[0]", 2)


async def fork(talk: Conversation) -> None:
    """The fork has the conversation so far, once, and both go on for themselves."""
    await hello(talk, "sessions[0]", 1)
    source = talk.editor.sid
    await talk.do(
        {"command": "acpEditor.session.fork", "args": {"sessionId": source}, "timeout": PATIENCE},
        {"state": "sessions", "size": 2},
    )
    await knows(talk, "sessions[1]", 1)
    await hello(talk, "sessions[1]", 2)
    await talk.do({"command": "acpEditor.session.select", "args": {"sessionId": source}})
    await hello(talk, "sessions[0]", 2)
    await knows(talk, "sessions[1]", 2)


async def hello(talk: Conversation, session: str, times: int) -> None:
    """A turn of the active session, which has no more of them than so many."""
    await talk.ask("hello")
    await talk.do(
        {"state": f"{session}.state", "is": "idle", "timeout": PATIENCE},
        {"state": f"{session}.stopReason", "is": "end_turn"},
    )
    await knows(talk, session, times)


async def knows(talk: Conversation, session: str, times: int) -> None:
    """Every "hello" of the person and every answer is known, and none twice."""
    messages: Any = drive.dig(await talk.editor.command("acpEditor.state"), f"{session}.messages")
    for role, text in (("user", "SCENARIO:hello"), ("agent", "Hello there.")):
        found = sum(message["text"].count(text) for message in messages if message["role"] == role)
        assert found == times, f"{text!r} is known {found} times and not {times}: {messages}"


def sleeping(talk: Conversation) -> bool:
    return any(line.startswith("sleep 25") for _, line in talk.processes())


SCENARIOS: dict[str, Callable[[Conversation], Awaitable[None]]] = {
    scenario.__name__: scenario for scenario in (full, script, reject, permcancel, cancelshell, again, fork)
}


def runs() -> Iterator[tuple[str, Version, str]]:
    for name, version in chosen():
        for scenario in SCENARIOS:
            able = ABLE.get(scenario)
            if able is not None and name not in able:
                continue
            if name not in TALKERS or scenario == "full":
                yield name, version, scenario


@pytest.mark.parametrize(("name", "version", "scenario"), list(runs()))
async def test_agent(name: str, version: Version, scenario: str, llm: str) -> None:
    try:
        lab.install(name)
    except lab.Unavailable as reason:
        pytest.skip(str(reason))
    try:
        async with conversation(name, setting(name, version), llm) as talk:
            await SCENARIOS[scenario](talk)
        seen = results.seen(talk.traffic, talk.state)
        assert seen["protocol"] == version
        check_ours(version, talk.traffic)
        theirs = Deviations(version)
        for way, message in talk.traffic:
            theirs.see(way, message)
    except Exception as failure:
        known = UNABLE.get((name, scenario))
        keep(results.failed(name, version, scenario, known or str(failure) or repr(failure)))
        if known is not None:
            pytest.xfail(known)
        raise
    told = results.faults(talk.state)
    keep(results.passed(name, version, scenario, seen, told, theirs.found))


def keep(change: results.Change) -> None:
    if path := os.environ.get("ACP_EDITOR_AGENTS_RESULTS"):
        results.update(Path(path), change)
