"""One VS Code and one browser for all of these tests; a folder and a window of its own for each."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from driver import MARK, SETTINGS, SIZE, Editor, configure
from playwright.sync_api import Browser, sync_playwright

import browser as browsers
import package
import workbench as served
from cached import ROOT


def interrupted(*_: object) -> NoReturn:
    """A terminated test run ends as one that was interrupted: with what it started."""
    raise KeyboardInterrupt


def pytest_configure() -> None:
    signal.signal(signal.SIGTERM, interrupted)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def vscode() -> Iterator[served.Workbench]:
    """A served VS Code with the extension installed."""
    name, _, value = MARK.partition("=")
    with served.running(
        package.vsix(), SETTINGS, env={name: value, "ACP_EDITOR_DEMO_PACE": "brisk"}
    ) as server:
        yield server


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    found = browsers.browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found.path,
            args=list(browsers.ARGUMENTS),
            env={**os.environ, **found.env},
        )
        yield browser
        browser.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample workspace, a git repository of its own."""
    target = tmp_path / "orrery"
    shutil.copytree(ROOT / "examples/orrery", target)
    git = ["git", "-c", "user.name=A Person", "-c", "user.email=person@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "The sample"]):
        subprocess.run([*git, *arguments], cwd=target, check=True)
    return target


@pytest.fixture
def settings() -> dict[str, object]:
    """The person's settings beyond those of all tests; a test module or test may override it."""
    return {}


@pytest.fixture
def editor(
    vscode: served.Workbench,
    chromium: Browser,
    folder: Path,
    settings: dict[str, object],
    request: pytest.FixtureRequest,
) -> Iterator[Editor]:
    """VS Code with the folder open; where the test fails, a screenshot of it is kept."""
    vscode.settings_file.write_text("{}")
    configure(vscode, {**served.QUIET, **SETTINGS, **settings})
    context = chromium.new_context(viewport=SIZE, reduced_motion="reduce", color_scheme="dark")
    window = Editor(vscode, context, folder, MARK)
    try:
        window.open()
        yield window
    finally:
        if failed(request.node):
            window.screenshot("failed-" + re.sub(r"\W+", "-", request.node.name).strip("-"))
        window.close()
        context.close()


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


def failed(item: pytest.Item) -> bool:
    return item.stash.get(FAILED, False)
