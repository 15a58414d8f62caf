"""Redirections of shell text: which files it writes and reads, and where a here-document ends."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Final

from tree_sitter import Node

from acp_editor.policy.programs import Word
from acp_editor.policy.shell_words import TOKENS, WordReader

_QUIET_FILES: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


class RedirectReader(WordReader):
    """Collects the files that are written and read."""

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.writes: list[str] = []
        self.reads: list[str] = []
        self._heredoc_rows: set[int] = set()

    @abstractmethod
    def suspect(self, text: str) -> None:
        """Takes text that is perhaps run as commands."""

    def file_redirect(self, node: Node) -> None:
        targets = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        operators = [child.type for child in node.children if not child.is_named]
        if operators in (["<&-"], [">&-"]) and not targets:
            return
        if len(targets) != 1 or len(operators) != 1:
            self.unclear("it is not clear where its output goes")
            for target in targets:
                self.word(target)
            return
        name = self.word(targets[0])
        match operators[0]:
            case ">&" | "<&" if name is not None and re.fullmatch(r"\d+-?|-", name):
                pass
            case "<":
                if name is None:
                    self.unclear("the file that it reads is known only when it runs")
                elif name.startswith(("/dev/tcp/", "/dev/udp/")):
                    self.unclear("it opens a connection")
                else:
                    self.reads.append(name)
            case ">" | ">>" | ">|" | "&>" | "&>>" | ">&":
                self.write(name)
            case other:
                self.unclear(f"it has a part that is not taken apart here ({other})")

    def write(self, name: Word) -> None:
        if name is None:
            self.unclear("the file that it writes is known only when it runs")
        elif name.startswith(("/dev/tcp/", "/dev/udp/")):
            self.unclear("it opens a connection")
        elif name not in _QUIET_FILES:
            self.writes.append(name)

    def heredoc(self, node: Node) -> None:
        start = end = body = None
        for child in node.children:
            match child.type:
                case "heredoc_start":
                    start = child
                case "heredoc_end":
                    end = child
                case "heredoc_body":
                    body = child
                case "<<" | "<<-" | "file_descriptor":
                    pass
                case "command" | "pipeline" | "list" | "file_redirect" | "heredoc_redirect":
                    self.statement(child)
                case kind if kind in TOKENS:
                    pass
                case _:
                    self.unclear("words come after its here-document")
                    self.word(child)
        row = node.start_point.row
        if start is None or end is None or row in self._heredoc_rows:
            self.unclear("it is not clear where its here-document ends")
            return
        self._heredoc_rows.add(row)
        mark = self.raw(start)
        quoted = re.fullmatch(r"'([\w.-]+)'|\"([\w.-]+)\"", mark)
        plain = re.fullmatch(r"[\w.-]+", mark)
        delimiter = (quoted[1] or quoted[2]) if quoted else mark
        strip = any(child.type == "<<-" for child in node.children)
        if not (quoted or plain) or not self._ends_at(start, end, delimiter, strip):
            self.unclear("it is not clear where its here-document ends")
        if body is not None and not quoted:
            self._heredoc_body(body)
        if body is not None:
            self.suspect(self.raw(body))

    def _ends_at(self, start: Node, end: Node, delimiter: str, strip: bool) -> bool:
        """Whether the first line that is the delimiter is where the grammar says."""
        at = self.source.find(b"\n", start.end_byte) + 1
        while at:
            stop = self.source.find(b"\n", at)
            line = self.source[at : stop if stop >= 0 else None].decode("utf-8", "replace")
            # In `$(cat <<EOF … )` the delimiter has to be alone on its line just the same.
            if (line.lstrip("\t") if strip else line) == delimiter:
                return at <= end.start_byte <= at + len(line)
            at = stop + 1
        return False

    def _heredoc_body(self, body: Node) -> None:
        text = self.raw(body)
        found = 0
        for child in body.named_children:
            if child.type != "heredoc_content":
                self.word(child)
                found += 1
        if "`" in text or "\\" in text or found < len(re.findall(r"\$[({\w]", text)):
            self.unclear("its here-document is not taken apart here")
