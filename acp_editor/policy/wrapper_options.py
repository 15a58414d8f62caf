"""Programs that run what their arguments say: which of their options take a value, and where those end.

An option that is not in the tables is not guessed at. Sources: the manual pages of GNU coreutils, findutils,
sudo, and the POSIX shell's special builtins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acp_editor.policy.programs import Words


@dataclass(frozen=True, slots=True)
class Options:
    """Letters of options without (`flags`) and with (`valued`) a value, then so many `operands`."""

    flags: str = ""
    valued: str = ""
    long_flags: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    operands: int = 0
    transparent: bool = True


_SUDO = frozenset({"--non-interactive", "--set-home", "--preserve-env", "--stdin", "--background"})
WRAPPERS: Final[Mapping[str, Options]] = {
    "builtin": Options(),
    "command": Options("p"),
    "exec": Options("cl", "a"),
    "noglob": Options(),
    "nohup": Options(),
    "nice": Options("", "n", long_valued=frozenset({"--adjustment"})),
    "ionice": Options("t", "cn", long_flags=frozenset({"--ignore"})),
    "setsid": Options("cfw", long_flags=frozenset({"--wait", "--fork", "--ctty"})),
    "stdbuf": Options("", "ioe", long_valued=frozenset({"--input", "--output", "--error"})),
    "time": Options("pvl", "f", long_flags=frozenset({"--portability", "--verbose"})),
    "timeout": Options(
        "v",
        "ks",
        long_flags=frozenset({"--foreground", "--preserve-status", "--verbose"}),
        long_valued=frozenset({"--kill-after", "--signal"}),
        operands=1,
    ),
    "env": Options(
        "i0v",
        "u",
        long_flags=frozenset({"--ignore-environment", "--null", "--debug"}),
        long_valued=frozenset({"--unset"}),
    ),
    "sudo": Options("nHESkbA", "ugpCT", _SUDO, frozenset({"--user", "--group"}), transparent=False),
    "doas": Options("n", "u", transparent=False),
    "xargs": Options(
        "0rtpx",
        "nPILdsE",
        frozenset({"--null", "--no-run-if-empty", "--verbose", "--interactive", "--exit"}),
        frozenset({"--max-args", "--max-procs", "--replace", "--max-lines", "--delimiter", "--max-chars"}),
    ),
}


def skip_options(words: Words, options: Options) -> int | None:
    """Where the operands begin; None where an option is not known."""
    at = 1
    while at < len(words):
        word = words[at]
        if word is None:
            return None
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        if word.startswith("--"):
            name, _, value = word.partition("=")
            if name in options.long_valued:
                at += 1 if value else 2
            elif word in options.long_flags:
                at += 1
            else:
                return None
            continue
        consumed = _short_options(word, options)
        if consumed is None:
            return None
        at += consumed
    return at


def _short_options(word: str, options: Options) -> int | None:
    """How many words a cluster such as `-xn` takes, with the value of its last letter."""
    for index, letter in enumerate(word[1:], 1):
        if letter in options.valued:
            return 1 if index < len(word) - 1 else 2
        if letter not in options.flags:
            return None
    return 1
