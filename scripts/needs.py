"""What has to be on the machine, asked before anything is installed, so that all of it is told at once.

needs.py client | demo | test    for the client alone, for `make demo`, for everything
"""

from __future__ import annotations

import sys

from bootstrap import can_have_pip, works
from system import absent, node_is_new, own_editor, supply

import browser
import workbench
from cached import run_script


def programs(purpose: str) -> dict[str, str]:
    """By name, with Debian's package for each."""
    if purpose == "client":
        return workbench.NODE
    if purpose == "demo" and (workbench.is_there() or (own_editor() and node_is_new())):
        return {"git": "git", **workbench.NODE}
    return {"git": "git", **workbench.COMPILED}


def missing(purpose: str) -> dict[str, str]:
    found = absent(programs(purpose))
    if not (works() or can_have_pip()):
        found["Python's ensurepip"] = "python3-venv"
    if purpose == "test" and browser.find() is None and not browser.can_be_had():
        found["chromium"] = "chromium"
    if "node" not in found and not node_is_new() and not workbench.brings_node():
        found["node 20 or newer"] = "nodejs"
    return found


def main() -> None:
    supply(missing(sys.argv[1]))


if __name__ == "__main__":
    run_script(main)
