"""Whether the agent may have been at work when a file changed in its turn."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from review_editor import Desk

from acp_editor.core.model import ToolCall
from acp_editor.review import work
from acp_editor.review.work import AFTERMATH, LAG, Work

Step = tuple[float, str]
"""When, and what: `kind active`, `kind done` of call 1, `waits`, `allowed`."""


def told(steps: list[Step]) -> Work:
    made = Work()
    for moment, what in steps:
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
    ],
)
def test_table(steps: list[Step], moment: float, expected: bool) -> None:
    assert told(steps).may_have_written(moment) is expected


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
