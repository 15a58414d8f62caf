"""Recorded sessions of real agents, played into the state that they imply."""

from __future__ import annotations

import re

import pytest
from implied import Implied, implied
from recordings import NAMES, Recording, messages

from acp_editor.acp import v1, v2
from acp_editor.core import diffs
from acp_editor.core.model import ExitStatus
from acp_editor.core.session import Session


@pytest.mark.parametrize("name", NAMES)
def test_a_record_plays_to_what_it_says(name: str) -> None:
    recording = Recording(name)
    said = implied(messages(name))
    assert recording.silent == []
    assert recording.unknown == []
    assert recording.sessions.keys() == said.keys()
    for session_id, session in recording.sessions.items():
        same_calls(session, said[session_id])
        same_rest(session, said[session_id])


def same_calls(session: Session, said: Implied) -> None:
    assert list(session.tool_calls) == list(said.calls)
    for call_id, call in session.tool_calls.items():
        raw = said.calls[call_id]
        assert (call.title, call.status, call.kind, call.name) == (
            raw.get("title"),
            raw.get("status"),
            raw.get("kind", "other"),
            raw.get("name"),
        )
        assert list(call.content) == raw.get("content", [])
        assert (call.raw_input, call.raw_output) == (raw.get("rawInput"), raw.get("rawOutput"))
        assert call.meta == raw.get("_meta", {})
        assert [place.path for place in call.locations] == [p["path"] for p in raw.get("locations", [])]
        assert call.active == (said.running and call.status not in ("completed", "failed", "cancelled"))


def same_rest(session: Session, said: Implied) -> None:
    for role in ("agent", "thought"):
        assert "".join(m.text for m in session.messages if m.role == role) == said.text(role)
    persons = [message.text for message in session.messages if message.role == "user"]
    for text in said.prompts:
        assert any(text in message for message in persons)
    assert [(e.content, e.priority, e.status) for e in session.plan] == (said.plan or [])
    assert [command.name for command in session.commands] == said.commands
    modes = {key: v for key, v in said.modes.items() if not {key} & {*said.options, *said.categories}}
    assert {option.config_id: option.value for option in session.config} == {**said.options, **modes}
    assert (session.usage and (session.usage.used, session.usage.size)) == said.usage
    assert session.title == said.title
    assert [notice.title for notice in session.notices] == said.notices
    assert (session.state == "idle", session.stop_reason) == (not said.running, said.stop_reason)
    assert session.error == said.error
    assert {key: terminal.output for key, terminal in session.terminals.items()} == {
        key: terminal["output"] for key, terminal in said.terminals.items()
    }
    assert {key: t.exit_status and t.exit_status.exit_code for key, t in session.terminals.items()} == {
        key: terminal["exit"] for key, terminal in said.terminals.items()
    }


DEVIATIONS = {
    "fast-agent": {"turn_ended_with_calls_running"},
    "gemini": {"permission_for_unknown_call", "turn_ended_with_calls_running"},
    "pydantic": {"relative_path"},
    "sdk-example": {"turn_ended_with_calls_running"},
}
"""What the recorded agents do against the protocol; of the others nothing is known."""


def test_each_agent_is_told_what_it_does_wrong_and_nothing_else() -> None:
    found: dict[str, set[str]] = {}
    for name in NAMES:
        agent = re.split(r"-\d", name)[0]
        found.setdefault(agent, set()).update(Recording(name).codes())
    assert {agent: codes for agent, codes in found.items() if codes} == DEVIATIONS


def calls(session: Session) -> list[tuple[str | None, str, str | None]]:
    return [(call.title, call.kind, call.status) for call in session.tool_calls.values()]


def alike(session: Session) -> list[tuple[str | None, str, str | None]]:
    """What version 2 calls cancelled, version 1 has to call failed."""
    return [
        (title, kind, "failed" if status == "cancelled" else status) for title, kind, status in calls(session)
    ]


def said(session: Session) -> list[tuple[str, str]]:
    """Version 2 has notices for what Codex else says as a message; a stream is cut where the cancel came."""
    return [
        (message.role, re.sub(r"^(word0 ).*", r"\1", message.text))
        for message in session.messages
        if not message.text.startswith("Warning: ")
    ]


@pytest.mark.parametrize("scenario", ["full", "reject", "permcancel", "cancelshell", "cancelstream"])
@pytest.mark.parametrize("agent", ["claude-0.101.0", "codex-2.6.0"])
def test_one_conversation_ends_in_one_state_in_both_versions(agent: str, scenario: str) -> None:
    first, second = Recording(f"{agent}-{scenario}"), Recording(f"{agent}-v2-{scenario}")
    assert (first.dialect, second.dialect) == (v1, v2)
    a, b = first.session, second.session
    assert alike(a) == alike(b)
    assert [call.raw_input for call in a.tool_calls.values()] == [
        call.raw_input for call in b.tool_calls.values()
    ]
    assert said(a) == said(b)
    assert (a.state, a.stop_reason, a.plan, a.turn) == (b.state, b.stop_reason, b.plan, b.turn)
    if scenario != "cancelstream":  # where the second title came in one version only
        assert a.title == b.title
    assert a.config == b.config
    assert a.commands == b.commands
    assert {place for call in a.tool_calls.values() for place in call.locations} == {
        place for call in b.tool_calls.values() for place in call.locations
    }
    if a.terminals:  # Claude has them in version 2 only
        assert [(t.output, t.exit_status) for t in a.terminals.values()] == [
            (t.output, t.exit_status) for t in b.terminals.values()
        ]
    for recording in (first, second):
        assert not any(call.active for call in recording.session.tool_calls.values())


@pytest.mark.parametrize("agent", ["claude-0.101.0", "codex-2.6.0"])
def test_both_versions_propose_the_same_text(agent: str) -> None:
    before = 'def greet(name):\n    return "Hello, " + name\n\n\nif __name__ == "__main__":\n'
    texts = [
        [
            (change.path, diffs.apply(change, before if change.path.endswith("app.py") else None))
            for call in Recording(name).session.tool_calls.values()
            for change in diffs.proposals(call, "/ws/demo")
            if call.kind == "edit"
        ]
        for name in (f"{agent}-full", f"{agent}-v2-full")
    ]
    assert texts[0] == texts[1]
    after = before.replace('"Hello, " + name', 'f"Hello, {name}!"')
    assert [text for path, text in texts[0] if path == "/ws/demo/app.py"] == [after]


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
    assert recording.codes() == {"permission_for_unknown_call"}
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
