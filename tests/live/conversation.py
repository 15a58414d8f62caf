"""One real agent, the real server and a scripted editor, from the first prompt until all have left."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Literal, cast

from server import drive

import lab

Protocol = Literal["auto", 1, 2]
"""What the settings ask for."""

SERVER = (sys.executable, "-m", "acp_editor")
TAP = Path(__file__).parent / "tap.py"

APP = """\
def greet(name):
    return "Hello, " + name


if __name__ == "__main__":
    print(greet("world"))
"""
EDITED = APP.replace('"Hello, " + name', 'f"Hello, {name}!"')

OPTIONS = {"codex": ("mode", "read-only")}
"""What has to be set for an agent to ask before it writes."""
TALKERS = frozenset({"sdk-example", "sdk-dual"})
"""Agents that only talk: no file is theirs to change."""
WRITERS = frozenset({"fast-agent"})
"""Agents whose tools write whole files, so that the script's edit is left out; they keep files of their own
in the workspace."""

PATIENCE = 90.0
"""Seconds for what an agent has to do, its start included, on a busy machine."""


class Conversation:
    """A session with one agent. Every method fails with a sentence when what has to come does not."""

    def __init__(self, editor: drive.Editor, name: str, log: Path) -> None:
        self.editor = editor
        self.name = name
        self.state: dict[str, Any] = {}
        """All that the server knew when the conversation was over."""
        self.traffic: list[tuple[str, Any]] = []
        """What had gone over the agent's wire when it was over."""
        self._log = log

    @property
    def root(self) -> Path:
        return self.editor.root

    def wire(self) -> list[tuple[str, Any]]:
        """What went over the agent's wire so far, each message with "out" (ours) or "in"."""
        if not self._log.exists():
            return []
        entries = [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]
        return [(entry["way"], entry["message"]) for entry in entries]

    async def do(self, *steps: dict[str, Any]) -> None:
        """Steps as `drive.py` describes them."""
        for step in steps:
            await self.editor.play(step)

    async def ask(self, scenario: str) -> None:
        text = f"Please update the demo project. SCENARIO:{scenario} WS:{{cwd}}"
        await self.do({"command": "acpEditor.prompt", "args": {"text": text}, "timeout": PATIENCE})

    async def settle(self, how: Literal["approve", "reject"]) -> None:
        await self.do({"settle": how, "timeout": PATIENCE})

    async def until(self, check: Callable[[], bool], what: str, *, approve: bool) -> None:
        """Waits for a condition of the machine; meanwhile requests are approved where that is wanted."""
        end = time.monotonic() + PATIENCE
        while not check():
            if time.monotonic() > end:
                raise drive.Failed(f"{what}: never")
            if approve and (await self.editor.command("acpEditor.state"))["permissions"]:
                await self.editor.command("acpEditor.permission.approve")
            await asyncio.sleep(0.05)

    async def told(self) -> str:
        """What helps to see why something did not come."""
        try:
            session = (await self.editor.command("acpEditor.state"))["sessions"][0]
            known = json.dumps(
                {key: session[key] for key in ("state", "stopReason", "messages", "toolCalls")}
            )
        except (drive.Failed, LookupError, ConnectionError) as error:
            known = repr(error)
        wire = "\n".join(json.dumps(entry)[:400] for entry in self.wire()[-8:])
        log = (self.root / "server.stderr").read_text(errors="replace")
        return f"state: {known[-2000:]}\nwire:\n{wire}\nserver: {log[-2000:]}"

    def processes(self) -> list[tuple[int, str]]:
        """Whatever runs in this conversation's folders, other than the server."""
        found: list[tuple[int, str]] = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                inside = Path(os.readlink(process / "cwd")).is_relative_to(self.root)
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if inside and line and int(process.name) != self.editor.process.pid:
                found.append((int(process.name), line))
        return found


@contextlib.asynccontextmanager
async def conversation(name: str, protocol: Protocol, llm: str) -> AsyncIterator[Conversation]:
    """Starts a session in a fresh workspace; at the end everything that was started has to be gone."""
    root = Path(tempfile.mkdtemp(prefix="live-")).resolve()
    log = root / "traffic.ndjson"
    entry = lab.settings(name, root / "agent", llm)
    line = [str(TAP), str(log), str(entry["command"]), *cast("list[str]", entry["args"])]
    entry = {**entry, "command": sys.executable, "args": line, "protocol": protocol}
    editor = drive.Editor({"settings": {"agents": {name: entry}, "agent": name}}, SERVER, root, False)
    lab.prepare(editor.cwd)
    talk = Conversation(editor, name, log)
    try:
        await editor.start()
        try:
            await talk.do({"open": "app.py"}, {"command": "acpEditor.session.new", "timeout": PATIENCE})
            if name in OPTIONS:
                option, value = OPTIONS[name]
                change = {"configId": option, "value": value}
                await talk.do({"command": "acpEditor.config.set", "args": change, "timeout": PATIENCE})
            yield talk
            talk.state = await editor.command("acpEditor.state")
        except drive.Failed as failure:
            raise drive.Failed(f"{failure}\n{await talk.told()}") from None
        finally:
            code = await editor.stop()
            talk.traffic = talk.wire()
        if code != 0:
            raise drive.Failed(f"the server left with {code}")
        if editor.wrong:
            raise drive.Failed(editor.wrong[0])
        if left := talk.processes():
            raise drive.Failed(f"was left running: {left}")
    finally:
        shutil.rmtree(root, ignore_errors=True)
