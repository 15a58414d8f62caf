"""The machine and the versions, as far as they matter and are nobody's business otherwise."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

from benchmarks.whole_path import SDK


def described() -> str:
    cores = len(os.sched_getaffinity(0))
    info = Path("/proc/cpuinfo").read_text()
    found = re.search(r"^model name\s*:\s*(.+)$", info, re.MULTILINE)
    memory = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())[1]) / 2**20  # type: ignore[index]
    model = re.sub(r"\s+", " ", found[1]) if found else platform.machine()
    return (
        f"{cores} cores of {model}, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )


def versions() -> str:
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    sdk = json.loads((SDK / "package.json").read_text())["version"]
    python = ", ".join(f"{name} {metadata.version(name)}" for name in ("agent-client-protocol", "pygls"))
    return f"@agentclientprotocol/sdk {sdk} on Node.js {node}, {python}"
