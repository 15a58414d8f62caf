"""`make demo`: it serves the sample in VS Code, and Ctrl-C leaves nothing of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from driver import OPENING, processes, wait_for
from playwright.sync_api import Browser

from cached import ROOT


@pytest.mark.timeout(300)
def test_the_demo_serves_the_sample_and_ends_with_ctrl_c(tmp_path: Path, chromium: Browser) -> None:
    mark = f"ACP_EDITOR_DEMO_TEST={tmp_path}"
    name, _, value = mark.partition("=")
    told = tmp_path / "told"
    env = {key: text for key, text in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    with told.open("wb") as output:
        demo = subprocess.Popen(
            [sys.executable, str(ROOT / "scripts/demo.py"), "--browser"],
            env={**env, name: value},
            stdin=subprocess.DEVNULL,
            stdout=output,
        )
    try:
        address = wait_for(
            lambda: re.search(r"http://127\S+", told.read_text()), "the address is printed", 200
        )[0]
        nobody = address.partition("#")[0]
        with urllib.request.urlopen(nobody, timeout=20) as login:
            assert urlsplit(login.url).path == "/login"
        stranger, person = chromium.new_context(), chromium.new_context()
        window = stranger.new_page()
        window.goto(f"{nobody}#guessed", timeout=OPENING)
        window.wait_for_selector(".error", timeout=OPENING)
        assert stranger.cookies() == []
        window = person.new_page()
        window.goto(address, timeout=OPENING)
        window.wait_for_selector(".monaco-workbench .statusbar", timeout=OPENING)
        wait_for(lambda: window.get_by_text("README.md").count(), "the folder is listed", OPENING / 1000)
        assert address.partition("#")[2] not in window.url
        stranger.close()
        person.close()
        folder = Path(parse_qs(urlsplit(address).query)["folder"][0])
        assert (folder / ".git").is_dir()
        assert (folder / "README.md").is_file()
        demo.send_signal(signal.SIGINT)
        assert demo.wait(30) == 0
    finally:
        demo.terminate()  # as Ctrl-C; killed, it could not end what it started
        demo.wait(30)
    assert not folder.exists()
    assert not processes(mark, "")


STAND_IN = """#!/bin/sh
# Says how it was called; with a folder to open, it stays until that folder has a file named "close".
printf '%s\\n' "$*" >> "$CALLS"
for last; do :; done
case "$*" in *--wait*) while [ ! -e "$last/close" ]; do sleep 0.05; done ;; esac
"""


@pytest.mark.timeout(300)
def test_the_demo_opens_the_persons_own_editor_in_a_profile_of_its_own(tmp_path: Path) -> None:
    """Desktop VS Code is not to be had everywhere: what it would be called with is looked at."""
    code, calls = tmp_path / "bin/code", tmp_path / "calls"
    code.parent.mkdir()
    code.write_text(STAND_IN)
    code.chmod(0o755)
    path = f"{code.parent}{os.pathsep}{os.environ['PATH']}"
    demo = subprocess.Popen(
        [sys.executable, str(ROOT / "scripts/demo.py")],
        env={**os.environ, "PATH": path, "CALLS": str(calls), "DISPLAY": ":0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )

    def lines() -> list[str]:
        return calls.read_text().splitlines() if calls.exists() else []

    try:
        wait_for(lambda: len(lines()) == 2, "the editor is called to install and to open", 200)
        install, opened = lines()
        data = re.search(r"--user-data-dir (\S+)", install)
        assert data
        assert re.search(r"--extensions-dir \S+ --install-extension \S+\.vsix$", install)
        assert opened.startswith(install.partition(" --install-extension")[0])
        folder = Path(opened.rpartition(" ")[2])
        assert (folder / ".git").is_dir()
        settings = json.loads(Path(data[1], "User/settings.json").read_text())
        assert settings["acpEditor.agent"] == "demo"
        assert os.access(settings["acpEditor.server.command"][0], os.X_OK)
        (folder / "close").touch()
        assert demo.wait(30) == 0
    finally:
        demo.terminate()
        demo.wait(30)
    assert not folder.exists()
