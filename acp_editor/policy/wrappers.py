"""Programs and builtins that run what their arguments say: what is it that they run?

One function, over words that are already resolved. An option that is not in the tables is not guessed at.
Sources: the manual pages of GNU coreutils, findutils, sudo, and the POSIX shell's special builtins.
"""

# ruff: noqa: SIM905 (long lists of names are easier to read and to extend as text)
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from acp_editor.policy.programs import (
    OPAQUE,
    SAFE_VARIABLES,
    Word,
    Words,
    is_own_variable,
    needed_words,
    program,
)
from acp_editor.policy.wrapper_options import WRAPPERS, Options, skip_options


@dataclass(frozen=True, slots=True)
class Plain:
    """Runs itself only. A rule has to name at least the first `needs` words to cover it."""

    needs: int = 1


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs other commands too. `transparent`: adds no power of its own, so those are what counts."""

    inner: tuple[Words, ...]
    needs: int
    transparent: bool
    writes: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """Runs `text` as shell text; `text` is None where it is not known before it runs."""

    text: str | None
    needs: int


@dataclass(frozen=True, slots=True)
class Unclear:
    """What it does cannot be said from its words; `suspect` is what it perhaps runs."""

    why: str
    suspect: tuple[Words, ...] = ()


Unwrapped: TypeAlias = Plain | Runs | Script | Unclear

_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh"})

_STATE: Final = frozenset(
    "alias unalias bind complete compgen compopt enable getopts hash let local mapfile readarray set shopt"
    " unset typeset declare export readonly coproc function select fc history jobs".split()
)
"""Builtins that can change what later words mean."""

_RESERVED: Final = frozenset("if then else elif fi do done case esac while until for { } ! [[ ]] ((".split())


def unwrap(words: Words) -> Unwrapped:
    """What the command `words` runs besides itself."""
    if not words or words[0] is None:
        return Unclear("which command runs is known only when it runs")
    name = program(words[0])
    if name in _SHELLS:
        return _shell(words)
    if name in WRAPPERS:
        return _wrapped(name, words, WRAPPERS[name])
    if name in OPAQUE:
        return Plain(len(words))
    if name in _STATE or name in _RESERVED or name.startswith("%"):
        return Unclear(f"`{name}` can change what comes after it")
    match name:
        case "eval":
            parts = [word for word in words[1:] if word is not None]
            return Script(" ".join(parts) if len(parts) == len(words) - 1 else None, len(words))
        case "trap" if len(words) > 1 and words[1] not in ("-", "-p", "-l"):
            at = 2 if words[1] == "--" and len(words) > 2 else 1
            return Script(words[at], at + 1)
        case "find" | "gfind" | "fd" | "fdfind":
            return _find(words)
        case "source" | ".":
            return Plain(len(words))
        case "printf" | "wait" | "test" | "[":
            return _variable_writer(name, words)
        case "read":
            return _read(words)
        case _:
            return Plain(needed_words(name, words))


def _shell(words: Words) -> Unwrapped:
    script, at = False, 1
    while at < len(words):
        word = words[at]
        if word is None:
            return Unclear("what the shell is given is known only when it runs", (words[at:],))
        if word in ("--login", "--norc", "--noprofile", "--posix"):
            at += 1
        elif re.fullmatch(r"[-+][abefhkmnptuvxBCEHPTlc]*[o]?", word) and len(word) > 1:
            script = script or (word[0] == "-" and "c" in word)
            at += 2 if word.endswith("o") else 1
        else:
            break
    if None in words[:at]:
        return Unclear("what the shell is given is known only when it runs", (words[at:],))
    if script and at < len(words):
        return Script(words[at], at + 1)
    if script or at >= len(words) or (words[at] or "").startswith(("-", "+")):
        return Unclear("the shell reads its commands from elsewhere")
    return Plain(at + 1)


def _wrapped(name: str, words: Words, options: Options) -> Unwrapped:
    if name == "command" and any(word in ("-v", "-V") for word in words[1:2]):
        return Plain()
    if name == "nice" and len(words) > 1 and re.fullmatch(r"-\d+", words[1] or ""):
        words = (words[0], *words[2:])
        shifted = 1
    else:
        shifted = 0
    start = skip_options(words, options)
    if start is None:
        return Unclear(f"an option of `{name}` is not known here", _tails(words))
    start += options.operands
    if None in words[:start]:
        return Unclear(f"what `{name}` is given is known only when it runs", _tails(words))
    if name in ("env", "sudo", "doas"):
        while start < len(words) and (word := words[start]) is not None and "=" in word:
            if word.partition("=")[0] not in SAFE_VARIABLES:
                return Unclear(f"`{word.partition('=')[0]}` can change what is run", (words[start + 1 :],))
            start += 1
        if start < len(words) and words[start] == "-":
            start += 1
    inner = words[start:]
    if not inner:
        return Plain() if name != "xargs" else Runs((("echo", None),), 1, True)
    if name == "xargs":
        inner = _with_input(words[:start], inner)
    return Runs((inner,), start + shifted + 1, options.transparent)


def _with_input(options: Words, inner: Words) -> Words:
    """The command of xargs: what it reads stands in for a placeholder, or comes at the end."""
    for at, word in enumerate(options):
        if word is None:
            continue
        if word.startswith("--replace"):
            return tuple(None for _ in inner)
        found = re.fullmatch(r"-[0rtpx]*I(.*)", word)
        if found:
            mark = found[1] or (options[at + 1] if at + 1 < len(options) else None)
            return tuple(None if one is None or not mark or mark in one else one for one in inner)
    return (*inner, None)


def _find(words: Words) -> Unwrapped:
    if any(word is None for word in words):
        return Unclear("what find is given is known only when it runs", _tails(words))
    given = [word for word in words if word is not None]
    inner: list[Words] = []
    writes: list[Word] = []
    needs, at = 1, 1
    short = program(given[0]) in ("fd", "fdfind")
    while at < len(given):
        word = given[at]
        if word in ("-exec", "-execdir", "-ok", "-okdir") or (
            short and (word.startswith("--exec") or re.match(r"-[A-Za-z]*[xX]", word))
        ):
            if short:
                return Plain(len(words))
            end = next(
                (
                    index
                    for index in range(at + 1, len(given))
                    if given[index] == ";" or (given[index] == "+" and given[index - 1] == "{}")
                ),
                None,
            )
            if end is None or end == at + 1:
                return Unclear("the command of find has no end", (words[at + 1 :],))
            inner.append(tuple(None if "{}" in one else one for one in given[at + 1 : end]))
            needs = max(needs, at + 2)
            at = end
        elif word == "-delete":
            needs = max(needs, at + 1)
        elif word in ("-fprint", "-fprint0", "-fls", "-fprintf") and at + 1 < len(given):
            writes.append(given[at + 1])
        at += 1
    if inner or writes:
        return Runs(tuple(inner), needs, False, tuple(writes))
    return Plain(needs)


def _variable_writer(name: str, words: Words) -> Unwrapped:
    """Builtins that set a variable when asked to, or that evaluate one's subscript."""
    hazard = {"printf": "-v", "wait": "-p", "test": "-v", "[": "-v"}[name]
    looked_at = words[1:2] if name in ("printf", "wait") else words[1:]
    for word in looked_at:
        if word is None or word.startswith(hazard) or (name in ("test", "[") and word == "-R"):
            return Unclear(f"`{name}` can set or evaluate a variable here")
    return Plain()


def _read(words: Words) -> Unwrapped:
    for word in words[1:]:
        if word is None or not (word in ("-r", "-s", "-n1", "REPLY") or is_own_variable(word)):
            return Unclear("`read` may set a variable that changes what is run")
    return Plain()


def _tails(words: Words) -> tuple[Words, ...]:
    """Every command that `words` could be running: each of its ends."""
    return tuple(words[at:] for at in range(1, min(len(words), 24)))


def tails(words: Words) -> tuple[Words, ...]:
    """What an opaque runner perhaps runs, for rules that forbid."""
    name = program(words[0]) if words and words[0] is not None else ""
    return _tails(words) if name in OPAQUE else ()
