"""Words of shell text: what a node of the grammar says once its quotes are gone, if that can be known.

Also what has to hold of a whole text before a tree of it is worth reading.
"""

# ruff: noqa: SIM905 (long lists of names are easier to read and to extend as text)
from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Final

from tree_sitter import Node

from acp_editor.policy.programs import Word

TOKENS: Final = frozenset("; & && || | |& ( ) { } ! if then elif else fi while until do done \n".split(" "))
_BLANKS: Final = re.compile(rb"(?:[ \t\n]|\\\n)*")
_OPAQUE_LEAVES: Final = frozenset("string raw_string ansi_c_string comment heredoc_body test_command".split())
_WHOLE_LINES: Final = frozenset(
    "command declaration_command file_redirect variable_assignment concatenation".split()
)


def unusual(text: str) -> str | None:
    """Characters that shells and the grammar may read differently."""
    for character in text:
        if character in "\n\t" or " " <= character <= "~":
            continue
        if not character.isprintable() or character.isspace():
            return "it has control characters or unusual spaces in it"
    if text.endswith("\\") or re.search(r"[^ \t\n]\\\n", text):
        return "a backslash joins two of its lines within a word"
    return None


def covered(node: Node, source: bytes) -> bool:
    """Whether nothing but blanks lies between the pieces that the grammar named."""
    if node.type in _OPAQUE_LEAVES or node.child_count == 0:
        return True
    before: int | None = node.start_byte if node.type != "program" else 0
    for child in node.children:
        gap = source[before : child.start_byte]
        if child.start_byte < before and child.end_byte > child.start_byte:
            before = max(before, child.end_byte)
            continue
        if not _BLANKS.fullmatch(gap):
            return False
        if node.type in _WHOLE_LINES and b"\n" in gap.replace(b"\\\n", b""):
            return False
        if node.type == "concatenation" and gap:
            return False
        if not covered(child, source):
            return False
        before = max(before, child.end_byte)
    end = len(source) if node.type == "program" else node.end_byte
    return _BLANKS.fullmatch(source[before:end]) is not None


class WordReader(ABC):
    """Reads words out of `source`; remembers the first reason why something was not understood."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.why: str | None = None

    @abstractmethod
    def statement(self, node: Node) -> None:
        """Takes the commands of a substitution."""

    def unclear(self, why: str) -> None:
        self.why = self.why or why

    def raw(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def deeper(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self.word(child)
            else:
                self.deeper(child)

    def word(self, node: Node) -> Word:
        """The text of a word without its quotes; None where only the running shell knows it."""
        pieces = self._pieces(node)
        bare = "".join(text for text, quoted in pieces if text is not None and not quoted)
        if any(text is None for text, _ in pieces):
            return None
        if re.search(r"[*?\[\]{}]", bare.replace("{}", "")) or bare.startswith(("~", "=")):
            return None
        return "".join(text or "" for text, _ in pieces)

    def _pieces(self, node: Node) -> list[tuple[str | None, bool]]:
        match node.type:
            case "word" | "number" | "variable_name":
                text = self.raw(node)
                if node.child_count or re.search(r"[$`'\"\n]", re.sub(r"\\.", "", text)):
                    self.unclear("a word of it is not taken apart here")
                    self.deeper(node)
                    return [(None, False)]
                return [
                    (part[1:], True) if part.startswith("\\") else (part, False)
                    for part in re.findall(r"\\.|[^\\]+|\\", text, re.DOTALL)
                ]
            case "raw_string":
                return [(self.raw(node)[1:-1], True)]
            case "string":
                return self._string(node)
            case "concatenation":
                return [piece for child in node.children for piece in self._pieces(child)]
            case "simple_expansion":
                if not re.fullmatch(r"\$(?:\w+|[@*#?$!-])", self.raw(node)):
                    self.unclear("a variable of it is not taken apart here")
            case "expansion":
                self._expansion(node)
            case "command_substitution" | "process_substitution":
                self._substitution(node)
            case "arithmetic_expansion":
                if not re.fullmatch(r"\$\(\([0-9 +*/%()-]*\)\)", self.raw(node)):
                    self.unclear("its arithmetic can run commands")
                    self.deeper(node)
            case "brace_expression":
                pass
            case "ansi_c_string" | "translated_string":
                self.unclear("shells read its `$'…'` differently")
            case _:
                self.unclear(f"it has a part that is not taken apart here ({node.type.replace('_', ' ')})")
                self.deeper(node)
        return [(None, False)]

    def _string(self, node: Node) -> list[tuple[str | None, bool]]:
        pieces: list[tuple[str | None, bool]] = []
        at, end = node.start_byte + 1, node.end_byte - 1
        inside = [child for child in node.named_children if child.type != "string_content"]
        for child in [*inside, None]:
            stop = end if child is None else child.start_byte
            literal = self.source[at:stop].decode("utf-8", "replace")
            rest = re.sub(r"\\.", "", literal, flags=re.DOTALL)
            if re.search(r"`|\"|\$[({\w@*#?!$-]", rest) or rest.endswith("\\"):
                self.unclear("a string of it is not taken apart here")
            pieces.append((re.sub(r"\\([\\\"$`])", r"\1", literal), True))
            if child is not None:
                pieces.extend(self._pieces(child))
                at = child.end_byte
        return pieces

    def _expansion(self, node: Node) -> None:
        text = self.raw(node)
        if re.fullmatch(r"\$\{#?(?:\w+|[@*])\}", text):
            return
        if not re.match(r"\$\{\w+(?::?[-+?]|%%?|##?)", text):
            self.unclear("a variable of it is not taken apart here")
            self.deeper(node)
            return
        for child in node.named_children:
            if child.type in ("variable_name", "special_variable_name"):
                continue
            if child.type == "regex" and not re.search(r"[$`'\"\\]", self.raw(child)):
                continue
            self.word(child)

    def _substitution(self, node: Node) -> None:
        if self.raw(node).startswith("`") and "\\" in self.raw(node):
            self.unclear("its backquotes are not taken apart here")
        for child in node.children:
            if child.is_named:
                self.statement(child)
            elif child.type not in TOKENS and child.type not in ("$(", "`", "<(", ">("):
                self.unclear(f"it has a part that is not taken apart here ({child.type})")
