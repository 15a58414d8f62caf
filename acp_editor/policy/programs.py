"""What is known of programs and variables: what runs other programs, and what changes which ones are run."""

# ruff: noqa: SIM905 (long lists of names are easier to read and to extend as text)
from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

Word: TypeAlias = str | None
"""One word of a command; None where only the running shell knows it (a variable, a glob)."""

Words: TypeAlias = tuple[Word, ...]


SAFE_VARIABLES: Final = frozenset(
    "CI COLUMNS DEBUG FORCE_COLOR CLICOLOR CLICOLOR_FORCE LANG LANGUAGE LINES NO_COLOR NODE_ENV"
    " PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE RUST_LOG TERM COLORTERM TZ VERBOSE"
    " LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME"
    " GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS".split()
)
"""Variables that a program may be given without a change in what it runs. All others may change that."""

_TRUSTED_FOLDERS: Final = frozenset({"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"})

OPAQUE: Final = frozenset(
    "parallel watch strace ltrace script unshare nsenter chroot setpriv runuser su ssh busybox toybox entr"
    " flock taskset chrt systemd-run at batch expect gdb lldb valgrind perf xvfb-run fakeroot faketime torify"
    " torsocks proxychains proxychains4 dbus-run-session fish csh tcsh pwsh powershell cmd rlwrap"
    " unbuffer daemonize start-stop-daemon firejail bwrap npx bunx pnpx uvx pipx".split()
)
"""Programs that run others and whose arguments are not taken apart here."""


_RUNS_OR_WRITES: Final[Mapping[str, tuple[str, ...]]] = {
    "git": (
        *(
            "--config-env",
            "--exec-path",
            "--ext-diff",
            "--textconv",
            "--output",
            "--upload-pack",
            "--receive-pack",
        ),
        *("--exec", "--extcmd", "--open-files-in-pager", "-O"),
    ),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("--compress-program", "-o", "--output"),
    "tar": ("--to-command", "--checkpoint-action", "-I", "--use-compress-program", "-F", "--info-script"),
    "man": ("-P", "--pager", "-H", "--html"),
    "tree": ("-o",),
    "less": ("-o", "-O", "--log-file"),
}
"""Options that make a program run another or write a file: a rule for beginning words has to name them."""


def program(word: str) -> str:
    """The name of a program, without a folder that only the machine's owner can write."""
    folder, name = posixpath.split(word)
    return name if folder in _TRUSTED_FOLDERS else word


def needed_words(name: str, words: Words) -> int:
    """How many words a rule has to name so that no option beyond them runs or writes something."""
    hazards = _RUNS_OR_WRITES.get(name, ())
    found = 1
    for at, word in enumerate(words):
        if word is None:
            continue
        if name == "git" and word == "-c":
            # Before the subcommand it sets what git runs, after it it is an option of that one.
            hazard = at == 1 or words[at - 2] == "-C"
        elif word.startswith("--"):
            # A long option may be cut short.
            given = word.partition("=")[0]
            hazard = len(given) > 4 and any(one.startswith(given) for one in hazards)
        else:
            hazard = word[:1] == "-" and word[:2] in hazards
        if hazard:
            found = at + 1
    return found


_TIED: Final = frozenset("path fpath cdpath mailpath manpath module_path fignore psvar prompt".split())


def is_own_variable(name: str) -> bool:
    """Whether a script may set this variable for itself without changing what other programs do."""
    if name in SAFE_VARIABLES:
        return True
    return (
        re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None
        and name not in _TIED
        and not name.endswith("_proxy")
        and not name.startswith(("npm_", "yarn_", "pnpm_", "bash_", "zsh_"))
    )
