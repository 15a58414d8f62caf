"""What a recorded conversation says, read from its JSON alone and as plainly as can be.

Nothing of the package is used here: this is the other opinion that tests compare the real one with.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Json = Any


@dataclass
class Implied:
    """One session. `said` are (role, message id, text), the text of an id in one piece."""

    calls: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    said: list[list[Json]] = field(default_factory=list[list[Json]])
    prompts: list[str] = field(default_factory=list[str])
    plan: Json = None
    commands: list[str] = field(default_factory=list[str])
    options: dict[str, Json] = field(default_factory=dict[str, Json])
    categories: set[str] = field(default_factory=set[str])
    modes: dict[str, Json] = field(default_factory=dict[str, Json])
    usage: tuple[int, int] | None = None
    title: str | None = None
    notices: list[str] = field(default_factory=list[str])
    terminals: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    stop_reason: str | None = None
    error: Json = None
    running: bool = False
    before: Implied | None = None
    """What was known when history began to be played again."""

    def text(self, role: str) -> str:
        return "".join(text for said_by, _, text in self.said if said_by == role)

    def forget(self) -> None:
        """History is about to be played again."""
        self.before = replace(self)
        self.calls, self.said, self.prompts, self.terminals, self.plan = {}, [], [], {}, None

    def played(self) -> None:
        """It has been; an agent that told none of it has taken nothing away."""
        if self.before and not self.calls and not self.said:
            self.calls, self.said, self.prompts = self.before.calls, self.before.said, self.before.prompts
            self.terminals = self.before.terminals
            self.plan = self.plan or self.before.plan
        self.before = None


def implied(record: Iterator[tuple[str, dict[str, Json]]]) -> dict[str, Implied]:
    """The sessions of a record, by id."""
    sessions: dict[str, Implied] = {}
    version = 1
    asked: dict[Json, dict[str, Json]] = {}

    def session(session_id: str) -> Implied:
        return sessions.setdefault(session_id, Implied())

    for direction, message in record:
        method, params = message.get("method"), message.get("params")
        if direction == "c2a":
            if method is not None and "id" in message:
                asked[message["id"]] = message
            if method == "session/prompt":
                one = session(params["sessionId"])
                one.running, one.stop_reason, one.error = True, None, None
                one.prompts += [
                    block["text"] for block in params.get("prompt", ()) if block["type"] == "text"
                ]
            elif method == "session/load":
                session(params["sessionId"]).forget()
        elif method == "session/update":
            take_update(session(params["sessionId"]), params["update"], version)
        elif method == "session/request_permission":
            call = params.get("toolCall") or (params.get("subject") or {}).get("toolCall")
            if call:
                take_call(session(params["sessionId"]), call, version)
        elif method is None and message.get("id") in asked:
            request = asked.pop(message["id"])
            if request["method"] == "session/load":
                session(request["params"]["sessionId"]).played()
            if request["method"] == "initialize" and "result" in message:
                answer = message["result"]
                version = 2 if answer.get("protocolVersion") == 2 and "info" in answer else 1
            else:
                take_answer(session, request, message, version)
    return sessions


def take_answer(session: Any, request: dict[str, Json], message: dict[str, Json], version: int) -> None:
    params, result = request.get("params") or {}, message.get("result")
    known = params.get("sessionId") if isinstance(params, dict) else None
    match request["method"]:
        case "session/prompt":
            one = session(known)
            if "error" in message:
                one.running, one.stop_reason, one.error = False, None, message["error"]
            elif version == 1:
                one.running, one.stop_reason = False, result["stopReason"]
        case "session/new" | "session/fork" if result:
            take_options(session(result["sessionId"]), result)
        case "session/load" | "session/resume" | "session/set_config_option" if result:
            take_options(session(known), result)
        case "session/set_mode" if "error" not in message:
            take_mode(session(known), params["modeId"])
        case _:
            pass


def take_options(session: Implied, said: dict[str, Json]) -> None:
    if said.get("configOptions") is not None:
        session.options = {o.get("id", o.get("configId")): o["currentValue"] for o in said["configOptions"]}
        session.categories = {o.get("category") for o in said["configOptions"]}
    if said.get("availableCommands") is not None:
        session.commands = [command["name"] for command in said["availableCommands"]]
    for key, name in (("modes", "currentModeId"), ("models", "currentModelId")):
        if said.get(key):
            session.modes[key[:-1]] = said[key][name]


def take_mode(session: Implied, value: str) -> None:
    if "mode" in session.modes:
        session.modes["mode"] = value
    if "mode" in session.options:
        session.options["mode"] = value


def take_call(session: Implied, said: dict[str, Json], version: int) -> None:
    call = session.calls.setdefault(said["toolCallId"], {})
    for key, value in said.items():
        if key == "_meta" and value:
            call[key] = {k: v for k, v in {**call.get(key, {}), **value}.items() if v is not None}
        elif value is not None:
            call[key] = value
        elif version == 2:
            call.pop(key, None)


def take_update(session: Implied, update: dict[str, Json], version: int) -> None:
    kind = update["sessionUpdate"]
    match kind:
        case "tool_call" | "tool_call_update":
            take_call(session, update, version)
            take_meta_terminals(session, update.get("_meta") or {})
        case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk":
            speak(session, update, update["content"].get("text", ""), whole=False)
        case "user_message" | "agent_message":
            text = "".join(block.get("text", "") for block in update.get("content") or ())
            speak(session, update, text, whole=True)
        case "plan":
            session.plan = [(e["content"], e["priority"], e["status"]) for e in update["entries"]]
        case "available_commands_update":
            session.commands = [command["name"] for command in update["availableCommands"]]
        case "config_option_update":
            take_options(session, update)
        case "current_mode_update":
            take_mode(session, update["currentModeId"])
        case "usage_update":
            session.usage = (update["used"], update["size"])
        case "session_info_update":
            if "title" in update:
                session.title = update["title"]
        case "notice":
            session.notices.append(update["title"])
        case "state_update":
            session.running = update["state"] != "idle"
            if not session.running and "stopReason" in update:
                session.stop_reason = update["stopReason"]
        case "terminal_update":
            take_terminal(session, update)
        case _:
            raise AssertionError(f"say what {kind} means")


def speak(session: Implied, update: dict[str, Json], text: str, *, whole: bool) -> None:
    role = {"user": "user", "agent": "agent"}[update["sessionUpdate"].split("_")[0]]
    if "thought" in update["sessionUpdate"]:
        role = "thought"
    ident = update.get("messageId")
    for entry in session.said:
        if ident is not None and entry[:2] == [role, ident]:
            entry[2] = text if whole else entry[2] + text
            return
    session.said.append([role, ident, text])


def take_terminal(session: Implied, update: dict[str, Json]) -> None:
    terminal = session.terminals.setdefault(update["terminalId"], {"output": b"", "exit": None})
    if update.get("output"):
        terminal["output"] = base64.b64decode(update["output"]["data"])
    if update.get("exitStatus"):
        terminal["exit"] = update["exitStatus"].get("exitCode")


def take_meta_terminals(session: Implied, meta: dict[str, Json]) -> None:
    """Version 1 has no terminals of an agent's own; some tell of them in `_meta`."""
    if info := meta.get("terminal_info"):
        session.terminals.setdefault(info["terminal_id"], {"output": b"", "exit": None})
    for key in ("terminal_output", "terminal_output_delta"):
        part = meta.get(key)
        if part and part["terminal_id"] in session.terminals:
            session.terminals[part["terminal_id"]]["output"] += part["data"].encode()
    if end := meta.get("terminal_exit"):
        session.terminals.setdefault(end["terminal_id"], {"output": b"", "exit": None})
        session.terminals[end["terminal_id"]]["exit"] = end.get("exit_code")
