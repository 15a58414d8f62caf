"""Models of the messages that are not on the hot path, lenient as the schema's marks say.

A field that is marked falls back to its default and is noted as a fault; so is a bad item of a list,
which is left out. Unknown fields and unknown words are kept. Source: the schemas' `x-deserialize-…`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, WrapValidator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from acp_editor.acp.blocks import note_unknown
from acp_editor.acp.lenient import Faults
from acp_editor.acp.rpc import fault
from acp_editor.core.model import Json, PermissionOption, is_array


class Unreadable(Exception):
    """A message lacks what it is nothing without; the text is a sentence for the agent's maker."""


class Wire(BaseModel):
    """Camel case on the wire; nothing is converted, and nothing unknown is lost."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", strict=True, frozen=True
    )


M = TypeVar("M", bound=Wire)
T = TypeVar("T")


def read(model: type[M], raw: Json, what: str, faults: Faults) -> M:
    """Raises Unreadable where a field is bad that has no fallback."""
    try:
        return model.model_validate(raw, context=(what, faults))
    except ValidationError as error:
        raise Unreadable(f"{what}: {_sentence(error)}") from error


def _sentence(error: ValidationError) -> str:
    first: ErrorDetails = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where or 'params'}: {first['msg']}"


def _note(info: ValidationInfo, code: str, message: str, piece: Json) -> None:
    if info.context is not None:
        what, faults = cast("tuple[str, Faults]", info.context)
        faults.append(fault(code, message.format(what=what, key=to_camel(info.field_name or "")), piece))


def or_default(default: Any) -> WrapValidator:
    """A bad value falls back to `default`, as the schema's default-on-error; null does so silently."""

    def validate(value: Any, handler: Any, info: ValidationInfo) -> Any:
        if value is None:
            return default
        try:
            return handler(value)
        except ValidationError:
            _note(info, "wrong_type", "`{key}` of {what} is of a wrong type and left out.", value)
            return default

    return WrapValidator(validate)


def _items(value: Any, handler: Any, info: ValidationInfo) -> Any:
    if value is None:
        return []
    if not is_array(value):
        _note(info, "wrong_type", "`{key}` of {what} must be an array.", value)
        return []
    items: list[Any] = []
    for item in value:
        try:
            items += handler([item])
        except ValidationError:
            _note(info, "invalid_item", "An item of `{key}` of {what} is not valid; it is left out.", item)
    return items


Items = Annotated[list[T], WrapValidator(_items)]
"""A list whose bad items are left out; null and anything else is an empty one."""

Text = Annotated[str | None, or_default(None)]
Flag = Annotated[bool, or_default(False)]
Anything = Annotated[Json, or_default(None)]


def _offered(value: Any, handler: Any) -> Any:
    """Capabilities of both versions: true, or any object, is yes; null, false and absence is no."""
    return isinstance(value, dict) or value is True


Offered = Annotated[bool, WrapValidator(_offered)]


# -- initialize ----------------------------------------------------------------------------------


class Implementation(Wire):
    name: str
    title: Text = None
    version: Text = None


class PromptCapabilities(Wire):
    image: Offered = False
    audio: Offered = False
    embedded_context: Offered = False


class McpCapabilities(Wire):
    stdio: Offered = False
    http: Offered = False
    sse: Offered = False


# -- sessions ------------------------------------------------------------------------------------


class SessionInfo(Wire):
    session_id: str
    cwd: str
    title: Text = None
    updated_at: Text = None


class SessionList(Wire):
    sessions: Items[SessionInfo] = Field(default_factory=list[SessionInfo])
    next_cursor: Text = None


# -- what an agent asks --------------------------------------------------------------------------


class _PermissionOption(Wire):
    option_id: str
    name: str
    kind: str


class Elicit(Wire):
    """A form or a URL; in a session, for a call of it, or for a request of ours."""

    message: str
    mode: Literal["form", "url"]
    requested_schema: Anything = None
    url: Text = None
    elicitation_id: Text = None
    session_id: Text = None
    tool_call_id: Text = None


class ElicitationComplete(Wire):
    elicitation_id: str


class ReadTextFile(Wire):
    session_id: str
    path: str
    line: int | None = None
    limit: int | None = None


class WriteTextFile(Wire):
    session_id: str
    path: str
    content: str


class Variable(Wire):
    name: str
    value: str


class CreateTerminal(Wire):
    session_id: str
    command: str
    args: list[str] | None = None
    env: list[Variable] | None = None
    cwd: str | None = None
    output_byte_limit: int | None = None


class TerminalRequest(Wire):
    """terminal/output, wait_for_exit, kill and release."""

    session_id: str
    terminal_id: str


_OPTION_KINDS: Final = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})


class _Options(Wire):
    options: Items[_PermissionOption]


def permission_options(raw: Json, what: str, faults: Faults) -> tuple[PermissionOption, ...]:
    """Raises Unreadable where there is no option to answer with."""
    options = read(_Options, {"options": raw}, what, faults).options
    if not options:
        raise Unreadable(f"{what}: `options` must be a list of options with optionId, name and kind")
    for option in options:
        if option.kind not in _OPTION_KINDS:
            note_unknown(option.kind, "kind of option", what, faults)
    return tuple(PermissionOption(o.option_id, o.name, o.kind) for o in options)
