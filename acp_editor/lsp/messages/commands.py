"""Arguments and results of the commands."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from acp_editor.lsp.messages.places import Range


class PromptContext(TypedDict):
    """A file or a part of it. A picture or a sound goes as such to an agent that takes it."""

    uri: str
    range: NotRequired[Range | None]


class Image(TypedDict):
    """A picture that is no file, such as one from the clipboard; `data` is base64."""

    mimeType: str
    data: str


class PromptArgs(TypedDict):
    """With `asText`, a text that begins with a slash is no command, whatever its name.

    With `wait`, the answer comes when the turn is over, and says what the agent said.
    """

    text: str
    asText: NotRequired[bool]
    wait: NotRequired[bool]
    sessionId: NotRequired[str | None]
    context: NotRequired[list[PromptContext]]
    images: NotRequired[list[Image]]


class SessionId(TypedDict):
    sessionId: str


class Prompted(SessionId):
    """`answer` is what a hook printed for a command of its own; no agent has seen the prompt then.

    With `wait`, `said` is the agent's last message of the turn, empty where it said nothing.
    """

    answer: NotRequired[str]
    said: NotRequired[str]
    stopReason: NotRequired[str | None]


class SessionRow(TypedDict):
    """One row of `acpEditor.session.list`."""

    sessionId: str
    title: str | None
    updatedAt: str | None
    cwd: str


class AnsweredPermission(TypedDict):
    requestId: str
    optionId: str


class FollowState(TypedDict):
    enabled: bool


class Kept(TypedDict):
    kept: int


class Undone(TypedDict):
    undone: int


class DiffDocuments(TypedDict):
    """Two URIs that the editor can show side by side."""

    original: str
    modified: str


class HookSaid(TypedDict):
    """What one hook said of a call; `failed` where it failed at it, which counts as ask."""

    hook: str
    decision: Literal["allow", "ask", "deny"]
    reason: str
    failed: NotRequired[bool]


class Verdict(TypedDict):
    """What rules and hooks would say of a call; at most one of `rule`, `hook` and `setting` decided.

    `source` is where the rule stands. `answers` says who has to answer: rules, person, or nobody, where the
    person is asked and is not there. `dangerous` is the end of "it …", `outside` lists paths.
    """

    decision: Literal["allow", "ask", "deny"]
    reason: str
    answers: Literal["rules", "person", "nobody"]
    rule: NotRequired[str]
    source: NotRequired[str]
    hook: NotRequired[str]
    setting: NotRequired[str]
    readOnly: NotRequired[bool]
    dangerous: NotRequired[str]
    outside: NotRequired[list[str]]
    hooks: NotRequired[list[HookSaid]]


class HookWord(TypedDict):
    """Something that a hook said lately: of a kind of call, a command or an option (`about`)."""

    time: str
    about: str
    said: str
    reason: str


class Hook(TypedDict):
    """One row of `acpEditor.hooks`. `takesPart` names its functions, `said` counts its words.

    `problems` says what is wrong with it; one that could not be loaded takes part in nothing.
    """

    name: str
    package: str | None
    takesPart: list[str]
    said: dict[str, int]
    last: list[HookWord]
    problems: list[str]


class Ran(TypedDict):
    """What running a slash command printed; `stopReason` is null where a hook answered."""

    sessionId: str
    printed: str
    stopReason: str | None
