"""JSON-RPC 2.0 in lines, without I/O: bytes to lines, lines to messages, messages to bytes.

Nothing here raises for what a peer sent: what cannot be used is reported as a `Fault` and passed over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Never, TypeAlias, TypeGuard

from pydantic_core import from_json

from acp_editor.core.finite import beginning
from acp_editor.core.limits import FAULT
from acp_editor.core.model import Fault, Json

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
"""From the range that LSP reserves; the Agent Client Protocol takes it over."""

MAX_LINE: Final = 256 * 1024 * 1024
"""Bytes of one message, the newline not counted."""

MAX_DEPTH: Final = 201
"""Containers inside each other, as many as pydantic's parser takes; what is deeper breaks whatever walks it
later by recursion."""

MOST_DETAILS: Final = 500
"""Characters of an error's details that a person may want to read."""

Report: TypeAlias = Callable[[Fault], None]
RequestId: TypeAlias = str | int | float | None
Object: TypeAlias = dict[str, Json]


def is_object(value: Json) -> TypeGuard[Object]:
    return isinstance(value, dict)


class RpcError(Exception):
    """A JSON-RPC error: raised in a handler to answer with it, and by a request that got one."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    @property
    def words(self) -> str:
        """What a person may read of it."""
        return error_words(self.message, self.data)

    def to_json(self) -> Object:
        error: Object = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


def error_words(message: str, data: Json) -> str:
    """An error's message with its details: many agents say only there what was wrong."""
    details = data.get("details") if is_object(data) else data
    if not isinstance(details, str) or not details.strip() or details in message:
        return message
    return f"{message}: {details.strip()[:MOST_DETAILS]}"


@dataclass(frozen=True, slots=True)
class Request:
    id: RequestId
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Answer:
    id: RequestId
    result: Json


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    id: RequestId
    error: RpcError


Message: TypeAlias = Request | Notification | Answer | ErrorAnswer


class LineReader:
    """Cuts a stream of bytes into lines, in time linear in the bytes however they are chunked.

    A line of more than `max_line` bytes is reported once as `line_too_long` and never held.
    """

    def __init__(self, report: Report, max_line: int = MAX_LINE) -> None:
        self._report = report
        self._max_line = max_line
        self._held: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their newlines."""
        *ends, rest = data.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            self._hold(end)
            line = self.finish()
            if line:
                lines.append(line)
        if rest:
            self._hold(rest)
        return lines

    def finish(self) -> bytes:
        """The line so far, given up here; for the end of the stream, where the last newline may miss."""
        line = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        self._held = []
        self._size = 0
        return line

    def _hold(self, part: bytes) -> None:
        before, self._size = self._size, self._size + len(part)
        if self._size <= self._max_line:
            self._held.append(part)
            return
        if before <= self._max_line:
            head = b"".join([*self._held, part])[: 4 * FAULT] if self._held else part[: 4 * FAULT]
            self._report(fault("line_too_long", f"A message is longer than {self._max_line} bytes.", head))
        self._held = []


def fault(code: str, message: str, detail: str | bytes | Json = "") -> Fault:
    """A fault with the beginning of what was wrong."""
    if isinstance(detail, bytes):
        detail = detail[: 4 * FAULT].decode("utf-8", "replace")
    elif not isinstance(detail, str):
        detail = beginning(detail, FAULT)
    return Fault(code, message, detail[:FAULT])


def _no_constant(text: str) -> Never:
    raise ValueError(f"{text} is not JSON")


# Python's parser would let NaN and infinities through, which no other JSON reader takes back.
_decoder: Final = json.JSONDecoder(parse_constant=_no_constant)
# Only ASCII on the wire: it survives peers that read their stdin in some code page, and lone surrogates.
_encoder: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def decode(line: bytes, report: Report) -> Object | None:
    """The object that a line holds; None for anything else, reported unless the line is blank.

    A number that is too large for a float is infinite, as it is to JavaScript.
    """
    try:
        value: Json = from_json(line, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        return _decode_carefully(line, report)
    if is_object(value):
        return value
    return _decode_carefully(line, report)


def _decode_carefully(line: bytes, report: Report) -> Object | None:
    """For what the quick parser refuses: Python's takes more, and says better what is wrong with it."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        report(fault("not_utf8", f"A message is not UTF-8: {error.reason}.", line))
        text = line.decode("utf-8", "replace")
    try:
        value = _without_lone_surrogates(_decoder.decode(text.removeprefix("\ufeff")), report)
    except (ValueError, RecursionError) as error:
        if text and not text.isspace():
            report(fault("not_json", f"A line on the agent's output is not JSON: {error}.", text))
        return None
    if not is_object(value):
        report(fault("not_an_object", "A line on the agent's output is JSON but not an object.", text))
        return None
    if _too_deep(value, line):
        report(fault("too_deep", f"A message is nested deeper than {MAX_DEPTH}.", text))
        return None
    return value


