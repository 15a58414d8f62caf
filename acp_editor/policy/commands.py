"""Takes a command line apart: which simple commands would a shell run, and which files would it write?

Built on tree-sitter's grammar of bash, but not on trust in it: only kinds of nodes that are known here count
as understood, every byte has to belong to one, and what bash and a POSIX shell read differently is left to
the person. Whatever is not understood says so; it is never guessed.
"""

# ruff: noqa: SIM905 (long lists of names are easier to read and to extend as text)
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from acp_editor.policy.programs import SAFE_VARIABLES, Word, Words, is_own_variable
from acp_editor.policy.shell_redirects import RedirectReader
from acp_editor.policy.shell_words import TOKENS, covered, unusual
from acp_editor.policy.wrappers import Plain, Runs, Script, Unclear, tails, unwrap

__all__ = ["Parsed", "SimpleCommand", "Word", "parse_command", "parse_words"]


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program or builtin with its words, quotes resolved; None for a word known only when it runs.

    `needs` is how many words a rule has to name to cover all of it; `inner` is what it runs in turn, and
    where it is `transparent` only that counts. `perhaps` is what it may run: enough to forbid, not to allow.
    """

    words: Words
    needs: int = 1
    inner: tuple[SimpleCommand, ...] = ()
    transparent: bool = False
    perhaps: tuple[SimpleCommand, ...] = ()

    def faces(self) -> tuple[SimpleCommand, ...]:
        """It and all that it runs or may run."""
        return (self, *(face for command in (*self.inner, *self.perhaps) for face in command.faces()))


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command line taken apart; `writes` and `reads` are the files that it redirects to and from.

    Where it is not `understood`, `why` says what stood in the way and the rest is only what was found on the
    way. `suspects` are commands that perhaps run: enough to forbid, not to allow.
    """

    text: str
    commands: tuple[SimpleCommand, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    understood: bool = True
    why: str = ""
    suspects: tuple[SimpleCommand, ...] = ()

    @property
    def changes_folder(self) -> bool:
        """Whether relative names in it may be meant from another folder than the one it starts in."""
        return any(
            face.words and face.words[0] in ("cd", "pushd", "popd", "chdir")
            for command in self.commands
            for face in command.faces()
        )


_LANGUAGE: Final = Language(tree_sitter_bash.language())
_LONGEST: Final = 32 * 1024
_BUSIEST: Final = 3000
"""Operators and expansions in a line: the grammar's time grows with the square of some of them."""

_DEEPEST: Final = 6
_STATEMENTS: Final = frozenset(
    "program list pipeline subshell compound_statement do_group if_statement elif_clause else_clause"
    " while_statement negated_command redirected_statement".split()
)


def parse_words(argv: tuple[str, ...]) -> Parsed:
    """The same for a command that is given as a list of words and run without a shell."""
    reader = _Reader(b"", 0)
    reader.add(argv)
    return reader.parsed(" ".join(argv))


@lru_cache(maxsize=64)
def parse_command(text: str, depth: int = 0) -> Parsed:
    """Takes the command line `text` apart; never raises."""
    source = text.encode("utf-8", "replace")
    if (
        len(source) > _LONGEST
        or sum(map(text.count, "$`;&|<>(){}")) > _BUSIEST
        or text.count("\n") > _BUSIEST
    ):
        return Parsed(text, understood=False, why="it is too long to be taken apart")
    if depth > _DEEPEST:
        return Parsed(text, understood=False, why="commands are nested too deep")
    reader = _Reader(source, depth)
    if problem := unusual(text):
        reader.unclear(problem)
    root = Parser(_LANGUAGE).parse(source).root_node
    try:
        if root.has_error or not covered(root, source):
            reader.unclear("it does not read as a shell command")
            reader.rough(text)
        reader.statement(root)
    except RecursionError:
        reader.unclear("it is nested too deep")
    return reader.parsed(text)


class _Reader(RedirectReader):
    """Collects what a tree says; one for each piece of shell text."""

    def __init__(self, source: bytes, depth: int) -> None:
        super().__init__(source)
        self._depth = depth
        self._commands: list[SimpleCommand] = []
        self._suspects: list[SimpleCommand] = []
        self._suspect_texts: list[str] = []

    def suspect(self, text: str) -> None:
        self._suspect_texts.append(text)

    def parsed(self, text: str) -> Parsed:
        if not self._commands and not self.writes:
            self.unclear("there is no command in it")
        if self.why is not None:
            for piece in self._suspect_texts:
                self._suspects.extend(parse_command(piece, self._depth + 3).commands)
        return Parsed(
            text,
            tuple(self._commands),
            tuple(self.writes),
            tuple(self.reads),
            self.why is None,
            self.why or "",
            tuple(self._suspects),
        )

    def rough(self, text: str) -> None:
        """Finds what looks like commands in text that does not parse, for rules that forbid."""
        for piece in re.split(r"[;&|\n(){}`]+|\$\(", text):
            words = tuple(word.replace("\\", "") for word in re.findall(r"[^\s'\"<>]+", piece))
            if words:
                self._suspects.append(SimpleCommand(words))

    def statement(self, node: Node) -> None:
        match node.type:
            case kind if kind in _STATEMENTS:
                self._children(node)
            case "command":
                self._command(node)
            case "variable_assignment":
                self._assignment(node, exported=False)
            case "variable_assignments":
                for child in node.children:
                    self._assignment(child, exported=False)
            case "declaration_command":
                self._declaration(node)
            case "for_statement":
                self._for(node)
            case "case_statement" | "case_item":
                self._case(node)
            case "test_command":
                self._test(node)
            case "file_redirect":
                self.file_redirect(node)
            case "heredoc_redirect":
                self.heredoc(node)
            case "herestring_redirect":
                for child in node.named_children:
                    self.word(child)
            case "comment":
                if node.start_byte and self.source[node.start_byte - 1 : node.start_byte] not in b" \t\n;":
                    self.unclear("it is not clear where a comment begins")
            case _:
                self.unclear(f"it has a part that is not taken apart here ({node.type.replace('_', ' ')})")
                self._children(node)

    def _children(self, node: Node) -> None:
        for child in node.children:
            if child.is_named:
                self.statement(child)
            elif child.type not in TOKENS:
                self.unclear(f"it has a part that is not taken apart here ({child.type})")

    def _command(self, node: Node) -> None:
        words: list[Word] = []
        for child in node.children:
            match child.type:
                case "variable_assignment":
                    self._assignment(child, exported=True)
                case "command_name":
                    words.extend(self.word(part) for part in child.children)
                case "file_redirect" | "heredoc_redirect" | "herestring_redirect":
                    self.statement(child)
                case _ if child.is_named:
                    words.append(self.word(child))
                case _:
                    self.unclear(f"it has a part that is not taken apart here ({child.type})")
        self.add(tuple(words))

    def add(self, words: Words) -> None:
        """Adds the command that has these words, and what it runs."""
        if command := self._simple(words):
            self._commands.append(command)

    def _simple(self, words: Words, depth: int = 0) -> SimpleCommand | None:
        if depth > _DEEPEST:
            self.unclear("commands are nested too deep")
            return None
        match unwrap(words):
            case Plain(needs):
                return SimpleCommand(words, needs, perhaps=tuple(map(SimpleCommand, tails(words))))
            case Runs(inner, needs, transparent, writes):
                for name in writes:
                    self.write(name)
                found = tuple(one for part in inner if (one := self._simple(part, depth + 1)))
                return SimpleCommand(words, needs, found, transparent)
            case Script(None, needs):
                self.unclear("the text of a script is known only when it runs")
                self._suspects.extend(SimpleCommand(words[at:]) for at in range(1, len(words)))
                return SimpleCommand(words, needs)
            case Script(text, needs):
                parsed = parse_command(text or "", self._depth + 1)
                if not parsed.understood:
                    self.unclear(parsed.why)
                self.writes.extend(parsed.writes)
                self.reads.extend(parsed.reads)
                self._suspects.extend(parsed.suspects)
                return SimpleCommand(words, needs, parsed.commands, True)
            case Unclear(why, suspect):
                self.unclear(why)
                self._suspects.extend(SimpleCommand(one) for one in suspect)
                return SimpleCommand(words, len(words) + 1)

    def _assignment(self, node: Node, exported: bool) -> None:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            self.unclear("it sets part of an array")
            return
        if value is not None:
            self.word(value)
        word = self.raw(name)
        if not (word in SAFE_VARIABLES if exported else is_own_variable(word)):
            self.unclear(f"setting `{word}` can change what is run")

    def _declaration(self, node: Node) -> None:
        exported = node.children[0].type == "export"
        for child in node.children[1:]:
            match child.type:
                case "variable_assignment":
                    self._assignment(child, exported=exported)
                case "variable_name" if self.raw(child) in SAFE_VARIABLES or not exported:
                    pass
                case "word" if self.raw(child) == "-r":
                    pass
                case _:
                    self.unclear("what it declares can change what is run")
                    self.word(child)

    def _for(self, node: Node) -> None:
        for index, child in enumerate(node.children):
            match node.field_name_for_child(index):
                case "variable" if is_own_variable(self.raw(child)):
                    pass
                case "value":
                    self.word(child)
                case "body":
                    self.statement(child)
                case _ if child.type in ("for", "in", ";", "\n"):
                    pass
                case _:
                    self.unclear("its loop is not taken apart here")

    def _case(self, node: Node) -> None:
        for index, child in enumerate(node.children):
            if node.field_name_for_child(index) == "value":
                if child.type not in ("extglob_pattern", "regex") or re.search(r"[$`]", self.raw(child)):
                    self.word(child)
            elif child.is_named:
                self.statement(child)
            elif child.type not in TOKENS and child.type not in ("case", "in", "esac", ";;", ";&", ";;&"):
                self.unclear("its choice is not taken apart here")

    def _test(self, node: Node) -> None:
        """`[ … ]`, and only in the forms where neither words nor variables can turn into something else."""
        text = self.raw(node)
        quoted = r'(?:"\$\{?[a-zA-Z_]\w*\}?"|"[\w./-]*"|\'[\w./-]*\'|[\w./-]+)'
        one = rf"\[ (?:! )?-[nzfderwxsLh] {quoted} \]"
        two = rf"\[ (?:! )?{quoted} (?:=|==|!=|-eq|-ne|-lt|-le|-gt|-ge) {quoted} \]"
        if not re.fullmatch(f"{one}|{two}", text):
            self.unclear("its test is not taken apart here")
            self.deeper(node)
