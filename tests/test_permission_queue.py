"""The queue of permission requests: answered once, only as offered, and empty when it should be."""

from __future__ import annotations

import anyio
import pytest

from acp_editor.app.permissions import Pending, Permissions
from acp_editor.app.sessions import Entry, Sessions
from acp_editor.core.model import PermissionOption, PermissionRequest
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.check import CheckInput, Verdict

pytestmark = pytest.mark.anyio

YES = PermissionOption("yes", "Allow", "allow_once")
ALSO = PermissionOption("also", "Allow too", "allow_once")
NO = PermissionOption("no", "Reject", "reject_once")


class Queue:
    def __init__(self) -> None:
        self.changes: list[str] = []
        self.permissions = Permissions(lambda entry: self.changes.append(entry.key))
        self.sessions = Sessions()

    def entry(self, name: str = "s1") -> Entry:
        return self.sessions.seen("agent", name, "/ws")

    def add(self, *options: PermissionOption, session: str = "s1") -> Pending:
        request = PermissionRequest(session, options or (YES, NO))
        verdict = Verdict(decision="ask", reason="no rule")
        return self.permissions.add(self.entry(session), request, "c1", verdict, CheckInput())


async def answer_to(queue: Queue, pending: Pending, act: object) -> str | None:
    got: list[str | None] = []

    async def wait() -> None:
        got.append(await queue.permissions.wait(pending))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        assert callable(act)
        act()
    return got[0]


async def test_an_answer_reaches_who_waits_and_a_second_one_changes_nothing() -> None:
    queue = Queue()
    pending = queue.add()
    name = pending.request_id
    assert await answer_to(queue, pending, lambda: queue.permissions.answer(name, "no")) == "no"
    assert len(queue.permissions) == 0
    with pytest.raises(CommandError, match="answered already"):
        queue.permissions.answer(name, "yes")
    assert pending.option_id == "no"


async def test_only_an_option_that_was_offered() -> None:
    queue = Queue()
    pending = queue.add()
    with pytest.raises(CommandError, match="no option 'maybe'; it offers yes, no"):
        queue.permissions.answer(pending.request_id, "maybe")
    with pytest.raises(CommandError, match="no permission request 'p99'"):
        queue.permissions.answer("p99", "yes")
    assert list(queue.permissions) == [pending]


async def test_pick_takes_the_oldest_request_and_its_first_option_of_the_kind() -> None:
    queue = Queue()
    first, second = queue.add(NO, YES, ALSO), queue.add()
    assert queue.permissions.pick(None, "allow_once") == (first, "yes")
    assert queue.permissions.pick(None, "reject_once") == (second, "no")
    with pytest.raises(CommandError, match="no permission request is waiting"):
        queue.permissions.pick(None, "allow_once")


async def test_a_request_without_such_an_option_stays() -> None:
    queue = Queue()
    pending = queue.add(NO)
    with pytest.raises(CommandError, match="allow once"):
        queue.permissions.pick(None, "allow_once")
    assert list(queue.permissions) == [pending]


async def test_cancel_answers_one_session_only() -> None:
    queue = Queue()
    pending, other = queue.add(), queue.add(session="s2")
    entry = queue.entry()
    assert await answer_to(queue, pending, lambda: queue.permissions.cancel(entry, "cancelled")) is None
    assert list(queue.permissions) == [other]


async def test_a_wait_that_is_cancelled_withdraws_the_request() -> None:
    queue = Queue()
    pending = queue.add()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await queue.permissions.wait(pending)
    assert len(queue.permissions) == 0
    assert queue.changes == ["s1", "s1"]
    with pytest.raises(CommandError, match="withdrawn by the agent"):
        queue.permissions.answer(pending.request_id, "yes")


def test_what_became_of_requests_is_remembered_of_the_newest() -> None:
    queue = Queue()
    for _ in range(2000):
        queue.permissions.answer(queue.add().request_id, "no")
    assert len(queue.permissions._answered) == 1000
    with pytest.raises(CommandError, match="answered already"):
        queue.permissions.answer("p2000", "no")
    with pytest.raises(CommandError, match="there is no permission request"):
        queue.permissions.answer("p1", "no")
