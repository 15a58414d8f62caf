"""A try-out: the sample workspace in VS Code with the extension and the built-in agent.

    demo.py             the person's own VS Code where `code` is on the PATH, in an own profile; else one
                        from npm in the browser
    demo.py --browser   the one from npm in any case

Everything it opens is a copy in a temporary folder, which goes when it ends.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import json
import secrets
import shutil
import signal
import subprocess
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from bootstrap import BIN
from system import has_screen, own_editor, require

import workbench
from cached import CACHE, ROOT, run_script, say, stop
from package import vsix

SAMPLE = ROOT / "examples/orrery"
SETTINGS: dict[str, object] = {
    "acpEditor.server.command": [str(BIN / "acp-editor")],
    "acpEditor.agent": "demo",
    "workbench.colorTheme": "Default Dark Modern",
}
WELCOME = """
  The sample workspace is open in {where}

  Press F1, choose "ACP: Prompt Agent", and type what the agent should do:

      take me round          a short tour that proposes an edit
      /todo                  finds TODO comments and plans them
      /rename OLD NEW        renames over the whole workspace, asking before each edit

  Ctrl-C here ends it; nothing of it stays but .cache/ in this checkout.
"""


def prepare(folder: Path) -> Path:
    """A copy of the sample, a git repository of its own so that its changes can be seen."""
    require({"git": "git"})
    target = folder / SAMPLE.name
    shutil.copytree(SAMPLE, target)
    git = ["git", "-c", "user.name=acp-editor", "-c", "user.email=demo@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "The sample"]):
        subprocess.run([*git, *arguments], cwd=target, check=True, stdin=subprocess.DEVNULL)
    return target


def in_own_editor(code: str, folder: Path, extension: Path, home: Path) -> None:
    """With user data and extensions of its own, so that the person's stay as they are."""
    user = home / "user-data/User"
    user.mkdir(parents=True)
    (user / "settings.json").write_text(json.dumps({**workbench.QUIET, **SETTINGS}, indent=1))
    own = ["--user-data-dir", str(home / "user-data"), "--extensions-dir", str(home / "extensions")]
    installed = subprocess.run(
        [code, *own, "--install-extension", str(extension)], capture_output=True, text=True
    )
    if installed.returncode:
        stop(f"the extension could not be installed:\n{installed.stderr}")
    print(WELCOME.format(where="your VS Code."), flush=True)
    with until_stopped():
        subprocess.run([code, *own, "--new-window", "--wait", str(folder)])


def in_browser(folder: Path, extension: Path) -> None:
    with workbench.running(extension, SETTINGS, key=secrets.token_hex(16)) as served:
        address = served.address(folder)
        print(WELCOME.format(where=f"a VS Code at\n\n      {address}"), flush=True)
        with until_stopped(), leading_to(address) as page:
            if has_screen():
                with contextlib.suppress(webbrowser.Error):
                    webbrowser.open(page.as_uri())
            served.process.wait()
            stop(f"VS Code ended by itself:\n{served.log.read_text(errors='replace')[-2000:]}")


@contextlib.contextmanager
def leading_to(address: str) -> Iterator[Path]:
    """A page for this user alone that leads there: everybody can read what a browser is started with."""
    CACHE.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="demo-", suffix=".html", dir=CACHE)
    page = Path(name)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(f'<meta http-equiv="refresh" content="0; url={html.escape(address)}">\n')
        yield page
    finally:
        page.unlink()


@contextlib.contextmanager
def until_stopped() -> Iterator[None]:
    """Once the demo is there, Ctrl-C is how it is meant to end."""
    try:
        yield
    except KeyboardInterrupt:
        say("stopped")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    signal.signal(signal.SIGTERM, interrupt)  # ends the demo in order, with what it started
    parser = argparse.ArgumentParser(description="Try acp-editor out in VS Code.")
    parser.add_argument(
        "--browser", action="store_true", help="the VS Code from npm, even where `code` is there"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="acp-editor-demo-", ignore_cleanup_errors=True) as home:
        extension = vsix()
        folder = prepare(Path(home))
        code = None if options.browser else own_editor()
        if code:
            in_own_editor(code, folder, extension, Path(home))
        else:
            in_browser(folder, extension)


if __name__ == "__main__":
    run_script(main)
