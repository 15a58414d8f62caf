"""Recorded sessions of real agents, played as a running agent's traffic would be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from acp_editor.acp import v1
from acp_editor.acp.host import Host
from acp_editor.acp.incoming import Incoming
from acp_editor.acp.negotiate import spoken
from acp_editor.acp.rpc import RpcError
from acp_editor.acp.turns import Turn
from acp_editor.core.model import (
    AgentInfo,
    ConfigUpdate,
    Fault,
    ModeUpdate,
    Replay,
    UnknownUpdate,
    Update,
)
from acp_editor.core.session import Session

CAPTURES = Path(__file__).parent / "data/captures"
NAMES = sorted(path.stem for path in CAPTURES.glob("*.ndjson"))

STARTS = {"session/new", "session/load", "session/resume", "session/fork"}

Json = Any


def messages(name: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every JSON-RPC message of a record, with "c2a" for ours and "a2c" for the agent's."""
    for line in (CAPTURES / f"{name}.ndjson").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if isinstance(entry.get("msg"), dict):
            yield entry["dir"], entry["msg"]


class Recording:
    """What becomes of a recorded conversation in `Incoming`, `Turns` and `Session`."""

    def __init__(self, name: str) -> None:
        self.sessions: dict[str, Session] = {}
        self.faults: list[Fault] = []
        self.unknown: list[UnknownUpdate] = []
        self.silent: list[Json] = []
        """Notifications of which nothing came, neither an update nor a fault."""
        self.info = AgentInfo(protocol=1)
        self.dialect: Any = v1
        self._asked: dict[Json, dict[str, Json]] = {}
        self._turns: dict[Json, Turn] = {}
        self._permissions: dict[Json, str] = {}
        self._heard = 0
        self._incoming = Incoming(cast("Host", self))
        for direction, message in messages(name):
            if direction == "c2a":
                self._sent(message)
            else:
                self._received(message)

    @property
    def session(self) -> Session:
        (session,) = self.sessions.values()
        return session

    def codes(self) -> set[str]:
        return {fault.code for fault in self.faults}

    # -- the host --------------------------------------------------------------------------------

    def session_update(self, session_id: str, update: Update) -> None:
        self._heard += 1
        session = self.sessions.setdefault(session_id, Session(session_id, "agent", "/ws/demo"))
        session.apply(update)
        self.faults += session.take_faults()
        if isinstance(update, UnknownUpdate):
            self.unknown.append(update)

    def fault(self, fault: Fault) -> None:
        self._heard += 1
        self.faults.append(fault)

    # -- the wire --------------------------------------------------------------------------------

    def _sent(self, message: dict[str, Json]) -> None:
        params = message.get("params")
        match message.get("method"):
            case None:
                if session_id := self._permissions.pop(message.get("id"), None):
                    self._incoming.turns.settled(session_id)
                return
            case "session/prompt":
                begun = self._incoming.turns.begin(params["sessionId"], params.get("prompt", []))
                self._turns[message["id"]] = begun
            case "session/load":
                self.session_update(params["sessionId"], Replay(True))
            case _:
                pass
        if "id" in message:
            self._asked[message["id"]] = message

    def _received(self, message: dict[str, Json]) -> None:
        method = message.get("method")
        if method == "session/request_permission":
            self._incoming.on_asked(method, message["params"])
            session_id = message["params"]["sessionId"]
            self._permissions[message["id"]] = session_id
            self._incoming.turns.asked(session_id)
        elif method is not None and "id" not in message:
            heard = self._heard
            self._incoming.on_notification(method, message.get("params"))
            if self._heard == heard and not method.startswith(("_", "$/")):
                self.silent.append(message)
        elif method is None and (request := self._asked.pop(message.get("id"), None)):
            self._answered(request, message)

    def _answered(self, request: dict[str, Json], answer: dict[str, Json]) -> None:
        method, params = request["method"], request.get("params")
        if method == "session/load":
            self.session_update(params["sessionId"], Replay(False))
        if turn := self._turns.pop(request["id"], None):
            self._turn_answered(turn, answer)
        elif "result" in answer:
            self._result(method, params, answer["result"])

    def _turn_answered(self, turn: Turn, answer: dict[str, Json]) -> None:
        turns = self._incoming.turns
        if error := answer.get("error"):
            turns.refused(turn, RpcError(error["code"], error["message"], error.get("data")))
        elif self.dialect is v1:
            turns.answered(turn, v1.decode_stop_reason(answer["result"], self.faults))
        else:
            turns.accepted(turn)

    def _result(self, method: str, params: Json, result: Json) -> None:
        if method == "initialize":
            self.dialect = spoken(result)
            self.info = self.dialect.decode_info(result, self.faults)
            self._incoming.speak(self.dialect)
        elif method in STARTS:
            session_id = params.get("sessionId") if method != "session/fork" else None
            start = self.dialect.decode_session(result, session_id, self.faults)
            for update in start.updates:
                self.session_update(start.session_id, update)
        elif method == "session/set_mode":
            self.session_update(params["sessionId"], ModeUpdate(params["modeId"]))
        elif method == "session/set_config_option":
            options = self.dialect.decode_options(result, self.faults)
            if options is not None:
                self.session_update(params["sessionId"], ConfigUpdate(options))
