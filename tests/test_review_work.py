"""Whether the agent may have been at work when a file changed in its turn."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import pytest
from review_editor import Desk

from acp_editor.core.model import ToolCall
from acp_editor.review import attribution, work
from acp_editor.review.work import AFTERMATH, LAG, Work

Step = tuple[float, str]
"""When, and what: `begins`, `kind active`, `kind done` of call 1, `waits`, `allowed`."""


def told(steps: list[Step]) -> Work:
    made = Work()
    for moment, what in steps:
        if what == "begins":
            made.begins("1", moment)
            continue
        if what in ("waits", "allowed"):
            made.waits(["1"] if what == "waits" else [], moment)
            continue
        kind, status = what.split()
        status = "in_progress" if status == "active" else "completed"
        made.heard(ToolCall(kind if kind == "read" else "1", kind=kind, status=status), moment)
    return made


EDIT: list[Step] = [(100, "edit active"), (110, "edit done")]
RAN: list[Step] = [(100, "execute active"), (110, "execute done")]
ASKS: list[Step] = [(100, "edit active"), (100, "waits"), (150, "allowed"), (160, "edit done")]


@pytest.mark.parametrize(
    ("steps", "moment", "expected"),
    [
        ([], 100, True),  # nothing was told: it may tell nothing at all
        ([(100, "edit done")], 50, True),  # it tells afterwards
        ([(90, "read active"), (100, "edit done")], 50, True),
        ([(100, "read active")], 105, False),  # it reads
        ([(100, "edit active")], 105, True),
        (EDIT, 110 + AFTERMATH / 2, True),
        (EDIT, 100 - LAG / 2, True),
        (EDIT, 110 + AFTERMATH + 1, False),
        (EDIT, 100 - LAG - 1, False),
        ([(100, "other active"), (110, "other done")], 150, True),
        (RAN, 150, True),  # what the command started may go on
        (ASKS, 100 + AFTERMATH + 1, False),  # it waits for the person
        (ASKS, 155, True),
        ([(0, "execute active"), (10, "execute done"), *ASKS], 120, False),
        ([(100, "waits"), (100, "edit active")], 120, False),  # asked for before it was told of
        ([(100, "begins"), (100.01, "edit done")], 100.005, True),
        ([(100, "begins"), (100.01, "edit done")], 100.01 + AFTERMATH + 1, False),  # not told afterwards
    ],
)
def test_table(steps: list[Step], moment: float, expected: bool) -> None:
    assert told(steps).may_have_written(moment) is expected


SHORT: list[Step] = [(100, "begins"), (100.01, "execute done")]


@pytest.mark.parametrize(
    ("steps", "moment", "expected"),
    [
        (RAN, 105, ["1"]),
        (RAN, 110 + AFTERMATH / 2, ["1"]),
        (RAN, 110 + AFTERMATH + 1, []),
        (RAN, 100 - LAG / 2, ["1"]),
        (SHORT, 100.005, ["1"]),
        ([(100, "execute done")], 50, ["1"]),  # told of once, afterwards
        ([(90, "read active"), (95, "read done"), (100, "execute done")], 97, ["1"]),
        ([(100, "read active")], 105, []),
    ],
)
def test_who_was_at_work(steps: list[Step], moment: float, expected: list[str]) -> None:
    assert told(steps).at_work(moment) == expected


def test_the_one_that_was_at_work_then_and_not_the_one_that_was_just_over() -> None:
    made = Work()
    for moment, call_id, status in [
        (100.0, "1", "in_progress"),
        (100.2, "1", "completed"),
        (100.3, "2", "in_progress"),
        (100.5, "2", "completed"),
    ]:
        made.heard(ToolCall(call_id, kind="execute", status=status), moment)
    assert [made.at_work(moment) for moment in (100.1, 100.4, 100.24, 100.6)] == [["1"], ["2"], ["1"], ["2"]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    root.mkdir()
    for name in ("a.py", "b.py", "open.py"):
        (root / name).write_text("one\ntwo\nthree\n")
    return root


@pytest.mark.anyio
async def test_what_another_program_writes_while_the_agent_waits_is_the_persons(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "LAG", 0.2)
    monkeypatch.setattr(work, "AFTERMATH", 0.2)
    desk = Desk(root, root.parent)
    call = ToolCall("c1", kind="edit", status="in_progress")
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        desk.open("open.py")
        await desk.begin()
        desk.review.call_changed(call, str(root))
        desk.write("a.py", "one\nagent\nthree\n")
        assert len(await desk.changes()) == 1
        desk.review.calls_wait(["c1"])
        await anyio.sleep(work.AFTERMATH + 0.1)  # so that nothing of the call's can be still to come
        for name in ("a.py", "b.py", "open.py"):
            desk.write(name, desk.bytes(name).decode().replace("three", "mine"))
        desk.reload("open.py")
        desk.review.files_changed([desk.path(name) for name in ("a.py", "b.py", "open.py")])
        await desk.until(lambda: desk.review.original(desk.path("a.py")) == "one\ntwo\nmine\n")
        desk.review.calls_wait([])
        desk.write("c.py", "agent\n")
        changes = await desk.end()
        assert [(one.path, len(one.hunks)) for one in changes] == [
            (desk.path("a.py"), 1),
            (desk.path("c.py"), 1),
        ]
        await desk.review.undo()
        assert desk.bytes("a.py") == desk.bytes("b.py") == desk.bytes("open.py") == b"one\ntwo\nmine\n"
        await desk.review.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("begins", [True, False])
async def test_what_a_command_did_that_is_over_when_it_is_heard_of_is_the_commands(
    root: Path, begins: bool
) -> None:
    desk = Desk(root, root.parent)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        await desk.begin()
        for number in (1, 2):
            if begins:
                desk.review.turns.work.begins(f"c{number}", time.time())
            desk.write(f"{number}.txt", "made\n")
            if number == 1:
                (change,) = await desk.changes()  # it is listed before its call is heard of
                assert change.hunks[0].tool_call_id is None
            done = ToolCall(f"c{number}", kind="execute", status="completed")
            desk.review.call_changed(done, str(root))
            await anyio.sleep(2 * work.CLOCK)  # files are stamped by a coarser clock than ours
        changes = await desk.end()
        assert [change.hunks[0].tool_call_id for change in changes] == ["c1", "c2"]
        await desk.review.aclose()


def test_of_more_calls_in_a_turn_than_can_be_known_nothing_is_told() -> None:
    made = Work()
    made.heard(ToolCall("runs", kind="edit", status="in_progress"), 100)
    for number in range(3 * work.MOST_CALLS):
        made.heard(ToolCall(f"c{number}", kind="edit", status="in_progress"), 100)
        made.heard(ToolCall(f"c{number}", kind="edit", status="completed"), 101)
    assert len(made._calls) <= work.MOST_CALLS + 1
    assert made.knows("runs")
    assert made.may_have_written(500)


def test_what_calls_say_of_files_is_kept_of_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attribution, "HEAVIEST", 100_000)
    witnesses = attribution.Witnesses()
    for number in range(100):
        lines = "".join(f"line {number} {n}\n" for n in range(100))
        diff = {"type": "diff", "path": f"/ws/{number}.txt", "oldText": "", "newText": lines}
        witnesses.hear(ToolCall(f"c{number}", kind="edit", content=(diff,)), "/ws")
    kept = [witnesses.get(f"c{number}") for number in range(100)]
    assert all(one is not None and f"/ws/{number}.txt" in one.paths for number, one in enumerate(kept))
    weights = [sum(words.weight for words in one.paths.values()) for one in kept if one]
    assert sum(weights) <= 100_000
    assert weights[0] == 0 < weights[-1]
    for _ in range(500):
        witnesses.hear(ToolCall("again", kind="edit", content=(diff,)), "/ws")
    assert witnesses._weight == sum(witnesses._weights.values()) <= 100_000
