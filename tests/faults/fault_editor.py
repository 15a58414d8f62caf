#!/usr/bin/env python3
"""An editor that does everything wrong: in a test's own process, or as one that can be killed.

Usage: fault_editor.py FOLDER PLANS.json     starts a server in FOLDER, sends the prompts, says "ready", waits

PLANS: {"agents": {NAME: PLAN}, "prompts": [TEXT ...], "holds": bool}; with `holds`, another process keeps the
editor's ends of the server's pipes open, as a helper that a real editor started might.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).resolve().parent
SURFACES = ["decorations", "permissions", "toolCalls", "changes", "status", "session", "save"]
ACTS = list[list[Any]]


class Gone(Exception):
    """The server has closed its output, or never answered."""


class Editor:
    """An LSP client over a server that it starts in `folder`/ws; each agent is a fault agent with its plan.

    `policy` says what is done with the server's requests, by method: "answer", "never", "error", "late",
    "refuse" (an edit that is not applied).
    """

    def __init__(
        self,
        folder: Path,
        agents: dict[str, dict[str, Any]],
        *,
        draws: list[str] | None = None,
        encoding: str = "utf-16",
        policy: dict[str, str] | None = None,
        settings: dict[str, Any] | None = None,
        process_id: int | None = None,
        server: list[str] | None = None,
    ) -> None:
        self.folder, self.cwd = folder, folder / "ws"
        self.agents, self.own_settings = agents, settings or {}
        self.draws = SURFACES if draws is None else draws
        self.encoding, self.policy = encoding, policy or {}
        self.process_id = os.getpid() if process_id is None else process_id
        self.server = server or [sys.executable, "-m", "acp_editor"]
        self.notes: list[tuple[str, Any]] = []
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.received = 0
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.reading = asyncio.Event()
        self.reading.set()
        self.next_id = 0
        self.documents: dict[str, tuple[int, str]] = {}

    # -- its life --

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.end()

    async def start(self) -> None:
        self.cwd.mkdir(exist_ok=True, parents=True)
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        folders = {
            f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CACHE", "STATE", "DATA", "CONFIG")
        }
        self.stderr = open(self.folder / "server.stderr", "ab")  # noqa: SIM115
        self.process = await asyncio.create_subprocess_exec(
            *self.server,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self.stderr,
            cwd=self.cwd,
            env={**os.environ, "HOME": str(home), **folders},
            limit=2**16,
        )
        assert self.process.stdin is not None
        self.stdin = self.process.stdin
        self.reader = asyncio.create_task(self._read())
        await self.ask("initialize", self._initialize(), 60)
        self.tell("initialized", {})

    def _initialize(self) -> dict[str, Any]:
        return {
            "processId": self.process_id,
            "rootUri": self.cwd.as_uri(),
            "workspaceFolders": [{"uri": self.cwd.as_uri(), "name": "ws"}],
            "initializationOptions": {"acpEditor": self.settings()},
            "capabilities": {
                "general": {"positionEncodings": [self.encoding]},
                "window": {"showDocument": {"support": True}, "workDoneProgress": True},
                "workspace": {
                    "applyEdit": True,
                    "configuration": True,
                    "didChangeWatchedFiles": {"dynamicRegistration": True},
                    "workspaceEdit": {"documentChanges": True},
                    "textDocumentContent": {"dynamicRegistration": True},
                    "codeLens": {"refreshSupport": True},
                    "inlayHint": {"refreshSupport": True},
                },
                "textDocument": {"synchronization": {"didSave": True}},
                "experimental": {"acpEditor": dict.fromkeys(self.draws, True)},
            },
        }

    def settings(self) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for name, plan in self.agents.items():
            file = self.folder / f"{name}.json"
            file.write_text(json.dumps({**plan, "log": str(self.folder / f"{name}.ndjson")}))
            entries[name] = {"command": sys.executable, "args": [str(HERE / "fault_agent.py"), str(file)]}
        return {"agents": entries, "agent": next(iter(entries), "demo"), **self.own_settings}

    async def end(self, seconds: float = 30) -> float:
        """Closes the pipes without a word; the seconds until the server had left."""
        began = time.monotonic()
        self.reading.set()
        self.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            self.process.kill()
            self.wrong.append(f"the server did not leave within {seconds} s")
            await self.process.wait()
        took = time.monotonic() - began
        self.reader.cancel()
        self.stderr.close()
        return took

    # -- the wire --

    async def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        try:
            while True:
                await self.reading.wait()
                head = await stream.readuntil(b"\r\n\r\n")
                name, _, size = head.partition(b":")
                if name.lower() != b"content-length":
                    self.wrong.append(f"not a message: {head[:100]!r}")
                body = await stream.readexactly(int(size.split()[0]))
                self.received += len(body)
                self._take(json.loads(body))
        except (asyncio.IncompleteReadError, ValueError, ConnectionError):
            pass
        for future in self.waiting.values():
            if not future.done():
                end = (self.folder / "server.stderr").read_text()[-1500:]
                future.set_exception(Gone(f"the server closed its output: {end}"))
                future.exception()  # nobody has to ask

    def _take(self, message: dict[str, Any]) -> None:
        method, ident = message.get("method"), message.get("id")
        if method is None:
            future = self.waiting.pop(ident, None) if isinstance(ident, int) else None
            if future is None:
                self.wrong.append(f"an answer to nothing: {str(message)[:200]}")
            elif not future.done():
                future.set_result(message)
        elif ident is None:
            self.notes.append((method, message.get("params")))
        else:
            self.asked.append(method)
            self._answer(ident, method, message.get("params") or {})

    def _answer(self, ident: Any, method: str, params: Any) -> None:
        match self.policy.get(method, self.policy.get("*", "answer")):
            case "never":
                return
            case "error":
                self.send({"id": ident, "error": {"code": -32603, "message": "the editor is broken"}})
            case "late":
                later = {"id": ident, "result": self._result(method, params)}
                asyncio.get_running_loop().call_later(1.5, self.send, later)
            case "twice":
                for _ in range(2):
                    self.send({"id": ident, "result": self._result(method, params)})
            case "nonsense":
                self.send({"id": ident, "result": [None, {"applied": "perhaps"}, 7]})
            case "refuse":
                self.send({"id": ident, "result": {"applied": False}})
            case _:
                self.send({"id": ident, "result": self._result(method, params)})

    def _result(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/configuration":
                return [self.settings() for _ in params["items"]]
            case "window/showDocument":
                return {"success": True}
            case "workspace/applyEdit":
                return {"applied": self._apply(params["edit"])}
            case _:
                return None

    def _apply(self, edit: Any) -> bool:
        """Edits of ASCII texts, which is all that tests need here."""
        for change in edit["documentChanges"]:
            uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
            if uri not in self.documents or self.documents[uri][0] != version:
                return False
            text = self.documents[uri][1]
            for one in sorted(change["edits"], key=lambda e: _key(e["range"]["start"]), reverse=True):
                start, end = (_offset(text, one["range"][side]) for side in ("start", "end"))
                text = text[:start] + one["newText"] + text[end:]
            self.change(uri, text)
        return True

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def raw(self, data: bytes) -> None:
        if not self.stdin.is_closing():
            self.stdin.write(data)

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def begin(self, method: str, params: Any) -> asyncio.Future[Any]:
        self.next_id += 1
        future = self.waiting[self.next_id] = asyncio.get_running_loop().create_future()
        self.send({"id": self.next_id, "method": method, "params": params})
        return future

    async def ask(self, method: str, params: Any, seconds: float = 30) -> Any:
        message = await asyncio.wait_for(self.begin(method, params), seconds)
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

    async def command(self, name: str, argument: Any = None, seconds: float = 30) -> Any:
        arguments = [] if argument is None else [argument]
        params = {"command": f"acpEditor.{name}", "arguments": arguments}
        return await self.ask("workspace/executeCommand", params, seconds)

    # -- what a person does --

    async def prompt(self, acts: ACTS | str, **more: Any) -> str:
        text = acts if isinstance(acts, str) else json.dumps(acts)
        return (await self.command("prompt", {"text": text, **more}))["sessionId"]

    async def state(self) -> Any:
        return await self.command("state")

    async def until(self, condition: Callable[[Any], Any], seconds: float = 30) -> Any:
        """The state once the condition holds for it."""
        end = time.monotonic() + seconds
        while True:
            state = await self.state()
            if condition(state):
                return state
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s; the state is {json.dumps(state)[:3000]}")
            await asyncio.sleep(0.02)

    async def idle(self, seconds: float = 30) -> Any:
        return await self.until(
            lambda state: state["sessions"] and all(s["state"] == "idle" for s in state["sessions"]), seconds
        )

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[list[float]]:
        """Asks for the state all the while, and gives how long each answer took."""
        await self.state()  # waits until the server is there
        took: list[float] = []
        over = False

        async def ask() -> None:
            while not over:
                began = time.monotonic()
                await self.state()
                took.append(time.monotonic() - began)
                await asyncio.sleep(0.03)

        task = asyncio.create_task(ask())
        try:
            yield took
        finally:
            over = True
            await task

    def uri(self, path: str) -> str:
        return (self.cwd / path).as_uri()

    def open(self, path: str, version: int = 1) -> str:
        uri, text = self.uri(path), (self.cwd / path).read_text()
        self.documents[uri] = (version, text)
        item = {"uri": uri, "languageId": "plaintext", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, text: str, version: int | None = None) -> None:
        version = self.documents[uri][0] + 1 if version is None else version
        self.documents[uri] = (version, text)
        params = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", params)

    def close(self, uri: str) -> None:
        self.documents.pop(uri, None)
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    # -- what is known of the agents --

    def log(self, agent: str) -> list[dict[str, Any]]:
        """What that agent received, and what it noted of itself, over all of its starts."""
        path = self.folder / f"{agent}.ndjson"
        if not path.exists():
            return []
        return [
            json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")
        ]

    def pids(self) -> list[int]:
        """All processes that agents were and made, as far as they noted them."""
        notes = [note for name in self.agents for note in self.log(name)]
        return [note["pid"] for note in notes if note.get("fault") in ("started", "child")]


def _key(position: Any) -> tuple[int, int]:
    return position["line"], position["character"]


def _offset(text: str, position: Any) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: position["line"]])) + position["character"]


async def main() -> None:
    folder, plans = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    editor = Editor(folder, plans["agents"])
    await editor.start()
    for prompt in plans["prompts"]:
        await editor.prompt(prompt)
    if plans.get("holds"):
        transport: Any = editor.stdin.transport
        pipes = [transport.get_extra_info("pipe")]
        output: Any = editor.process._transport  # type: ignore[attr-defined]
        pipes.append(output.get_pipe_transport(1).get_extra_info("pipe"))
        helper = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, "-c", "import time; time.sleep(120)"],
            pass_fds=[pipe.fileno() for pipe in pipes],
            start_new_session=True,
        )
        print(f"helper {helper.pid}", flush=True)
    print(f"ready {editor.process.pid}", flush=True)
    await asyncio.sleep(120)


if __name__ == "__main__":
    asyncio.run(main())
