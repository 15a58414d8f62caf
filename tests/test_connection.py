"""Two peers on memory streams, and one against a script of bytes."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from memory_streams import Heard, byte_pipe, memory_pair, method_not_found, peer
from waiting import until

from acp_editor.acp import connection
from acp_editor.acp.connection import Connection, ConnectionClosed, RpcError
from acp_editor.core.model import Json

pytestmark = pytest.mark.anyio

Handler = Callable[[str, Json], Awaitable[Json]]


@asynccontextmanager
async def pair(left: Handler = method_not_found, right: Handler = method_not_found):
    with memory_pair(left, right) as ((a, heard_a), (b, heard_b)), anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(a.run)
            tasks.start_soon(b.run)
            yield a, heard_a, b, heard_b
            a.close("done")
            b.close("done")


@dataclass
class Script:
    """The far end, where bytes are written and read by hand."""

    connection: Connection
    heard: Heard
    to_us: ObjectSendStream[bytes]
    from_us: ObjectReceiveStream[bytes]

    async def say(self, *messages: Json) -> None:
        await self.to_us.send(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def hear(self) -> Json:
        return json.loads(await self.from_us.receive())


@asynccontextmanager
async def script(
    on_request: Handler = method_not_found, max_line: int = 1 << 28, max_queued: int = 1 << 26
) -> AsyncGenerator[Script]:
    with byte_pipe() as (to_us, receive), byte_pipe() as (send, from_us), anyio.fail_after(20):
        connection, heard = peer(send, receive, on_request, max_line, max_queued)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            yield Script(connection, heard, to_us, from_us)
            connection.close("done")


async def echo(method: str, params: Json) -> Json:
    return params


async def test_requests_and_notifications_go_both_ways():
    async with pair(echo, echo) as (a, heard_a, b, heard_b):
        a.notify("hello", {"n": 1})
        assert await a.request("x", {"of": "a"}) == {"of": "a"}
        assert await b.request("x", [2]) == [2]
        assert await b.request("x", None) is None
        assert heard_b.notifications == [("hello", {"n": 1})]
        assert heard_a.faults == heard_b.faults == []


async def test_errors_are_raised_with_code_message_and_data():
    async def refuse(method: str, params: Json) -> Json:
        raise RpcError(-32000, "Authentication required", {"methods": []})

    async with pair(right=refuse) as (a, *_):
        with pytest.raises(RpcError, match="Authentication required") as caught:
            await a.request("x", {})
        assert (caught.value.code, caught.value.data) == (-32000, {"methods": []})


async def test_a_handler_that_fails_is_answered_and_logged(caplog: pytest.LogCaptureFixture):
    async def broken(method: str, params: Json) -> Json:
        raise KeyError("oops") if method == "raises" else {"set"}

    async def unserialisable(method: str, params: Json) -> Json:
        return {1, 2} if method == "set" else (await broken(method, params))

    async with pair(right=unserialisable) as (a, *_):
        for method in ("raises", "set"):
            with pytest.raises(RpcError) as caught:
                await a.request(method, {})
            assert caught.value.code == -32603
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2


async def test_a_callback_that_fails_does_not_stop_the_reading(caplog: pytest.LogCaptureFixture):
    async with script() as far:
        far.connection._on_notification = lambda method, params: params["missing"]  # pyright: ignore[reportPrivateUsage]
        await far.say({"method": "a", "params": {}}, {"method": "b", "id": 1})
        assert (await far.hear())["error"]["code"] == -32601
    assert "a callback failed" in caplog.text


async def test_requests_of_a_peer_run_at_once():
    both = anyio.Event()
    seen: list[str] = []

    async def meet(method: str, params: Json) -> Json:
        seen.append(method)
        if len(seen) == 2:
            both.set()
        await both.wait()
        return method

    async with pair(right=meet) as (a, *_):
        answers: list[Json] = []

        async def ask(method: str) -> None:
            answers.append(await a.request(method, {}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "one")
            tasks.start_soon(ask, "two")
        assert sorted(answers) == ["one", "two"]


async def test_cancelling_a_request_cancels_the_handler():
    entered, left = anyio.Event(), anyio.Event()

    async def slow(method: str, params: Json) -> Json:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            left.set()

    async with pair(right=slow) as (a, heard, *_):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(a.request, "slow", {})
            await entered.wait()
            tasks.cancel_scope.cancel()
        await left.wait()
        await until(lambda: ("in", -32800) in [(d, m.get("error", {}).get("code")) for d, m in heard.traffic])
        assert heard.faults == []


async def test_a_handler_may_answer_in_spite_of_a_cancel():
    entered = anyio.Event()

    async def stubborn(method: str, params: Json) -> Json:
        try:
            entered.set()
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            raise RpcError(-32001, "half done") from None

    async with script(stubborn) as far:
        await far.say({"id": "r", "method": "x"})
        await entered.wait()
        await far.say({"method": "$/cancel_request", "params": {"requestId": "r"}})
        assert await far.hear() == {
            "jsonrpc": "2.0",
            "id": "r",
            "error": {"code": -32001, "message": "half done"},
        }


async def test_a_late_answer_to_a_cancelled_request_is_no_fault_and_calls_nobody():
    async with script() as far:
        called: list[Json] = []
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await far.connection.request("x", {}, on_result=called.append)

            tasks.start_soon(ask)
            ident = (await far.hear())["id"]
            tasks.cancel_scope.cancel()
        assert (await far.hear())["params"] == {"requestId": ident}
        await far.say({"id": ident, "result": 1}, {"method": "end"})
        await until(lambda: far.heard.notifications)
        assert far.heard.faults == []
        assert called == []


async def test_of_requests_that_are_never_answered_only_the_newest_ids_are_kept(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(connection, "MAX_ABANDONED", 2)
    async with script() as far:
        for _ in range(3):
            with anyio.move_on_after(0):
                await far.connection.request("x", {})
        await far.say(*({"id": ident, "result": 1} for ident in (1, 2, 3)), {"method": "end"})
        await until(lambda: far.heard.notifications)
        assert far.heard.codes == ["answered_twice"]


async def test_a_cancel_of_nothing_is_passed_over():
    async with script() as far:
        await far.say(
            {"method": "$/cancel_request", "params": {"requestId": 9}},
            {"method": "$/cancel_request", "params": {}},
            {"method": "$/cancel_request", "params": [1]},
            {"method": "end"},
        )
        await until(lambda: far.heard.notifications)
        assert far.heard.codes == ["bad_cancel", "bad_cancel"]
        assert far.heard.notifications == [("end", None)]


@pytest.mark.parametrize("ident", ["req-a", 7, -1, 0, None, 1.5])
async def test_ids_come_back_as_they_were(ident: Json):
    async with script(echo) as far:
        await far.say({"id": ident, "method": "x", "params": {}})
        assert await far.hear() == {"jsonrpc": "2.0", "id": ident, "result": {}}


async def test_a_null_result_is_an_answer():
    async with script(echo) as far:
        await far.say({"id": 1, "method": "x"})
        assert await far.hear() == {"jsonrpc": "2.0", "id": 1, "result": None}


async def test_answers_and_notifications_are_heard_in_the_order_of_the_wire():
    async with script() as far:
        order: list[str] = []
        far.connection._on_notification = lambda method, params: order.append(method)  # pyright: ignore[reportPrivateUsage]

        async def ask(method: str) -> None:
            try:
                await far.connection.request(
                    method,
                    {},
                    on_result=lambda result: order.append(f"result of {method}"),
                    on_error=lambda error: order.append(f"error of {method}"),
                )
            except RpcError:
                order.append(f"{method} raised")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "good")
            good = await far.hear()
            tasks.start_soon(ask, "bad")
            bad = await far.hear()
            await far.say(
                {"method": "before"},
                {"id": good["id"], "result": {}},
                {"method": "between"},
                {"id": bad["id"], "error": {"code": 1, "message": "m"}},
                {"method": "after"},
            )
        assert order == ["before", "result of good", "between", "error of bad", "after", "bad raised"]


async def test_what_is_sent_keeps_its_order():
    async with script() as far:
        for number in range(100):
            far.connection.notify("n", {"number": number})
        heard = b""
        while heard.count(b"\n") < 100:
            heard += await far.from_us.receive()
        assert [json.loads(line)["params"]["number"] for line in heard.splitlines()] == list(range(100))


async def test_stray_answers_are_faults():
    async with script() as far:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(far.connection.request, "x", {})
            ident = (await far.hear())["id"]
            await far.say({"id": ident, "result": 1}, {"id": ident, "result": 2})
        await far.say(
            {"id": 99, "result": 1},
            {"id": "x", "error": {"code": 1, "message": "m"}},
            {"id": None, "error": {"code": -32700, "message": "parse error"}},
            {"method": "end"},
        )
        await until(lambda: far.heard.notifications)
        assert far.heard.codes == [
            "answered_twice",
            "unknown_answer_id",
            "unknown_answer_id",
            "answer_without_id",
        ]


async def test_noise_between_messages_is_passed_over():
    async with script(echo, max_line=100) as far:
        noise = b'Loaded.\n\n42\n[1]\n{"a":1}\n' + b"x" * 1000 + b"\n"
        await far.to_us.send(noise + b'{"id":1,"method":"x","params":{}}\n')
        assert (await far.hear())["result"] == {}
        assert sorted(far.heard.codes) == [
            "line_too_long",
            "not_a_message",
            "not_an_object",
            "not_an_object",
            "not_json",
        ]
        assert far.heard.noise == [b"Loaded.", b"42", b"[1]"]


async def test_two_requests_with_one_id_are_both_answered():
    async with script(echo) as far:
        await far.say({"id": 1, "method": "x", "params": 1}, {"id": 1, "method": "x", "params": 2})
        heard = b""
        while heard.count(b"\n") < 2:
            heard += await far.from_us.receive()
        assert [json.loads(line)["result"] for line in heard.splitlines()] == [1, 2]
        assert far.heard.codes == ["repeated_request_id"]


MESSAGE = json.dumps({"method": "m", "params": "é漢😀"}, ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize("at", range(1, len(MESSAGE)))
async def test_a_message_may_be_split_at_every_byte(at: int):
    async with script() as far:
        await far.to_us.send(MESSAGE[:at])
        await far.to_us.send(MESSAGE[at:])
        await until(lambda: far.heard.notifications)
        assert far.heard.notifications == [("m", "é漢😀")]


async def test_a_message_of_20_mb():
    async with script() as far:
        await far.to_us.send(b'{"method":"m","params":"')
        for _ in range(320):
            await far.to_us.send(b"y" * 65536)
        await far.to_us.send(b'"}\n')
        await until(lambda: far.heard.notifications)
        assert len(far.heard.notifications[0][1]) == 320 * 65536


async def test_the_last_message_needs_no_newline():
    async with script() as far:
        await far.to_us.send(b'{"method":"m"}')
        await far.to_us.aclose()
        await until(lambda: far.connection.closed)
        assert far.heard.notifications == [("m", None)]
        assert far.heard.faults == []


async def test_the_end_of_the_stream_fails_what_is_pending():
    async def die(far: Script) -> None:
        await far.hear()
        await far.to_us.send(b'{"id":1,"res')
        await far.to_us.aclose()

    async with script() as far, anyio.create_task_group() as tasks:
        tasks.start_soon(die, far)
        with pytest.raises(ConnectionClosed, match="the peer closed its output"):
            await far.connection.request("x", {})
        assert far.connection.closed == "the peer closed its output"
        assert far.heard.codes == ["not_json"]
        with pytest.raises(ConnectionClosed):
            await far.connection.request("y", {})
        far.connection.notify("z", {})


async def test_the_end_of_the_stream_cancels_handlers():
    entered, left = anyio.Event(), anyio.Event()

    async def slow(method: str, params: Json) -> Json:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            left.set()

    async with script(slow) as far:
        await far.say({"id": 1, "method": "x"})
        await entered.wait()
        await far.to_us.aclose()
        await left.wait()


async def test_answers_made_before_the_end_still_go_out():
    """As for `printf ... | agent`: the stream ends while the answer is in the queue."""
    with byte_pipe() as (to_us, receive), byte_pipe(0) as (send, from_us), anyio.fail_after(20):
        connection, heard = peer(send, receive, echo)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            await to_us.send(
                b'{"id":1,"method":"x","params":"' + b"y" * 300_000 + b'"}\n{"id":2,"method":"x"}\n'
            )
            await until(lambda: len(heard.traffic) == 4)
            await to_us.aclose()
            await until(lambda: connection.closed)
            data = await from_us.receive() + await from_us.receive()
    assert [json.loads(line)["id"] for line in data.splitlines()] == [1, 2]


async def test_a_peer_that_does_not_read_does_not_fill_our_memory():
    with byte_pipe() as (_, receive), byte_pipe(0) as (send, _), anyio.fail_after(20):
        connection, _ = peer(send, receive, max_queued=10_000)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            connection.notify("big", "x" * 20_000)
            assert connection.closed is None, "one message may be larger if it is alone"
            with pytest.raises(ConnectionClosed, match="does not read"):
                await connection.request("x", {})
        assert connection.closed
        assert connection._queued < 21_000


async def test_writes_wait_for_the_reader_and_arrive_whole():
    heard = b""
    with byte_pipe() as (_, receive), byte_pipe(0) as (send, from_us), anyio.fail_after(20):
        connection, _ = peer(send, receive)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            for number in range(300):
                connection.notify("n", ["x" * 5000, number])
            while heard.count(b"\n") < 300:
                heard += await from_us.receive()
            connection.close("done")
    assert [json.loads(line)["params"][1] for line in heard.splitlines()] == list(range(300))


async def test_what_a_peer_said_before_it_stopped_reading_is_heard(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("acp_editor.acp.connection._DEAF_SECONDS", 0.1)
    async with script() as far:
        await far.from_us.aclose()
        far.connection.notify("n", {})
        await far.say({"method": "last words"})
        with pytest.raises(ConnectionClosed, match="no longer reads"):
            await far.connection.request("x", {})
        assert far.heard.notifications == [("last words", None)]


async def test_cancelling_run_fails_what_is_pending():
    with byte_pipe() as (_, receive), byte_pipe() as (send, from_us), anyio.fail_after(20):
        connection, _ = peer(send, receive)
        async with anyio.create_task_group() as outer:
            serving = anyio.CancelScope()

            async def serve() -> None:
                with serving:
                    await connection.run()

            async def stop() -> None:
                await from_us.receive()
                serving.cancel()

            outer.start_soon(serve)
            outer.start_soon(stop)
            with pytest.raises(ConnectionClosed):
                await connection.request("x", {})


async def test_what_is_not_json_is_the_callers_mistake_and_sends_nothing():
    async with script() as far:
        with pytest.raises(TypeError):
            await far.connection.request("x", {"a": object()})
        far.connection.notify("y", {})
        assert (await far.hear())["method"] == "y"


async def test_more_bytes_of_requests_at_once_than_there_may_be_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "MAX_HELD", 1000)
    going = anyio.Event()

    async def wait(method: str, params: Json) -> Json:
        await going.wait()
        return len(params)

    def asked(ident: int, size: int) -> Json:
        return {"jsonrpc": "2.0", "id": ident, "method": "m", "params": "x" * size}

    async with script(wait) as far:
        await far.say(asked(0, 400), asked(1, 400), asked(2, 400))
        refused = await far.hear()
        assert (refused["id"], "error" in refused) == (2, True)
        assert far.heard.codes == ["requests_too_large"]
        going.set()
        answers = (await far.from_us.receive()).splitlines()
        assert [json.loads(line)["result"] for line in answers] == [400, 400]
        await far.say(asked(3, 5000))  # alone
        assert (await far.hear())["result"] == 5000


async def test_a_flood_lets_others_have_their_turn(monkeypatch: pytest.MonkeyPatch):
    """Counted in turns of the loop: what came in one piece is read in many."""
    monkeypatch.setattr(connection, "_SLICE", 0.0)
    async with script() as far:
        turns = 0
        async with anyio.create_task_group() as tasks:

            async def count() -> None:
                nonlocal turns
                while True:
                    await anyio.lowlevel.checkpoint()
                    turns += 1

            tasks.start_soon(count)
            notes = [{"jsonrpc": "2.0", "method": "m", "params": number} for number in range(1000)]
            await far.say(*notes)
            await until(lambda: len(far.heard.notifications) == 1000)
            tasks.cancel_scope.cancel()
        assert turns > 900
        assert [params for _, params in far.heard.notifications] == list(range(1000))
