"""One small, harmless edit for the guided tour to propose, the same for the same files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acp_editor.agents.workspace import File
from acp_editor.core.text import split_lines

_NOTES: Final = "NOTES.md"

_CONCATENATION: Final = re.compile(
    r"""(?P<quote>["'])(?P<text>[^"'`\\$\n]*)(?P=quote)\s*\+\s*(?P<name>[A-Za-z_][\w.]*)(?=\s*[;,)\]}]|\s*$)""",
    re.MULTILINE,
)
"""JavaScript: a string and a plain name added, with nothing after them that binds tighter."""

_TRAILING: Final = re.compile(r"[ \t]+(?=\r?\n|\Z)")
_SPACES_MEAN_SOMETHING: Final = (".md", ".markdown", ".diff", ".patch", ".tsv", ".snap")


@dataclass(frozen=True, slots=True)
class Improvement:
    """`old` is None for a new file; `title` says what, `reason` why, both for a person."""

    path: str
    old: str | None
    new: str
    title: str
    reason: str


def improvement(files: Sequence[File], root: str, note: str) -> Improvement:
    """The first that applies, over the files in their order; at the least, `note` goes into NOTES.md."""
    for look in (_f_string, _template, _trailing_spaces, _final_newline):
        for file in files:
            if found := look(file):
                return found
    return _note(files, root, note)


def _f_string(file: File) -> Improvement | None:
    if not file.name.endswith(".py"):
        return None
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = split_lines(file.text)
    for node in _sums(tree):
        if (made := _interpolated(node, lines)) is None:
            continue
        index = node.lineno - 1
        line = lines[index].encode()
        lines[index] = (line[: node.col_offset] + made.encode() + line[node.end_col_offset :]).decode()
        return Improvement(
            file.path,
            file.text,
            "".join(lines),
            f"Use an f-string in {file.name}",
            f"line {node.lineno} adds strings together; as an f-string it reads in one go",
        )
    return None


def _sums(tree: ast.AST) -> Iterator[ast.BinOp]:
    """Additions that are part of no other and of no f-string, outer ones before inner ones."""
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner.update(ast.walk(node))
        elif isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Add) and node not in inner:
                yield node
            inner.add(node.left)


def _interpolated(node: ast.BinOp, lines: Sequence[str]) -> str | None:
    """The f-string that `node` amounts to, None where that is not plain to see."""
    if node.lineno != node.end_lineno:
        return None
    line = lines[node.lineno - 1].encode()
    operands = _operands(node)
    # Added up from the left, all of it is sure to be text only if one of the first two is.
    if not any(map(_is_text, operands[:2])):
        return None
    pieces: list[str] = []
    for operand in operands:
        shown = operand
        match operand:
            case ast.Constant():
                pass
            case ast.Call(func=ast.Name(id="str"), args=[inner], keywords=[]) if not isinstance(
                inner, ast.Starred
            ):
                shown = inner
            case ast.Name() | ast.Attribute() | ast.Call():
                pass
            case _:
                return None
        source = line[shown.col_offset : shown.end_col_offset].decode()
        if isinstance(shown, ast.Constant):
            if re.fullmatch(r"""(["'])[^"'\\{}]*\1""", source) is None:
                return None
            pieces.append(source[1:-1])
        elif _plain(source):
            pieces.append(f"{{{source}}}")
        else:
            return None
    kinds = {isinstance(operand, ast.Constant) for operand in operands}
    return f'f"{"".join(pieces)}"' if kinds == {True, False} else None


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.Call(func=ast.Name(id="str")):
            return True
        case _:
            return False


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_operands(node.left), node.right]
    return [node]


def _plain(source: str) -> bool:
    """Whether an expression may stand in an f-string as it is, in Python 3.11 too."""
    return not re.search(r"""["'\\{}:!=\n#]|\blambda\b|\bawait\b|\byield\b""", source)


def _template(file: File) -> Improvement | None:
    if not file.name.endswith((".js", ".mjs", ".jsx", ".ts", ".tsx")):
        return None
    for match in _CONCATENATION.finditer(file.text):
        start = file.text.rfind("\n", 0, match.start()) + 1
        before = file.text[start : match.start()].rstrip()
        if re.search(r"//|/\*|^\s*\*|[\"'`+\-*/%]", before) or file.text.count("`", 0, start) % 2:
            continue  # in a comment, a string or a longer sum
        made = f"`{match['text']}${{{match['name']}}}`"
        new = file.text[: match.start()] + made + file.text[match.end() :]
        line = file.text.count("\n", 0, match.start()) + 1
        return Improvement(
            file.path,
            file.text,
            new,
            f"Use a template literal in {file.name}",
            f"line {line} adds strings together; as a template it reads in one go",
        )
    return None


def _trailing_spaces(file: File) -> Improvement | None:
    if file.name.endswith(_SPACES_MEAN_SOMETHING) or not _TRAILING.search(file.text):
        return None
    new = _TRAILING.sub("", file.text)
    reason = "some lines end in spaces, which only make noise in diffs"
    return Improvement(file.path, file.text, new, f"Remove trailing spaces in {file.name}", reason)


def _final_newline(file: File) -> Improvement | None:
    if not file.text.strip() or file.text.endswith(("\n", "\r")):
        return None
    end = "\r\n" if "\r\n" in file.text else "\n"
    reason = "its last line has no end, which many tools stumble over"
    return Improvement(file.path, file.text, file.text + end, f"End {file.name} with a line break", reason)


def _note(files: Sequence[File], root: str, note: str) -> Improvement:
    path = str(Path(root, _NOTES))
    old = next((file.text for file in files if file.path == path), None)
    begun = old if old is not None else "# Notes\n\n"
    return Improvement(
        path,
        old,
        f"{begun}- {note}\n",
        f"Add a line to {_NOTES}" if old is not None else f"Start {_NOTES}",
        "nothing small needs mending here, so a note of what was looked at is the best that I can leave",
    )
