"""What sessions weigh that nobody asked for, without an agent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from acp_editor.app import uninvited
from acp_editor.app.app import App
from acp_editor.app.sessions import MOST_CLOSED, MOST_UNASKED, Entry, Sessions
from acp_editor.app.uninvited import Uninvited
from acp_editor.core import limits
from acp_editor.core.model import Fault, MessageChunk, StateUpdate, TerminalChunk, Update


class Scene:
    def __init__(self) -> None:
        self.sessions = Sessions()
        self.permissions = SimpleNamespace(
            of=lambda entry: self.asking if entry.own_id in self.asking else []
        )
        self.consequences = SimpleNamespace(session_closed=self.sessions.remove)
        self.asking: list[str] = []
        self.faults: list[str] = []
        self.uninvited = Uninvited(cast("App", self))

    def fault(self, agent: str, fault: Fault) -> None:
        self.faults.append(fault.code)

    def say(self, own_id: str, update: Update, agent: str = "a") -> Entry:
        entry = self.sessions.seen(agent, own_id, "/ws")
        if entry.asked or self.uninvited.admits(entry, update):
            entry.session.apply(update)
        return entry

    def fill(self, own_id: str, mebibytes: int = 14) -> None:
        for number in range(mebibytes):
            self.say(own_id, text("x" * (1 << 20), f"m{number}"))

    @property
    def left(self) -> list[str]:
        return [entry.own_id for entry in self.sessions]

    @property
    def weight(self) -> int:
        return sum(uninvited.weight(entry.session) for entry in self.sessions if not entry.asked)


def text(said: str, message: str = "m") -> MessageChunk:
    return MessageChunk("agent", message, {"type": "text", "text": said})


def test_of_sessions_that_nobody_asked_for_the_oldest_go() -> None:
    scene = Scene()
    scene.say("light", text("x"))
    for number in range(40):
        scene.fill(f"s{number}")
        assert scene.weight <= limits.UNINVITED + (2 << 20)
    light, *left = scene.left
    assert light == "light"
    assert left == [f"s{number}" for number in range(40 - len(left), 40)]
    assert len(left) >= 4
    assert set(scene.faults) == {"uninvited_closed"}
    assert scene.say("s0", text("late")).closed


def test_what_the_person_wants_or_is_asked_by_stays() -> None:
    scene = Scene()
    scene.sessions.open("a", "opened", "/ws")
    scene.fill("selected")
    scene.sessions.active = scene.sessions.seen("a", "selected", "/ws")
    scene.fill("asking")
    scene.asking.append("asking")
    scene.fill("working")
    scene.sessions.seen("a", "working", "/ws").running = True
    for number in range(20):
        scene.fill(f"s{number}")
    assert scene.left[:4] == ["opened", "selected", "asking", "working"]
    assert scene.left[-1] == "s19"


def test_where_none_can_go_what_more_is_said_is_not_kept_until_there_is_room() -> None:
    scene = Scene()
    for number in range(20):
        scene.sessions.seen("a", f"s{number}", "/ws").running = True
        scene.fill(f"s{number}")
    assert len(scene.left) == 20
    assert scene.weight <= limits.UNINVITED + (2 << 20)
    assert set(scene.faults) == {"uninvited_left_out"}
    scene.say("s19", StateUpdate("running"))
    assert scene.sessions.seen("a", "s19", "/ws").session.state == "running"
    for own_id in ("s0", "s1"):
        scene.sessions.seen("a", own_id, "/ws").running = False
    for number in range(1024):
        scene.say("s19", text("y", f"n{number}"))
    assert scene.left[0] == "s2"
    assert "y" in [message.text for message in scene.sessions.seen("a", "s19", "/ws").session.messages]


def test_output_of_terminals_counts() -> None:
    scene = Scene()
    for number in range(100):
        scene.say(f"s{number // 10}", TerminalChunk(f"t{number % 10}", b"x" * (1 << 20)))
    for number in range(100):
        scene.say(f"t{number // 10}", TerminalChunk(f"t{number % 10}", b"x" * (1 << 20)))
    assert scene.faults
    assert scene.weight <= limits.UNINVITED + (2 << 20)


def test_agents_do_not_share_the_room() -> None:
    scene = Scene()
    scene.say("of b", text("x"), "b")
    for number in range(20):
        scene.fill(f"s{number}")
    assert scene.left[0] == "of b"


def test_the_weight_is_not_looked_up_for_each_update(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Any] = []
    weigh = uninvited.weight
    monkeypatch.setattr(uninvited, "weight", lambda session: looks.append(session) or weigh(session))
    scene = Scene()
    heard = 0
    for number in range(2000):  # one call's worth of text again and again: much is said, and little kept
        update = text("x" * 200_000, f"m{number % 2}")
        heard += limits.weight(update)
        scene.say("s", update)
    assert scene.faults == []
    assert 1 <= len(looks) <= 4 * heard / limits.UNINVITED


def test_sessions_that_the_person_opened_are_not_counted_after_their_agent_was_started_again() -> None:
    sessions = Sessions()
    for number in range(MOST_UNASKED):
        sessions.open("a", f"mine{number}", "/ws").started = True
    for entry in sessions:
        entry.started = False  # its agent has ended
    assert not sessions.seen("a", "another", "/ws").closed


def test_of_closed_sessions_only_the_newest_are_known() -> None:
    sessions = Sessions()
    for number in range(MOST_CLOSED + 1):
        sessions.remove(sessions.seen("a", f"s{number}", "/ws"))
    assert sessions.seen("a", "s1", "/ws").closed
    assert not sessions.seen("a", "s0", "/ws").closed
