#!/usr/bin/env python3
"""A scripted ACP agent for the cases beside it. Standard library only.

Usage: agent.py CASE.json LOG.ndjson CWD

Plays the list under "agent" in CASE.json over stdin/stdout, and writes every message
that it receives to LOG.ndjson, one JSON object a line.

Steps (each an object; {cwd} and {i} are replaced in every string):
  {"on": METHOD, "result": R | "error": E | "as": NAME}
        wait for that request or notification; answer it now, or keep its id as NAME
  {"reply": NAME, "result": R | "error": E}   answer a kept request
  {"update": U, "session": ID}                send a session/update (session "s1" if left out)
  {"notify": METHOD, "params": P}             send any notification
  {"request": METHOD, "params": P, "as": NAME, "id": ID}   send a request to the client
  {"await": NAME, "timeout": S}               wait for the answer to it
  {"raw": TEXT} or {"hex": HEX}               write these bytes to stdout as they are
  {"stderr": N} or {"stderr": TEXT}           write N bytes, or this text, to stderr
  {"sleep": MS}
  {"until": PATH}                             wait for that file, which the editor makes when it has seen enough
  {"write": PATH, "text": T | "hex": H, "truncate": true}, {"delete": PATH}, {"move": [A, B]}   change the disk
  {"repeat": N, "steps": [...]}
  {"capture": FILE, "writes": [{"call": ID, "path": P, "text": T}]}
        play the agent's side of a recorded session (FILE relative to the case's "captures" folder): each message in its turn,
        waiting for the client's own where the record has one; a write is done just before that call is reported completed
  {"exit": CODE} or {"kill": SIGNAL}
"initialize" and "session/new" are answered by default when the script does not name them.
After its last step the agent goes on answering those two, and leaves when stdin closes.
"""

import json
import os
import queue
import sys
import threading
import time

DEFAULTS = {
    "initialize": {
        "protocolVersion": 1,
        "agentCapabilities": {},
        "authMethods": [],
        "agentInfo": {"name": "scripted", "version": "1"},
    },
    "session/new": {"sessionId": "s1"},
}


def fill(value, names):
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace("{%s}" % name, str(text))
        return value
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if isinstance(value, dict):
        return {fill(key, names): fill(item, names) for key, item in value.items()}
    return value


def put(path, data, truncate=False):
    """Writes a file at once; with truncate as careless programs do: empty first, the text a little later."""
    if truncate:
        with open(path, "wb") as file:
            file.flush()
            time.sleep(0.15)
            file.write(data)
        return
    with open(path + ".part", "wb") as file:
        file.write(data)
    if os.path.exists(path):
        os.chmod(path + ".part", os.stat(path).st_mode)
    os.replace(path + ".part", path)


