"""Plain LSP for editors that draw nothing of ours."""

from __future__ import annotations

from lsprotocol import types

from acp_editor.lsp import messages, plain


def mark(line: int, call: str | None = "c1", **more: object) -> messages.Decoration:
    return {  # type: ignore[return-value]
        "range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 9}},
        "kind": "edit",
        "status": "in_progress",
        "toolCallId": call,
        "hover": f"hover {line}",
        **more,
    }


def hunk(name: str, start: int, end: int) -> messages.Hunk:
    return {
        "hunkId": name,
        "original": {"start": start, "end": start},
        "modified": {"start": start, "end": end},
        "toolCallId": None,
    }


def test_one_hint_at_the_end_of_each_line_where_a_call_is() -> None:
    hints = plain.hints(
        [mark(1), mark(1, "c2", kind="read", status="completed"), mark(5, kind="odd"), mark(7, hunkId="h1")]
    )
    assert [(h.position.line, h.position.character, h.label) for h in hints] == [
        (1, 9, "agent reading (completed)"),
        (5, 9, "agent working"),
    ]


def test_a_hover_has_every_mark_of_its_line_once() -> None:
    found = plain.hover([mark(1), mark(1), mark(2), mark(1, hover="other")], types.Position(1, 3))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert found.contents.value == "hover 1\n\n---\n\nother"
    assert plain.hover([mark(1)], types.Position(4, 0)) is None


def test_keep_and_undo_above_each_hunk() -> None:
    lenses = plain.lenses("file:///a", [hunk("h1", 3, 5), hunk("h2", 9, 9)])
    assert [(lens.range.start.line, lens.command and lens.command.title) for lens in lenses] == [
        (3, "Keep"),
        (3, "Undo"),
        (9, "Keep"),
        (9, "Undo"),
    ]
    assert lenses[0].command
    assert lenses[0].command.arguments == [{"uri": "file:///a", "hunkId": "h1"}]


def test_actions_for_the_hunk_at_the_cursor_and_for_the_file() -> None:
    hunks = [hunk("h1", 3, 5), hunk("h2", 9, 9)]

    def at(line: int) -> list[object]:
        here = types.Range(types.Position(line, 0), types.Position(line, 0))
        actions = plain.actions("file:///a", hunks, here)
        arguments = [a.command.arguments for a in actions if a.command and a.command.arguments]
        return [given[0].get("hunkId") for given in arguments if given[0]]

    assert at(4) == ["h1", "h1", None, None]
    assert at(5) == [None, None]
    assert at(9) == ["h2", "h2", None, None]
    assert plain.actions("file:///a", [], types.Range(types.Position(0, 0), types.Position(9, 0))) == []
