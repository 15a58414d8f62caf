"""An administrator's file: the most that may be allowed on this machine, and what options may be set to."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from acp_editor.core.model import Json
from acp_editor.policy.check import Ceiling
from acp_editor.policy.rules import STRICTNESS, Effect, rules_from


def managed_file() -> Path:
    """The administrator's file: the place is fixed, so that no variable of the person's can move it."""
    match sys.platform:
        case "darwin":
            return Path("/Library/Application Support/acp-editor/managed.json")
        case "win32":
            return Path("C:/ProgramData/acp-editor/managed.json")
        case _:
            return Path("/etc/acp-editor/managed.json")


def load_ceiling(path: Path | None = None) -> tuple[Ceiling, str | None]:
    """The ceiling of this machine, and what is wrong with its file; one that cannot be read allows nothing.

    The file holds `{"most"?: "allow" | "ask" | "deny", "allow"?: […], "ask"?: […], "deny"?: […],
    "options"?: {key: […]}}`.
    """
    place = path or managed_file()
    try:
        found: Any = json.loads(place.read_text("utf-8"))
    except FileNotFoundError:
        return Ceiling(), None
    except (OSError, ValueError) as error:
        return Ceiling("ask"), f"{place} cannot be read, so everything is asked: {error}"
    if not isinstance(found, dict):
        return Ceiling("ask"), f"{place} is not an object, so everything is asked."
    content = cast("dict[str, Any]", found)
    most: object = content.get("most", "allow")
    rules = rules_from(cast("object", found), "managed")
    options, wrong = _options(content.get("options"))
    if most not in STRICTNESS:
        wrong = ["`most` is allow, ask or deny, so everything is asked.", *wrong]
        most = "ask"
    wrong += [f"`{one.text}`: {one.message}" for one in rules.problems]
    problem = f"{place}: {' '.join(wrong)}" if wrong else None
    return Ceiling(cast("Effect", most), rules, options), problem


def _options(given: Json) -> tuple[Mapping[str, tuple[Json, ...]], list[str]]:
    """The values that each option may be set to; an entry that cannot be read lets nothing be set."""
    if given is None:
        return {}, []
    if not isinstance(given, dict):
        return {}, ["`options` is an object of lists of values, so it does not count."]
    found: dict[str, tuple[Json, ...]] = {}
    problems: list[str] = []
    for key, values in cast("dict[str, Json]", given).items():
        found[key] = tuple(cast("list[Json]", values)) if isinstance(values, list) else ()
        if not isinstance(values, list):
            problems.append(f"`options`: `{key}` is a list of values, so it cannot be set at all.")
    return found, problems
