"""`make demo`: it serves the sample in VS Code, and Ctrl-C leaves nothing of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from driver import processes, wait_for

from cached import ROOT


@pytest.mark.timeout(300)
def test_the_demo_serves_the_sample_and_ends_with_ctrl_c(tmp_path: Path) -> None:
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
        with urllib.request.urlopen(address, timeout=20) as page:
            assert page.status == 200
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
