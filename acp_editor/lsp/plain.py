"""Plain LSP for editors that draw no surface of ours: hints, hovers, code lenses and code actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from acp_editor.lsp import messages


_VERBS = {
    "read": "reading",
    "edit": "editing",
    "delete": "deleting",
    "move": "moving",
    "search": "searching",
    "execute": "running",
    "think": "thinking",
    "fetch": "fetching",
}


def hints(decorations: Sequence[messages.Decoration]) -> list[types.InlayHint]:
    """One hint a line, at its end; hunks have code lenses instead."""
    by_line: dict[int, messages.Decoration] = {}
    for mark in decorations:
        if mark["toolCallId"] is not None and "hunkId" not in mark:
            by_line[mark["range"]["start"]["line"]] = mark
    return [
        types.InlayHint(
            position=types.Position(line, mark["range"]["end"]["character"]),
            label=f"agent {_VERBS.get(mark['kind'], 'working')}"
            + (f" ({mark['status']})" if mark["status"] not in (None, "in_progress", "pending") else ""),
            padding_left=True,
            tooltip=_markdown(mark["hover"]),
        )
        for line, mark in by_line.items()
    ]


def hover(decorations: Sequence[messages.Decoration], position: types.Position) -> types.Hover | None:
    here = [
        mark["hover"]
        for mark in decorations
        if mark["hover"] and mark["range"]["start"]["line"] <= position.line <= mark["range"]["end"]["line"]
    ]
    if not here:
        return None
    return types.Hover(_markdown("\n\n---\n\n".join(dict.fromkeys(here))))


def lenses(uri: str, hunks: Sequence[messages.Hunk]) -> list[types.CodeLens]:
    """Keep and Undo above each hunk."""
    made: list[types.CodeLens] = []
    for hunk in hunks:
        line = hunk["modified"]["start"]
        range_ = types.Range(types.Position(line, 0), types.Position(line, 0))
        argument = {"uri": uri, "hunkId": hunk["hunkId"]}
        for title, command in (("Keep", "acpEditor.review.keep"), ("Undo", "acpEditor.review.undo")):
            made.append(types.CodeLens(range_, types.Command(title, command, arguments=[argument])))
    return made


def actions(uri: str, hunks: Sequence[messages.Hunk], range_: types.Range) -> list[types.CodeAction]:
    made: list[types.CodeAction] = []
    if not hunks:
        return made

    def add(title: str, command: str, argument: dict[str, str]) -> None:
        made.append(
            types.CodeAction(
                title=title,
                kind=types.CodeActionKind.QuickFix,
                command=types.Command(title, command, arguments=[argument]),
            )
        )

    for hunk in hunks:
        start, end = hunk["modified"]["start"], max(hunk["modified"]["end"] - 1, hunk["modified"]["start"])
        if start <= range_.end.line and range_.start.line <= end:
            argument = {"uri": uri, "hunkId": hunk["hunkId"]}
            add("Keep the agent's change", "acpEditor.review.keep", argument)
            add("Undo the agent's change", "acpEditor.review.undo", argument)
    add("Keep all of the agent's changes in this file", "acpEditor.review.keep", {"uri": uri})
    add("Undo all of the agent's changes in this file", "acpEditor.review.undo", {"uri": uri})
    return made


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)
