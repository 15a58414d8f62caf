"""What other users of the machine, and other programs, get of a server at work: nothing."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from . import drive
from .steps import DONE, IDLE, PROMPT, Step, ask, call, prompt

pytestmark = pytest.mark.anyio

CARELESS = ["sh", "-c", f"umask 0; exec {sys.executable} -m acp_editor"]
"""As on a machine whose administrator thinks that everybody may read everything."""

AGENT: list[Step] = [
    PROMPT,
    call("c1", kind="edit", title="Write", locations=[{"path": "{cwd}/a.py"}]),
    ask("c1"),
    {"await": "c1"},
    {"write": "{cwd}/a.py", "text": "a = 2\n"},
    {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}},
    DONE,
]
EDITOR: list[Step] = [
    {"command": "acpEditor.prompt", "args": {"text": "go"}},
    {"state": "permissions", "size": 1, "timeout": 10},
    {
        "command": "acpEditor.permission.remember",
        "args": {"rule": "Bash(ls)", "effect": "allow", "scope": "everywhere"},
    },
    {"command": "acpEditor.permission.approve"},
    IDLE,
    {"state": "changes", "size": 1, "timeout": 10},
    {"command": "acpEditor.log.traffic"},
]


async def test_stores_and_logs_are_for_the_user_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(drive.shutil, "rmtree", lambda *_, **__: None)
    mcp = '{"servers": {"s": {"command": "true"}}}'
    case = {
        "title": "private",
        "files": {"a.py": "a = 1\n", ".vscode/mcp.json": mcp},
        "settings": {"log": {"protocol": True}},
        "agent": AGENT,
        "editor": [{"answer": "Use Them"}, *EDITOR],
    }
    _, failed = await drive.run(case, CARELESS, verbose=False, keep=True)
    assert failed is None, failed
    (root,) = tmp_path.iterdir()
    home = root / "home"
    written = [path for path in home.rglob("*") if path.is_file()]
    kinds = {"decisions", "traffic", "config/acp-editor/permissions", "consents"}
    assert {kind for kind in kinds if not any(kind in str(p) for p in written)} == set()
    assert any("review" in str(path) or "objects" in str(path) for path in written)
    assert not [str(path.relative_to(home)) for path in written if open_to_others(path, home)]


def open_to_others(path: Path, top: Path) -> bool:
    """Whether somebody else could come as far as to read it."""
    while path != top:
        if not stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
            return False
        path = path.parent
    return True


@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="which sockets a process has is read from /proc"
)
async def test_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[int, list[str]] = {}
    command = drive.Editor.command

    async def looked_at(editor: drive.Editor, name: str, *args: object, **more: object) -> object:
        answer = await command(editor, name, *args, **more)
        for pid in family(editor.process.pid):
            found[pid] = listening(pid)
        return answer

    monkeypatch.setattr(drive.Editor, "command", looked_at)
    case = {
        "title": "no ports",
        "files": {"a.py": "a = 1\n"},
        "settings": {"agent": "demo"},
        "agent": [],
        "editor": [
            prompt("rename"),
            {"state": "permissions", "size": 1, "timeout": 20},
            {"command": "acpEditor.permission.approve"},
            {"command": "acpEditor.state"},
        ],
    }
    _, failed = await drive.run(case, [sys.executable, "-m", "acp_editor"], verbose=False, keep=False)
    assert failed is None, failed
    assert len(found) > 1, "the server and its agent were to be looked at"
    assert not {pid: sockets for pid, sockets in found.items() if sockets}


async def test_an_agent_gets_the_environment_that_was_configured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OF_THE_PERSON", "theirs")
    report = tmp_path / "environment"
    case = {
        "title": "environment",
        "settings": {
            "agent": "told",
            "agents": {
                "told": {
                    "command": "sh",
                    "args": ["-c", f"env -0 > {report}.new; mv {report}.new {report}; cat > /dev/null"],
                    "env": {"CONFIGURED": "a value", "PATH": os.environ["PATH"] + ":/nowhere"},
                }
            },
        },
        "agent": [],
        "editor": [{"unanswered": "acpEditor.prompt", "args": {"text": "go"}}, {"made": str(report)}],
    }
    play = drive.Editor.play

    async def played(editor: drive.Editor, step: Step) -> None:
        if "made" in step:
            await editor.until(
                lambda: report.exists() or "not yet", "the agent has told its environment", step
            )
        else:
            await play(editor, step)

    monkeypatch.setattr(drive.Editor, "play", played)
    _, failed = await drive.run(case, [sys.executable, "-m", "acp_editor"], verbose=False, keep=False)
    assert failed is None, failed
    got = dict(item.split("=", 1) for item in report.read_text().split("\0") if item)
    assert got["CONFIGURED"] == "a value"
    assert got["OF_THE_PERSON"] == "theirs"
    assert got["PATH"].endswith(":/nowhere")
    ours = {name for name in got if name.startswith("ACP_EDITOR")} - set(os.environ)
    assert ours == {"ACP_EDITOR_STARTED"}, "by which it and what comes from it are found again"


def family(pid: int) -> list[int]:
    """The process and all that come from it."""
    pids = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                pids += family(int(child))
    except OSError:
        pass  # it is gone
    return pids


def listening(pid: int) -> list[str]:
    """The sockets of a process on which somebody could call: TCP, UDP, or named ones of this machine."""
    inodes: set[str] = set()
    try:
        entries = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []  # it is gone
    for entry in entries:
        with contextlib.suppress(OSError):  # the one with which the folder was read is closed
            inodes.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))
    rows: list[str] = []
    for name in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (name.startswith("udp") or fields[3] == "0A"):
                rows.append(f"{name} {fields[1]}")
    for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[6] in inodes and len(fields) > 7:
            rows.append(f"unix {fields[7]}")
    return rows


def test_a_listening_socket_would_be_seen() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert any(row.endswith(f":{port:04X}") for row in listening(os.getpid()))
