"""Faults as they are counted and shown: with the secrets out, wherever what was wrong is cut."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.acp.rpc import fault
from acp_editor.app.faults import Faults
from acp_editor.core.finite import beginning
from acp_editor.core.limits import FAULT
from acp_editor.core.model import Fault, Json
from acp_editor.core.redact import REDACTED, Redactor

SECRET = "zq81-very-hidden-and-rather-long"
EDGES = [*range(460, 502), *range(960, 1002), *range(FAULT - 40, FAULT + 2)]


class Counting(Redactor):
    asked = 0

    def text(self, text: str) -> str:
        self.asked += 1
        return super().text(text)


def shown(told: Fault) -> tuple[str, str]:
    faults = Faults()
    faults.add("an agent", told)
    [row] = faults.render(Redactor({"MY_SECRET": SECRET}))
    return row["message"], row.get("detail", "")


@pytest.mark.parametrize("before", EDGES)
def test_no_cut_leaves_half_a_secret(before: int) -> None:
    text = "x " * (before // 2) + "x" * (before % 2) + SECRET + " after" * 1000
    for part in (
        *shown(fault("not_json", text, text)),
        shown(fault("not_json", "", text.encode()))[1],
        shown(fault("wrong_type", "", {"some": ["thing", {"text": text}]}))[1],
    ):
        assert SECRET[:6] not in part
        assert part.startswith(("x x", '{"some": ["thing", {"text": "x x'))
        assert len(part) <= 1000


def test_no_cut_leaves_half_a_secret_where_many_went_before_it() -> None:
    line = f"{SECRET} " * 1000
    for length in range(FAULT - 40, FAULT + 40):
        message, detail = shown(fault("not_json", line[:length], line[:length]))
        for part in (message, detail):
            assert part.startswith(REDACTED)
            assert SECRET[:6] not in part


def test_a_secret_is_known_by_the_name_that_it_has_in_an_object() -> None:
    _, detail = shown(fault("missing_field", "A server lacks `name`.", {"api_key": "4x7-hunter", "id": 1}))
    assert detail == '{"api_key": "[redacted]", "id": 1}'


def test_a_fault_is_looked_through_when_it_is_shown_and_not_before() -> None:
    faults, secrets = Faults(), Counting()
    for number in range(1000):
        faults.add("an agent", Fault("not_json", "A line is not JSON.", f"line {number}"))
    assert secrets.asked == 0
    assert faults.render(secrets) == [
        {
            "code": "not_json",
            "message": "A line is not JSON.",
            "count": 1000,
            "detail": "line 999",
            "agent": "an agent",
        }
    ]
    assert secrets.asked == 2


JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.integers(1, 200))
def test_the_beginning_of_a_value_is_that_of_its_json(value: Json, most: int) -> None:
    assert beginning(value, most) == json.dumps(value, ensure_ascii=False)[:most]


def test_the_beginning_of_a_value_needs_nothing_of_the_rest() -> None:
    endless: list[Json] = [1]
    endless.append(endless)
    assert beginning(endless, 10) == "[1, [1, [1"
    assert beginning([10**5000, math.inf], 100) == "[…, Infinity]"
