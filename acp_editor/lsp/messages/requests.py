"""Requests that the server makes of an editor, and their answers."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class SaveDocumentParams(TypedDict):
    """`acpEditor/saveDocument`, a request to an editor that declares `save`."""

    uri: str


class ElicitOption(TypedDict):
    value: str
    title: str


class ElicitField(TypedDict):
    """One field of a form. `kind` is text, number, integer, boolean, choice or choices."""

    key: str
    kind: str
    title: str
    description: str | None
    required: bool
    default: Any
    options: list[ElicitOption]
    least: float | None
    most: float | None
    pattern: str | None
    format: str | None


class ElicitParams(TypedDict):
    """`acpEditor/elicit`, a request to an editor that declares `elicitation`: an agent asks the person.

    In mode "url" the address is shown whole and opened only with consent.
    """

    agent: str
    sessionId: str | None
    message: str
    mode: Literal["form", "url"]
    url: str | None
    fields: list[ElicitField]


class ElicitResult(TypedDict):
    """`content` has a value for each field that was answered; null unless accepted."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None


class RunInTerminalParams(TypedDict):
    """`acpEditor/runInTerminal`, a request to an editor that declares `terminal`: a login of the person's.

    Answered when the terminal is open. Exit status 0 is a success; the agent is to be restarted then.
    """

    agent: str
    title: str
    command: str
    args: list[str]
    env: dict[str, str]
    cwd: str
