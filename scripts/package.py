"""The wheel and, with it inside, the extension for VS Code: what a release consists of.

    package.py      builds both and prints where they are
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bootstrap import BIN
from cached import CACHE, ROOT, digest, locked, once, say, stop

CLIENT = ROOT / "client-vscode"
GENERATED = {"node_modules", "out", "dist", "bundled", "coverage"}


def _run(command: Sequence[str], folder: Path) -> None:
    executable = shutil.which(command[0])
    if executable is None:
        stop(f"{command[0]} not found; install Node.js 20 or newer with npm first")
        return
    result = subprocess.run(
        [executable, *command[1:]],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        stop(f"{' '.join(command)} failed in {folder.name}:\n{result.stdout[-6000:]}")


def wheel() -> Path:
    """The server as a wheel."""
    sources = [ROOT / "pyproject.toml", ROOT / "README.md", ROOT / "LICENSE"]
    sources += sorted((ROOT / "acp_editor").rglob("*.py"))
    key = digest(*(str(p.relative_to(ROOT)) for p in sources), *sources)

    def make(folder: Path) -> None:
        build = [str(BIN / "python"), "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
        _run(build, ROOT)

    return next(once(CACHE / "wheel", key, make, "building the wheel").glob("*.whl"))


def node_modules() -> None:
    """What the client is built with. npm writes the hidden lock file last, so that it tells of a whole install."""
    wanted, installed = CLIENT / "package-lock.json", CLIENT / "node_modules/.package-lock.json"
    with locked("node_modules"):
        if not installed.is_file() or installed.stat().st_mtime < wanted.stat().st_mtime:
            say("installing what the VS Code client is built with")
            _run(["npm", "ci", "--no-audit", "--no-fund"], CLIENT)
            os.utime(installed)


def _client_sources() -> list[Path]:
    tops = [p for p in sorted(CLIENT.iterdir()) if p.name not in GENERATED and p.suffix != ".vsix"]
    return [file for top in tops for file in ([top] if top.is_file() else sorted(top.rglob("*"))) if file.is_file()]


def vsix() -> Path:
    """The extension, with the wheel inside."""
    server = wheel()
    node_modules()
    sources = _client_sources()
    key = digest(server.name, server.parent / ".made-for", *(str(p.relative_to(CLIENT)) for p in sources), *sources)

    def make(folder: Path) -> None:
        bundled = CLIENT / "bundled"
        shutil.rmtree(bundled, ignore_errors=True)
        bundled.mkdir()
        shutil.copy(server, bundled)
        _run(["npm", "run", "build"], CLIENT)
        _run(["npm", "run", "package", "--", "--out", str(folder / "acp-editor.vsix")], CLIENT)

    return once(CACHE / "vsix", key, make, "building the extension") / "acp-editor.vsix"


if __name__ == "__main__":
    print(wheel())
    sys.exit(print(vsix()))
