"""Questions of an agent's to the person: a form as fields, and whether answers fit them.

Source: the protocol's elicitation schemas, flat JSON Schema objects in both versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias

from .model import Json, is_array, is_object

Kind: TypeAlias = Literal["text", "number", "integer", "boolean", "choice", "choices"]
_MAIL = re.compile(r"[^\s@]+@[^\s@]+")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    title: str


@dataclass(frozen=True, slots=True)
class Field:
    """One property of a form. `least` and `most` are lengths of a text, sizes of a list or numbers."""

    key: str
    kind: Kind
    title: str
    description: str | None = None
    required: bool = False
    default: Json = None
    options: tuple[Option, ...] = ()
    least: float | None = None
    most: float | None = None
    pattern: str | None = None
    format: str | None = None


def fields(schema: Json) -> tuple[Field, ...]:
    """The form's fields in the agent's order; properties of a type that no schema names are texts."""
    if not is_object(schema) or not is_object(properties := schema.get("properties")):
        return ()
    required = schema.get("required")
    wanted = set(map(str, required)) if is_array(required) else set[str]()
    return tuple(
        _field(str(key), value if is_object(value) else {}, str(key) in wanted)
        for key, value in properties.items()
    )


def problems(form: Iterable[Field], answers: Mapping[str, Json]) -> list[str]:
    """What is wrong with the answers, a sentence each.

    An agent's patterns are not tried here: what a regular expression takes is without bounds.
    """
    found: list[str] = []
    for field in form:
        value = answers.get(field.key)
        if value is None:
            if field.required:
                found.append(f"{field.title} has to be answered.")
        elif (problem := problem_of(field, value)) is not None:
            found.append(problem)
    return found


def problem_of(field: Field, value: Json) -> str | None:
    """What is wrong with one answer."""
    title = field.title
    match field.kind:
        case "boolean":
            return None if isinstance(value, bool) else f"{title} is either true or false."
        case "integer" | "number":
            whole = field.kind == "integer"
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                return f"{title} has to be a {'whole ' if whole else ''}number."
            return _outside(field, value, "")
        case "choice":
            allowed = [option.value for option in field.options]
            return None if value in allowed else f"{title} has to be one of {', '.join(allowed)}."
        case "choices":
            allowed = [option.value for option in field.options]
            if not is_array(value) or not all(item in allowed for item in value):
                return f"{title} has to be a list of {', '.join(allowed)}."
            return _outside(field, len(value), " choices")
        case "text":
            if not isinstance(value, str):
                return f"{title} has to be a text."
            if (problem := _outside(field, len(value), " characters")) is not None:
                return problem
            wanted = _FORMATS.get(field.format or "")
            return None if wanted is None or wanted[1](value) else f"{title} has to be {wanted[0]}."


def defaults(form: Iterable[Field]) -> dict[str, Json]:
    return {field.key: field.default for field in form if field.default is not None}


def _field(key: str, schema: Mapping[str, Json], required: bool) -> Field:
    kind, options = _kind(schema)
    title, description = schema.get("title"), schema.get("description")
    ends = {"text": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}
    least, most = ends.get(kind, ("minimum", "maximum"))
    return Field(
        key,
        kind,
        title if isinstance(title, str) and title else key,
        description if isinstance(description, str) else None,
        required,
        schema.get("default"),
        options,
        _number(schema.get(least)),
        _number(schema.get(most)),
        _text(schema.get("pattern")),
        _text(schema.get("format")),
    )


def _kind(schema: Mapping[str, Json]) -> tuple[Kind, tuple[Option, ...]]:
    match schema.get("type"):
        case "boolean":
            return "boolean", ()
        case "integer":
            return "integer", ()
        case "number":
            return "number", ()
        case "array":
            items = schema.get("items")
            return "choices", _options(items if is_object(items) else {})
        case _:
            options = _options(schema)
            return ("choice", options) if options else ("text", ())


def _options(schema: Mapping[str, Json]) -> tuple[Option, ...]:
    """`enum`, or titled ones in `oneOf` or `anyOf`."""
    found: list[Option] = []
    names = schema.get("enum")
    if is_array(names):
        found += [Option(str(name), str(name)) for name in names]
    for key in ("oneOf", "anyOf"):
        titled = schema.get(key)
        for item in titled if is_array(titled) else ():
            if is_object(item) and "const" in item:
                found.append(Option(str(item["const"]), str(item.get("title") or item["const"])))
    return tuple(found)


def _outside(field: Field, value: float, unit: str) -> str | None:
    if field.least is not None and value < field.least:
        return f"{field.title} has to have at least {field.least:g}{unit}."
    if field.most is not None and value > field.most:
        return f"{field.title} can have at most {field.most:g}{unit}."
    return None


def _is_date(text: str) -> bool:
    try:
        return len(text) == len("2000-01-01") and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_time(text: str) -> bool:
    """RFC 3339 wants a day, a time and its zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_FORMATS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("a mail address", lambda text: _MAIL.fullmatch(text) is not None),
    "uri": ("an address", lambda text: _ADDRESS.fullmatch(text) is not None),
    "date": ("a date such as 2000-12-31", _is_date),
    "date-time": ("a time such as 2000-12-31T23:59:00Z", _is_time),
}
"""What a format wants, in words. Source: the protocol's StringFormat; others are not looked at."""


def _number(value: Json) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
