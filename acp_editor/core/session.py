"""One session's state: every update goes through `Session.apply`, which says what it changed.

Pure: no I/O, no clock. It is the same for both protocol versions; whatever they do differently has
been decided by the time an update is here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, assert_never

from .calls import ToolCalls
from .changed import MESSAGES, NOTHING, NOTICE, SESSION, STATE, Changed, Changes, calls_changed
from .choices import Options, options_of, set_mode
from .compaction import compacted
from .growing import merge_meta, patched
from .limits import FAULT, IDENT, OTHER_WEIGHT, ROWS, UNREAD, trimmed
from .messages import Messages
from .model import (
    Command,
    CommandsUpdate,
    CompactionChunk,
    CompactionUpdate,
    ConfigUpdate,
    Fault,
    Fork,
    Json,
    Message,
    MessageChunk,
    MessageUpsert,
    ModeUpdate,
    Notice,
    PermissionRequest,
    PlanEntry,
    PlanUpdate,
    Replay,
    SessionInfoUpdate,
    SessionState,
    StateUpdate,
    Terminal,
    TerminalChunk,
    TerminalUpsert,
    ToolCall,
    ToolCallContentChunk,
    ToolCallUpsert,
    UnknownUpdate,
    Unset,
    Update,
    UsageUpdate,
)
from .newest import Newest
from .terminals import Terminals

KEPT: Final = 100
"""How many notices and how many unknown updates are kept, the newest."""

_Plans: TypeAlias = Newest[str | None, PlanUpdate]
_Compactions: TypeAlias = Newest[str, CompactionUpdate]


class _History(NamedTuple):
    """What a replay tells anew."""

    calls: ToolCalls
    messages: Messages
    terminals: Terminals
    fork: Fork | None
    plans: _Plans
    compactions: _Compactions


class Session:
    """What is known of one session, from the first update on."""

    def __init__(self, session_id: str, agent: str, cwd: str) -> None:
        self.session_id: Final = session_id
        self.agent: Final = agent
        self.cwd = cwd
        self.replaying = False
        """True while old history is played again: its calls are marked and never active."""
        self.state: SessionState = "idle"
        self.agent_state = "idle"
        """The agent's own last word for its state, known to us or not."""
        self.stop_reason: str | None = None
        self.error: Json = None
        """The JSON-RPC error that ended the last turn."""
        self.background: tuple[Json, ...] = ()
        self.turn = 0
        """Counts turns; the first is 1."""
        self.title: str | None = None
        self.updated_at: str | None = None
        self.meta: Mapping[str, Json] = {}
        self.usage: UsageUpdate | None = None
        self.commands: tuple[Command, ...] = ()
        self.plans: _Plans = Newest(KEPT, OTHER_WEIGHT)
        self._earlier_plans: frozenset[str | None] = frozenset()
        self.compactions: _Compactions = Newest(KEPT, OTHER_WEIGHT)
        self.fork: Fork | None = None
        """Where this session was forked from another, what is known of the time before."""
        self.notices: deque[Notice] = deque(maxlen=KEPT)
        self.unknown: deque[UnknownUpdate] = deque(maxlen=KEPT)
        self._sequence = 0
        self._in_turn = False
        self._faults: list[Fault] = []
        self._fault = _noting(self._faults)
        self._calls = ToolCalls(self._fault)
        self._messages = Messages()
        self._terminals = Terminals()
        self._config: dict[str, Options] = {}
        self._before: _History | None = None
        """What was known before the replay that goes on."""

    # -- what is known -------------------------------------------------------------------------

    @property
    def in_turn(self) -> bool:
        return self._in_turn

    @property
    def sequence(self) -> int:
        """Grows by one with every update."""
        return self._sequence

    @property
    def tool_calls(self) -> Mapping[str, ToolCall]:
        """In the order of first sight."""
        return self._calls.all() if self.fork is None else {**self.fork.calls, **self._calls.all()}

    def tool_call(self, call_id: str) -> ToolCall | None:
        call = self._calls.get(call_id)
        return call if call is not None or self.fork is None else self.fork.calls.get(call_id)

    @property
    def messages(self) -> tuple[Message, ...]:
        own = self._messages.values()
        return own if self.fork is None else (*self.fork.messages, *own)

    @property
    def own_items(self) -> list[Message | ToolCall]:
        """Messages and tool calls in the order in which they began, but for what a fork has taken over."""
        items: list[Message | ToolCall] = [*self._messages.values(), *self._calls.all().values()]
        return sorted(items, key=lambda item: item.first)

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """How many calls, messages and terminals there are, each with about the bytes that they hold."""
        calls, messages, terminals = self._calls, self._messages, self._terminals
        calls.all()  # what has changed since the last look has its weight, too
        own = (len(calls), calls.weight), (len(messages), messages.weight), (len(terminals), terminals.size)
        return own if self.fork is None else self.fork.added_to(own)

    @property
    def left_out(self) -> int:
        """How many messages and calls were too many to be kept."""
        before = 0 if self.fork is None else self.fork.left_out
        return before + self._messages.left_out + self._calls.left_out

    @property
    def terminals(self) -> Mapping[str, Terminal]:
        own = self._terminals.values()
        return own if self.fork is None else {**self.fork.terminals, **own}

    def terminal(self, terminal_id: str) -> Terminal | None:
        return self._terminals.get(terminal_id) or (self.fork and self.fork.terminals.get(terminal_id))

    @property
    def plan(self) -> tuple[PlanEntry, ...]:
        """The entries of all plans."""
        return tuple(entry for plan in self.plans.values() for entry in plan.entries)

    @property
    def config(self) -> Options:
        return options_of(self._config)

    @property
    def active_calls(self) -> list[ToolCall]:
        """Those that are still going, the first seen first."""
        return self._calls.active()

    def take_faults(self) -> list[Fault]:
        """The faults found since the last time."""
        if not self._faults:
            return []
        faults = self._faults.copy()
        self._faults.clear()
        return faults

    # -- what happens --------------------------------------------------------------------------

    def apply(self, update: Update) -> Changes:
        """Takes one update in, in wire order, and says which surfaces it touched.

        A call that was touched is not named again before somebody has looked at it.
        """
        self._sequence += 1
        match update:
            case ToolCallUpsert():
                return self._upsert_call(update, asked=False)
            case (MessageChunk(message_id=str(ident)) | MessageUpsert(message_id=ident)) | (
                ToolCallContentChunk(tool_call_id=ident)
                | TerminalChunk(terminal_id=ident)
                | TerminalUpsert(terminal_id=ident)
            ) if len(ident) > IDENT:
                return self._refuse(ident)
            case MessageChunk():
                self._messages.add(update.role, update.message_id, update.content, self._sequence)
                return MESSAGES | self._retold(update.role == "user")
            case ToolCallContentChunk():
                news = self._calls.add_content(
                    update, self._sequence, late=not self._in_turn, replayed=self.replaying
                )
                return self._call_changed(update.tool_call_id, news)
            case TerminalChunk():
                if update.known_only and update.terminal_id not in self._terminals:
                    return NOTHING
                self._terminals.add(update.terminal_id, update.data)
                return frozenset({Changed("terminal", update.terminal_id)})
            case TerminalUpsert():
                self._terminals.patch(trimmed(update))
                return frozenset({Changed("terminal", update.terminal_id)})
            case MessageUpsert():
                content = None if isinstance(update.content, Unset) else update.content or ()
                self._messages.replace(update.role, update.message_id, content, self._sequence)
                return MESSAGES | self._retold(update.role == "user")
            case StateUpdate():
                return self._set_state(trimmed(update))
            case PlanUpdate():
                self._plan(trimmed(update))
            case CommandsUpdate():
                self.commands = trimmed(update).commands
            case ConfigUpdate():
                self._config[update.origin] = trimmed(update).options
            case ModeUpdate():
                set_mode(self._config, update)
            case SessionInfoUpdate():
                update = trimmed(update)
                self.title = patched(self.title, update.title)
                self.updated_at = patched(self.updated_at, update.updated_at)
                self.meta = Newest(ROWS, UNREAD, merge_meta(self.meta, update.meta).items())
            case UsageUpdate():
                self.usage = trimmed(update)
            case Notice():
                self.notices.append(trimmed(update))
                return NOTICE
            case CompactionUpdate() | CompactionChunk():
                update = trimmed(update)
                old = self.compactions.get(update.compaction_id)
                self.compactions[update.compaction_id] = trimmed(compacted(old, update))
            case PermissionRequest():
                return self._ask(update)
            case Replay():
                return self._replay(update)
            case Fork():
                self.fork, self.title = update, self.title or update.name
                return self._all_changed() | self._retold(self._messages.by_person)
            case UnknownUpdate():
                self.unknown.append(trimmed(update))
                return NOTHING
            case _:
                assert_never(update)
        return SESSION

    def _ask(self, request: PermissionRequest) -> Changes:
        call_id = request.tool_call.tool_call_id if request.tool_call else request.tool_call_id
        # Version 1 (where requests have no title) announces calls; in version 2 the request may.
        if call_id and call_id not in self._calls and (request.title is None or not request.tool_call):
            self._fault(
                "permission_for_unknown_call",
                "session/request_permission names a tool call that no session/update announced before it.",
                call_id,
            )
        if request.tool_call is None:
            return NOTHING
        return self._upsert_call(request.tool_call, asked=True)

    def _upsert_call(self, update: ToolCallUpsert, *, asked: bool) -> Changes:
        if len(update.tool_call_id) > IDENT:
            return self._refuse(update.tool_call_id)
        if update.tool_call_id not in self._calls:
            self._messages.close()  # what is said after a call begins is another message
        news = self._calls.upsert(
            update, self._sequence, late=not self._in_turn, replayed=self.replaying, asked=asked
        )
        return self._call_changed(update.tool_call_id, news)

    def _refuse(self, ident: str) -> Changes:
        self._fault("id_too_long", f"An id is longer than {IDENT} characters.", ident)
        return NOTHING

    def _call_changed(self, call_id: str, news: bool) -> Changes:
        if self._calls.too_many:
            return calls_changed({call_id, *self._calls.make_room()})
        if not news:
            return NOTHING
        return frozenset((Changed("toolCall", call_id),))

    # -- the turn ------------------------------------------------------------------------------

    def _set_state(self, update: StateUpdate) -> Changes:
        self.agent_state = update.state
        self.background = update.background
        match update.state:
            case "running" | "requires_action":
                self.state = update.state
                if not self._in_turn:
                    self._in_turn = True
                    self.turn += 1
                    self._earlier_plans = frozenset(self.plans)
                    self._messages.close()
                    self.stop_reason = None
                    self.error = None
                return STATE | self._keep_background()
            case "idle":
                return self._end_turn(update)
            case _:
                return STATE | self._keep_background()

    def _end_turn(self, update: StateUpdate) -> Changes:
        was_in_turn, self._in_turn, self.state = self._in_turn, False, "idle"
        if was_in_turn or not isinstance(update.stop_reason, Unset):
            self.stop_reason = update.stop_reason or None
        if was_in_turn or update.error is not None:
            self.error = update.error
        changed = self._keep_background()
        left = self._calls.end(self._calls.named_by(self.background), self._sequence)
        if was_in_turn and left and self.stop_reason != "cancelled" and update.error is None:
            self._fault(
                "turn_ended_with_calls_running",
                "The turn ended with tool calls that were never reported completed, failed or cancelled.",
                ", ".join(sorted(left)),
            )
        return STATE | changed | calls_changed(left)

    def _keep_background(self) -> Changes:
        """A call that was first heard of outside a turn is active after all if it is listed."""
        if not self.background:
            return NOTHING
        return calls_changed(self._calls.keep(self._calls.named_by(self.background), self._sequence))

    # -- the rest ------------------------------------------------------------------------------

    def _plan(self, plan: PlanUpdate) -> None:
        """A new plan takes the place of those of earlier turns that are done: few agents take theirs back."""
        if plan.plan_id not in self.plans:
            for earlier in self._earlier_plans & self.plans.keys():
                if all(entry.status == "completed" for entry in self.plans[earlier].entries):
                    del self.plans[earlier]
        self.plans[plan.plan_id] = plan

    def _replay(self, update: Replay) -> Changes:
        if self.replaying == update.active:
            return NOTHING
        self.replaying = update.active
        self._messages.close()
        if update.active:
            changed = self._all_changed()
            self._before = _History(
                self._calls,
                self._messages,
                self._terminals,
                self.fork,
                self.plans,
                self.compactions,
            )
            self._calls = ToolCalls(self._fault)
            self._messages = Messages()
            self._terminals = Terminals()
            self.fork = None
            self.plans, self.compactions = Newest(KEPT, OTHER_WEIGHT), Newest(KEPT, OTHER_WEIGHT)
            return changed
        before, self._before = self._before, None
        if before is None or self._messages or self._calls.all():
            return SESSION
        # An agent that tells no history has forgotten it; the person need not.
        self._calls, self._messages, self.fork = before.calls, before.messages, before.fork
        self._terminals.keep(before.terminals)
        self.plans = Newest(KEPT, OTHER_WEIGHT, {**before.plans, **self.plans}.items())
        self.compactions = Newest(KEPT, OTHER_WEIGHT, {**before.compactions, **self.compactions}.items())
        return self._all_changed()

    def _retold(self, by_person: bool) -> Changes:
        """What the person said before the first turn of a fork is history: the agent tells it itself."""
        if self.fork is None or self.turn or not by_person:
            return NOTHING
        changed, self.fork = self._all_changed(), None
        return changed

    def _all_changed(self) -> Changes:
        terminals = {Changed("terminal", terminal_id) for terminal_id in self.terminals}
        return MESSAGES | SESSION | calls_changed(self.tool_calls) | terminals


def _noting(faults: list[Fault]) -> Callable[[str, str, str], None]:
    """Holds no session: one that is closed is large, and goes at once as nothing in it leads back to it."""

    def note(code: str, message: str, detail: str) -> None:
        faults.append(Fault(code, message, detail[:FAULT]))

    return note
