"""The official schemas of the Agent Client Protocol, as the TypeScript SDK from npm ships them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest

FOLDER = Path(__file__).parents[1] / "client-vscode/node_modules/@agentclientprotocol/sdk/schema"

Version = Literal[1, 2]
Side = Literal["agent", "client"]


@functools.cache
def schema(version: Version) -> dict[str, Any]:
    path = FOLDER / f"v{version}" / "schema.json"
    if not path.is_file():
        pytest.fail(f"{path} is missing: run `npm ci` in client-vscode (it needs the SDK 2.4.0 or newer)")
    return json.loads(path.read_text())


@functools.cache
def validator(version: Version, definition: str) -> jsonschema.Draft202012Validator:
    """For one definition, such as "SessionUpdate"."""
    return jsonschema.Draft202012Validator({**schema(version), "anyOf": [{"$ref": f"#/$defs/{definition}"}]})


def check(version: Version, definition: str, value: Any) -> None:
    """Fails with the reasons where `value` is not what the definition says."""
    errors = list(validator(version, definition).iter_errors(value))
    reasons = "\n".join(_reasons(errors))
    assert not errors, f"not a {definition} of version {version}:\n{reasons}\n{json.dumps(value)[:2000]}"


@functools.cache
def _definitions(version: Version) -> dict[tuple[str, str], str]:
    """By method and "params" or "result", the name of the definition."""
    found: dict[tuple[str, str], str] = {}
    for name, definition in schema(version)["$defs"].items():
        if method := definition.get("x-method"):
            found[method, "result" if name.endswith("Response") else "params"] = name
    return found


def check_params(version: Version, method: str, params: Any) -> None:
    """A request's or notification's params, by its method."""
    name = _definitions(version).get((method, "params"))
    assert name is not None, f"version {version} has no {method}"
    check(version, name, params)


def check_result(version: Version, method: str, result: Any) -> None:
    """An answer to a request, by its method."""
    name = _definitions(version).get((method, "result"))
    assert name is not None, f"version {version} has no answer to {method}"
    check(version, name, result)


def check_any_answer(version: Version, side: Side, result: Any) -> None:
    """A result of which only the side that gives it is known."""
    names = [
        name
        for name, definition in schema(version)["$defs"].items()
        if definition.get("x-side") == side and name.endswith("Response")
    ]
    fits = any(validator(version, name).is_valid(result) for name in names)
    assert fits, f"no answer of a {side} in version {version}: {json.dumps(result)[:2000]}"


class Traffic:
    """Checks every message of one connection, both ways; give it each with `see`, in order."""

    def __init__(self, version: Version) -> None:
        self.version: Version = version
        self._asked: dict[tuple[Side, Any], str] = {}

    def see(self, sender: Side, message: dict[str, Any]) -> None:
        assert message["jsonrpc"] == "2.0"
        definitions = _definitions(self.version)
        method = message.get("method")
        if method is not None:
            if "id" in message:
                self._asked[sender, message["id"]] = method
            assert (method, "params") in definitions, f"version {self.version} has no {method}"
            check(self.version, definitions[method, "params"], message.get("params"))
        elif "error" in message:
            check(self.version, "Error", message["error"])
        else:
            other: Side = "client" if sender == "agent" else "agent"
            method = self._asked.pop((other, message["id"]))
            check(self.version, definitions[method, "result"], message["result"])


class Deviations:
    """What an agent sends that the schema does not allow, said once for each kind; give it each message.

    Methods that begin with an underscore, and unstable ones, are nobody's deviation.
    """

    def __init__(self, version: Version) -> None:
        self.version: Version = version
        self.found: dict[str, int] = {}
        """How often each was seen, by a sentence that names no one message."""
        self._asked: dict[Any, str] = {}

    def see(self, way: str, message: dict[str, Any]) -> None:
        """`way` is "out" for what we sent."""
        method = message.get("method")
        if way == "out":
            if method is not None and "id" in message:
                self._asked[message["id"]] = method
        elif method is not None:
            self._weigh(method, "params", message.get("params"))
        elif "error" in message:
            self._add(self._asked.pop(message.get("id"), "an unknown request"), "Error", message["error"])
        elif (asked := self._asked.pop(message.get("id"), None)) is not None:
            self._weigh(asked, "result", message.get("result"))

    def _weigh(self, method: str, part: str, value: Any) -> None:
        if (name := _definitions(self.version).get((method, part))) is not None:
            kind = value.get("update", {}).get("sessionUpdate") if method == "session/update" else None
            self._add(" ".join(filter(None, [method, kind])), name, value)
        elif not method.startswith("_") and part == "params":
            self._count(f"{method}: not in the schema")

    def _add(self, where: str, definition: str, value: Any) -> None:
        for error in validator(self.version, definition).iter_errors(value):
            error = _cause(error)
            path = ".".join("*" if isinstance(key, int) else str(key) for key in error.absolute_path)
            self._count(f"{where}: {path + ': ' if path else ''}{_said(error)}")

    def _count(self, sentence: str) -> None:
        self.found[sentence] = self.found.get(sentence, 0) + 1


def _cause(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """The reason inside of a choice: of the branch that the value says it is, by a constant of its own."""
    while error.context:
        branches: dict[Any, list[jsonschema.ValidationError]] = {}
        for each in error.context:
            branches.setdefault(each.schema_path[0], []).append(each)
        meant = [branch for branch in branches.values() if not any(map(_other, branch))]
        closest = min(meant or branches.values(), key=len)
        error = max(closest, key=lambda each: len(each.absolute_path))
    return error


def _other(error: jsonschema.ValidationError) -> bool:
    """Whether it only says that the value is of another branch."""
    return error.validator in {"const", "not"} or (
        error.validator == "type" and error.validator_value == "null"
    )


def _said(error: jsonschema.ValidationError) -> str:
    match error.validator:
        case "type":
            return f"not of type {error.validator_value}"
        case "enum" | "const":
            return f"{error.instance!r} is not a value of the schema"
        case _:
            return error.message[:120]


def _reasons(errors: list[jsonschema.ValidationError], depth: int = 0) -> list[str]:
    lines: list[str] = []
    for error in errors:
        path = "/".join(map(str, error.absolute_path))
        lines.append(f"{'  ' * depth}{path}: {error.message[:200]}")
        if depth < 3:
            lines += _reasons(list(error.context or []), depth + 1)[:40]
    return lines
