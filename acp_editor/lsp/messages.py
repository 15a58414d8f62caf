"""The shapes of what we say to editors and hear from them beside LSP itself.

Written once, here: `scripts/generate_types.py` makes `client-vscode/src/protocol.ts` and the tables of
`docs/protocol.md` from these classes, and a test checks that both are current. Plain dicts at run
time, so that rendering costs nothing more. Positions are LSP's, lines and characters from 0.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Position(TypedDict):
    line: int
    character: int


class Range(TypedDict):
    start: Position
    end: Position


class LineRange(TypedDict):
    """Lines from 0, the end not included."""

    start: int
    end: int


class Location(TypedDict):
    """Where a tool call is. `range` is null where only a file is known; `inferred`: the line is ours."""

    uri: str
    range: Range | None
    inferred: bool


class ToolCall(TypedDict):
    """A tool call, merged; `content` as the agent sent it, `status` as it last said it.

    `cancellable`: the agent offers to cancel it alone, with `acpEditor.toolCall.cancel`.
    """

    toolCallId: str
    name: str | None
    title: str | None
    kind: str
    status: str | None
    active: bool
    locations: list[Location]
    content: list[Any]
    rawInput: Any
    rawOutput: Any
    meta: dict[str, Any]
    cancellable: bool
    fault: NotRequired[str]
    """What the agent did wrong with it, as running it without asking."""
    truncated: NotRequired[bool]


class Message(TypedDict):
    role: Literal["user", "agent", "thought"]
    messageId: str | None
    text: str
    content: list[Any]
    truncated: NotRequired[bool]


class PlanEntry(TypedDict):
    content: str
    priority: str
    status: str


class ExitStatus(TypedDict):
    exitCode: int | None
    signal: str | None


class TerminalSize(TypedDict):
    """In character cells."""

    cols: int
    rows: int


class Terminal(TypedDict):
    """A terminal of the agent's, or one that it has in the editor (`owner` is "client").

    `size` is null where it is not known. `cancellable`: `acpEditor.terminal.cancel` ends what runs in it.
    """

    terminalId: str
    owner: Literal["agent", "client"]
    command: str | None
    cwd: str | None
    output: str
    exitStatus: ExitStatus | None
    size: TerminalSize | None
    cancellable: bool
    truncated: NotRequired[bool]


class Command(TypedDict):
    """A slash command; `name` without the slash."""

    name: str
    description: str
    hint: str | None


class SourcedCommand(Command):
    """`source` names the agent or the hook that it comes from."""

    source: str


class Choice(TypedDict):
    value: str
    name: str
    description: NotRequired[str | None]
    group: NotRequired[str | None]


class ConfigOption(TypedDict):
    """An option of the session. `kind` is "choice", "boolean", "text", "number" or the agent's own word.

    `source` is the agent, or "acp-editor" for a setting of ours that concerns the session. `locked` says by
    whom and why it cannot be set, null where it can. `least` and `most` bound a number.
    """

    configId: str
    name: str
    description: str | None
    kind: str
    category: str | None
    value: Any
    options: list[Choice]
    source: str
    locked: str | None
    least: NotRequired[float]
    most: NotRequired[float]


class Usage(TypedDict):
    """Tokens; `cost` is `{amount, currency}` or null."""

    used: int
    size: int
    cost: Any


class Notice(TypedDict):
    severity: str
    title: str
    description: str | None


class Session(TypedDict):
    sessionId: str
    agent: str
    cwd: str
    title: str | None
    state: Literal["idle", "running", "requires_action"]
    stopReason: str | None
    toolCalls: list[ToolCall]
    messages: list[Message]
    plan: list[PlanEntry]
    terminals: list[Terminal]
    commands: list[Command]
    config: list[ConfigOption]
    usage: Usage | None
    notices: list[Notice]
    queued: int
    truncated: NotRequired[bool]


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


class PermissionOption(TypedDict):
    optionId: str
    name: str
    kind: str


class RuleOffer(TypedDict):
    """A rule that would decide the request at hand, to be saved with `acpEditor.permission.remember`."""

    rule: str
    effect: str
    label: str


class Rule(TypedDict):
    """A rule with where it stands: a session's id, a folder or a file, or the name of a setting.

    `scope` is session, workspace or everywhere for a saved one, which can be edited and revoked, else null.
    `problem` says why it cannot be read or does not count.
    """

    rule: str
    effect: str
    source: str
    scope: str | None
    where: str
    problem: NotRequired[str]


class ProposedDiff(TypedDict):
    """What one file would become: two documents to show side by side."""

    uri: str
    original: str
    modified: str


class Permission(TypedDict):
    """A request that waits for an answer. Oldest first in every list."""

    requestId: str
    sessionId: str
    toolCallId: str | None
    title: str
    kind: str | None
    description: str | None
    command: str | None
    options: list[PermissionOption]
    locations: list[Location]
    diffs: list[ProposedDiff]
    reason: NotRequired[str]
    """Why the person is asked."""
    readOnly: NotRequired[bool]
    dangerous: NotRequired[str]
    """What is destructive about it, as the end of "it …"."""
    outside: NotRequired[list[str]]
    """Paths of it that lie outside of the workspace."""
    offers: NotRequired[list[RuleOffer]]


class Hunk(TypedDict):
    hunkId: str
    original: LineRange
    modified: LineRange
    toolCallId: str | None


class Change(TypedDict):
    """One file that the agent changed and nobody reviewed yet."""

    uri: str
    operation: Literal["add", "modify", "delete", "move"]
    oldUri: str | None
    hunks: list[Hunk]


class FollowLocation(TypedDict):
    uri: str
    range: Range | None


class Follow(TypedDict):
    enabled: bool
    paused: bool
    location: FollowLocation | None


class Fault(TypedDict):
    """What the agent did that the protocol forbids, how often, and the last instance."""

    code: str
    message: str
    count: int
    detail: NotRequired[str]
    agent: NotRequired[str]


class State(TypedDict):
    """The answer to `acpEditor.state`: everything at once."""

    agents: dict[str, Agent]
    activeSessionId: str | None
    sessions: list[Session]
    permissions: list[Permission]
    changes: list[Change]
    follow: Follow
    faults: list[Fault]


# -- notifications from the server ---------------------------------------------------------------


class StatusSession(TypedDict):
    sessionId: str
    title: str | None
    state: str
    stopReason: str | None
    usage: Usage | None


class StatusFollow(TypedDict):
    enabled: bool
    paused: bool


class StatusParams(TypedDict):
    """`acpEditor/status`. `permissions` and `changes` are counts; `agent` is the active session's."""

    agent: str
    state: str
    error: str | None
    session: StatusSession | None
    follow: StatusFollow
    permissions: int
    changes: int
    title: NotRequired[str | None]
    can: NotRequired[list[str]]
    """As in the snapshot's agents."""


