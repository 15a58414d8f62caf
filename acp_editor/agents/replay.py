"""An agent that plays a recorded conversation: `acp-editor replay FILE`.

It says what the agent said, in the same order, and waits where the client had its turn. What differs
today is allowed for: the client's ids, folders, terminals; requests that the record has elsewhere or
not at all (options, lists) are answered from wherever it has them, or refused.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, ObjectReceiveStream, ObjectSendStream, TaskGroup

from acp_editor.acp.rpc import INTERNAL_ERROR, METHOD_NOT_FOUND, LineReader, decode, encode
from acp_editor.agents.recording import STARTS, Entry, Names, NotARecording, load
from acp_editor.agents.stdio import StdinStream, StdoutStream
from acp_editor.core.model import Fault, Json, is_object

logger = logging.getLogger(__name__)

LONGEST_PAUSE: Final = 3.0
"""Seconds; nobody wants to see a model think again."""

ORDERED: Final = STARTS | {"initialize", "session/prompt", "session/cancel"}
"""Messages of the client's that drive the conversation; the play waits for these alone."""

Message: TypeAlias = dict[str, Json]


class Replay:
    """Plays the entries over two streams. Pauses are divided by `speed`; infinite leaves them out.

    Without `effects`, the agent's writing of files and its terminals are left out.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        send: ByteSendStream,
        receive: ByteReceiveStream,
        *,
        speed: float = math.inf,
        effects: bool = True,
    ) -> None:
        self._entries = entries
        self._send_stream = send
        self._receive_stream = receive
        self._speed = speed
        self._effects = effects
        self._at = 0
        """The entry whose turn it is."""
        self._early: deque[Message] = deque()
        """What came before its turn."""
        self._names = Names()
        self._asked: dict[str, Json] = {}
        """The ids of the client's requests now, by those in the record."""
        self._new: dict[str, Json] = {}
        """Ids of sessions to be told in the answers to those requests (by id in the record)."""
        self._left_out: set[str] = set()
        self._answers = {e.id: e for e in entries if e.sender == "agent" and e.method is None}
        self._asides: dict[str, deque[Entry | None]] = {}
        for entry in entries:
            if entry.sender == "client" and entry.is_request and entry.method not in ORDERED:
                answers = self._asides.setdefault(entry.method or "", deque())
                answers.append(self._answers.get(entry.id))
        self._inbox: ObjectReceiveStream[Message]
        self._arrived: ObjectSendStream[Message]
        self._arrived, self._inbox = anyio.create_memory_object_stream[Message](math.inf)

    async def run(self) -> None:
        """Returns when the client has closed our input."""
        async with self._arrived, self._inbox, anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, tasks)
            while self._at < len(self._entries):
                entry = self._entries[self._at]
                if entry.sender == "agent":
                    await self._pause()
                    await self._say(entry)
                elif entry.method is None:
                    await self._hear_answer(entry)
                elif entry.method in ORDERED:
                    await self._hear()
                self._at += 1
            for message in self._early:
                await self._aside(message)
            while True:
                await self._aside(await self._inbox.receive())

    # -- the agent's part ----------------------------------------------------------------------

    async def _pause(self) -> None:
        before = self._entries[max(0, self._at - 1)]
        seconds = (self._entries[self._at].at - before.at) / 1000 / self._speed
        await anyio.sleep(min(max(0.0, seconds), LONGEST_PAUSE))

    async def _say(self, entry: Entry) -> None:
        message = entry.message
        if entry.raw is not None:
            await self._send_stream.send(entry.raw.encode("utf-8", "replace") + b"\n")
        elif entry.method is not None:
            if entry.is_request and not self._effects and _has_effects(entry.method):
                self._left_out.add(entry.id)
            else:
                await self._send(self._names.now(message))
        elif entry.id in self._asked:
            body = self._names.now(message)
            if entry.id in self._new and "error" not in body:
                result = body.get("result")
                named = {"sessionId": self._new[entry.id]}
                body["result"] = {**named, **result} if is_object(result) else named
            await self._send({**body, "id": self._asked[entry.id]})
        elif message.get("id") is None:
            await self._send(message)  # an error that does not say to what
        # Any other answers what the client did not ask this time.

    async def _send(self, message: Message) -> None:
        await self._send_stream.send(encode(message))

    # -- the client's part ---------------------------------------------------------------------

    async def _hear(self) -> None:
        """Waits for the message whose turn it is, or for one of later on: then the play goes on there."""
        message = await self._take(lambda message: self._position(message) is not None)
        position = self._position(message)
        assert position is not None
        for index in range(self._at, position):
            entry = self._entries[index]
            if entry.sender == "agent" and entry.is_request:
                self._left_out.add(entry.id)
            elif entry.sender == "agent":
                await self._say(entry)
        self._at = position
        entry = self._entries[position]
        if entry.is_request:
            self._asked[entry.id] = message.get("id")
        if entry.method in STARTS:
            self._start(entry, message)

    def _start(self, entry: Entry, message: Message) -> None:
        self._names.started(entry.message.get("params"), message.get("params"))
        session_id = entry.field("params", "sessionId")
        if session_id is None and (answer := self._answers.get(entry.id)) is not None:
            session_id = answer.field("result", "sessionId")
        if message.get("method") in ("session/load", "session/resume"):
            params = message.get("params")
            self._names.learn("sessionId", session_id, params.get("sessionId") if is_object(params) else None)
        elif session_id is not None and entry.method != message.get("method"):
            self._new[entry.id] = session_id

    async def _hear_answer(self, entry: Entry) -> None:
        if entry.id in self._left_out:
            return
        ident = entry.id
        answer = await self._take(
            lambda message: "method" not in message and json.dumps(message.get("id")) == ident
        )
        result = answer.get("result")
        live = result.get("terminalId") if is_object(result) else None
        self._names.learn("terminalId", entry.field("result", "terminalId"), live)

    def _position(self, message: Message) -> int | None:
        """Where the record has such a message, from here on."""
        method = message.get("method")
        if method not in ORDERED:
            return None
        for index in range(self._at, len(self._entries)):
            entry = self._entries[index]
            if entry.sender != "client" or entry.method not in ORDERED:
                continue
            if entry.method == method or (entry.method in STARTS and method in STARTS):
                return index
            if method == "session/cancel":
                return None  # this one is for a turn that the record did not cancel
        return None

    async def _take(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message that is wanted; what the play never waits for is answered meanwhile."""
        for message in self._early:
            if wanted(message):
                self._early.remove(message)
                return message
        while True:
            message = await self._inbox.receive()
            if wanted(message):
                return message
            if "method" not in message or self._position(message) is not None:
                self._early.append(message)
            else:
                await self._aside(message)

    async def _aside(self, message: Message) -> None:
        """Answers a request that does not drive the play, from the record where it has such a one."""
        method = message.get("method")
        if not isinstance(method, str) or "id" not in message:
            return
        answers = self._asides.get(method)
        body: Message
        if answers:
            answer = answers.popleft() if len(answers) > 1 else answers[0]
            recorded = answer.message if answer else {}
            body = {key: self._names.now(recorded[key]) for key in ("result", "error") if key in recorded}
            body = body or {"result": {}}
        elif method == "session/close":
            body = {"result": {}}
        elif method in ORDERED:
            body = {"error": {"code": INTERNAL_ERROR, "message": f"The recording has no further {method}"}}
        else:
            body = {"error": {"code": METHOD_NOT_FOUND, "message": f"The recording has no {method}"}}
        await self._send({"jsonrpc": "2.0", "id": message["id"], **body})

    # -- reading -------------------------------------------------------------------------------

    async def _read(self, tasks: TaskGroup) -> None:
        reader = LineReader(_ignore)
        try:
            while True:
                for line in reader.feed(await self._receive_stream.receive()):
                    if (message := decode(line, _ignore)) is not None:
                        await self._arrived.send(message)
        except (anyio.EndOfStream, OSError):
            tasks.cancel_scope.cancel()


def _has_effects(method: str) -> bool:
    return method == "fs/write_text_file" or method.startswith("terminal/")


def _ignore(fault: Fault) -> None:
    logger.warning("the client's fault: %s: %s", fault.code, fault.message)


async def _play(entries: Sequence[Entry], speed: float, effects: bool) -> None:
    await Replay(entries, StdoutStream(), StdinStream(), speed=speed, effects=effects).run()


def replay_main(arguments: list[str]) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(
        prog="acp-editor replay",
        description="An ACP agent on stdin and stdout that plays a recorded conversation. What the agent "
        "asked for it asks for again: files are written and commands run, so play what you do not trust "
        "with --no-effects.",
    )
    parser.add_argument("file", type=Path, help="the traffic, one JSON object a line")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, help="how much faster than it was (1), or inf for no pauses"
    )
    parser.add_argument(
        "--no-effects", action="store_true", help="leave out the files that it wrote and its terminals"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    try:
        entries = load(options.file)
    except (OSError, NotARecording) as error:
        print(f"acp-editor replay: {error}", file=sys.stderr)
        return 2
    anyio.run(_play, entries, options.speed, not options.no_effects)
    return 0


def _speed(text: str) -> float:
    speed = float(text)
    if not speed > 0:
        raise argparse.ArgumentTypeError("has to be more than 0")
    return speed


if __name__ == "__main__":
    sys.exit(replay_main(sys.argv[1:]))
