"""What comes with the operating system: told where it is missing, installed where that can be done.

system.py PROGRAM ...    each is a Debian package's name too
"""

from __future__ import annotations

import os
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
    result = subprocess.run(install, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        stop(f"{' '.join(install)} failed:\n{result.stderr[-2000:]}")


def require(tools: Mapping[str, str]) -> None:
    """Programs, by name, with Debian's package for each."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if not missing:
        return
    packages = sorted({tools[tool] for tool in missing})
    if root() and shutil.which("apt-get"):
        apt_install(packages)
    else:
        command = f"sudo apt-get install {' '.join(packages)}"
        stop(f"{', '.join(missing)} not found; install it first, on Debian: {command}")


if __name__ == "__main__":
    require({name: name for name in sys.argv[1:]})
