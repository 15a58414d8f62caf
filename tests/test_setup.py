"""What a newcomer meets before anything is installed: what is missing, and Ctrl-C in the middle."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
PATIENCE = 60.0
NEW_NODE = "echo v22.1.0"
HANGS = 'touch "$BEGUN"; sleep 300'
"""What a stand-in does that is broken off."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the scripts are called by make, through sh")


class Machine:
    """One that has only the programs that are put into `bin`; what is installed there goes into `cache`."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.cache, self.venv = folder / "bin", folder / "cache", folder / "venv"
        self.begun = folder / "begun"
        self.bin.mkdir()
        self.env = {
            "PATH": str(self.bin),
            "HOME": str(folder),
            "BEGUN": str(self.begun),
            "ACP_EDITOR_CACHE": str(self.cache),
            "ACP_EDITOR_VENV": str(self.venv),
        }
        for name in ("sh", "sleep", "touch"):
            (self.bin / name).symlink_to(shutil.which(name) or "")
        self.stands_in("venv/bin/python")  # an environment that works

    def stands_in(self, name: str, script: str = "exit 0") -> None:
        path = self.bin / name if "/" not in name else self.bin.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def start(self, *command: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=SCRIPTS,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def told(self, *command: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        """How it ends and what it says."""
        process = self.start(*command, env=env)
        said = process.communicate(timeout=PATIENCE)[1]
        return process.returncode, said

    def broken_off(self, *command: str) -> tuple[int, str]:
        """The same with Ctrl-C once a stand-in hangs: a terminal signals the whole group."""
        self.begun.unlink(missing_ok=True)
        process = self.start(*command)
        try:
            deadline = time.monotonic() + PATIENCE
            while not self.begun.exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            assert self.begun.exists(), process.poll()
            os.killpg(process.pid, signal.SIGINT)
            said = process.communicate(timeout=PATIENCE)[1]
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, said


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_that_is_missing_is_named_at_once(machine: Machine) -> None:
    env = {"ACP_EDITOR_BROWSER": "/bin/true"}
    assert machine.told("needs.py", "test", env=env) == (
        1,
        "acp-editor: git, make, g++, python3, node, npm not found; install them first, on Debian: "
        "sudo apt-get install git make g++ python3 nodejs npm\n",
    )
    assert not machine.cache.exists()


def test_the_tests_want_a_chromium(machine: Machine) -> None:
    for name in ("git", "make", "g++", "python3", "npm"):
        machine.stands_in(name)
    machine.stands_in("node", NEW_NODE)
    assert machine.told("needs.py", "test") == (
        1,
        "acp-editor: chromium not found; install it first, on Debian: sudo apt-get install chromium\n",
    )
    machine.stands_in("chromium")
    assert machine.told("needs.py", "test") == (0, "")


def test_a_python_that_can_make_no_environment_is_told(machine: Machine) -> None:
    shutil.rmtree(machine.venv)
    machine.stands_in("npm")
    program = (
        "import sys; sys.modules['ensurepip'] = None; sys.argv[1:] = ['client']; import bootstrap, needs; "
        "bootstrap.system_wheels = list; needs.run_script(needs.main)"
    )
    assert machine.told("-c", program) == (
        1,
        "acp-editor: node, Python's ensurepip not found; install them first, on Debian: "
        "sudo apt-get install nodejs python3-venv\n",
    )


@pytest.mark.parametrize("command", [("needs.py", "client"), ("package.py", "check")], ids=" ".join)
def test_npm_without_node_is_told(machine: Machine, command: tuple[str, ...]) -> None:
    machine.stands_in("npm")
    code, said = machine.told(*command)
    sentence = "acp-editor: node not found; install it first, on Debian: sudo apt-get install nodejs"
    assert (code, said.splitlines()[-1]) == (1, sentence)
    assert "Traceback" not in said


def test_the_demo_in_the_persons_own_editor_compiles_nothing(machine: Machine) -> None:
    machine.stands_in("git")
    machine.stands_in("npm")
    machine.stands_in("node", NEW_NODE)
    code, said = machine.told("needs.py", "demo")
    assert code == 1
    assert said.startswith("acp-editor: make, g++, python3 not found;")
    machine.stands_in("code")
    assert machine.told("needs.py", "demo", env={"DISPLAY": ":0"}) == (0, "")


def test_only_root_installs_what_is_missing(machine: Machine, tmp_path: Path) -> None:
    machine.stands_in("npm")
    machine.stands_in("apt-get", f'echo "$*" >> {tmp_path / "calls"}')
    code, said = machine.told("needs.py", "demo")
    if os.geteuid() == 0:
        assert (code, said) == (0, "acp-editor: installing git, make, g++, python3, nodejs with apt-get\n")
        assert (tmp_path / "calls").read_text().endswith(" git make g++ python3 nodejs\n")
    else:
        assert (code, said.count("sudo apt-get install git make g++ python3 nodejs\n")) == (1, 1)
        assert not (tmp_path / "calls").exists()


STOPPED = "acp-editor: stopped"


@pytest.mark.parametrize(
    ("command", "stand_in", "made"),
    [
        (("bootstrap.py",), "venv/bin/python", "venv"),
        (("workbench.py", "install"), "bin/npm", "cache/workbench-*[!k]"),
        (("demo.py", "--browser"), "venv/bin/python", "cache/wheel"),
        (("package.py",), "venv/bin/python", "cache/wheel"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_ctrl_c_breaks_off_is_not_taken_for_whole(
    machine: Machine, command: tuple[str, ...], stand_in: str, made: str, tmp_path: Path
) -> None:
    for name in ("git", "make", "g++", "python3", "npm"):
        machine.stands_in(name)
    machine.stands_in("node", NEW_NODE)
    machine.stands_in(stand_in, f'[ "$1" = -c ] && exit 0\n{HANGS}')
    code, said = machine.broken_off(*command)
    lines = said.splitlines()
    assert (code, lines[-1], len(lines)) == (130, STOPPED, 2), said
    (folder,) = tmp_path.glob(made)
    assert not (folder / ".made-for").exists()
    if command != ("bootstrap.py",):
        again = machine.broken_off(*command)
        assert again == (130, said)


def test_an_environment_that_was_broken_off_is_made_anew(machine: Machine) -> None:
    machine.stands_in("venv/bin/python", '[ "$1" = -c ] && exit 0\necho offline; exit 1')
    for _ in range(2):  # what fails by itself is only tried again
        code, said = machine.told("bootstrap.py")
        assert code == 1
        assert said.splitlines()[0] == "acp-editor: installing the Python requirements"
    machine.stands_in("venv/bin/python", f'[ "$1" = -c ] && exit 0\n{HANGS}')
    machine.broken_off("bootstrap.py")
    process = machine.start("bootstrap.py")
    assert process.stderr
    try:
        assert process.stderr.readline().startswith("acp-editor: making venv with Python")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)


def test_apt_is_not_killed_in_the_middle(machine: Machine, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    machine.stands_in(
        "apt-get", f'[ "$1" = update ] && exit\ntrap "sleep 1; touch {ended}; exit 1" INT\n{HANGS}'
    )
    program = "import cached, system; cached.run_script(lambda: system.apt_install(['x']))"
    code, said = machine.broken_off("-c", program)
    assert (code, said.splitlines()[-1]) == (130, STOPPED)
    assert ended.exists()
