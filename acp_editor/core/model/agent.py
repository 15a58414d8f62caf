"""What an agent is, can do, and is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from acp_editor.core.model.updates import Update


@dataclass(frozen=True, slots=True)
class AuthMethod:
    method_id: str
    name: str
    description: str | None = None
    kind: str = "agent"
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an agent says that it can, in either version."""

    load: bool = False
    resume: bool = False
    list: bool = False
    close: bool = False
    delete: bool = False
    fork: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    additional_directories: bool = False
    prompt_queueing: bool = False
    """Takes a prompt in mid turn."""


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """The answer to initialize."""

    protocol: Literal[1, 2]
    title: str | None = None
    version: str | None = None
    auth_methods: tuple[AuthMethod, ...] = ()
    capabilities: Capabilities = Capabilities()
    name: str | None = None
    """The agent's own name for itself, for a program to compare."""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The answer to session/new, load, resume or fork.

    `updates` are the options, modes, models and commands that came with it, empty once they have been
    reported like any other update, at their place in the wire's order.
    """

    session_id: str
    updates: tuple[Update, ...] = ()


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of the Model Context Protocol that the agent is to use in a session.

    `env` and `headers` may hold secrets and are left out of its text.
    """

    name: str
    kind: Literal["stdio", "http", "sse"] = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of session/list."""

    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