def _too_deep(value: Object, line: bytes) -> bool:
    """Counting first, since walking takes as long as parsing."""
    return (
        len(line) > 2 * MAX_DEPTH
        and line.count(b"{") + line.count(b"[") > MAX_DEPTH
        and _deeper_than(value, MAX_DEPTH)
    )


def _without_lone_surrogates(value: Json, report: Report) -> Json:
    """Half a pair cannot be written to a file or sent on as UTF-8, so it becomes U+FFFD."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        near = text[max(0, error.start - 40) : error.end + 40]
        report(fault("lone_surrogate", "A string has half a surrogate pair.", ascii(near)))
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return _decoder.decode(whole)
    return value


_CONTAINERS: Final = (dict, list)  # made once: a union in the loop would be made for every child


def _deeper_than(value: Json, depth: int) -> bool:
    level: list[Json] = [value]
    for _ in range(depth):
        children = (item.values() if is_object(item) else item for item in level)
        level = [child for group in children for child in group if isinstance(child, _CONTAINERS)]
        if not level:
            return False
    return True


def classify(message: Object, report: Report) -> Message | None:
    """What an object is in JSON-RPC; None where it is nothing of the kind, which is reported."""
    has_id = "id" in message
    ident: Json = message.get("id")
    if has_id and not _may_be_id(ident):
        report(fault("bad_id", "A message's id is neither a string nor a number.", message))
        return None
    if "method" in message:
        method: Json = message["method"]
        if not isinstance(method, str):
            report(fault("not_a_message", "A message's method is not a string.", message))
            return None
        params: Json = message.get("params")
        return Request(ident, method, params) if has_id else Notification(method, params)
    if message.get("error") is not None:
        return ErrorAnswer(ident, _error(message["error"], report))
    if "result" in message:
        return Answer(ident, message["result"])
    if has_id and "jsonrpc" in message:
        # An answer whose result was `undefined` looks like this when JavaScript wrote it.
        report(fault("answer_without_result", "An answer has neither result nor error.", message))
        return Answer(ident, None)
    report(fault("not_a_message", "An object is neither a request, a notification nor an answer.", message))
    return None


def _may_be_id(ident: Json) -> bool:
    if isinstance(ident, float):
        return math.isfinite(ident)
    return not isinstance(ident, bool) and isinstance(ident, str | int | None)


def _error(error: Json, report: Report) -> RpcError:
    fields: Object = error if is_object(error) else {}
    code: Json = fields.get("code")
    message: Json = fields.get("message")
    if isinstance(code, int) and isinstance(message, str):
        return RpcError(code, message, fields.get("data"))
    report(fault("bad_error", "An error answer is not an object with code and message.", error))
    return RpcError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else str(error),
        fields.get("data"),
    )


def encode(message: Object) -> bytes:
    """The line for a message, newline included; raises TypeError or ValueError for what is not JSON."""
    return _encoder.encode(message).encode("ascii") + b"\n"
