"""Lists what is shipped and under which licence, from the locks and from what is installed.

licences.py     writes docs/licences.md and the notices that go with the extension
"""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cached import ROOT

CLIENT = ROOT / "client-vscode"
PAGE = ROOT / "docs/licences.md"
NOTICES = CLIENT / "ThirdPartyNotices.txt"

_CLASSIFIER = re.compile(r"License :: (?:OSI Approved :: )?(.+)")


def python_packages() -> list[tuple[str, str]]:
    """Names and versions of all that `pip install acp-editor` brings, in the order of their names."""
    found: dict[str, str] = {}
    waiting = ["acp-editor"]
    while waiting:
        distribution = metadata.distribution(waiting.pop())
        for line in distribution.requires or ():
            requirement = Requirement(line)
            name = canonicalize_name(requirement.name)
            needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if needed and name not in found:
                found[name] = metadata.version(name)
                waiting.append(name)
    return sorted(found.items())


def licence(name: str) -> str:
    """As the package itself says: the expression, else the classifiers, else the first line of the field."""
    about = metadata.metadata(name)
    if "License-Expression" in about:
        return about["License-Expression"]
    kinds = [match[1] for line in about.get_all("Classifier", []) if (match := _CLASSIFIER.match(line))]
    return ", ".join(kinds) or (about.get_all("License") or ["not said"])[0].splitlines()[0]


def npm_packages() -> list[tuple[str, str, str]]:
    """Name, version and licence of all that is bundled into the extension."""
    lock: dict[str, Any] = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))
    return sorted(
        (path.rpartition("node_modules/")[2], row["version"], row["license"])
        for path, row in lock["packages"].items()
        if path and not row.get("dev")
    )


def page() -> str:
    lines = [
        "# Licences of what is shipped",
        "",
        "Written by `scripts/licences.py` from what the packages say of themselves. acp-editor is under",
        "Apache-2.0. pygit2 and the libgit2 in it are under the GPL with an exception that allows to link",
        "them with any program.",
        "",
        "## With the server, by `pip install acp-editor`",
        "",
        "| package | version | licence |",
        "|---|---|---|",
        *(f"| {name} | {version} | {licence(name)} |" for name, version in python_packages()),
        "",
        "## In the extension for VS Code",
        "",
        "| package | version | licence |",
        "|---|---|---|",
        *(f"| {name} | {version} | {kind} |" for name, version, kind in npm_packages()),
        "",
    ]
    return "\n".join(lines)


def notices() -> str:
    """The licences' own texts, which have to go with what is bundled."""
    parts = ["The extension contains the following packages.\n"]
    for name, version, kind in npm_packages():
        folder = CLIENT / "node_modules" / name
        texts = [path.read_text(encoding="utf-8").strip() for path in licence_files(folder)]
        parts.append("\n\n".join([f"{'-' * 80}\n{name} {version} ({kind})", *texts]) + "\n")
    return "\n".join(parts)


def licence_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if re.match(r"(?i)licen[cs]e", path.name))


def outputs() -> dict[Path, str]:
    return {PAGE: page(), NOTICES: notices()}


if __name__ == "__main__":
    for path, text in outputs().items():
        path.write_text(text, encoding="utf-8")