class Agent:
    def __init__(self, case, log):
        self.case, self.log = case, open(log, "a", encoding="utf-8")
        self.inbox, self.held, self.kept, self.sent, self.answers = queue.Queue(), [], {}, {}, {}
        self.lock = threading.Lock()
        if "again" in case and os.path.getsize(log):
            case["agent"] = case["again"]
        self.note({"scripted": "started", "pid": os.getpid()})
        self.defaults = {**DEFAULTS, **case.get("defaults", {})}
        self.scripted = set(self._scripted(case["agent"]))
        self.next_id, self.known = 1000, None
        threading.Thread(target=self._read, daemon=True).start()

    def _scripted(self, steps):
        for step in steps:
            if "on" in step:
                yield step["on"]
            yield from self._scripted(step.get("steps", []))

    def _read(self):
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                message = {"unreadable": line.decode("utf-8", "replace")}
            self.note(message)
            self.inbox.put(message)
        self.inbox.put(None)

    def out(self, data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def send(self, message):
        if "method" in message and "id" in message:
            self.note({"scripted": "asked", "request": message["id"], "of": message["method"]})
        self.out(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def take(self, wanted, timeout=60):
        """The next message for which wanted(message) holds; others wait their turn."""
        for index, message in enumerate(self.held):
            if wanted(message):
                return self.held.pop(index)
        end = time.monotonic() + timeout
        while True:
            try:
                message = self.inbox.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                self.note({"scripted": "timeout"})
                return None
            if message is None:
                os._exit(0)
            method = message.get("method")
            if method in self.defaults and method not in self.scripted and "id" in message:
                self.send({"id": message["id"], "result": fill(self.defaults[method], {"cwd": os.getcwd()})})
                continue
            if wanted(message):
                return message
            if (
                "id" in message
                and method is not None
                and method not in (self.scripted if self.known is None else self.known)
            ):
                self.send(
                    {
                        "id": message["id"],
                        **(
                            {"result": {}}
                            if method == "session/close"
                            else {"error": {"code": -32601, "message": "Method not found"}}
                        ),
                    }
                )
                continue
            self.held.append(message)

    def note(self, message):
        with self.lock:
            self.log.write(json.dumps(message) + "\n")
            self.log.flush()

    def play(self, steps, names):
        for raw in steps:
            self.step(fill({k: v for k, v in raw.items() if k != "steps"}, names), raw, names)

    def step(self, step, raw, names):
        if "on" in step:
            message = self.take(lambda m: m.get("method") == step["on"])
            if message and "id" in message:
                if "as" in step:
                    self.kept[step["as"]] = message["id"]
                elif "error" in step:
                    self.send({"id": message["id"], "error": step["error"]})
                else:
                    self.send({"id": message["id"], "result": step.get("result", {})})
        elif "reply" in step:
            body = {"error": step["error"]} if "error" in step else {"result": step.get("result")}
            self.send({"id": self.kept[step["reply"]], **body})
        elif "update" in step:
            self.send(
                {
                    "method": "session/update",
                    "params": {"sessionId": step.get("session", "s1"), "update": step["update"]},
                }
            )
        elif "notify" in step:
            self.send({"method": step["notify"], "params": step.get("params", {})})
        elif "request" in step:
            self.next_id += 1
            ident = step.get("id", self.next_id)
            self.sent[step.get("as", str(ident))] = ident
            self.send({"id": ident, "method": step["request"], "params": step.get("params", {})})
        elif "await" in step:
            ident = self.sent[step["await"]]
            self.answers[step["await"]] = self.take(
                lambda m: m.get("id") == ident and "method" not in m, step.get("timeout", 60)
            )
        elif "raw" in step:
            self.out(step["raw"].encode("utf-8", "surrogateescape"))
        elif "hex" in step and "write" not in step:
            self.out(bytes.fromhex(step["hex"]))
        elif "stderr" in step:
            said = step["stderr"]
            sys.stderr.write(said if isinstance(said, str) else "e" * said)
            sys.stderr.flush()
        elif "until" in step:
            end = time.monotonic() + 60
            while not os.path.exists(step["until"]) and time.monotonic() < end:
                time.sleep(0.02)
        elif "sleep" in step:
            time.sleep(step["sleep"] / 1000)
        elif "write" in step:
            os.makedirs(os.path.dirname(os.path.abspath(step["write"])), exist_ok=True)
            put(
                step["write"],
                bytes.fromhex(step["hex"]) if "hex" in step else step["text"].encode(),
                step.get("truncate"),
            )
        elif "delete" in step:
            os.unlink(step["delete"])
        elif "move" in step:
            os.replace(*step["move"])
        elif "repeat" in step:
            for i in range(int(step["repeat"])):
                self.play(raw["steps"], {**names, "i": i})
        elif "capture" in step:
            self.capture(step)
        elif "exit" in step:
            sys.stdout.flush()
            os._exit(step["exit"])
        elif "kill" in step:
            os.kill(os.getpid(), step["kill"])
        else:
            raise SystemExit(f"unknown step {step}")

    def capture(self, step):
        path = os.path.join(
            os.path.dirname(os.path.abspath(self.case["captures"])),
            os.path.basename(self.case["captures"]),
            step["capture"],
        )
        text = open(path, encoding="utf-8").read().replace("/ws/demo", os.getcwd())
        entries = [json.loads(line) for line in text.splitlines()]
        optional = {"authenticate", "session/set_mode", "session/set_config_option", "session/set_model"}
        self.known = {
            e["msg"]["method"] for e in entries if e["dir"] == "c2a" and "method" in e["msg"]
        } - optional
        self.defaults, ids, skipped = {}, {}, set()
        writes = list(step.get("writes", []))
        for entry in entries:
            message = entry.get("msg")
            if message is None:
                continue
            if entry["dir"] == "c2a":
                if message.get("method") in optional:
                    skipped.add(message["id"])
                elif "method" in message:
                    got = self.take(lambda m: m.get("method") == message["method"], 30)
                    if got and "id" in message:
                        ids[message["id"]] = got["id"]
                else:
                    self.take(lambda m: "method" not in m and m.get("id") == message["id"], 30)
            elif "method" not in message:
                if message.get("id") in ids:
                    self.send({**message, "id": ids[message["id"]]})
                elif message.get("id") not in skipped:
                    self.send(message)
            else:
                update = (message.get("params") or {}).get("update") or {}
                if update.get("status") == "completed":
                    for write in [w for w in writes if w["call"] == update.get("toolCallId")]:
                        put(write["path"], write["text"].encode())
                        writes.remove(write)
                self.send(message)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        case = json.load(file)
    agent = Agent(case, sys.argv[2])
    os.chdir(sys.argv[3])
    agent.play(case["agent"], {"cwd": os.getcwd()})
    agent.take(lambda message: False, timeout=3600)


if __name__ == "__main__":
    main()
