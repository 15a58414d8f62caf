"""What comes with the operating system: told where it is missing, installed where that can be done."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

from cached import say, stop


def root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_install(packages: Sequence[str]) -> None:
    """As root. The package lists are fetched first: a fresh container has none."""
    say(f"installing {', '.join(packages)} with apt-get")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    update = ["apt-get", "update", "-qq"]
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(update, env=env, stdin=subprocess.DEVNULL, capture_output=True)
    with subprocess.Popen(
        install,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as apt:
        try:
            errors = apt.communicate()[1]
        except KeyboardInterrupt:  # killed, it would leave packages in pieces; it got the same and ends
            apt.communicate()
            raise
    if apt.returncode:
        stop(f"{' '.join(install)} failed:\n{errors[-2000:]}")


def absent(tools: Mapping[str, str]) -> dict[str, str]:
    """Those of some programs, by name with Debian's package for each, that are not there."""
    return {tool: package for tool, package in tools.items() if shutil.which(tool) is None}


def supply(missing: Mapping[str, str]) -> None:
    """Installs Debian's packages where that can be done; else ends with one sentence that names them all."""
    if not missing:
        return
    packages = list(dict.fromkeys(missing.values()))
    if root() and shutil.which("apt-get"):
        apt_install(packages)
        return
    command = f"sudo apt-get install {' '.join(packages)}"
    pronoun = "it" if len(missing) == 1 else "them"
    stop(f"{', '.join(missing)} not found; install {pronoun} first, on Debian: {command}")


def require(tools: Mapping[str, str]) -> None:
    """Programs, by name, with Debian's package for each."""
    supply(absent(tools))


def node_is_new() -> bool:
    """Whether the Node.js on the PATH is of version 20 or newer."""
    try:
        version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return False
    return bool(re.match(r"v(2\d|[3-9]\d|\d{3})", version))


def has_screen() -> bool:
    return not sys.platform.startswith("linux") or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())


def own_editor() -> str | None:
    """The person's VS Code, if it can show a window here."""
    return shutil.which("code") if has_screen() else None
