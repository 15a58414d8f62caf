"""Lines and messages: whatever a peer sends is a message or a fault, and never an exception."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_editor.acp import rpc
from acp_editor.acp.rpc import (
    Answer,
    ErrorAnswer,
    LineReader,
    Notification,
    Request,
    classify,
    decode,
    encode,
)
from acp_editor.core.finite import dumps
from acp_editor.core.limits import FAULT
from acp_editor.core.model import Fault, Json


def read(chunks: list[bytes], max_line: int = rpc.MAX_LINE) -> tuple[list[bytes], list[str]]:
    faults: list[Fault] = []
    reader = LineReader(faults.append, max_line)
    lines = [line for chunk in chunks for line in reader.feed(chunk)]
    return [*lines, *filter(None, [reader.finish()])], [fault.code for fault in faults]


def understand(line: bytes) -> tuple[rpc.Message | None, list[str]]:
    faults: list[Fault] = []
    message = decode(line, faults.append)
    found = None if message is None else classify(message, faults.append)
    assert all(len(fault.detail) <= FAULT for fault in faults)
    return found, [fault.code for fault in faults]


STREAM = 'Grüße\n\n{"a":"漢😀"}\r\n42\nlast'.encode()
LINES = ["Grüße".encode(), '{"a":"漢😀"}\r'.encode(), b"42", b"last"]


@pytest.mark.parametrize("at", range(len(STREAM) + 1))
def test_a_stream_may_be_split_at_every_byte(at: int):
    assert read([STREAM[:at], STREAM[at:]]) == (LINES, [])


def test_a_stream_may_come_byte_by_byte():
    assert read([STREAM[i : i + 1] for i in range(len(STREAM))]) == (LINES, [])


@given(st.lists(st.binary(max_size=20)), st.integers(min_value=0, max_value=12))
def test_lines_do_not_depend_on_the_chunks(chunks: list[bytes], max_line: int):
    assert read(chunks, max_line) == read([b"".join(chunks)], max_line)


def test_a_line_at_the_limit_is_read_and_one_over_it_is_passed_over():
    assert read([b"12345\n123456\n", b"1234", b"56", b"7\nok\n"], max_line=5) == (
        [b"12345", b"ok"],
        ["line_too_long", "line_too_long"],
    )


def test_a_line_over_the_limit_is_not_held():
    faults: list[Fault] = []
    reader = LineReader(faults.append, max_line=1000)
    for _ in range(1000):
        reader.feed(b"x" * 900)
    assert reader._size == 900_000
    assert reader._held == []
    assert [fault.detail for fault in faults] == ["x" * 1800]


def test_every_byte_of_a_long_line_is_looked_at_once():
    class Counting(bytes):
        seen = 0

        def split(self, *args: bytes) -> list[bytes]:  # pyright: ignore[reportIncompatibleMethodOverride]
            Counting.seen += len(self)
            return bytes(self).split(args[0])

    reader = LineReader(lambda fault: None)
    chunk = Counting(b"x" * 65536)
    for _ in range(320):
        assert reader.feed(chunk) == []
    (line,) = reader.feed(Counting(b"\n"))
    assert len(line) == 320 * 65536 == Counting.seen - 1


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        (b"", []),
        (b" \t\r", []),
        (b"Loaded cached credentials.", ["not_json"]),
        (b"\x1b[31mwarning\x1b[0m", ["not_json"]),
        (b"{broken", ["not_json"]),
        (b'{"method":"a"} {"method":"b"}', ["not_json"]),
        (b'{"method":"a","params":NaN}', ["not_json"]),
        (b'{"method":"a","params":-Infinity}', ["not_json"]),
        (b'{"method":"a","params":' + b"9" * 5000 + b"}", ["not_json"]),
        (b"[" * 100_000, ["not_json"]),
        (b'{"method":"a","params":' + b"[" * 400 + b"]" * 400 + b"}", ["too_deep"]),
        (b'{"method":"a","params":' + b"[" * rpc.MAX_DEPTH + b"]" * rpc.MAX_DEPTH + b"}", ["too_deep"]),
        (b"\xff\xfe", ["not_utf8", "not_json"]),
        (b"\0", ["not_json"]),
        (b"42", ["not_an_object"]),
        (b'"log"', ["not_an_object"]),
        (b"[1,2]", ["not_an_object"]),
        (b"null", ["not_an_object"]),
        (b"{}", ["not_a_message"]),
        (b'{"level":"info","id":3}', ["not_a_message"]),
        (b'{"method":5}', ["not_a_message"]),
        (b'{"method":"a","id":[1]}', ["bad_id"]),
        (b'{"result":1,"id":true}', ["bad_id"]),
        (b'{"method":"a","id":1e999}', ["bad_id"]),
    ],
)
def test_noise_is_a_fault(line: bytes, codes: list[str]):
    assert understand(line) == (None, codes)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"method":"a"}', Notification("a", None)),
        ('{"method":"a","params":{"x":1}}', Notification("a", {"x": 1})),
        ('{"method":"a","id":1}', Request(1, "a", None)),
        ('{"method":"a","id":"x"}', Request("x", "a", None)),
        ('{"method":"a","id":null}', Request(None, "a", None)),
        ('{"id":1,"result":null}', Answer(1, None)),
        ('{"id":1,"result":{},"error":null}', Answer(1, {})),
        ('\ufeff{"method":"a"}\r', Notification("a", None)),
        ('{"method":"a","params":"\\ud83d\\ude00 \\\\ud83d"}', Notification("a", "😀 \\ud83d")),
    ],
)
def test_messages(line: str, message: rpc.Message):
    assert understand(line.encode()) == (message, [])


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        (b'{"method":"a","params":"\xff"}', Notification("a", "\ufffd"), "not_utf8"),
        (b'{"method":"a","params":"\\ud83d!"}', Notification("a", "\ufffd!"), "lone_surrogate"),
        (b'{"jsonrpc":"2.0","id":1}', Answer(1, None), "answer_without_result"),
    ],
)
def test_slips_are_faults_and_still_understood(line: bytes, message: rpc.Message, code: str):
    assert understand(line) == (message, [code])


@pytest.mark.parametrize(
    ("error", "expected", "codes"),
    [
        ({"code": -32000, "message": "m", "data": [1]}, (-32000, "m", [1]), []),
        ("broken", (-32603, "broken", None), ["bad_error"]),
        ({"message": "m"}, (-32603, "m", None), ["bad_error"]),
        ({"code": 7}, (7, "{'code': 7}", None), ["bad_error"]),
    ],
)
def test_errors(error: Json, expected: tuple[int, str, Json], codes: list[str]):
    found, faults = understand(json.dumps({"id": 1, "error": error}).encode())
    assert isinstance(found, ErrorAnswer)
    assert ((found.error.code, found.error.message, found.error.data), faults) == (expected, codes)


def test_a_number_out_of_range_is_infinite_as_it_is_to_javascript_and_null_where_it_goes_on():
    found, codes = understand(b'{"method":"a","params":[1e999,-1e999,{"b":1e400}]}')
    assert (found, codes) == (Notification("a", [math.inf, -math.inf, {"b": math.inf}]), [])
    assert isinstance(found, Notification)
    assert json.loads(dumps(found.params), parse_constant=pytest.fail) == [None, None, {"b": None}]


def test_both_parsers_read_the_same():
    """The quick one and the careful one, which reads what has a byte order mark before it."""
    line = encode(
        {"method": "a", "params": {"\0": [1, -0.0, 1e22, 10**30, "\x7f\u2028\\", [[]], {}, True, None]}}
    )
    assert understand(b"\xef\xbb\xbf" + line) == understand(line)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "the careful parser"])
def test_what_is_just_deep_enough_is_read(mark: bytes):
    depth = rpc.MAX_DEPTH - 1
    found, codes = understand(mark + b'{"method":"a","params":' + b"[" * depth + b"]" * depth + b"}")
    assert (isinstance(found, Notification), codes) == (True, [])


@given(st.binary(max_size=300))
def test_no_bytes_raise(line: bytes):
    understand(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"])


@given(st.dictionaries(KEYS, JSON) | JSON)
def test_no_json_raises(value: Json):
    understand(json.dumps(value).encode())


@given(JSON)
def test_what_is_encoded_is_one_line_and_decodes_to_the_same(value: Json):
    line = encode({"params": value})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert decode(line, lambda fault: None) == {"params": value}
    assert decode(b"\xef\xbb\xbf" + line, lambda fault: None) == {"params": value}


def test_half_a_surrogate_pair_can_be_encoded():
    assert encode({"a": "\ud800"}) == b'{"a":"\\ud800"}\n'


def test_what_is_not_json_is_not_encoded():
    with pytest.raises(ValueError):
        encode({"a": float("nan")})
    with pytest.raises(TypeError):
        encode({"a": object()})


@pytest.mark.parametrize(
    ("message", "data", "words"),
    [
        (
            "Internal error",
            {"details": "No previous sessions found."},
            "Internal error: No previous sessions found.",
        ),
        ("Internal error", "disk full\n", "Internal error: disk full"),
        ("disk full", {"details": "disk full"}, "disk full"),
        ("Internal error", {"details": ["x"]}, "Internal error"),
        ("Internal error", {"details": " "}, "Internal error"),
        ("Internal error", None, "Internal error"),
        ("Internal error", "x" * 600, "Internal error: " + "x" * 500),
    ],
)
def test_an_error_says_what_its_details_say(message: str, data: Json, words: str) -> None:
    assert rpc.RpcError(rpc.INTERNAL_ERROR, message, data).words == words
