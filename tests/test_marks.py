from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_editor.core.marks import hover
from acp_editor.core.model import ToolCall
from acp_editor.core.safe import cut, fenced, markdown, notice, plain, prose, visible

# -- hovers ------------------------------------------------------------------------------------


def test_a_hover_tells_title_kind_status_and_input() -> None:
    call = ToolCall("c", title="Edit a.py", kind="edit", status="in_progress", raw_input={"path": "a.py"})
    assert hover(call) == '**Edit a.py**\n\nedit · in progress\n\n```json\n{\n  "path": "a.py"\n}\n```'


def test_a_hover_of_a_command_shows_the_command() -> None:
    call = ToolCall("c", title="Run", kind="execute", status="completed", raw_input={"command": "ls -l"})
    assert hover(call) == "**Run**\n\nexecute · completed\n\n```sh\nls -l\n```"


@pytest.mark.parametrize("raw", [None, {}, [], ""])
def test_a_hover_without_input_has_no_block(raw: Any) -> None:
    assert hover(ToolCall("c", name="grep", kind="search", raw_input=raw)) == "**grep**\n\nsearch"
    assert hover(ToolCall("c", raw_input=raw)) == "**other**\n\nother"


def test_a_call_that_its_turn_left_behind_is_said_to_be_unfinished() -> None:
    call = ToolCall("c", title="T", kind="edit", status="in_progress", ended=True)
    assert hover(call) == "**T**\n\nedit · in progress, left unfinished"


def test_a_long_input_is_cut() -> None:
    raw = {"content": "x" * 100_000, "lines": list(range(1000)), "deep": {"a": {"b": {"c": 1}}}}
    assert len(hover(ToolCall("c", raw_input=raw))) < 900
    assert len(hover(ToolCall("c", raw_input="y\n" * 100_000))) < 900
    assert len(hover(ToolCall("c", title="t" * 10_000))) < 400


def test_a_hostile_call_shows_what_it_is() -> None:
    call = ToolCall(
        "c",
        title="[click](command:evil) <img src=x> \u202egnp.exe\x1b[31m `` ![a](http://x)",
        kind="edit**\n# big",
        raw_input={"command": "rm\u200b -rf\n```\n[x](command:evil)"},
    )
    text = hover(call)
    assert "\\[click\\](command:evil)" in text
    assert "\\<img src=x\\>" in text
    assert "⟨202E⟩gnp.exe␛\\[31m" in text
    assert "````sh\nrm⟨200B⟩ -rf\n```\n[x](command:evil)\n````" in text
    assert "\n# big" not in text


# -- words made harmless -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("größer 日本語 עברית 👍🏽", "größer 日本語 עברית 👍🏽"),
        ("👩‍👩‍👧", "👩‍👩‍👧"),
        ("a\x00b\x1bc\x7fd\x85e", "a␀b␛c␡d⟨0085⟩e"),
        ("a\u202eb\u2066c\u200ed", "a⟨202E⟩b⟨2066⟩c⟨200E⟩d"),
        ("a\u200bb\ufeffc\u00add\u3164e", "a⟨200B⟩b⟨FEFF⟩c⟨00AD⟩d⟨3164⟩e"),
        ("a\u200db", "a⟨200D⟩b"),
        ("a\ud800b", "a⟨D800⟩b"),
        ("a\U000e0041b", "a⟨E0041⟩b"),
        ("a\u2028b", "a⟨2028⟩b"),
    ],
)
def test_the_invisible_is_written_out(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_a_message_makes_no_links() -> None:
    assert notice("see [this](command:evil)\u202e") == "see [this] (command:evil)⟨202E⟩"


def test_a_label_is_one_line_and_short() -> None:
    assert plain("  a\nb\r\nc\td ") == "a ↵ b ↵ c d"
    assert plain("a\rb") == "a␍b"
    assert plain("x" * 1000, 10) == "x" * 9 + "…"
    assert cut("short", 10) == "short"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b*c*", "a\\_b\\*c\\*"),
        ("# head\n- item\n1. one\n> quote\n===", "\\# head  \n\\- item  \n1\\. one  \n\\> quote  \n\\==="),
        ("    code", "code"),
        ("see https://x.y and www.x.y", "see https\\://x.y and www\\.x.y"),
        ("a@b.c &amp; $(icon)", "a\\@b.c \\&amp; \\$(icon)"),
    ],
)
def test_text_as_markdown(text: str, expected: str) -> None:
    assert markdown(text) == expected


@settings(deadline=None)
@given(st.text(alphabet="`~x\n ", max_size=30))
def test_a_block_of_code_cannot_be_ended_from_inside(text: str) -> None:
    first, *body, last = fenced(text, "json").split("\n")
    fence = first.removesuffix("json")
    assert last == fence
    assert all(fence not in line for line in body)


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nSome *words* and `code<int>` and [a link](https://x.y/z).\n\n- one\n- two",
        "```c++\n#include <a>\n[x](command:y)\n```\n\nand 1 < 2",
        "[relative](src/a.py#L3) and [mail](mailto:a@b.c)",
        "~~~\n<b>\n~~~",
    ],
)
def test_ordinary_prose_stays_as_it_is(text: str) -> None:
    assert prose(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>x</script>", "\\<script>x\\</script>"),
        ("![a](http://x/y.png)", "\\![a](http://x/y.png)"),
        ("[a](command:evil)", "[a]\\(command:evil)"),
        ("[a](COMMAND:evil)", "[a]\\(COMMAND:evil)"),
        ("[a](&#99;ommand:evil)", "[a]\\(&#99;ommand:evil)"),
        ("[a](command\\:evil)", "[a]\\(command\\:evil)"),
        ("[a]( <command:evil>)", "[a]\\( \\<command:evil>)"),
        ("[a](\ncommand:evil)", "[a]\\(\ncommand:evil)"),
        ("[a][b]\n\n[b]: command:evil", "[a][b]\n\n[b]\\: command:evil"),
        ("[a][b]\n\n[b]:\ncommand:evil", "[a][b]\n\n[b]\\:\ncommand:evil"),
        ("<command:evil>", "\\<command:evil>"),
        ("file [a](file:///etc/passwd)", "file [a]\\(file:///etc/passwd)"),
        # what looks like code but is none
        ("a ` b\n[x](command:evil) ` c", "a ` b\n[x]\\(command:evil) ` c"),
        ("\\`[x](command:evil)`", "\\`[x]\\(command:evil)`"),
        ("- a\n  ```\n[x](command:evil)\n", "- a\n  ```\n[x]\\(command:evil)\n"),
        ("  ```\n```\n[x](command:evil)", "  ```\n```\n[x]\\(command:evil)"),
        ("> ```\n```\n<b>\n```\n<b>", "> ```\n```\n\\<b>\n```\n\\<b>"),
        ("``` a`b\n[x](command:evil)", "``` a`b\n[x]\\(command:evil)"),
        ("```\n[x](y)\n ````\n[x](command:evil)", "```\n[x](y)\n ````\n[x]\\(command:evil)"),
        # a block that is not ended yet
        ("```\n<b>", "```\n<b>\n```"),
        ("a\u202eb", "a⟨202E⟩b"),
    ],
)
def test_prose_cannot_harm(text: str, expected: str) -> None:
    assert prose(text) == expected
