#!/usr/bin/env python3
"""Plays cases against an acp-editor server, as an editor would. Standard library only.

Usage: drive.py [--server "COMMAND ..."] [-v] CASE.json ...      (a folder: every case in it)

A case is one JSON object:
  "title", "about"   what it shows and why it matters
  "files"            {PATH: TEXT} the workspace (PATH: {"hex": H} for bytes); "git": true commits it to a fresh repository
  "settings"         the acpEditor section; the scripted agent is added to it as "scripted" and made the default
  "cannot_ask"       the editor answers a window/showMessageRequest with an error
  "editor_draws"     what the editor declares under experimental.acpEditor (default: everything; [] is a plain LSP editor)
  "agent"            what the scripted agent does: see agent.py
  "again"            what it does when it is started again (default: the same)
  "others"           {NAME: {"agent": [...], "defaults": {...}}} more scripted agents; "of": NAME in a step about what an agent got
  "folders"          more folders of the workspace, beside it
  "captures"         the folder of recorded sessions, relative to the case
  "editor"           what the editor does and sees, step by step:

  {"command": ID, "args": {...}, "result": PATH-INTO-RESULT, OP: VALUE}     and what it answered
  {"command": ID, "args": {...}, "as": NAME}     must succeed ("eventually": true: within 20 s); {"command": ..., "error": TEXT, "data": SUBSET} must fail with TEXT in its message
  {"open": PATH} {"close": PATH} {"save": PATH} {"type": PATH, "at": [line, char, line, char], "text": T}
  {"state": PATH-INTO-STATE, OP: VALUE, "timeout": S}       acpEditor.state is asked until this holds (20 s)
  {"still": PATH-INTO-STATE, OP: VALUE, "for": MS}          holds now and all the time for so long
  {"shown": PATH, "line": N}        the editor was asked to show it (any line if left out); {"not_shown": PATH}; {"shown_last": PATH, "line": N}
  {"notified": METHOD, "where": SUBSET}                     a notification whose params contain SUBSET; {"not_notified": ...}
  {"last": METHOD, "key": SUBSET, "at": PATH-INTO-PARAMS, OP: VALUE}   the last such notification
  {"count": METHOD, "at_most": N, "at_least": N, "where": SUBSET}
  {"agent_got": SUBSET} {"agent_not_got": SUBSET}           what reached the agent
  {"agent_got_count": SUBSET, "is": N} {"agent_got_in_order": [SUBSET, ...]}
  {"rate": METHOD, "keys": [PATH ...], "at_most": N}        sends in any one second for one key
  {"disk": PATH, "is": TEXT | "hex": H} {"buffer": PATH, "is": TEXT} {"no_file": PATH}
  {"answer": TITLE}                 what the next window/showMessageRequest is answered with (null: dismissed)
  {"asked": TEXT}                   a window/showMessageRequest that contains TEXT came
  {"settings": {...}}               the settings change
  {"withdrawn": METHOD}             the server took a request of that method back
  {"elicit": RESULT}                what the next acpEditor/elicit is answered with; {"refuse_edits": true | false}
  {"unanswered": ID, "args": {...}} a command whose answer is not waited for; {"drop_agent": NAME} from the settings
  {"together": [STEP, ...]}         commands that are sent at once, in this order
  {"hang_up": true, "within": S}    the editor closes its pipes without a word: server and agents have to be gone by then
  {"restart": true}                 the server is shut down and started again on the same workspace
  {"settle": "approve" | "reject"}  every request is answered so until the turn has ended
  {"sleep": MS} {"alive": true} {"tell": METHOD, "params": {...}} {"edit_disk": PATH, "text": T} {"shell": COMMAND}
  {"lenses": PATH, OP: VALUE} {"hints": PATH, OP: VALUE}    what textDocument/codeLens and inlayHint answer
  {"text": URI, "has": T}           workspace/textDocumentContent of that URI; "$NAME.key" takes it from a command's result

  OP: "is" equal · "has" contains this subset (in a SUBSET the string "~x" means "contains x") · "lacks" · "absent" true · "size" n · "any_of" [...]
  PATH-INTO-STATE: sessions[0].toolCalls[toolCallId=c1].locations[-1].range.start.line
  {cwd}, {uri:PATH} and {sid} are replaced in every string.

The editor keeps open documents, applies edits with versions, and reloads a clean document when its file changes on disk.
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ALL = ["decorations", "permissions", "toolCalls", "changes", "status", "session", "save"]
MISSING = object()
PATIENCE = 20  # seconds for what has to come true, on a busy machine
ANSWER = 60  # seconds for an answer; the first one waits for an agent to start


class Failed(Exception):
    pass


def dig(value, path):
    """The value at a path such as a.b[0].c[id=x]; MISSING where there is none."""
    for key, index in re.findall(r"([A-Za-z_$][\w$]*)|\[([^\]]*)\]", path):
        if value is MISSING or value is None:
            return MISSING
        if key:
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        elif re.fullmatch(r"-?\d+", index):
            try:
                value = value[int(index)]
            except (IndexError, KeyError, TypeError):
                return MISSING
        else:
            name, _, wanted = index.partition("=")
            value = next((item for item in value if str(item.get(name)) == wanted), MISSING)
    return value


def contains(value, wanted):
    """wanted is a part of value: dicts by key, lists by some element for each, "~text" by substring, the rest by equality."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            k in value and contains(value[k], v) for k, v in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(value, list) and all(any(contains(item, w) for item in value) for w in wanted)
    if isinstance(wanted, str) and wanted.startswith("~"):
        return isinstance(value, str) and wanted[1:] in value
    return value == wanted


