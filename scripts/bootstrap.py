"""The development environment in .venv: the locked requirements and this checkout, editable.

bootstrap.py    does nothing where it is there already
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from cached import CACHE, ROOT, digest, is_made, locked, run_script, say, stop

VENV = Path(os.environ.get("ACP_EDITOR_VENV") or ROOT / ".venv")
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOCK = ROOT / "requirements-dev.lock"
UNFINISHED = CACHE / "venv.unfinished"
"""Names the environment that is being installed into. Where it stays, that was broken off: pip takes a
package of which it wrote a part for installed, so such an environment is made anew."""


def run(command: list[str], env: dict[str, str] | None = None) -> bool:
    result = subprocess.run(
        command,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        print(result.stdout[-4000:], file=sys.stderr)
    return result.returncode == 0


def works() -> bool:
    probe = [str(BIN / "python"), "-c", "import sys, pip; sys.exit(sys.version_info < (3, 11))"]
    try:
        return subprocess.run(probe, capture_output=True).returncode == 0
    except OSError:
        return False


def can_have_pip() -> bool:
    """Whether an environment can be made here; where it cannot, Debian's python3-venv is missing."""
    return bool(importlib.util.find_spec("ensurepip") or system_wheels() or shutil.which("apt-get"))


def system_wheels() -> list[Path]:
    return list(Path("/usr/share/python-wheels").glob("pip-*.whl"))


def make_environment() -> None:
    """Debian keeps `ensurepip` in a package of its own: where it is missing, pip comes from elsewhere."""
    say(f"making {VENV.name} with Python {sys.version.split()[0]}")
    if importlib.util.find_spec("ensurepip"):
        made = run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    else:
        made = make_without_ensurepip()
    if not (made and works()):
        stop("no virtual environment could be made; install python3-venv first")


def make_without_ensurepip() -> bool:
    if not run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV)]):
        return False
    wheels = system_wheels()
    if not wheels:
        folder = CACHE / "pip"
        folder.mkdir(parents=True, exist_ok=True)
        state = ["-o", f"Dir::State::Lists={folder / 'lists'}", "-o", "Debug::NoLocking=1"]
        (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
        script = (
            'cd "$0" && apt-get "$@" update && apt-get "$@" download python3-pip-whl && dpkg-deb -x *.deb .'
        )
        try:
            run(["sh", "-c", script, str(folder), *state])
        except OSError:
            return False
        wheels = list(folder.glob("usr/share/python-wheels/pip-*.whl"))
    if not wheels:
        return False
    return run([str(BIN / "python"), "-m", "pip", "install", "-q", "pip"], {"PYTHONPATH": str(wheels[0])})


def lock() -> None:
    """Resolves anew, in an environment that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / BIN.relative_to(VENV) / "python")
        if not (
            run([sys.executable, "-m", "venv", folder])
            and run([python, "-m", "pip", "install", "-q", f"{ROOT}[dev]"])
        ):
            stop("the requirements could not be resolved (see above)")
        freeze = [python, "-m", "pip", "freeze", "--exclude", "acp-editor"]
        frozen = subprocess.run(freeze, check=True, capture_output=True, text=True).stdout
        LOCK.write_text("".join(f"{with_marker(line)}\n" for line in frozen.splitlines()))


def with_marker(pinned: str) -> str:
    """A pinned requirement with what pyproject.toml says of where it can be installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for wanted in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        requirement, _, marker = wanted.partition(";")
        name = re.match(r"[\w.-]+", requirement)
        if marker and name and name[0] == pinned.partition("==")[0]:
            return f"{pinned} ;{marker}"
    return pinned


def main() -> None:
    stamp = VENV / ".made-for"
    key = json.dumps([digest(LOCK, ROOT / "pyproject.toml"), str(ROOT)])
    if is_made(VENV, key) and works():
        return
    with locked("venv"):
        if is_made(VENV, key) and works():  # by another process in the meantime
            return
        broken_off = UNFINISHED.is_file() and UNFINISHED.read_text() == str(VENV)
        UNFINISHED.write_text(str(VENV))
        stamp.unlink(missing_ok=True)
        if broken_off or not works():
            make_environment()
        say("installing the Python requirements")
        pip = [str(BIN / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        installed = run([*pip, "-r", str(LOCK)]) and run([*pip, "--no-deps", "-e", str(ROOT)])
        UNFINISHED.unlink()  # what fails by itself leaves nothing half done
        if not installed:
            stop("the Python requirements could not be installed (see above)")
        stamp.write_text(key)


if __name__ == "__main__":
    run_script(lock if sys.argv[1:] == ["lock"] else main)
