"""Which calls ran without asking: told once, never of an agent that did ask, whatever it called the call."""

from __future__ import annotations

from typing import Any

import pytest

from acp_editor.app import unasked
from acp_editor.app.sessions import Entry, Sessions
from acp_editor.app.unasked import Unasked
from acp_editor.core.limits import MIB, weight
from acp_editor.core.model import UNSET, Fault, Location, PermissionRequest, ToolCall, ToolCallUpsert
from acp_editor.policy.calls import input_from
from acp_editor.policy.check import Ceiling, CheckInput
from acp_editor.policy.rules import RuleSet, rules_from

ASKS = rules_from({"ask": ["execute(rm:*)", "edit"]}, "user")


class Watched:
    def __init__(self, rules: RuleSet = ASKS) -> None:
        self.told: list[str] = []
        self.codes: set[str] = set()
        self.unasked = Unasked(Ceiling(), self._tell)
        self.entry = Sessions().seen("agent", "s1", "/ws")
        self.reads = 0
        self._rules = rules

    def _tell(self, entry: Entry, fault: Fault) -> None:
        self.codes.add(fault.code)
        self.told.append(fault.detail)

    def rules(self, entry: Entry) -> RuleSet:
        self.reads += 1
        return self._rules

    def asked(self, call_id: str | None, **fields: Any) -> None:
        call = ToolCall(call_id or "", **fields)
        request = PermissionRequest("s1", (), command=None)
        self.unasked.asked(self.entry, input_from(call, request, "/ws", ["/ws"]), call_id)

    def look(self, *calls: ToolCall) -> list[str]:
        found = self.unasked.look([(self.entry, call) for call in calls], self.rules, self.input_of)
        return [call_id for _, call_id in found]

    @staticmethod
    def input_of(entry: Entry, call: ToolCall) -> CheckInput:
        return input_from(call, None, entry.cwd, ["/ws"])


def ran(call_id: str, command: str = "rm x", **fields: Any) -> ToolCall:
    given = {"kind": "execute", "status": "completed", "raw_input": {"command": command}, **fields}
    return ToolCall(call_id, **given)


