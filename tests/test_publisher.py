"""The publisher: how often it sends, in which order, and that nothing last is lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import asynccontextmanager

import anyio
import pytest
from waiting import until

from acp_editor.app import publisher
from acp_editor.app.publisher import Publisher

pytestmark = pytest.mark.anyio


class Clock:
    """A clock whose time passes only in sleeps, so that rates can be counted exactly."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.real = anyio.sleep
        monkeypatch.setattr(publisher.anyio, "sleep", self.sleep)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await self.real(0)


@asynccontextmanager
async def running(
    send: Callable[[Hashable], None], clock: Callable[[], float], open_: anyio.Event | None = None
) -> AsyncGenerator[Publisher]:
    gate = open_ or anyio.Event()
    if open_ is None:
        gate.set()
    made = Publisher(send, gate.wait, clock=clock)
    async with anyio.create_task_group() as group:
        group.start_soon(made.run)
        yield made
        group.cancel_scope.cancel()


def most_in_a_second(times: list[float]) -> int:
    return max(sum(start <= time < start + 1 for time in times) for start in times)


async def test_one_key_is_sent_at_most_30_times_a_second_and_its_last_value_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    value, sent = 0, list[tuple[float, int]]()
    async with running(lambda key: sent.append((clock.now, value)), clock) as made:
        while clock.now < 103:
            value += 1
            made.mark("k")
            await clock.real(0)
        last = value
        await until(lambda: sent[-1][1] == last)
    times = [time for time, _ in sent]
    assert 20 <= most_in_a_second(times) <= 30


async def test_everything_together_is_sent_at_most_300_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    sent: list[tuple[float, Hashable]] = []
    async with running(lambda key: sent.append((clock.now, key)), clock) as made:
        for number in range(900):
            made.mark(number)
        await until(lambda: len(sent) == 900)
    assert most_in_a_second([time for time, _ in sent]) <= 300
    assert {key for _, key in sent} == set(range(900))


async def test_the_newest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    sent: list[Hashable] = []
    async with running(sent.append, clock) as made:
        for number in range(100):
            made.mark(number)
        made.mark(0)
        await until(lambda: len(sent) == 100)
    assert sent[:3] == [0, 99, 98]


async def test_an_editor_that_does_not_read_is_waited_for_and_then_gets_the_newest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    gate = anyio.Event()
    value, sent = 0, list[int]()
    async with running(lambda key: sent.append(value), clock, gate) as made:
        while value < 999:
            value += 1
            made.mark("k")
            await clock.real(0)
        assert sent == []
        gate.set()
        await until(lambda: bool(sent))
    assert sent == [999]


async def test_a_surface_that_cannot_be_rendered_takes_no_other_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    sent: list[Hashable] = []

    def send(key: Hashable) -> None:
        if key == "bad":
            raise ValueError(key)
        sent.append(key)

    async with running(send, clock) as made:
        made.mark("good")
        made.mark("bad")
        await until(lambda: sent == ["good"])
        made.mark("later")
        await until(lambda: sent == ["good", "later"])
