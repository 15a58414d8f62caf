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
from licences import CLIENT, python_packages
from system import node_is_new, require

import workbench
from cached import CACHE, ROOT, digest, locked, once, run_script, say, stop

GENERATED = {"node_modules", "out", "dist", "bundled", "coverage"}


def _run(command: Sequence[str], folder: Path) -> None:
    result = subprocess.run(
        [shutil.which(command[0]) or command[0], *command[1:]],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        stop(f"{' '.join(command)} failed in {folder.name}:\n{result.stdout[-6000:]}")


def _environment() -> dict[str, str]:
    """With a Node that is new enough in front: the workbench's own where the system's is not."""
    require(workbench.NODE)
    if node_is_new():
        return dict(os.environ)
    if (folder := workbench.node_folder()) is None:
        stop("Node.js 20 or newer is needed; install it first")
    return {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def wheel() -> Path:
    """The server as a wheel."""
    sources = [ROOT / "pyproject.toml", ROOT / "README.md", ROOT / "LICENSE"]
    sources += sorted((ROOT / "acp_editor").rglob("*.py"))
    key = digest(*(str(p.relative_to(ROOT)) for p in sources), *sources)

    def make(folder: Path) -> None:
        build = [
            str(BIN / "python"),
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(folder),
            str(ROOT),
        ]
        _run(build, ROOT)

    return next(once(CACHE / "wheel", key, make, "building the wheel").glob("*.whl"))


def node_modules() -> None:
    """What the client is built with; npm writes its hidden lock file last: one tells of a whole install."""
    wanted, installed = CLIENT / "package-lock.json", CLIENT / "node_modules/.package-lock.json"
    with locked("node_modules"):
        if not installed.is_file() or installed.stat().st_mtime < wanted.stat().st_mtime:
            say("installing what the VS Code client is built with")
            _run(["npm", "ci", "--no-audit", "--no-fund"], CLIENT)
            os.utime(installed)


def _client_sources() -> list[Path]:
    tops = [p for p in sorted(CLIENT.iterdir()) if p.name not in GENERATED and p.suffix != ".vsix"]
    return [
        file
        for top in tops
        for file in ([top] if top.is_file() else sorted(top.rglob("*")))
        if file.is_file()
    ]


def constraints() -> str:
    """The locked versions of what the server needs: users get what was tested."""
    return "".join(f"{name}=={version}\n" for name, version in python_packages())


def vsix() -> Path:
    """The extension, with the wheel inside."""
    server = wheel()
    node_modules()
    sources = _client_sources()
    key = digest(
        server.name,
        server.parent / ".made-for",
        constraints(),
        *(str(p.relative_to(CLIENT)) for p in sources),
        *sources,
    )

    def make(folder: Path) -> None:
        bundled = CLIENT / "bundled"
        shutil.rmtree(bundled, ignore_errors=True)
        bundled.mkdir()
        shutil.copy(server, bundled)
        (bundled / "constraints.txt").write_text(constraints(), encoding="utf-8")
        _run(["npm", "run", "build"], CLIENT)
        _run(["npm", "run", "package", "--", "--out", str(folder / "acp-editor.vsix")], CLIENT)

    return once(CACHE / "vsix", key, make, "building the extension") / "acp-editor.vsix"


def check() -> None:
    """The client's own checks; what they print is shown only where they fail."""
    node_modules()
    for name in ("check", "test"):
        say(f"npm run {name} in {CLIENT.name}")
        _run(["npm", "run", name], CLIENT)


if __name__ == "__main__":
    run_script(check if sys.argv[1:] == ["check"] else lambda: print(wheel(), vsix(), sep="\n"))
