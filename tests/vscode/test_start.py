"""Where the server comes from, and where none is started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import MARK, SETTINGS, SIZE, Editor, wait_for
from playwright.sync_api import Browser

import package
import workbench as served


@pytest.mark.timeout(300)
@pytest.mark.parametrize("settings", [{"acpEditor.server.command": []}], ids=["bundled"])
def test_the_bundled_server_is_installed_and_serves(editor: Editor, folder: Path) -> None:
    wait_for(lambda: editor.status_says("following"), "the server in the extension has started", 200)
    assert editor.processes("globalStorage")
    editor.prompt("/todo")
    wait_for(lambda: editor.status_says("ready"), "the built-in agent has answered")


@pytest.fixture
def untrusted(chromium: Browser, folder: Path) -> Iterator[Editor]:
    """A window on a folder that the person has not said they trust."""
    settings: dict[str, object] = {
        **SETTINGS,
        "security.workspace.trust.enabled": True,
        "security.workspace.trust.startupPrompt": "never",
    }
    name, _, value = MARK.partition("=")
    mark = f"{name}={value}-untrusted"
    with served.running(package.vsix(), settings, env={name: f"{value}-untrusted"}) as server:
        context = chromium.new_context(viewport=SIZE)
        window = Editor(server, context, folder, mark)
        window.open()
        yield window
        window.close()
        context.close()


def test_nothing_is_started_in_a_folder_that_is_not_trusted(untrusted: Editor) -> None:
    wait_for(lambda: untrusted.status_says("trust"), "the status bar says why nothing is started")
    assert not untrusted.processes("-m acp_editor")
    untrusted.screenshot("untrusted")