def test_told_once_and_at_the_call() -> None:
    watched = Watched()

    assert watched.look(ran("c1"), ran("c2", "ls")) == ["c1"]
    assert watched.look(ran("c1")) == []
    assert watched.told == ["c1"]
    assert watched.codes == {"ran_unasked"}
    assert "without asking" in (watched.unasked.fault(watched.entry, "c1") or "")
    assert watched.unasked.fault(watched.entry, "c2") is None


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (ran("c1", status="pending"), "it waits"),
        (ran("c1", status="in_progress"), "some say so before they ask"),
        (ran("c1", status="failed"), "perhaps it never ran"),
        (ran("c1", status=None), "nobody knows"),
        (ran("c1", replayed=True), "it is history"),
        (ran("c1", "make"), "no rule is about it"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_not_told(call: ToolCall, why: str) -> None:
    assert Watched().look(call) == [], why


def test_what_has_put_out_something_surely_runs() -> None:
    assert Watched().look(ran("c1", status="in_progress", raw_output="x")) == ["c1"]


def test_not_told_of_what_was_asked_for_by_its_id() -> None:
    watched = Watched()
    watched.entry.session.apply(ToolCallUpsert("c1", kind="execute"))
    watched.asked("c1")

    assert watched.look(ran("c1")) == []
    assert watched.look(ran("c2")) == ["c2"]


@pytest.mark.parametrize(
    ("asked", "call", "told"),
    [
        ({"kind": "execute", "raw_input": {"command": "rm x"}}, ran("other"), False),
        ({"kind": "execute", "raw_input": {"command": "rm y"}}, ran("other"), True),
        ({"kind": "edit", "locations": (Location("/ws/a"), Location("/ws/b"))}, "a", False),
        ({"kind": "edit", "locations": (Location("/ws/b"),)}, "a", True),
        ({"kind": "edit"}, "a", False),
        ({"kind": "delete"}, "a", True),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_request_for_an_id_that_nobody_announced_counts_for_what_it_was_about(
    asked: dict[str, Any], call: ToolCall | str, told: bool
) -> None:
    watched = Watched()
    watched.asked("never announced", **asked)
    if isinstance(call, str):
        call = ToolCall("other", kind="edit", status="completed", locations=(Location(f"/ws/{call}"),))

    assert watched.look(call) == (["other"] if told else [])


def test_rules_are_read_once_for_all_calls_of_a_session() -> None:
    watched = Watched()

    watched.look(*(ran(f"c{number}", "ls") for number in range(50)))

    assert watched.reads == 1


def test_a_session_that_is_closed_is_forgotten() -> None:
    watched = Watched()
    watched.look(ran("c1"))

    watched.unasked.forget(watched.entry)

    assert watched.unasked.fault(watched.entry, "c1") is None
    assert watched.look(ran("c1")) == ["c1"]


# -- refused ---------------------------------------------------------------------------------------


def refused(call: ToolCall | None = None) -> Watched:
    """Without rules: a refusal needs none."""
    watched = Watched(RuleSet())
    if call is not None:
        watched.entry.session.apply(
            ToolCallUpsert("c1", kind="execute", status=call.status or UNSET, raw_output=call.raw_output)
        )
    watched.asked("c1")
    watched.unasked.answered(watched.entry, "c1", allowed=False)
    return watched


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ran("c1"), True),
        (ran("c1", status="in_progress", raw_output="x"), True),
        (ran("c1", status="in_progress"), False),
        (ran("c1", status="pending", raw_output="x"), False),
        (ran("c1", status="failed", raw_output="The person refused it"), False),
        (ran("c1", status="cancelled"), False),
        (ran("c1", status="completed", replayed=True), False),
        (ran("c2"), False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_call_that_runs_though_it_was_refused_is_told_of(call: ToolCall, told: bool) -> None:
    watched = refused()

    assert watched.look(call) == (["c1"] if told else [])
    assert watched.codes == ({"ran_refused"} if told else set())
    assert ("refused" in (watched.unasked.fault(watched.entry, "c1") or "")) is told
    assert watched.look(call) == []


def test_what_was_put_out_before_the_answer_is_no_sign_that_it_ran_after() -> None:
    before = ran("c1", status="in_progress", raw_output="looking")
    watched = refused(before)

    assert watched.look(before) == []
    assert watched.look(ran("c1", status="in_progress", raw_output="looking, and done")) == ["c1"]


def test_a_call_that_did_not_wait_for_its_answer_is_to_be_looked_at() -> None:
    watched = Watched(RuleSet())
    watched.entry.session.apply(ToolCallUpsert("c1", kind="execute", status="completed"))
    watched.asked("c1")

    assert watched.look(ran("c1")) == []
    assert watched.unasked.answered(watched.entry, "c1", allowed=False)
    assert watched.look(ran("c1")) == ["c1"]


@pytest.mark.parametrize("answers", [(False, True), (True, False)], ids=["then allowed", "allowed before"])
def test_of_a_call_that_asks_twice_what_was_allowed_may_run(answers: tuple[bool, bool]) -> None:
    watched = Watched(RuleSet())
    for allowed in answers:
        watched.asked("c1")
        watched.unasked.answered(watched.entry, "c1", allowed=allowed)

    assert watched.look(ran("c1")) == []


def test_a_refusal_is_forgotten_with_its_session() -> None:
    watched = refused()

    watched.unasked.forget(watched.entry)

    assert watched.look(ran("c1")) == []


def test_what_is_remembered_of_calls_has_an_end_and_goes_with_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unasked, "_CALLS", 500)
    watched = Watched()
    for number in range(1200):
        watched.asked(None, kind="execute", raw_input={"command": f"rm {number}", "more": "x" * 1000})
        watched.asked(f"c{number}", kind="edit")
        watched.unasked.answered(watched.entry, f"a{number}", allowed=True)
        watched.unasked.answered(watched.entry, f"r{number}", allowed=False)
        watched.look(ran(f"u{number}", "rm unasked"))
    known = watched.unasked
    kept = (known._asked, known._allowed, known._refused, known._faults)
    assert max(map(len, kept)) <= 500
    assert len(known._loose["s1"]) == 200
    assert weight([one.model_dump() for one in known._loose["s1"]]) < MIB
    assert watched.look(ran("c1199")) == []
    assert watched.look(ran("other", "rm 1199")) == []
    known.forget(watched.entry)
    assert not any(map(len, (*kept, known._loose)))
