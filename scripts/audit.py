"""Looks up known vulnerabilities in what is locked, for Python with pip-audit and for the client with npm.

audit.py        ends with 1 where something that is shipped has one; says so where it could not look
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from typing import Any

from bootstrap import BIN, LOCK
from licences import python_packages
from packaging.utils import canonicalize_name

from cached import run_script, say
from package import CLIENT, node_modules


@dataclass
class Report:
    """What was found, as lines; `unseen` says what could not be looked up and why."""

    shipped: list[str] = field(default_factory=list[str])
    tools: list[str] = field(default_factory=list[str])
    unseen: list[str] = field(default_factory=list[str])
    looked_at: int = 0


def of_python(text: str, shipped: set[str]) -> Report:
    """What pip-audit's JSON says; `shipped` are the names of what users get."""
    try:
        rows: list[dict[str, Any]] = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Report(unseen=["Python: pip-audit gave no answer"])
    report = Report()
    missing = 0
    for row in rows:
        if "skip_reason" in row:
            missing += 1
            continue
        report.looked_at += 1
        for found in row.get("vulns", ()):
            fixed = ", ".join(found.get("fix_versions", ())) or "nothing yet"
            line = f"{row['name']} {row['version']}: {found['id']}, mended in {fixed}"
            (report.shipped if canonicalize_name(row["name"]) in shipped else report.tools).append(line)
    if missing:
        report.unseen.append(f"Python: {missing} of {len(rows)} packages could not be looked up")
    return report


def of_npm(text: str, *, shipped: bool) -> Report:
    """What `npm audit --json` says."""
    try:
        answer: dict[str, Any] = json.loads(text)
        rows: dict[str, Any] = answer["vulnerabilities"]
    except (ValueError, KeyError, TypeError):
        return Report(unseen=["npm: its registry answers no such question from here"])
    report = Report(looked_at=answer.get("metadata", {}).get("dependencies", {}).get("total", 0))
    lines = [f"{name}: {row.get('severity', 'unknown')}" for name, row in rows.items()]
    (report.shipped if shipped else report.tools).extend(lines)
    return report


def reports() -> list[Report]:
    pip = [str(BIN / "pip-audit"), "-r", str(LOCK), "--no-deps", "--disable-pip", "-f", "json"]
    npm = ["npm", "audit", "--json"]
    node_modules()
    return [
        of_python(output([*pip, "--progress-spinner", "off"]), {name for name, _ in python_packages()}),
        of_npm(output([*npm, "--omit=dev"], CLIENT), shipped=True),
        of_npm(output(npm, CLIENT), shipped=False),
    ]


def output(command: list[str], folder: object = None) -> str:
    """What it prints; nothing where it does not come to an end."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)  # type: ignore[call-overload]
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def main() -> int:
    found = reports()
    for line in dict.fromkeys(line for report in found for line in report.unseen):
        say(f"audit: could not look. {line}")
    say(f"audit: {found[0].looked_at} Python and {found[2].looked_at} npm packages were looked up")
    for line in dict.fromkeys(line for report in found for line in report.tools):
        say(f"audit: a developers' tool has a known vulnerability: {line}")
    shipped = list(dict.fromkeys(line for report in found for line in report.shipped))
    for line in shipped:
        say(f"audit: VULNERABLE: {line}")
    return 1 if shipped else 0


if __name__ == "__main__":
    run_script(main)
