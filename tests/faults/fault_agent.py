#!/usr/bin/env python3
"""An ACP agent that does everything wrong, on request and by seed. Standard library only.

Usage: fault_agent.py PLAN.json

PLAN: {"version": 1 | 2, "log": PATH, "load": bool, "resume": bool, "start": [ACT ...]}
What it receives goes to `log`, one JSON object a line; `start` is done before the first message is read.
A prompt's text is a JSON list of acts, each `[NAME, ARGUMENT ...]`; the turn ends after the last one.
The acts are the methods of `Acts`. Any other text is answered with "ok".
"""

from __future__ import annotations

import json
import os
import queue
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from typing import Any

SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject once", "kind": "reject_once"},
]
WAIT = 20.0
"""Seconds that an act waits for an answer; a fault must not hold up the tests for longer."""


class Wire:
    """Bytes out, messages in. `budget` is how many bytes it lives to write."""

    def __init__(self, log: str) -> None:
        self.log = open(log, "a", encoding="utf-8")  # noqa: SIM115
        self.inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.answers: dict[Any, dict[str, Any]] = {}
        self.answered = threading.Condition()
        self.budget: int | None = None
        self.lock = threading.Lock()
        self.next_id = 0

    def note(self, what: Any) -> None:
        with self.lock:
            self.log.write(json.dumps(what) + "\n")
            self.log.flush()

    def out(self, data: bytes) -> None:
        with self.lock:
            if self.budget is not None:
                if self.budget < len(data):
                    _write(data[: self.budget])
                    os.kill(os.getpid(), signal.SIGKILL)
                self.budget -= len(data)
            _write(data)

    def send(self, message: Any) -> None:
        self.out(json.dumps(message).encode() + b"\n")

    def request(self, method: str, params: Any) -> str:
        """Its id is one that nothing at random is equal to."""
        self.next_id += 1
        ident = f"r{self.next_id}"
        self.send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
        return ident

    def wait(self, ident: str, seconds: float = WAIT) -> dict[str, Any] | None:
        with self.answered:
            self.answered.wait_for(lambda: ident in self.answers, seconds)
            return self.answers.get(ident)

    def read(self) -> None:
        """A thread: answers are kept for those that wait, all else is for the main loop."""
        for line in sys.stdin.buffer:
            message = json.loads(line)
            self.note(message)
            if "method" in message:
                self.inbox.put(message)
            else:
                with self.answered:
                    self.answers[message.get("id")] = message
                    self.answered.notify_all()
        self.note({"fault": "stdin ended"})
        self.inbox.put(None)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


