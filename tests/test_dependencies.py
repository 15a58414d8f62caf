"""What is shipped is listed with its licence, and what an audit says is not lost."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PERMISSIVE = ("MIT", "Apache-2.0", "BSD", "ISC", "BlueOak", "PSF", "Mozilla Public License 2.0")
"""Licences of which a user has to do nothing; libgit2's exception is named on the page."""


@pytest.fixture(scope="module")
def scripts() -> Iterator[tuple[ModuleType, ModuleType]]:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import audit
        import licences

        yield audit, licences
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "| " in line
    ]


def test_everything_shipped_is_listed_with_its_locked_version(scripts: tuple[ModuleType, ModuleType]) -> None:
    _, licences = scripts
    listed = {(name, version) for name, version, _ in rows(licences.PAGE.read_text(encoding="utf-8"))}
    missing = [
        *licences.python_packages(),
        *((name, version) for name, version, _ in licences.npm_packages()),
    ]
    assert not [package for package in missing if package not in listed], "run python scripts/licences.py"


def test_the_notices_hold_the_text_of_each_licence(scripts: tuple[ModuleType, ModuleType]) -> None:
    _, licences = scripts
    text = licences.NOTICES.read_text(encoding="utf-8")
    for name, version, kind in licences.npm_packages():
        head = f"{name} {version} ({kind})\n"
        assert head in text, "run python scripts/licences.py"
        assert len(text.partition(head)[2].partition("-" * 80)[0]) > 300, name


def test_no_licence_asks_more_than_to_be_named(scripts: tuple[ModuleType, ModuleType]) -> None:
    _, licences = scripts
    kinds = {name: kind for name, _, kind in rows(licences.PAGE.read_text(encoding="utf-8"))[1:]}
    odd = {
        name
        for name, kind in kinds.items()
        if name not in ("package", "---") and not kind.startswith(PERMISSIVE)
    }
    assert odd == {"pygit2"}


def test_an_audit_tells_what_is_shipped_from_tools(scripts: tuple[ModuleType, ModuleType]) -> None:
    audit, _ = scripts
    found = {"id": "PYSEC-1", "fix_versions": ["2"], "aliases": [], "description": ""}
    answer = {
        "dependencies": [
            {"name": "AnyIO", "version": "1", "vulns": [found]},
            {"name": "pytest", "version": "1", "vulns": [found]},
            {"name": "ruff", "version": "1", "vulns": []},
            {"name": "gone", "skip_reason": "not found"},
        ]
    }
    report = audit.of_python(json.dumps(answer), {"anyio"})
    assert report.shipped == ["AnyIO 1: PYSEC-1, mended in 2"]
    assert report.tools == ["pytest 1: PYSEC-1, mended in 2"]
    assert report.unseen == ["Python: 1 of 4 packages could not be looked up"]
    assert report.looked_at == 3
    npm = {"vulnerabilities": {"semver": {"severity": "high"}}, "metadata": {"dependencies": {"total": 9}}}
    assert audit.of_npm(json.dumps(npm), shipped=True).shipped == ["semver: high"]
    assert audit.of_npm(json.dumps(npm), shipped=False).tools == ["semver: high"]


@pytest.mark.parametrize("answer", ["", "offline", '{"message": "405"}', '{"error": {}}', "[]"])
def test_an_audit_that_could_not_look_says_so(answer: str, scripts: tuple[ModuleType, ModuleType]) -> None:
    audit, _ = scripts
    assert audit.of_python(answer, set()).unseen
    assert audit.of_npm(answer, shipped=True).unseen


def test_everything_the_project_needs_is_locked() -> None:
    from importlib import metadata

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    locked = {
        canonicalize_name(line.partition("==")[0])
        for line in (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    }
    wanted = {
        canonicalize_name(requirement.name)
        for requirement in map(Requirement, metadata.requires("acp-editor") or [])
        if requirement.marker is None or requirement.marker.evaluate({"extra": "dev"})
    }
    assert wanted <= locked, "run make lock"
