"""Content as both versions have it: blocks, locations, plan entries, commands, options."""

from __future__ import annotations

from typing import Final

from acp_editor.acp.lenient import (
    Faults,
    Object,
    invalid_item,
    is_absolute,
    is_extension,
    optional_string,
    required_string,
)
from acp_editor.acp.rpc import fault
from acp_editor.core.model import (
    Choice,
    Command,
    ConfigOption,
    ExitStatus,
    Json,
    Location,
    PlanEntry,
    is_array,
    is_object,
)

_BLOCKS: Final[dict[str, tuple[str, ...]]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("name", "uri"),
}

PRIORITIES: Final = frozenset({"high", "medium", "low"})


def read_block(block: Json, what: str, faults: Faults) -> Object | None:
    """A content block as it is; None where it lacks what its type needs. Unknown types are kept."""
    if not is_object(block):
        return None
    kind = block.get("type")
    if kind == "text":
        return block if isinstance(block.get("text"), str) else None
    if not isinstance(kind, str):
        return None
    if kind == "resource":
        resource: Json = block.get("resource")
        if not is_object(resource) or not isinstance(resource.get("uri"), str):
            return None
        return block if isinstance(resource.get("text", resource.get("blob")), str) else None
    needed = _BLOCKS.get(kind)
    if needed is None:
        note_unknown(kind, "content type", what, faults)
        return block
    return block if all(isinstance(block.get(key), str) for key in needed) else None


def note_unknown(word: str, of: str, what: str, faults: Faults) -> None:
    """Words that begin with an underscore are for extensions and no fault."""
    if not is_extension(word):
        faults.append(fault("unknown_value", f"{what} has a {of} that its version does not know.", word))


def read_location(item: Json, what: str, faults: Faults) -> Location | None:
    if not is_object(item):
        return None
    path, line = item.get("path"), item.get("line")
    if not isinstance(path, str) or not path:
        return None
    if not is_absolute(path):
        faults.append(fault("relative_path", f"A location of {what} has a path that is not absolute.", path))
    if line is None or isinstance(line, bool) or not isinstance(line, int) or line < 1:
        if line == 0 and not isinstance(line, bool):
            faults.append(
                fault("line_from_zero", f"A location of {what} has line 0; lines count from 1.", item)
            )
        elif line is not None:
            faults.append(
                fault("wrong_type", f"`line` of a location of {what} must be a whole number from 1.", item)
            )
        return Location(path)
    return Location(path, line)


def read_plan_entry(item: Json, what: str, faults: Faults) -> PlanEntry | None:
    if not is_object(item) or not isinstance(item.get("content"), str):
        return None
    priority, status = item.get("priority"), item.get("status")
    if not isinstance(priority, str) or not isinstance(status, str):
        faults.append(fault("missing_field", f"An entry of {what} lacks `priority` or `status`.", item))
    elif priority not in PRIORITIES:
        note_unknown(priority, "priority", what, faults)
    return PlanEntry(
        item["content"],
        priority if isinstance(priority, str) else "medium",
        status if isinstance(status, str) else "pending",
    )


def read_command(item: Json, what: str, faults: Faults) -> Command | None:
    if not is_object(item):
        return None
    name = item.get("name")
    if not isinstance(name, str) or not name:
        return None
    taken = item.get("input")
    hint: Json = taken.get("hint") if is_object(taken) else None
    return Command(
        name.removeprefix("/"),
        required_string(item, "description", f"A command of {what}", faults) or "",
        hint if isinstance(hint, str) else None,
    )


def read_option(item: Json, id_key: str, group_key: str, what: str, faults: Faults) -> ConfigOption | None:
    """An option of the session; the two versions name its id and the headings in it differently."""
    if not is_object(item):
        return None
    config_id, kind, value = item.get(id_key), item.get("type"), item.get("currentValue")
    if not isinstance(config_id, str) or not isinstance(kind, str):
        return None
    choices: tuple[Choice, ...] = ()
    match kind:
        case "select":
            if not isinstance(value, str):
                return None
            kind, choices = "choice", _read_choices(item.get("options"), group_key, what, faults)
        case "boolean":
            if not isinstance(value, bool):
                return None
        case _:
            note_unknown(kind, "type of option", what, faults)
    return ConfigOption(
        config_id,
        optional_string(item, "name", what, faults) or config_id,
        kind,
        value,
        optional_string(item, "description", what, faults),
        optional_string(item, "category", what, faults),
        choices,
    )


def _read_choices(options: Json, group_key: str, what: str, faults: Faults) -> tuple[Choice, ...]:
    """The values of a select, flat or in groups."""
    if not is_array(options):
        faults.append(fault("wrong_type", f"`options` of {what} must be an array.", options))
        return ()
    choices: list[Choice] = []
    for item in options:
        if is_object(item) and is_array(item.get("options")):
            name = item.get("name") or item.get(group_key)
            for inner in item["options"]:
                choice = _read_choice(inner, name if isinstance(name, str) else None, what, faults)
                choices += [choice] if choice else []
        else:
            choice = _read_choice(item, None, what, faults)
            choices += [choice] if choice else []
    return tuple(choices)


def _read_choice(item: Json, group: str | None, what: str, faults: Faults) -> Choice | None:
    if not is_object(item) or not isinstance(item.get("value"), str):
        invalid_item(faults, what, "options", item)
        return None
    value: str = item["value"]
    name = optional_string(item, "name", what, faults)
    return Choice(value, name or value, optional_string(item, "description", what, faults), group)


def read_exit_status(value: Json, what: str, faults: Faults) -> ExitStatus | None:
    """How a terminal ended; fields of a wrong type are as if absent."""
    if not is_object(value):
        return None
    code = value.get("exitCode")
    if code is not None and (isinstance(code, bool) or not isinstance(code, int)):
        faults.append(fault("wrong_type", f"`exitCode` of {what} must be a whole number.", code))
        code = None
    return ExitStatus(code, optional_string(value, "signal", what, faults))
