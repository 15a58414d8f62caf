"""A Chromium for the tests: the one that is there, else Debian's, as root or unpacked into .cache/.

browser.py      prints where it is
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from system import apt_install, root

from cached import CACHE, once, run_script, stop

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # nothing leaves the machine
)
DEBIAN = ("chromium", "fonts-dejavu-core", "fonts-liberation")
WHAT_TO_INSTALL = (
    "no Chromium was found. Install one (on Debian and Ubuntu: sudo apt-get install chromium), "
    "or set ACP_EDITOR_BROWSER to one"
)


@dataclass(frozen=True, slots=True)
class Browser:
    """`env` is what has to be added to the environment that it is started in."""

    path: str
    env: Mapping[str, str]


def _unpack(folder: Path) -> None:
    """Debian's packages and what they need beyond what is installed, unpacked without root."""
    lists, archives = folder / "apt/lists/partial", folder / "apt/archives/partial"
    lists.mkdir(parents=True)
    archives.mkdir(parents=True)
    apt = ["apt-get", "-qq", "-o", f"Dir::State::Lists={lists.parent}", "-o", f"Dir::Cache={folder / 'apt'}"]
    apt += ["-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User="]

    def run(*arguments: str, cwd: Path | None = None) -> str:
        command = [*apt, *arguments]
        result = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode:
            stop(f"{WHAT_TO_INSTALL}. (Unpacking Debian's failed: {result.stderr.strip()[-1000:]})")
        return result.stdout

    run("update")
    plan = run("install", "--simulate", "--no-install-recommends", *DEBIAN)
    packages = sorted(set(re.findall(r"^Inst (\S+)", plan, re.MULTILINE)))
    run("download", *packages, cwd=archives)
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(archive), str(folder)], check=True)
    shutil.rmtree(folder / "apt")
    fonts = folder / "fonts.conf"
    system = Path("/etc/fonts/fonts.conf")
    include = f"<include>{system}</include>" if system.exists() else ""
    fonts.write_text(
        f"<fontconfig>{include}<dir>{folder}/usr/share/fonts</dir><cachedir>{folder}/fonts-cache</cachedir></fontconfig>\n"
    )


def _libraries(folder: Path) -> str:
    found = {str(p.parent) for p in folder.glob("usr/lib/*-linux-gnu*/**/*.so*")}
    found |= {str(p.parent) for p in folder.glob("lib/*-linux-gnu*/*.so*")}
    return os.pathsep.join(sorted(found))


def _unpacked() -> Browser:
    key = " ".join(DEBIAN)
    folder = once(CACHE / "chromium", key, _unpack, "unpacking Debian's Chromium into .cache (once; 200 MB)")
    env = {"LD_LIBRARY_PATH": _libraries(folder), "FONTCONFIG_FILE": str(folder / "fonts.conf")}
    return Browser(str(folder / "usr/lib/chromium/chromium"), env)


def find() -> Browser | None:
    if chosen := os.environ.get("ACP_EDITOR_BROWSER"):
        return Browser(chosen, {})
    for name in NAMES:
        if path := shutil.which(name):
            return Browser(path, {})
    for path in (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "C:/Program Files/Google/Chrome/Application/chrome.exe",
    ):
        if Path(path).exists():
            return Browser(path, {})
    return None


def can_be_had() -> bool:
    """Whether Debian's can be installed or unpacked here."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def browser() -> Browser:
    """A Chromium, installed where none is; ends with a sentence that says what to install where it cannot."""
    if found := find():
        return found
    if not can_be_had():
        stop(WHAT_TO_INSTALL)
    if not root():
        return _unpacked()
    apt_install(DEBIAN)
    if (found := find()) is None:
        stop(WHAT_TO_INSTALL)
    return found


if __name__ == "__main__":
    run_script(lambda: print(browser().path))
