"""The person's settings, the section `acpEditor`, read key by key.

A bad key is told in a sentence that names it, and its default holds; it never takes another along.
Unknown keys are passed over. Values of `env` and `headers` are secrets and never quoted.
"""

from __future__ import annotations

import copy
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from acp_editor.core.follow import KINDS
from acp_editor.core.model import Json, McpServer, is_array, is_object

logger = logging.getLogger(__name__)

SECTION = "acpEditor"
_SECRET = frozenset({"env", "headers"})
_SETS = frozenset({"kinds"})
"""Lists that make sense without one of their items."""
_MAX_QUOTED = 60


def _as_text(value: Any) -> Any:
    """Numbers where only texts make sense, as a port among the arguments."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


Text: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
Texts: TypeAlias = Annotated[tuple[Text, ...], Field(strict=False)]
Name: TypeAlias = Annotated[str, Field(min_length=1)]
Secrets: TypeAlias = Annotated[dict[str, Text], Field(default_factory=dict, repr=False)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(ge=1)]
Kind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]


class Section(BaseModel):
    """Settings that stand together; strict, so that a text is no number and a number no switch."""

    model_config = ConfigDict(frozen=True, strict=True, alias_generator=to_camel, extra="ignore")


class AgentSettings(Section):
    """How an agent is started. `protocol` may force a version."""

    command: Name
    args: Texts = ()
    env: Secrets
    cwd: str | None = None
    protocol: Literal["auto", 1, 2] = "auto"

    @model_validator(mode="before")
    @classmethod
    def _older_shape(cls, value: Any) -> Any:
        """`{"command": {"path": …, "args": …, "env": …}}`, as Zed had it once."""
        match value:
            case {"command": {"path": str(path), **inner}}:
                return {**value, **inner, "command": path}
            case _:
                return value


class FollowSettings(Section):
    """`resume_after` in seconds; None: following goes on only by command or prompt."""

    enabled: bool = True
    kinds: Annotated[frozenset[Kind], Field(strict=False)] = cast("frozenset[Kind]", KINDS)
    resume_after: Seconds | None = 10.0


class DecorationSettings(Section):
    """`fade_after`: seconds that the mark of a call stays that is no longer active."""

    enabled: bool = True
    fade_after: Seconds = 10.0


class PermissionSettings(Section):
    """`rules` is the object as it was given, bad rules included: only the policy can fail them safely."""

    rules: Json = Field(default_factory=dict)
    read_inside: bool = False

    @model_validator(mode="before")
    @classmethod
    def _keep(cls, value: Any) -> Any:
        return {**value, "rules": value} if is_object(value) else {"rules": value}


class ReviewSettings(Section):
    """Files over `max_file_size` bytes and workspaces of over `max_files` files are left out.

    `tell_agent`: what the person undid goes to the agent with the next prompt.
    """

    enabled: bool = True
    max_file_size: Count = 10_000_000
    max_files: Count = 100_000
    tell_agent: bool = True


class LogSettings(Section):
    """`protocol` logs every message from and to the agents."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    protocol: bool = False

    @field_validator("level", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value


class McpSettings(Section):
    """One entry of `.vscode/mcp.json`; without a `type`, one with a `url` is reached over HTTP."""

    type: Literal["stdio", "http", "sse"] | None = None
    command: str = ""
    args: Texts = ()
    env: Secrets
    url: str = ""
    headers: Secrets

    @model_validator(mode="after")
    def _complete(self) -> McpSettings:
        if not (self.command if self.kind == "stdio" else self.url):
            raise ValueError(f"a {self.kind} server needs a {'command' if self.kind == 'stdio' else 'url'}")
        return self

    @property
    def kind(self) -> Literal["stdio", "http", "sse"]:
        return self.type or ("http" if self.url else "stdio")

    def server(self, name: str) -> McpServer:
        return McpServer(name, self.kind, self.command, self.args, self.env, self.url, self.headers)


def _demo() -> AgentSettings:
    return AgentSettings(command=sys.executable, args=("-m", "acp_editor", "demo-agent"), env={})


class Settings(Section):
    """Everything, with defaults for what was not given or bad.

    `cancel_grace`: seconds that an agent has to end a cancelled turn. `max_message_size`: bytes; a longer
    message of an agent is passed over, from its next start on. The agent "demo" is always there.
    """

    agents: dict[str, AgentSettings] = Field(default_factory=dict)
    agent: Name = "demo"
    follow: FollowSettings = Field(default_factory=FollowSettings)
    decorations: DecorationSettings = Field(default_factory=DecorationSettings)
    permissions: PermissionSettings = Field(default_factory=PermissionSettings)
    workspace_permissions: PermissionSettings = Field(default_factory=PermissionSettings)
    """What the workspace's own settings say, where the editor tells them apart: it may only tighten."""
    review: ReviewSettings = Field(default_factory=ReviewSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    mcp_servers: dict[str, McpSettings] = Field(default_factory=dict)
    cancel_grace: Seconds = 5.0
    max_message_size: Count = 256 * 1024 * 1024

    @model_validator(mode="after")
    def _with_demo(self) -> Settings:
        self.agents.setdefault("demo", _demo())
        return self


class McpFile(Section):
    """A `.vscode/mcp.json`."""

    servers: dict[str, McpSettings] = Field(default_factory=dict)


def parse(raw: object) -> tuple[Settings, list[str]]:
    """The settings, and a sentence for each key that was not as it should be."""
    settings, problems = _read(Settings, raw, SECTION)
    if settings.agent not in settings.agents:
        known = ", ".join(settings.agents)
        problems.append(f"{SECTION}.agent: there is no agent {_quoted(settings.agent)}, only {known}.")
        settings = settings.model_copy(update={"agent": "demo"})
    return settings, problems


def parse_mcp_file(raw: object, name: str = "mcp.json") -> tuple[tuple[McpServer, ...], list[str]]:
    """The servers of a `.vscode/mcp.json`, with `${…}` as they stand there, and what is wrong with it."""
    file, problems = _read(McpFile, raw, name)
    return tuple(entry.server(key) for key, entry in file.servers.items()), problems


_Model = TypeVar("_Model", bound=Section)


def _read(model: type[_Model], raw: object, key: str) -> tuple[_Model, list[str]]:
    """The model from what is left of `raw` without everything that is wrong in it."""
    problems: list[str] = []
    given: Json = copy.deepcopy(raw)
    if not is_object(given):
        if given is not None:
            problems.append(f"{key} is ignored: it should be an object, not {_quoted(given)}.")
        given = {}
    for unknown in _unknown(model, given, key):
        logger.debug("the setting %s is not known", unknown)
    while True:
        try:
            # Half a surrogate pair is no text that could be passed on, so it becomes a "?".
            text = json.dumps(given, ensure_ascii=False).encode("utf-8", "replace")
            return model.model_validate_json(text), problems
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            if problem := _removed(given, first["loc"], first["msg"], key):
                problems.append(problem)


def _removed(given: dict[str, Json], location: tuple[int | str, ...], message: str, key: str) -> str | None:
    """Takes what an error is about out of `given`; what to say of it, None for a null, which is no value."""
    parent: Any = given
    part: int | str = ""
    value: Any = given
    told = key
    for step in location:
        if not _holds(value, step, part in _SETS):
            break
        parent, part, value = value, step, value[step]
        told += f"[{step}]" if isinstance(step, int) else f".{step}"
    if parent is value:
        given.clear()
    else:
        del parent[part]
    if value is None:
        return None
    if message == "Field required":
        return f"{told} is ignored: it has no {_quoted(location[-1])}."
    reason = message.removeprefix("Value error, ").replace("Input should", "it should")
    secret = not _SECRET.isdisjoint(location)
    return f"{told} is ignored: {reason}{'' if secret or is_object(value) else f', not {_quoted(value)}'}."


def _holds(value: Json, step: int | str, items: bool) -> bool:
    return (is_object(value) and step in value) or (items and is_array(value))


def _unknown(model: type[Section], given: Mapping[str, Json], key: str) -> Iterator[str]:
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    for name, value in given.items():
        section = fields.get(name)
        if name not in fields:
            yield f"{key}.{name}"
        elif isinstance(section, type) and issubclass(section, Section) and is_object(value):
            yield from _unknown(section, value, f"{key}.{name}")


def _quoted(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 1] + "…"