class Acts:
    """Each public method is one thing that goes wrong; `session` is the one that was prompted."""

    def __init__(self, wire: Wire, version: int) -> None:
        self.wire, self.version = wire, version
        self.session = "s1"
        self.mute: set[str] = set()
        self.stays = False

    # -- what an agent rightly says --

    def update(self, update: dict[str, Any], session: str | None = None) -> None:
        params = {"sessionId": session or self.session, "update": update}
        self.wire.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def say(self, text: str = "ok", message: str | None = None) -> None:
        chunk: dict[str, Any] = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text},
        }
        if message or self.version == 2:
            chunk["messageId"] = message or "m"
        self.update(chunk)

    def call(self, ident: str, **fields: Any) -> None:
        kind = "tool_call" if self.version == 1 else "tool_call_update"
        self.update({"sessionUpdate": kind, "toolCallId": ident, "title": ident, "kind": "edit", **fields})

    def text(self, text: str) -> list[dict[str, Any]]:
        return [{"type": "content", "content": {"type": "text", "text": text}}]

    def write(self, path: str, text: str) -> None:
        with open(path, "w") as file:
            file.write(text)

    # -- floods --

    def flood(self, count: int = 1000, calls: int = 50, size: int = 200) -> None:
        for number in range(count):
            self.call(f"c{number % calls}", status="in_progress", content=self.text("x" * size))

    def chunks(self, count: int = 1000, size: int = 1000, message: str | None = None) -> None:
        for number in range(count):
            self.say(f"{number} " + "y" * size, message)

    def many_messages(self, count: int = 1000, size: int = 100) -> None:
        for number in range(count):
            self.say("z" * size, f"m{number}")

    def growing(self, count: int = 50, step: int = 4000) -> None:
        """The whole output again with every update."""
        for number in range(count):
            self.call("growing", status="in_progress", rawOutput={"output": "o" * (number * step)})

    def many_calls(self, count: int = 1000, size: int = 1000) -> None:
        for number in range(count):
            self.call(f"many{number}", status="completed", content=self.text("c" * size))

    def sessions(self, count: int = 1000) -> None:
        for number in range(count):
            self.update({"sessionUpdate": "plan", "entries": []}, f"never-made-{number}")

    def heavy_sessions(self, count: int = 10, megabytes: int = 14, running: bool = False) -> None:
        """Sessions that nobody made, each full of messages; in version 2 they may seem to be at work."""
        for number in range(count):
            session = f"heavy{number}"
            if running:
                self.update({"sessionUpdate": "state_update", "state": "running"}, session)
            for message in range(megabytes):
                content = {"type": "text", "text": "h" * 1_000_000}
                chunk = {
                    "sessionUpdate": "agent_message_chunk",
                    "messageId": f"m{message}",
                    "content": content,
                }
                self.update(chunk, session)

    def terminal_output(self, count: int = 100, size: int = 10000, terminals: int = 1) -> None:
        """Output of terminals that the agent keeps itself, as version 2 has them."""
        for number in range(count):
            ident = f"t{number % terminals}"
            self.update(
                {"sessionUpdate": "terminal_output_chunk", "terminalId": ident, "data": "QUJD" * (size // 4)}
            )

    def notices(self, count: int = 1000) -> None:
        for number in range(count):
            notice = {"severity": "warning", "title": f"notice {number}"}
            self.update({"sessionUpdate": "notice", **notice})

    def stderr(self, size: int = 1_000_000) -> None:
        os.write(2, b"e" * size)

    def permissions(self, count: int = 1000, wait: bool = False) -> None:
        last = ""
        for number in range(count):
            ident = f"p{number}"
            if self.version == 1:
                self.call(ident, status="pending")
                params = {"sessionId": self.session, "toolCall": {"toolCallId": ident}, "options": OPTIONS}
            else:
                subject = {"type": "tool_call", "toolCall": {"toolCallId": ident, "kind": "edit"}}
                params = {
                    "sessionId": self.session,
                    "title": f"May I {number}?",
                    "subject": subject,
                    "options": OPTIONS,
                }
            last = self.wire.request("session/request_permission", params)
        if wait:
            self.wire.wait(last)

    def propose(self, path: str, hunks: int = 1000, context: int = 20, requests: int = 1) -> None:
        """Asks to apply a patch whose hunks go nearly anywhere in a file of two lines again and again."""
        lines = "".join(f" {'ba'[n % 2]}\n" for n in range(context))
        patch = "".join(f"@@ -1,{context} +1,{context + 1} @@\n{lines}+new\n" for _ in range(hunks))
        text = f"--- a/{path}\n+++ b/{path}\n{patch}@@ -1,3 +1,2 @@\n a\n-a\n b\n"
        change = {"path": os.path.abspath(path), "operation": "modify"}
        diff = {"type": "diff", "changes": [change], "patch": {"format": "git", "text": text}}
        for number in range(requests):
            call = {"toolCallId": f"patch{number}", "kind": "edit", "title": "patch", "content": [diff]}
            subject = {"type": "tool_call", "toolCall": call}
            params = {"title": "May I?", "subject": subject, "options": OPTIONS, "sessionId": self.session}
            self.wire.request("session/request_permission", params)

    # -- answers and messages that are none --

    def junk(self, seed: int = 0, count: int = 50) -> None:
        """Any JSON in any place, and any bytes."""
        chance = random.Random(seed)
        for _ in range(count):
            if chance.random() < 0.3:
                self.wire.out(chance.randbytes(chance.randrange(1, 200)) + b"\n")
            else:
                self.wire.send(self._wrong_message(chance))

    def _wrong_message(self, chance: random.Random) -> Any:
        methods = ["session/update", "session/request_permission", "fs/read_text_file", "fs/write_text_file"]
        methods += ["terminal/create", "terminal/output", "elicitation/complete", "$/cancel_request", "x", ""]
        kinds = ["tool_call", "tool_call_update", "agent_message_chunk", "plan", "available_commands_update"]
        kinds += ["current_mode_update", "terminal_update", "state_update", "usage_update", "nonsense"]
        names = ["toolCallId", "status", "content", "locations", "rawInput", "kind", "entries", "messageId"]
        names += ["path", "line", "outcome", "optionId", "options", "title", "_meta", "terminalId", "data"]
        message: dict[str, Any] = {"jsonrpc": "2.0"}
        if chance.random() < 0.6:
            message["method"] = chance.choice(methods)
        if chance.random() < 0.4:
            message["id"] = any_json(chance, 1)
        params: Any = any_json(chance, 3)
        if chance.random() < 0.7:
            update = {name: any_json(chance, 3) for name in chance.sample(names, 6)}
            update["sessionUpdate"] = chance.choice(kinds)
            params = {"sessionId": self.session, "update": update, **update}
        message[chance.choice(["params", "params", "params", "result", "error"])] = params
        return message

    def stray_answers(self, count: int = 20) -> None:
        """Answers to what was asked long ago, never, or by nobody."""
        for number in range(count):
            self.wire.send({"jsonrpc": "2.0", "id": number, "result": {"stopReason": "end_turn"}})
            self.wire.send({"jsonrpc": "2.0", "id": f"x{number}", "error": {"code": 1, "message": "?"}})

    def long_line(self, size: int = 1_000_000) -> None:
        self.call("long", rawInput={"text": "l" * size})

    def split(self, size: int = 3) -> None:
        """A message in pieces that cut its characters in two."""
        data = json.dumps({"jsonrpc": "2.0", "method": "_x", "params": "é漢😀"}, ensure_ascii=False).encode()
        for start in range(0, len(data), size):
            self.wire.out(data[start : start + size])
        self.wire.out(b"\n")

    def refuse(self, *methods: str) -> None:
        """These requests are never answered from now on."""
        self.mute.update(methods)

    # -- ends --

    def die_at(self, byte: int = 100) -> None:
        """Is killed once so many more bytes have been written, in mid message."""
        self.wire.budget = byte

    def exit(self, code: int = 1) -> None:
        os._exit(code)

    def hang(self) -> None:
        """Never comes back, not even when its stdin ends."""
        self.stays = True
        while True:
            time.sleep(600)

    def close_stdout(self) -> None:
        os.close(1)

    def close_stdin(self) -> None:
        """The reading thread keeps its copy; the pipe's reading end is gone for the client."""
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)

    def ignore_signals(self) -> None:
        self.stays = True
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)

    def children(self, count: int = 2, detached: bool = False) -> None:
        """Children that ignore SIGTERM and keep the pipes open; `detached` ones in groups of their own."""
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=detached)
            self.wire.note({"fault": "child", "pid": process.pid})

    def daemons(self, count: int = 1) -> None:
        """Grandchildren whose parent is gone, in sessions of their own, with other ends of the pipes."""
        for _ in range(count):
            program = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}],"
            program += " start_new_session=True, stdin=-3, stdout=-3, stderr=-3); print(p.pid)"
            made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
            self.wire.note({"fault": "child", "pid": int(made.stdout)})

    def terminals(self, count: int = 2, wait: bool = False) -> None:
        """Terminals of the client's whose commands ignore SIGTERM; never released."""
        idents = [
            self.wire.request(
                "terminal/create",
                {"sessionId": self.session, "command": sys.executable, "args": ["-c", SLEEPER]},
            )
            for _ in range(count)
        ]
        for ident in idents:
            self.wire.wait(ident)
        if wait:
            for _ in idents:
                self.wire.request("terminal/wait_for_exit", {"sessionId": self.session, "terminalId": "x"})

    def no_memory(self, megabytes: int = 300) -> None:
        """Less memory than it needs: it dies of something else than itself, later."""
        limit = megabytes << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    # -- files --

    def edit(self, path: str, text: str) -> None:
        self.call("edit", status="in_progress", locations=[{"path": os.path.abspath(path), "line": 1}])
        self.write(path, text)
        self.call_done("edit")

    def call_done(self, ident: str) -> None:
        self.update({"sessionUpdate": "tool_call_update", "toolCallId": ident, "status": "completed"})

    def keep_writing(self, path: str, seconds: float = 2.0) -> None:
        """Writes one file again and again, whatever the person does with it meanwhile."""
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            number += 1
            self.write(path, f"line {number}\n" * 3)
            time.sleep(0.005)
        self.wire.note({"fault": "wrote", "path": path, "text": f"line {number}\n" * 3})

    def write_by_client(self, path: str, text: str, count: int = 20) -> None:
        """Asks the client to write, many times at once."""
        for number in range(count):
            params = {
                "sessionId": self.session,
                "path": os.path.abspath(path),
                "content": f"{text}{number}\n",
            }
            self.wire.request("fs/write_text_file", params)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def wait_for(self, path: str) -> None:
        """Waits until a file is there: how a test says "go on"."""
        self.wire.note({"fault": "waiting"})
        end = time.monotonic() + 3 * WAIT
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.01)


