"""An agent and the ways to log in to it."""

from __future__ import annotations

from typing import Literal, TypedDict


class AuthMethod(TypedDict):
    """A way to log in. `kind` is agent, or terminal where the person does it in a terminal."""

    id: str
    name: str
    description: str | None
    kind: str


class Agent(TypedDict):
    """`error` is the last one of the agent or a turn, until the next prompt or start.

    `can` has what it offers beyond the least: load, resume, list, close, delete, fork, logout, image, audio,
    embeddedContext.
    """

    state: Literal["stopped", "starting", "ready", "failed"]
    protocol: int | None
    title: str | None
    version: str | None
    error: str | None
    authMethods: list[AuthMethod]
    can: list[str]