def holds(value, step):
    if "is" in step:
        return value is not MISSING and value == step["is"]
    if "has" in step:
        if isinstance(step["has"], str):
            return isinstance(value, str) and step["has"] in value
        return value is not MISSING and contains(value, step["has"])
    if "lacks" in step:
        return value is MISSING or not contains(value, step["lacks"])
    if "absent" in step:
        return (value is MISSING or value in (None, [], {}, "")) == step["absent"]
    if "size" in step:
        return value is not MISSING and value is not None and len(value) == step["size"]
    if "any_of" in step:
        return value in step["any_of"]
    raise Failed(f"no check in {step}")


class Editor:
    """One LSP client over a server's stdin and stdout."""

    def __init__(self, case, server, root, verbose):
        self.case, self.server, self.root, self.verbose = case, server, root, verbose
        self.cwd = root / "ws"
        self.log = root / "agent.ndjson"
        self.docs, self.shown, self.notes, self.questions, self.answers = {}, [], [], [], []
        self.results, self.pending, self.next_id, self.sid = {}, {}, 0, ""
        self.watch, self.wrong = [], []
        self.elicits, self.refuse_edits, self.hung_up = [], False, False
        self.asked, self.withdrawn = {}, []
        self.roots = [self.cwd, *(root / name for name in case.get("folders", []))]

    # -- plumbing ---------------------------------------------------------------
    async def start(self):
        home = self.root / "home"
        env = {
            **os.environ,
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
        }
        home.mkdir(exist_ok=True)
        self.stderr = open(self.root / "server.stderr", "ab")
        self.process = await asyncio.create_subprocess_exec(
            *self.server,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self.stderr,
            cwd=self.cwd,
            env=env,
            limit=2**30,
        )
        self.reader = asyncio.create_task(self.read())
        self.reloader = asyncio.create_task(self.reload())
        draws = dict.fromkeys(self.case.get("editor_draws", ALL), True)
        result = await self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.cwd.as_uri(),
                "workspaceFolders": [{"uri": p.as_uri(), "name": p.name} for p in self.roots],
                "clientInfo": {"name": "scripted-editor", "version": "1"},
                "initializationOptions": {"acpEditor": self.settings()},
                "capabilities": {
                    "general": {"positionEncodings": self.case.get("encodings", ["utf-16"])},
                    "window": {
                        "showDocument": {"support": True},
                        "showMessage": {},
                        "workDoneProgress": True,
                    },
                    "workspace": {
                        "applyEdit": True,
                        "configuration": True,
                        "didChangeConfiguration": {"dynamicRegistration": True},
                        "didChangeWatchedFiles": {"dynamicRegistration": True},
                        "executeCommand": {},
                        "workspaceFolders": True,
                        "workspaceEdit": {
                            "documentChanges": True,
                            "resourceOperations": ["create", "rename", "delete"],
                        },
                        "textDocumentContent": {"dynamicRegistration": True},
                        "codeLens": {"refreshSupport": True},
                        "inlayHint": {"refreshSupport": True},
                    },
                    "textDocument": {
                        "synchronization": {"didSave": True},
                        "codeLens": {},
                        "codeAction": {},
                        "inlayHint": {},
                        "hover": {},
                    },
                    **({"experimental": {"acpEditor": draws}} if draws else {}),
                },
            },
            timeout=ANSWER,
        )
        self.commands = dig(result, "capabilities.executeCommandProvider.commands")
        self.tell("initialized", {})

    async def stop(self):
        for task in (self.reloader,):
            task.cancel()
        if self.hung_up:
            self.stderr.close()
            return 0
        try:
            await self.ask("shutdown", None, timeout=ANSWER)
            self.tell("exit", None)
            await asyncio.wait_for(self.process.wait(), PATIENCE)
            code = self.process.returncode
        except (TimeoutError, Failed, ConnectionError, BrokenPipeError):
            code = "killed"
            if self.process.returncode is None:
                self.process.kill()
                await self.process.wait()
        self.reader.cancel()
        self.stderr.close()
        return code

    def settings(self):
        own = json.loads(json.dumps(self.case.get("settings", {})))
        agents = own.setdefault("agents", {})
        agents.setdefault(
            "scripted",
            {
                "command": sys.executable,
                "args": [str(HERE / "agent.py"), str(self.root / "case.json"), str(self.log), str(self.cwd)],
            },
        )
        agents["scripted"].update(self.case.get("agent_entry", {}))
        for name in self.case.get("others", {}):
            agents[name] = {
                "command": sys.executable,
                "args": [
                    str(HERE / "agent.py"),
                    str(self.root / f"{name}.json"),
                    str(self.root / f"{name}.ndjson"),
                    str(self.cwd),
                ],
            }
        own.setdefault("agent", "scripted")
        return own

    async def read(self):
        stream = self.process.stdout
        while True:
            size = None
            while line := await stream.readline():
                if line in (b"\r\n", b"\n"):
                    break
                name, _, value = line.decode("ascii", "replace").partition(":")
                if name.lower() == "content-length":
                    size = int(value)
                elif name.lower() != "content-type":
                    self.wrong.append(f"the server wrote to its stdout: {line[:80]!r}")
            else:
                break
            if size is None:
                continue
            await self.receive(json.loads(await stream.readexactly(size)))
        for future in self.pending.values():
            if not future.done():
                future.set_exception(Failed("the server closed its stdout"))

    async def receive(self, message):
        if self.verbose:
            print("  <-", json.dumps(message)[:400], file=sys.stderr)
        method, ident = message.get("method"), message.get("id")
        if method is None:
            future = self.pending.pop(ident, None)
            if future and not future.done():
                future.set_result(message)
        elif method == "$/cancelRequest":
            self.withdrawn.append(self.asked.get((message.get("params") or {}).get("id")))
        elif ident is None:
            self.notes.append((time.monotonic(), method, message.get("params")))
        elif method in ("window/showMessageRequest", "acpEditor/elicit"):
            asyncio.create_task(self.respond(ident, method, message))
        else:
            await self.respond(ident, method, message)

    async def respond(self, ident, method, message):
        self.asked[ident] = method
        try:
            self.write({"id": ident, "result": await self.serve(method, message.get("params") or {})})
        except NotImplementedError:
            self.write({"id": ident, "error": {"code": -32601, "message": method}})
        except Exception as error:
            self.wrong.append(f"{method} could not be served: {error!r}")
            self.write({"id": ident, "error": {"code": -32603, "message": repr(error)}})

    async def serve(self, method, params):
        if method == "workspace/configuration":
            return [
                self.settings()
                if item.get("section") == "acpEditor"
                else dig({"acpEditor": self.settings()}, item.get("section") or "")
                for item in params["items"]
            ]
        if method == "window/showDocument":
            line = dig(params, "selection.start.line")
            self.shown.append((params["uri"], None if line is MISSING else line, params.get("takeFocus")))
            return {"success": True}
        if method == "window/showMessageRequest" and not self.case.get("cannot_ask"):
            self.questions.append(params)
            while not self.answers:
                await asyncio.sleep(0.02)
            title = self.answers.pop(0)
            return next((a for a in params.get("actions") or [] if a["title"] == title), None)
        if method == "workspace/applyEdit":
            return {"applied": False} if self.refuse_edits else self.apply(params["edit"])
        if method == "acpEditor/elicit":
            self.questions.append(params)
            while not self.elicits:
                await asyncio.sleep(0.02)
            return self.elicits.pop(0)
        if method == "acpEditor/runInTerminal":
            self.questions.append(params)
            return None
        if method == "acpEditor/saveDocument":
            self.save(params["uri"])
            return None
        if method in (
            "client/registerCapability",
            "client/unregisterCapability",
            "window/workDoneProgress/create",
            "workspace/codeLens/refresh",
            "workspace/inlayHint/refresh",
            "workspace/diagnostic/refresh",
            "workspace/textDocumentContent/refresh",
        ):
            for item in params.get("registrations", []):
                if item["method"] == "workspace/didChangeWatchedFiles":
                    self.watch.append(item)
            return None
        raise NotImplementedError(method)

    def write(self, message):
        if self.verbose:
            print("  ->", json.dumps(message)[:400], file=sys.stderr)
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def tell(self, method, params):
        self.write({"method": method, **({} if params is None else {"params": params})})

    async def ask(self, method, params, timeout=ANSWER, error=False):
        self.next_id += 1
        ident, future = self.next_id, asyncio.get_running_loop().create_future()
        self.pending[ident] = future
        self.write({"id": ident, "method": method, **({} if params is None else {"params": params})})
        try:
            message = await asyncio.wait_for(future, timeout)
        except TimeoutError:
            raise Failed(f"no answer to {method} in {timeout} s") from None
        if error:
            return message.get("error")
        if "error" in message:
            raise Failed(f"{method}: {message['error']}")
        return message.get("result")

    async def command(self, name, args=None, **more):
        return await self.ask(
            "workspace/executeCommand", {"command": name, "arguments": [] if args is None else [args]}, **more
        )

    # -- documents ----------------------------------------------------------------
    def uri(self, path):
        return (self.cwd / path).as_uri()

    def path(self, uri):
        from urllib.parse import unquote, urlsplit

        return pathlib.Path(unquote(urlsplit(uri).path))

    def offset(self, text, position):
        lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
        start = sum(map(len, lines[: position["line"]]))
        rest, units = (lines[position["line"]] if position["line"] < len(lines) else ""), 0
        for index, char in enumerate(rest):
            if units >= position["character"] or char in "\r\n":
                return start + index
            units += 2 if ord(char) > 0xFFFF else 1
        return start + len(rest.rstrip("\r\n")) if rest.endswith(("\r", "\n")) else start + len(rest)

    def edited(self, text, edits):
        spans = sorted(
            (
                (
                    self.offset(text, e["range"]["start"]),
                    self.offset(text, e["range"]["end"]),
                    i,
                    e["newText"],
                )
                for i, e in enumerate(edits)
            ),
            reverse=True,
        )
        for start, end, _, new in spans:
            text = text[:start] + new + text[end:]
        return text

    def apply(self, edit):
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": u, "version": None}, "edits": e}
            for u, e in (edit.get("changes") or {}).items()
        ]
        for change in changes:
            if "edits" in change:
                doc, version = (
                    self.docs.get(change["textDocument"]["uri"]),
                    change["textDocument"].get("version"),
                )
                if doc and version is None:
                    self.wrong.append("an open document was edited without its version")
                if doc and version is not None and version != doc["version"]:
                    return {"applied": False, "failureReason": "the document has changed"}
        for change in changes:
            kind = change.get("kind")
            if kind == "create":
                self.path(change["uri"]).parent.mkdir(parents=True, exist_ok=True)
                self.path(change["uri"]).touch()
            elif kind == "rename":
                self.path(change["oldUri"]).rename(self.path(change["newUri"]))
            elif kind == "delete":
                self.path(change["uri"]).unlink(missing_ok=True)
                if doc := self.docs.pop(change["uri"], None):
                    self.tell("textDocument/didClose", {"textDocument": {"uri": change["uri"]}})
            else:
                uri = change["textDocument"]["uri"]
                if uri not in self.docs:  # an editor opens what it edits
                    self.open(uri)
                self.replace(uri, self.edited(self.docs[uri]["text"], change["edits"]), dirty=True)
        return {"applied": True}

    def open(self, uri):
        path = self.path(uri)
        text = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
        self.docs[uri] = {"text": text, "version": 1, "dirty": False, "disk": text}
        self.tell(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "plaintext", "version": 1, "text": text}},
        )

    def replace(self, uri, text, dirty):
        doc = self.docs[uri]
        doc.update(text=text, version=doc["version"] + 1, dirty=dirty)
        self.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": doc["version"]}, "contentChanges": [{"text": text}]},
        )

    def save(self, uri):
        doc = self.docs[uri]
        self.path(uri).write_bytes(doc["text"].encode())
        doc.update(dirty=False, disk=doc["text"])
        self.tell("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def reload(self):
        """What an editor does when a file changes under it, and the file events that it sends."""
        seen = {}
        while True:
            await asyncio.sleep(0.05)
            now = {}
            for folder, dirs, files in os.walk(self.cwd):
                dirs[:] = [d for d in dirs if d != ".git"]
                for name in files:
                    path = pathlib.Path(folder, name)
                    try:
                        now[path.as_uri()] = (path.stat().st_mtime_ns, path.stat().st_size)
                    except OSError:
                        pass
            if seen and self.watch:
                events = (
                    [{"uri": u, "type": 1} for u in now.keys() - seen.keys()]
                    + [{"uri": u, "type": 2} for u in now.keys() & seen.keys() if now[u] != seen[u]]
                    + [{"uri": u, "type": 3} for u in seen.keys() - now.keys()]
                )
                if events:
                    self.tell("workspace/didChangeWatchedFiles", {"changes": events})
            seen = now or {"": 0}
            for uri, doc in list(self.docs.items()):
                try:
                    text = self.path(uri).read_bytes().decode("utf-8", "replace")
                except OSError:
                    continue
                if text != doc["disk"]:
                    doc["disk"] = text
                    if not doc["dirty"] and text != doc["text"]:
                        self.replace(uri, text, dirty=False)

    # -- steps ----------------------------------------------------------------------
    def fill(self, value):
        if isinstance(value, str):
            value = value.replace("{cwd}", str(self.cwd)).replace("{sid}", self.sid)
            value = re.sub(r"\{uri:([^}]*)\}", lambda m: self.uri(m[1]), value)
            if match := re.fullmatch(r"\$(\w+)(?:\.(.+))?", value):
                return dig(self.results[match[1]], match[2]) if match[2] else self.results[match[1]]
            return value
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        return value

    def agent_log(self, name=None):
        log = self.root / f"{name}.ndjson" if name else self.log
        if not log.exists():
            return []
        lines = log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n") and line.strip()]

    def pids(self):
        names = [None, *self.case.get("others", {})]
        return [m["pid"] for n in names for m in self.agent_log(n) if m.get("scripted") == "started"]

    async def hang_up(self, seconds):
        """What an editor that crashes leaves behind: closed pipes."""
        self.hung_up = True
        self.reloader.cancel()
        self.reader.cancel()
        self.process.stdin.close()
        self.process._transport.get_pipe_transport(1).close()
        end = time.monotonic() + seconds
        while left := [pid for pid in [self.process.pid, *self.pids()] if alive(pid)]:
            if time.monotonic() > end:
                raise Failed(f"left running {seconds} s after the editor was gone: {left}")
            await asyncio.sleep(0.03)

    async def until(self, check, what, step):
        end, last = time.monotonic() + step.get("timeout", PATIENCE), None
        while True:
            last = await check() if asyncio.iscoroutinefunction(check) else check()
            if last is True:
                return
            if time.monotonic() > end:
                raise Failed(f"{what}: {last if last is not False else 'never'}")
            await asyncio.sleep(0.03)

    async def play(self, raw):
        step = self.fill(raw)
        if "command" in step:
            if "error" in step:
                error = await self.command(step["command"], step.get("args"), error=True)
                if not error or step["error"].lower() not in error["message"].lower():
                    raise Failed(f"wanted an error with {step['error']!r}, got {error}")
                if "data" in step and not contains(error.get("data"), step["data"]):
                    raise Failed(f"wanted an error with the data {step['data']}, got {error}")
            else:
                end = time.monotonic() + PATIENCE
                while True:
                    try:
                        result = await self.command(
                            step["command"], step.get("args"), timeout=step.get("timeout", ANSWER)
                        )
                        break
                    except Failed:
                        if not step.get("eventually") or time.monotonic() > end:
                            raise
                    await asyncio.sleep(0.05)
                self.results[step.get("as", "last")] = result
                if "result" in step:
                    value = dig(result, step["result"])
                    if not holds(value, step):
                        shown = "missing" if value is MISSING else json.dumps(value)[:600]
                        raise Failed(f"{step['command']} answered at {step['result']!r}: {shown}")
                if isinstance(result, dict) and "sessionId" in result:
                    self.sid = result["sessionId"]
        elif "open" in step:
            self.open(self.uri(step["open"]))
        elif "close" in step:
            self.docs.pop(self.uri(step["close"]))
            self.tell("textDocument/didClose", {"textDocument": {"uri": self.uri(step["close"])}})
        elif "save" in step:
            self.save(self.uri(step["save"]))
        elif "type" in step:
            uri, (l1, c1, l2, c2) = self.uri(step["type"]), step["at"]
            change = {
                "range": {"start": {"line": l1, "character": c1}, "end": {"line": l2, "character": c2}},
                "newText": step["text"],
            }
            self.replace(uri, self.edited(self.docs[uri]["text"], [change]), dirty=True)
        elif "state" in step:

            async def check():
                value = dig(await self.command("acpEditor.state"), step["state"])
                return (
                    holds(value, step)
                    or f"{step['state']} was {'missing' if value is MISSING else json.dumps(value)[:600]}"
                )

            await self.until(check, json.dumps(raw), step)
        elif "still" in step:
            end = time.monotonic() + step.get("for", 500) / 1000
            while True:
                value = dig(await self.command("acpEditor.state"), step["still"])
                if not holds(value, step):
                    raise Failed(
                        f"{json.dumps(raw)}: became {'missing' if value is MISSING else json.dumps(value)[:600]}"
                    )
                if time.monotonic() > end:
                    break
                await asyncio.sleep(0.05)
        elif "shown" in step:
            uri = self.uri(step["shown"])
            await self.until(
                lambda: (
                    any(u == uri and ("line" not in step or l == step["line"]) for u, l, _ in self.shown)
                    or str(self.shown[-5:])
                ),
                json.dumps(raw),
                step,
            )
            if any(focus for u, _, focus in self.shown if u == uri):
                raise Failed(f"{step['shown']} was shown with focus taken")
        elif "shown_last" in step:
            uri = self.uri(step["shown_last"])
            await self.until(
                lambda: (
                    (
                        bool(self.shown)
                        and self.shown[-1][0] == uri
                        and ("line" not in step or self.shown[-1][1] == step["line"])
                    )
                    or str(self.shown[-3:])
                ),
                json.dumps(raw),
                step,
            )
        elif "not_shown" in step:
            uri = self.uri(step["not_shown"])
            if any(u == uri and ("line" not in step or l == step["line"]) for u, l, _ in self.shown):
                raise Failed(f"{step['not_shown']} was shown")
        elif "notified" in step:
            await self.until(
                lambda: (
                    any(
                        m == step["notified"] and contains(p, step.get("where", {})) for _, m, p in self.notes
                    )
                    or str([p for _, m, p in self.notes if m == step["notified"]][-2:])[:800]
                ),
                json.dumps(raw),
                step,
            )
        elif "last" in step:

            def check():
                found = [
                    p for _, m, p in self.notes if m == step["last"] and contains(p, step.get("key", {}))
                ]
                value = dig(found[-1], step["at"]) if found else MISSING
                return holds(value, step) or str(found[-1:])[:600]

            await self.until(check, json.dumps(raw), step)
        elif "not_notified" in step:
            if any(
                m == step["not_notified"] and contains(p, step.get("where", {})) for _, m, p in self.notes
            ):
                raise Failed(json.dumps(raw))
        elif "count" in step:
            count = sum(m == step["count"] and contains(p, step.get("where", {})) for _, m, p in self.notes)
            if not step.get("at_least", 0) <= count <= step.get("at_most", count):
                raise Failed(f"{json.dumps(raw)}: {count}")
        elif "agent_got" in step:
            await self.until(
                lambda: (
                    any(contains(m, step["agent_got"]) for m in self.agent_log(step.get("of")))
                    or str(self.agent_log(step.get("of"))[-3:])[:800]
                ),
                json.dumps(raw),
                step,
            )
        elif "agent_not_got" in step:
            if any(contains(m, step["agent_not_got"]) for m in self.agent_log(step.get("of"))):
                raise Failed(json.dumps(raw))
        elif "disk" in step:
            wanted = bytes.fromhex(step["hex"]) if "hex" in step else step["is"].encode()
            path = self.cwd / step["disk"]
            await self.until(
                lambda: (
                    (path.exists() and path.read_bytes() == wanted)
                    or (repr(path.read_bytes()[:600]) if path.exists() else "no file")
                ),
                json.dumps(raw),
                step,
            )
        elif "buffer" in step:
            uri = self.uri(step["buffer"])
            await self.until(
                lambda: (
                    self.docs.get(uri, {}).get("text") == step["is"]
                    or repr(self.docs.get(uri, {}).get("text"))[:600]
                ),
                json.dumps(raw),
                step,
            )
        elif "no_file" in step:
            await self.until(lambda: not (self.cwd / step["no_file"]).exists(), json.dumps(raw), step)
        elif "answer" in step:
            self.answers.append(step["answer"])
        elif "elicit" in step:
            self.elicits.append(step["elicit"])
        elif "withdrawn" in step:
            await self.until(
                lambda: step["withdrawn"] in self.withdrawn or str(self.withdrawn), json.dumps(raw), step
            )
        elif "refuse_edits" in step:
            self.refuse_edits = step["refuse_edits"]
        elif "together" in step:
            asked = [asyncio.create_task(self.play(one)) for one in step["together"]]
            await asyncio.gather(*asked)
        elif "unanswered" in step:
            self.waiting = asyncio.create_task(self.command(step["unanswered"], step.get("args")))
            self.waiting.add_done_callback(lambda task: task.cancelled() or task.exception())
        elif "drop_agent" in step:
            del self.case["others"][step["drop_agent"]]
            self.tell("workspace/didChangeConfiguration", {"settings": {"acpEditor": self.settings()}})
        elif "hang_up" in step:
            await self.hang_up(step.get("within", 5))
        elif "asked" in step:
            await self.until(
                lambda: (
                    any(step["asked"] in json.dumps(q, ensure_ascii=False) for q in self.questions)
                    or str(self.questions)[:600]
                ),
                json.dumps(raw),
                step,
            )
        elif "settings" in step:
            self.case["settings"] = {**self.case.get("settings", {}), **step["settings"]}
            self.tell("workspace/didChangeConfiguration", {"settings": {"acpEditor": self.settings()}})
        elif "restart" in step:
            await self.stop()
            self.docs.clear()
            await self.start()
        elif "edit_disk" in step:
            (self.cwd / step["edit_disk"]).write_bytes(step["text"].encode())
        elif "agent_got_count" in step:
            count = sum(contains(m, step["agent_got_count"]) for m in self.agent_log())
            if count != step["is"]:
                raise Failed(f"{json.dumps(raw)}: {count}")
        elif "agent_got_in_order" in step:
            places = [
                next((i for i, m in enumerate(self.agent_log()) if contains(m, wanted)), None)
                for wanted in step["agent_got_in_order"]
            ]
            if None in places or places != sorted(places):
                raise Failed(f"{json.dumps(raw)}: {places}")
        elif "rate" in step:
            times = {}
            for when, method, params in self.notes:
                if method == step["rate"]:
                    times.setdefault(json.dumps([dig(params, key) for key in step["keys"]]), []).append(when)
            worst = max(
                (sum(start <= t < start + 1 for t in ts) for ts in times.values() for start in ts[::10]),
                default=0,
            )
            if worst > step["at_most"]:
                raise Failed(f"{json.dumps(raw)}: {worst} in one second")
        elif "text" in step:
            result = await self.ask("workspace/textDocumentContent", {"uri": step["text"]})
            if not holds(dig(result, "text"), step):
                raise Failed(f"{json.dumps(raw)}: {json.dumps(result)[:600]}")
        elif "settle" in step:
            end = time.monotonic() + step.get("timeout", 40)
            while True:
                state = await self.command("acpEditor.state")
                if state["permissions"]:
                    await self.command("acpEditor.permission." + step["settle"])
                elif state["sessions"] and state["sessions"][0]["state"] == "idle":
                    break
                elif time.monotonic() > end:
                    raise Failed(f"the turn did not end: {json.dumps(state)[:600]}")
                await asyncio.sleep(0.05)
        elif "alive" in step:
            await self.command("acpEditor.state", timeout=PATIENCE)
        elif "tell" in step:
            self.tell(step["tell"], step.get("params", {}))
        elif "lenses" in step:

            async def check():
                found = await self.ask(
                    "textDocument/codeLens", {"textDocument": {"uri": self.uri(step["lenses"])}}
                )
                return holds(found, step) or json.dumps(found)[:600]

            await self.until(check, json.dumps(raw), step)
        elif "hints" in step:

            async def check():
                end = {"line": 100000, "character": 0}
                found = await self.ask(
                    "textDocument/inlayHint",
                    {
                        "textDocument": {"uri": self.uri(step["hints"])},
                        "range": {"start": {"line": 0, "character": 0}, "end": end},
                    },
                )
                return holds(found or [], step) or json.dumps(found)[:600]

            await self.until(check, json.dumps(raw), step)
        elif "shell" in step:
            subprocess.run(step["shell"], shell=True, cwd=self.cwd, check=True, stdout=subprocess.DEVNULL)
        elif "sleep" in step:
            await asyncio.sleep(step["sleep"] / 1000)
        else:
            raise Failed(f"unknown step {raw}")


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def run(path, server, verbose, keep):
    case = json.loads(path.read_text(encoding="utf-8")) if isinstance(path, pathlib.Path) else path
    if "captures" in case:
        case["captures"] = str((path.parent / case["captures"]).resolve())
    root = pathlib.Path(tempfile.mkdtemp(prefix="case-")).resolve()
    editor = Editor(case, server, root, verbose)
    for folder in editor.roots:
        folder.mkdir()
    for name, text in case.get("files", {}).items():
        target = editor.cwd / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode())
    for link, target in case.get("links", {}).items():
        (editor.cwd / link).symlink_to(target)
    if case.get("git"):
        git = ["git", "-C", str(editor.cwd), "-c", "user.name=case", "-c", "user.email=case@localhost"]
        for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            subprocess.run([*git, *args], check=True)
    (root / "case.json").write_text(json.dumps(case), encoding="utf-8")
    for name, other in case.get("others", {}).items():
        (root / f"{name}.json").write_text(json.dumps(other), encoding="utf-8")
    failed = None
    try:
        await editor.start()
        for index, step in enumerate(case["editor"]):
            try:
                await asyncio.wait_for(editor.play(step), 90)
            except Exception as error:
                raise Failed(
                    f"step {index}: {error!r}" if not isinstance(error, Failed) else f"step {index}: {error}"
                ) from None
    except Failed as error:
        failed = str(error)
    finally:
        code = await editor.stop()
        if failed is None and code != 0 and not case.get("any_exit"):
            failed = f"the server left with {code} after shutdown and exit"
        left = editor.pids()
        for _ in range(60):
            left = [pid for pid in left if alive(pid)]
            if not left:
                break
            await asyncio.sleep(0.05)
        if failed is None and left:
            failed = f"the agent was left running: {left}"
        if failed is None and editor.wrong:
            failed = editor.wrong[0]
    if failed is None or not keep:
        shutil.rmtree(root, ignore_errors=True)
    else:
        failed += f"  (kept in {root})"
    return case.get("title", getattr(path, "stem", "a case")), failed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default="acp-editor")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a case that fails")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    paths = [
        p for given in options.cases for p in (sorted(given.rglob("*.json")) if given.is_dir() else [given])
    ]
    bad = 0
    for path in paths:
        title, failed = asyncio.run(run(path, shlex.split(options.server), options.v, options.keep))
        print(
            f"{'FAIL' if failed else 'ok  '} {path.stem}: {title}" + (f"\n       {failed}" if failed else ""),
            flush=True,
        )
        bad += bool(failed)
    print(f"{len(paths) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
