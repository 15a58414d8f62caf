"""Recorded sessions of real agents, played into the state that they imply."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from acp_editor.acp import v1, v2
from acp_editor.acp.negotiate import spoken
from acp_editor.core.model import AgentInfo, ExitStatus, Fault, StateUpdate, Update
from acp_editor.core.session import Session

CAPTURES = Path(__file__).parent / "data/captures"

STARTS = {"session/new", "session/load", "session/resume", "session/fork"}


class Recording:
    """What became of one recorded conversation."""

    def __init__(self, name: str) -> None:
        self.sessions: dict[str, Session] = {}
        self.faults: list[Fault] = []
        self.info = AgentInfo(protocol=1)
        self.dialect: Any = v1
        self._asked: dict[Any, dict[str, Any]] = {}
        for line in (CAPTURES / f"{name}.ndjson").read_text().splitlines():
            entry = json.loads(line)
            if isinstance(entry.get("msg"), dict):
                self._play(entry["dir"], entry["msg"])

    @property
    def session(self) -> Session:
        (session,) = self.sessions.values()
        return session

    def codes(self) -> Counter[str]:
        found = [*self.faults, *(f for s in self.sessions.values() for f in s.take_faults())]
        return Counter(fault.code for fault in found)

    def _apply(self, session_id: str, *updates: Update) -> None:
        session = self.sessions.setdefault(session_id, Session(session_id, "agent", "/ws/demo"))
        for update in updates:
            session.apply(update)

    def _play(self, direction: str, message: dict[str, Any]) -> None:
        method = message.get("method")
        if direction == "c2a":
            if method is not None:
                self._asked[message.get("id")] = message
            if method == "session/prompt" and self.dialect is v1:
                self._apply(message["params"]["sessionId"], StateUpdate("running"))
        elif method == "session/update":
            session_id, updates, faults = self.dialect.decode_update(message["params"])
            self.faults += faults
            assert session_id is not None
            self._apply(session_id, *updates)
        elif method == "session/request_permission":
            request = self.dialect.decode_permission(message["params"], self.faults)
            self._apply(request.session_id, request)
        elif "result" in message:
            self._answered(self._asked[message["id"]], message["result"])

    def _answered(self, request: dict[str, Any], result: Any) -> None:
        method = request["method"]
        if method == "initialize":
            self.dialect = spoken(result)
            self.info = self.dialect.decode_info(result, self.faults)
        elif method in STARTS:
            start = self.dialect.decode_session(result, request["params"].get("sessionId"), self.faults)
            self._apply(start.session_id, *start.updates)
        elif method == "session/prompt" and self.dialect is v1:
            reason = v1.decode_stop_reason(result, self.faults)
            self._apply(request["params"]["sessionId"], StateUpdate("idle", reason))


def calls(session: Session) -> list[tuple[str | None, str, str | None]]:
    return [(call.title, call.kind, call.status) for call in session.tool_calls.values()]


def said(session: Session) -> list[tuple[str, str]]:
    """Version 2 also says the person's message, and has notices for what Codex else says as a message."""
    return [
        (message.role, message.text)
        for message in session.messages
        if message.role != "user" and not message.text.startswith("Warning: ")
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("claude-0.101.0-full", "claude-0.101.0-v2-full"),
        ("codex-2.6.0-full", "codex-2.6.0-v2-full"),
    ],
)
def test_one_conversation_ends_in_one_state_in_both_versions(one: str, other: str) -> None:
    first, second = Recording(one), Recording(other)
    assert (first.dialect, second.dialect) == (v1, v2)
    a, b = first.session, second.session
    assert calls(a) == calls(b)
    assert said(a) == said(b)
    assert (a.state, a.stop_reason, a.title, a.plan) == (b.state, b.stop_reason, b.title, b.plan)
    assert [(o.config_id, o.value, o.choices) for o in a.config] == [
        (o.config_id, o.value, o.choices) for o in b.config
    ]
    assert a.commands == b.commands
    assert {p.path for c in a.tool_calls.values() for p in c.locations} == {
        p.path for c in b.tool_calls.values() for p in c.locations
    }
    if a.terminals:
        assert [(t.output, t.exit_status) for t in a.terminals.values()] == [
            (t.output, t.exit_status) for t in b.terminals.values()
        ]
    for recording in (first, second):
        assert not recording.codes()
        assert not any(call.active for call in recording.session.tool_calls.values())


def test_claude_says_what_it_can_in_both_versions() -> None:
    first, second = Recording("claude-0.101.0-full").info, Recording("claude-0.101.0-v2-full").info
    assert (first.title, first.version) == (second.title, second.version) == ("Claude Agent", "0.101.0")
    for info in (first, second):
        can = info.capabilities
        assert all((can.load, can.resume, can.list, can.close, can.delete))
        assert all((can.image, can.embedded_context, can.mcp_stdio, can.mcp_http))
    assert first.capabilities.prompt_queueing


def test_claude_ends_its_calls_and_tells_what_they_touched() -> None:
    session = Recording("claude-0.101.0-full").session
    edit = next(call for call in session.tool_calls.values() if call.title == "Edit app.py")
    assert (edit.kind, edit.status, edit.name) == ("edit", "completed", "Edit")
    assert edit.raw_input["new_string"] == '    return f"Hello, {name}!"'
    assert edit.meta["claudeCode"]["toolName"] == "Edit"
    assert edit.content[0]["type"] == "diff"
    assert session.usage
    assert session.usage.size == 200_000


def test_codex_tells_its_terminals_in_meta() -> None:
    session = Recording("codex-2.6.0-full").session
    run = session.terminals["call_42_0"]
    assert (run.output, run.cwd, run.command) == (
        b"Hello, world!\ndone\n",
        "/ws/demo",
        "python3 app.py && echo done",
    )
    assert run.exit_status == ExitStatus(0)


def test_gemini_asks_for_calls_that_it_never_announced() -> None:
    recording = Recording("gemini-0.61.0-full")
    session = recording.session
    assert (session.state, session.stop_reason) == ("idle", "end_turn")
    assert ("Writing to NOTES.md", "edit", "failed") in calls(session)
    edit = session.tool_calls["replace__fc_59_0"]
    assert edit.status == "completed"
    assert recording.codes() == {"permission_for_unknown_call": 5}
    assert [option.config_id for option in session.config] == ["mode", "model"]


def test_opencode_goes_on_after_a_reject() -> None:
    recording = Recording("opencode-1.18.33-reject")
    assert [status for _, _, status in calls(recording.session)] == ["completed", "failed"]
    assert not recording.codes()


def test_kimi_reports_a_call_failed_whose_permission_was_cancelled() -> None:
    recording = Recording("kimi-1.12.0-permcancel")
    assert [status for _, _, status in calls(recording.session)] == ["completed", "failed"]
    assert (recording.session.state, recording.session.stop_reason) == ("idle", "cancelled")
    assert not recording.codes()