class ToolCallParams(TypedDict):
    """`acpEditor/toolCall`."""

    sessionId: str
    toolCall: ToolCall


class Decoration(TypedDict):
    """A mark. `kind` is the tool call's, or added, modified, removed for a hunk; `hover` is Markdown."""

    range: Range
    kind: str
    status: str | None
    toolCallId: str | None
    hover: str
    hunkId: NotRequired[str]


class DecorationsParams(TypedDict):
    """`acpEditor/decorations`; an empty list clears."""

    uri: str
    decorations: list[Decoration]


class PermissionsParams(TypedDict):
    """`acpEditor/permissions`."""

    permissions: list[Permission]


class ChangesParams(TypedDict):
    """`acpEditor/changes`."""

    changes: list[Change]


class SessionParams(TypedDict):
    """`acpEditor/session`."""

    sessionId: str
    plan: list[PlanEntry]
    commands: list[Command]
    config: list[ConfigOption]
    usage: Usage | None
    title: str | None
    state: str


# -- from the editor ---------------------------------------------------------------------------


class UserActivityParams(TypedDict):
    """`acpEditor/userActivity`: the person typed, scrolled, selected or switched editors by hand."""

    uri: NotRequired[str | None]


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


class PromptContext(TypedDict):
    """A file or a part of it. A picture or a sound goes as such to an agent that takes it."""

    uri: str
    range: NotRequired[Range | None]


class Image(TypedDict):
    """A picture that is no file, such as one from the clipboard; `data` is base64."""

    mimeType: str
    data: str


class PromptArgs(TypedDict):
    """With `asText`, a text that begins with a slash is no command, whatever its name."""

    text: str
    asText: NotRequired[bool]
    sessionId: NotRequired[str | None]
    context: NotRequired[list[PromptContext]]
    images: NotRequired[list[Image]]


class SessionId(TypedDict):
    sessionId: str


class Prompted(SessionId):
    """`answer` is what a hook printed for a command of its own; no agent has seen the prompt then."""

    answer: NotRequired[str]


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
