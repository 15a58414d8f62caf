"""The rows of a session's options: what each can be set to, and who keeps it from being set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from acp_schemas import Version, schema

from acp_editor.core.model import Choice, ConfigOption
from acp_editor.policy.check import Ceiling
from acp_editor.policy.managed import load_ceiling
from acp_editor.policy.options import Row, problem, restricted, row_of

MODE = ConfigOption(
    "mode",
    "Mode",
    "choice",
    "ask",
    choices=(Choice("ask", "Ask"), Choice("plan", "Plan"), Choice("go", "Go")),
)
FAST = ConfigOption("fast", "Fast", "boolean", False)
NOTE = ConfigOption("note", "Note", "string", "")
DEPTH = ConfigOption("depth", "Depth", "number", 3)
COUNT = ConfigOption("count", "Count", "integer", 3)
ODD = ConfigOption("odd", "Odd", "matrix", [[1]])


@pytest.mark.parametrize(
    ("option", "value", "wrong"),
    [
        (MODE, "plan", None),
        (MODE, "ask", None),
        (MODE, "no such", "can be ask, plan, go"),
        (MODE, 5, "can be ask, plan, go"),
        (MODE, None, "can be ask, plan, go"),
        (FAST, True, None),
        (FAST, 1, "either true or false"),
        (FAST, "true", "either true or false"),
        (NOTE, "any text", None),
        (NOTE, "", None),
        (NOTE, 5, "is a text"),
        (NOTE, "x" * 10_001, "longer than 10000"),
        (DEPTH, 2.5, None),
        (DEPTH, -7, None),
        (DEPTH, True, "is a number"),
        (DEPTH, "3", "is a number"),
        (DEPTH, float("nan"), "is a number"),
        (DEPTH, float("inf"), "is a number"),
        (COUNT, 4, None),
        (COUNT, 4.0, None),
        (COUNT, 4.5, "whole number"),
        (ODD, [[2]], "locked by acp-editor"),
    ],
)
def test_kind_and_choices_are_checked(option: ConfigOption, value: Any, wrong: str | None) -> None:
    found = problem(row_of(option, "demo", {}), value)

    assert (found is None) == (wrong is None), found
    assert wrong is None or wrong in (found or "")


@pytest.mark.parametrize(
    ("value", "wrong"), [(0, None), (10, None), (-0.1, "at least 0"), (10.5, "at most 10")]
)
def test_a_number_stays_within_its_bounds(value: float, wrong: str | None) -> None:
    found = problem(Row(DEPTH, "demo", least=0, most=10), value)

    assert found is None if wrong is None else wrong in (found or "")


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        (MODE, "choice"),
        (FAST, "boolean"),
        (NOTE, "text"),
        (DEPTH, "number"),
        (COUNT, "number"),
        (ODD, "matrix"),
    ],
)
def test_kinds_by_the_words_of_agents(option: ConfigOption, kind: str) -> None:
    assert row_of(option, "demo", {}).kind == kind


def test_an_administrator_leaves_some_choices() -> None:
    row = row_of(MODE, "demo", {"mode": ("ask", "plan")})

    assert [choice.value for choice in row.option.choices] == ["ask", "plan"]
    assert row.locked is None
    assert problem(row, "plan") is None
    assert "cannot be 'go'" in (problem(row, "go") or "")


@pytest.mark.parametrize("allowed", [(), ("ask",), ("no such",)])
def test_an_option_that_can_be_nothing_else_is_locked(allowed: tuple[str, ...]) -> None:
    row = row_of(MODE, "demo", {"mode": allowed})

    assert row.locked == "a managed setting of this machine"
    assert [choice.value for choice in row.option.choices] == ["ask"]
    assert "locked by a managed setting" in (problem(row, "plan") or "")


def test_a_value_that_an_administrator_does_not_want_can_be_left_but_not_set_again() -> None:
    row = row_of(MODE, "demo", {"mode": ("plan",)})

    assert [choice.value for choice in row.option.choices] == ["ask", "plan"]
    assert problem(row, "plan") is None
    assert "does not allow it" in (problem(row, "ask") or "")


def test_true_is_not_one_to_an_administrator() -> None:
    row = restricted(Row(FAST, "demo"), {"fast": (1,)})

    assert "does not allow it" in (problem(row, True) or "")


# -- the administrator's file --------------------------------------------------------------------


def managed(tmp_path: Path, content: object) -> tuple[Ceiling, str | None]:
    path = tmp_path / "managed.json"
    path.write_text(json.dumps(content))
    return load_ceiling(path)


def test_the_file_says_what_options_can_be(tmp_path: Path) -> None:
    ceiling, wrong = managed(tmp_path, {"options": {"mode": ["ask", "plan"], "fast": [False]}})

    assert wrong is None
    assert ceiling == Ceiling(options={"mode": ("ask", "plan"), "fast": (False,)})


def test_an_entry_that_cannot_be_read_lets_nothing_be_set_and_is_told(tmp_path: Path) -> None:
    ceiling, wrong = managed(tmp_path, {"options": {"mode": "plan", "fast": [True]}})

    assert ceiling.options == {"mode": (), "fast": (True,)}
    assert "`mode` is a list" in (wrong or "")


def test_options_that_are_no_object_are_told_and_take_nothing_else_along(tmp_path: Path) -> None:
    ceiling, wrong = managed(tmp_path, {"most": "ask", "options": ["mode"]})

    assert (ceiling.most, ceiling.options) == ("ask", {})
    assert "`options` is an object" in (wrong or "")


@pytest.mark.parametrize("version", [1, 2])
def test_the_protocol_has_no_other_kinds_of_options(version: Version) -> None:
    """Numbers and texts are words of agents' own; should a schema name them, they have to be read from it."""
    option = schema(version)["$defs"]["SessionConfigOption"]
    branches = option.get("oneOf") or option["anyOf"]
    named = {branch["properties"]["type"].get("const") for branch in branches}

    assert named - {None} == {"select", "boolean"}
