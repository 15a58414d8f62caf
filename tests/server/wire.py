"""A scripted editor's end of the server's pipes, and how it answers what the server asks."""

import asyncio
import json
import os
import pathlib
import sys
import time

from .buffers import Buffers
from .checks import MISSING, Failed, dig

HERE = pathlib.Path(__file__).resolve().parent
ALL = ["decorations", "permissions", "toolCalls", "changes", "status", "session", "save"]
PATIENCE = 20  # seconds for what has to come true, on a busy machine
ANSWER = 60  # seconds for an answer; the first one waits for an agent to start


class Wire(Buffers):
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