def any_json(chance: random.Random, depth: int) -> Any:
    kinds = ["null", "bool", "int", "float", "text", "wide", "list", "dict"]
    match chance.choice(kinds if depth > 0 else kinds[:-2]):
        case "null":
            return None
        case "bool":
            return chance.random() < 0.5
        case "int":
            return chance.choice([0, -1, 1, 2**31, -(2**63), 10**30, chance.randrange(100)])
        case "float":
            return chance.choice([0.5, -0.0, 1e300, 2.0])
        case "text":
            return chance.choice(
                ["", "c1", "s1", "yes", "/", "../../x", "completed", "text", "diff", "end_turn"]
            )
        case "wide":
            return "".join(
                chr(chance.choice([0, 10, 27, 0x202E, 0xFEFF, 0xD800, 0x1F600, 65])) for _ in range(9)
            )
        case "list":
            return [any_json(chance, depth - 1) for _ in range(chance.randrange(4))]
        case _:
            names = ["type", "text", "content", "path", "oldText", "newText", "toolCallId", "kind", "x"]
            return {chance.choice(names): any_json(chance, depth - 1) for _ in range(chance.randrange(5))}


class Agent:
    def __init__(self, plan: dict[str, Any]) -> None:
        self.version: int = plan["version"]
        self.plan = plan
        self.wire = Wire(plan["log"])
        self.acts = Acts(self.wire, self.version)
        self.sessions = 0

    def run(self) -> None:
        self.wire.note({"fault": "started", "pid": os.getpid()})
        self.perform(self.plan.get("start", []))
        threading.Thread(target=self.wire.read, daemon=True).start()
        while True:
            message = self.wire.inbox.get()
            if message is None:
                if self.acts.stays:
                    self.acts.hang()
                os._exit(0)
            if message["method"] not in self.acts.mute and "id" in message:
                self.answer(message)

    def perform(self, acts: list[list[Any]]) -> None:
        for name, *arguments in acts:
            getattr(self.acts, name)(*arguments)

    def answer(self, message: dict[str, Any]) -> None:
        method, ident = message["method"], message["id"]
        params = message.get("params") or {}
        match method:
            case "initialize":
                self.reply(ident, self.about())
            case "session/new":
                self.sessions += 1
                self.reply(ident, {"sessionId": f"s{os.getpid()}-{self.sessions}"})
            case "session/load" | "session/resume":
                self.acts.session = params["sessionId"]
                self.reply(ident, {})
            case "session/prompt":
                self.acts.session = params["sessionId"]
                self.prompt(ident, params)
            case _:
                self.reply(ident, {})

    def prompt(self, ident: Any, params: dict[str, Any]) -> None:
        text = params["prompt"][0].get("text", "")
        acts = json.loads(text) if text.startswith("[[") else [["say", "ok"]]
        twice = ["answer_twice"] in acts
        late = next((act[1] for act in acts if act[0] == "answer_other_id"), 0)
        if self.version == 2:
            self.acts.update({"sessionUpdate": "state_update", "state": "running"})
            self.reply(ident, {})
        self.perform([act for act in acts if act[0] not in ("answer_twice", "answer_other_id", "never")])
        if ["never"] in acts:
            return
        if self.version == 2:
            idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
            for _ in range(2 if twice else 1):
                self.acts.update(idle)
        else:
            for _ in range(2 if twice else 1):
                self.reply(ident + late, {"stopReason": "end_turn"})

    def reply(self, ident: Any, result: Any) -> None:
        self.wire.send({"jsonrpc": "2.0", "id": ident, "result": result})

    def about(self) -> dict[str, Any]:
        info = {"name": "fault", "title": "Fault", "version": "1"}
        load, resume = self.plan.get("load", False), self.plan.get("resume", False)
        if self.version == 1:
            abilities: dict[str, Any] = {"loadSession": load}
            if resume:
                abilities["sessionCapabilities"] = {"resume": {}}
            return {
                "protocolVersion": 1,
                "agentInfo": info,
                "agentCapabilities": abilities,
                "authMethods": [],
            }
        session = {"prompt": {}, **({"resume": {}} if resume else {}), **({"load": {}} if load else {})}
        return {"protocolVersion": 2, "info": info, "capabilities": {"session": session}, "authMethods": []}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        Agent(json.load(source)).run()
