"""An editor on the server's pipe that notes when each frame came; reading costs it next to nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SURFACES = ("decorations", "permissions", "toolCalls", "changes", "status", "session", "save")
ROOT = Path(__file__).parent.parent
AGENT_COMMAND = (sys.executable, "-S", str(Path(__file__).parent / "agent.py"))
WAIT = 120.0
"""Seconds that anything may take."""
_LENGTH = re.compile(rb"Content-Length: *(\d+)")
_OURS = re.compile(rb'"method": *"acpEditor/(?!saveDocument)')
_RESULTS: dict[str, Any] = {"workspace/configuration": [None], "window/showDocument": {"success": True}}


class Editor:
    """Starts a language server; `frames` are (monotonic ns, body) of all that it sent."""

    def __init__(self, command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._started = time.monotonic()
        with (folder.parent / "server.stderr").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env=environment,
            )
        self.frames: list[tuple[int, bytes]] = []
        self.bytes = 0
        self._seen = 0
        self._next_id = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._more = threading.Condition()
        self._reading = True
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    # -- reading -----------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        buffer = bytearray()
        while data := os.read(descriptor, 1 << 20):
            now = time.monotonic_ns()
            buffer += data
            found = False
            while (end := buffer.find(b"\r\n\r\n")) >= 0:
                size = int(_LENGTH.search(buffer, 0, end)[1])  # type: ignore[index]
                if len(buffer) < end + 4 + size:
                    break
                body = bytes(buffer[end + 4 : end + 4 + size])
                del buffer[: end + 4 + size]
                self.bytes += size
                self._take(now, body)
                found = True
            if found:
                with self._more:
                    self._more.notify_all()
        with self._more:
            self._reading = False
            self._more.notify_all()

    def _take(self, now: int, body: bytes) -> None:
        if not _OURS.search(body, 0, 80):
            message = json.loads(body)
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": _RESULTS.get(message["method"])})
            elif "id" in message:
                self._answers[message["id"]] = message
            return
        self.frames.append((now, body))

    def notifications(self, method: str) -> Iterator[tuple[int, Any]]:
        wanted = f'"{method}"'.encode()
        for now, body in list(self.frames):
            if wanted in body[:120]:
                message = json.loads(body)
                if message.get("method") == method:
                    yield now, message["params"]

    def wait_for(self, found: Callable[[bytes], bool]) -> int:
        """When the first frame from here on came for which it holds, in monotonic ns."""
        at = self._seen
        deadline = time.monotonic() + WAIT
        with self._more:
            while True:
                while at < len(self.frames):
                    at += 1
                    if found(self.frames[at - 1][1]):
                        self._seen = at
                        return self.frames[at - 1][0]
                if not self._reading or not self._more.wait(max(0.0, deadline - time.monotonic())):
                    log = (self.folder.parent / "server.stderr").read_text()[-2000:]
                    raise TimeoutError(f"the server did not say it: {log}")

    # -- writing -----------------------------------------------------------------------------------

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self._next_id += 1
        ident = self._next_id
        self._send({"id": ident, "method": method, "params": params})
        deadline = time.monotonic() + WAIT
        with self._more:
            while ident not in self._answers:
                if not self._reading or not self._more.wait(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"{method} was not answered")
        answer = self._answers.pop(ident)
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def command(self, name: str, argument: Any = None) -> Any:
        params = {"command": f"acpEditor.{name}", "arguments": [] if argument is None else [argument]}
        return self.ask("workspace/executeCommand", params)

    # -- its life ----------------------------------------------------------------------------------

    def initialize(self, settings: dict[str, Any] | None = None) -> None:
        """Up to the server's answer to `initialize`."""
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.folder.as_uri(),
                "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "ws"}],
                "capabilities": {
                    "general": {"positionEncodings": ["utf-16"]},
                    "window": {"showDocument": {"support": True}},
                    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
                    "textDocument": {"synchronization": {"didSave": True}},
                    "experimental": {"acpEditor": dict.fromkeys(SURFACES, True)},
                },
                "initializationOptions": {"acpEditor": settings or {}},
            },
        )
        self.tell("initialized", {})

    @staticmethod
    def now() -> int:
        return time.monotonic_ns()

    def since_start(self) -> float:
        """Seconds since the spawn."""
        return time.monotonic() - self._started

    def settled_memory(self) -> int:
        """Resident bytes of the server alone, without its children, once they stay the same for a second."""
        last, since = 0, time.monotonic()
        deadline = since + 20
        while time.monotonic() - since < 1 and time.monotonic() < deadline:
            time.sleep(0.1)
            if abs((size := resident(self.process.pid)) - last) > 100_000:
                last, since = size, time.monotonic()
        return last

    def cpu(self) -> float:
        """Seconds of processor time that the server has used, all its threads together."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        with suppress(TimeoutError, RuntimeError):
            self.ask("shutdown", None)
        self.tell("exit", None)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._thread.join(5)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()  # type: ignore[union-attr]


def resident(pid: int) -> int:
    """Bytes, from Linux's /proc."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(row.split()[1]) * 1024 for row in status.splitlines() if row.startswith("VmRSS"))


def environment(home: Path) -> dict[str, str]:
    """As a person's, with every folder of theirs below `home`."""
    home.mkdir(exist_ok=True)
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CACHE", "STATE", "DATA", "CONFIG")}
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "HOME": str(home), "PYTHONPATH": paths, **folders}


SERVER = (sys.executable, "-m", "acp_editor")


@contextmanager
def running(
    root: Path, settings: dict[str, Any] | None = None, command: Sequence[str] = SERVER
) -> Iterator[Editor]:
    """A server in `root/ws`, with the agent of benchmarks configured."""
    agent = {"command": AGENT_COMMAND[0], "args": list(AGENT_COMMAND[1:])}
    given = {"agents": {"pour": agent}, "agent": "pour", **(settings or {})}
    (root / "ws").mkdir(exist_ok=True)
    editor = Editor(command, root / "ws", environment(root / "home"))
    try:
        editor.initialize(given)
        yield editor
    finally:
        editor.close()


def idle(body: bytes) -> bool:
    """Whether it is the status that says that the turn is over."""
    if b'"acpEditor/status"' not in body[:60]:
        return False
    session = json.loads(body)["params"]["session"]
    return session is not None and session["state"] == "idle" and session["stopReason"] is not None
