"""A git patch of one file, as version 2 of the protocol wants it: absolute paths, no `a/` and `b/`."""

from __future__ import annotations

import re

import pygit2

_UNUSUAL = re.compile(r'[\x00-\x1f"\\\x7f]|[^\x00-\x7f]')
_NAMED = {
    "\a": r"\a",
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\v": r"\v",
    "\f": r"\f",
    "\r": r"\r",
    '"': r"\"",
    "\\": r"\\",
}


def git_patch(path: str, old: str | None, new: str | None) -> str:
    """The `diff --git` section that makes `new` of `old`; None stands for a file that is not there."""
    name = _quoted(path)
    lines = [f"diff --git {name} {name}"]
    if old is None:
        lines.append("new file mode 100644")
    elif new is None:
        lines.append("deleted file mode 100644")
    patch = pygit2.Patch.create_from(
        _encoded(old or ""), _encoded(new or ""), context_lines=3, interhunk_lines=0
    )
    if hunks := _hunks(patch.data.decode(errors="replace")):
        # git ends a name that has a space with a tab, so that it can be told from a date
        named = name + "\t" if " " in name and not name.startswith('"') else name
        lines.append(f"--- {'/dev/null' if old is None else named}")
        lines.append(f"+++ {'/dev/null' if new is None else named}")
        lines.append(hunks)
    else:
        lines.append("")
    return "\n".join(lines)


def _hunks(text: str) -> str:
    start = text.find("\n@@ ")
    return "" if start < 0 else text[start + 1 :]


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")


def _quoted(path: str) -> str:
    """The name as git writes it: in quotes with escapes where it has unusual characters."""
    if not _UNUSUAL.search(path):
        return path

    def escape(match: re.Match[str]) -> str:
        char = match[0]
        return _NAMED.get(char) or "".join(f"\\{byte:03o}" for byte in char.encode(errors="surrogateescape"))

    return '"' + _UNUSUAL.sub(escape, path) + '"'
