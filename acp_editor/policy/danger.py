"""A short list of shapes that destroy: marked where the person is asked, never what decides."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from acp_editor.policy.commands import Parsed, SimpleCommand
from acp_editor.policy.programs import program

_Shape: TypeAlias = tuple[str, Callable[[tuple[str, ...]], bool], str]


def _options(words: tuple[str, ...], letters: str, *names: str) -> bool:
    """Whether one of the short options `letters` or long options `names` is among the words."""
    return any(
        word.partition("=")[0] in names
        or (re.match(r"-[A-Za-z]", word) is not None and any(letter in word[1:] for letter in letters))
        for word in words
    )


def _starts(*parts: str) -> Callable[[tuple[str, ...]], bool]:
    return lambda words: words[: len(parts)] == parts


_SHAPES: Final[tuple[_Shape, ...]] = (
    ("rm", lambda words: _options(words, "rRf", "--recursive", "--force"), "deletes without a way back"),
    ("rmdir", lambda _: True, "deletes a folder"),
    ("unlink", lambda _: True, "deletes a file"),
    ("shred", lambda _: True, "overwrites files for good"),
    ("truncate", lambda _: True, "cuts files off"),
    ("dd", lambda words: any(word.startswith("of=") for word in words), "overwrites a file or a device"),
    ("find", lambda words: "-delete" in words, "deletes what it finds"),
    ("git", lambda words: words[:1] == ("push",) and _options(words, "f", "--force"), "overwrites history"),
    ("git", lambda words: words[:1] == ("push",) and _options(words, "d", "--delete"), "deletes a branch"),
    ("git", lambda words: words[:1] == ("reset",) and "--hard" in words, "throws changes away"),
    ("git", lambda words: words[:1] == ("clean",) and _options(words, "f", "--force"), "deletes files"),
    (
        "git",
        lambda words: words[:1] == ("checkout",) and {"--", ".", "-f"} & set(words) != set(),
        "undoes changes",
    ),
    ("git", lambda words: words[:1] == ("restore",) and "--staged" not in words, "throws changes away"),
    ("git", lambda words: words[:1] == ("branch",) and _options(words, "D"), "deletes a branch"),
    ("git", _starts("stash", "drop"), "deletes a stash"),
    ("git", _starts("stash", "clear"), "deletes all stashes"),
    ("chmod", lambda words: _options(words, "R", "--recursive"), "changes rights of a whole tree"),
    ("chown", lambda words: _options(words, "R", "--recursive"), "changes owners of a whole tree"),
    ("kill", lambda words: "-1" in words[1:], "ends every process"),
    ("docker", _starts("system", "prune"), "deletes images and volumes"),
    ("docker", _starts("volume", "rm"), "deletes a volume"),
    ("kubectl", _starts("delete"), "deletes from a cluster"),
    ("terraform", _starts("destroy"), "destroys infrastructure"),
)
_ALWAYS: Final = frozenset(
    {"shutdown", "reboot", "halt", "poweroff", "wipefs", "fdisk", "parted", "killall", "pkill"}
)
_NETWORK: Final = frozenset({"curl", "wget", "fetch", "http"})
_INTERPRETERS: Final = frozenset({"sh", "bash", "zsh", "dash", "python", "python3", "perl", "ruby", "node"})


def danger(kind: str, command: Parsed | None) -> str | None:
    """What is destructive about a call, as the end of "it …"; None for nothing that is on the list."""
    if command is None:
        return "deletes files" if kind == "delete" else None
    faces = [face for one in command.commands for face in one.faces()]
    if not command.understood:
        faces += command.suspects
    for face in faces:
        if found := _shape(face):
            return found
    names = [program(face.words[0]) for face in faces if face.words and face.words[0]]
    if _NETWORK & set(names) and _INTERPRETERS & set(names):
        return "runs what it downloads"
    if any(name.startswith("/dev/") for name in command.writes):
        return "writes to a device"
    return "deletes files" if kind == "delete" else None


def _shape(command: SimpleCommand) -> str | None:
    known = tuple(word for word in command.words if word is not None)
    if not known or command.words[0] is None:
        return None
    name = program(known[0]).rpartition("/")[2]
    if name in _ALWAYS or name.startswith("mkfs"):
        return f"runs `{name}`"
    return next((says for shape, fits, says in _SHAPES if shape == name and fits(known[1:])), None)
