"""The queue of permission requests: each is answered once, and only with an option that was offered.

What waits is state; the futures that answer an agent stand beside it.
"""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import anyio

from acp_editor.app.sessions import Entry
from acp_editor.core.model import PermissionOption, PermissionRequest
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.check import CheckInput, Verdict

_REMEMBERED: Final = 1000
"""Requests that are over of which it is known how, the newest; of older ones nobody asks."""


@dataclass(slots=True, eq=False)
class Pending:
    """A request that waits. `option_id` stays None where it is answered `cancelled`."""

    request_id: str
    entry: Entry
    request: PermissionRequest
    tool_call_id: str | None
    verdict: Verdict
    call: CheckInput
    since: float = field(default_factory=time.monotonic)
    option_id: str | None = None
    done: anyio.Event = field(default_factory=anyio.Event)

    def first(self, kind: str) -> PermissionOption | None:
        return next((option for option in self.request.options if option.kind == kind), None)


class Permissions:
    """Oldest first. `changed` is called whenever the list has changed."""

    def __init__(self, changed: Callable[[Entry], None]) -> None:
        self._changed = changed
        self._waiting: dict[str, Pending] = {}
        self._answered: OrderedDict[str, str] = OrderedDict()
        self._numbers = itertools.count(1)

    def __iter__(self) -> Iterator[Pending]:
        return iter(list(self._waiting.values()))

    def __len__(self) -> int:
        return len(self._waiting)

    def of(self, entry: Entry) -> list[Pending]:
        return [pending for pending in self._waiting.values() if pending.entry is entry]

    def add(
        self,
        entry: Entry,
        request: PermissionRequest,
        tool_call_id: str | None,
        verdict: Verdict,
        call: CheckInput,
    ) -> Pending:
        number = next(self._numbers)
        pending = Pending(f"p{number}", entry, request, tool_call_id, verdict, call)
        self._waiting[pending.request_id] = pending
        self._changed(entry)
        return pending

    async def wait(self, pending: Pending) -> str | None:
        """The option that was picked, None for cancelled. Cancelling the wait withdraws the request."""
        try:
            await pending.done.wait()
        finally:
            self._remove(pending, "withdrawn by the agent")
        return pending.option_id

    def answer(self, request_id: str, option_id: str) -> Pending:
        pending = self._find(request_id)
        if all(option.option_id != option_id for option in pending.request.options):
            offered = ", ".join(option.option_id for option in pending.request.options)
            raise CommandError(f"the request has no option {option_id!r}; it offers {offered or 'none'}")
        self._settle(pending, option_id, "answered already")
        return pending

    def pick(self, request_id: str | None, kind: str) -> tuple[Pending, str]:
        """Answers that request, or the oldest, with its first option of that kind."""
        pending = self._find(request_id)
        option = pending.first(kind)
        if option is None:
            meant = kind.replace("_", " ")
            raise CommandError(
                f"the request offers no option that means {meant!r}: choose one of its own options"
            )
        self._settle(pending, option.option_id, "answered already")
        return pending, option.option_id

    def deny(self, pending: Pending) -> None:
        """Refuses a request once, by its own option for that, and `cancelled` where it has none."""
        option = self._find(pending.request_id).first("reject_once")
        self._settle(pending, option.option_id if option else None, "denied: nobody is there to be asked")

    def cancel(self, entry: Entry, why: str) -> None:
        """Answers all of a session's requests `cancelled`."""
        for pending in self.of(entry):
            self._settle(pending, None, why)

    def _find(self, request_id: str | None) -> Pending:
        if request_id is None:
            if not self._waiting:
                raise CommandError("no permission request is waiting")
            return next(iter(self._waiting.values()))
        if (pending := self._waiting.get(request_id)) is not None:
            return pending
        if (why := self._answered.get(request_id)) is not None:
            raise CommandError(f"the request {request_id} was {why}; nothing has changed")
        raise CommandError(f"there is no permission request {request_id!r}")

    def _settle(self, pending: Pending, option_id: str | None, why: str) -> None:
        pending.option_id = option_id
        self._remove(pending, why)

    def _remove(self, pending: Pending, why: str) -> None:
        pending.done.set()
        if self._waiting.pop(pending.request_id, None) is not None:
            self._answered[pending.request_id] = why
            if len(self._answered) > _REMEMBERED:
                self._answered.popitem(last=False)
            self._changed(pending.entry)
