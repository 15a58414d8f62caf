"""Steps that are done once for each state of what they are made from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("ACP_EDITOR_CACHE") or ROOT / ".cache")


def say(sentence: str) -> None:
    print(f"acp-editor: {sentence}", file=sys.stderr, flush=True)


def stop(sentence: str) -> NoReturn:
    """Ends the program with a sentence that a person can act on."""
    raise SystemExit(f"acp-editor: {sentence}")


def run_script(main: Callable[[], object]) -> NoReturn:
    """Ends the program with what `main` returns, as `sys.exit` does; with 130 where Ctrl-C ends it."""
    try:
        code = main()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
        say("stopped")
        code = 130
    sys.exit(code)  # type: ignore[arg-type]


def digest(*inputs: str | Path) -> str:
    """A key over texts, files and whole folders."""
    result = hashlib.sha256()
    for given in inputs:
        if isinstance(given, str):
            result.update(given.encode() + b"\0")
            continue
        files = [given] if given.is_file() else sorted(p for p in given.rglob("*") if p.is_file())
        for path in files:
            result.update(f"{path.relative_to(given.parent)}\0".encode() + path.read_bytes() + b"\0")
    return result.hexdigest()[:24]


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time, so that a demo and a test run may start together."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        try:
            import fcntl
        except ImportError:  # Windows: two installs at once are then the person's own doing
            yield
            return
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_made(target: Path, key: str) -> bool:
    """Whether `once` has made that folder for that key."""
    stamp = target / ".made-for"
    return stamp.is_file() and stamp.read_text() == key


def once(target: Path, key: str, make: Callable[[Path], None], what: str) -> Path:
    """`target`, a folder made anew by `make` unless its stamp says that it was made for `key`."""
    with locked(target.name):
        if not is_made(target, key):
            say(what)
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            make(target)
            (target / ".made-for").write_text(key)
    return target
