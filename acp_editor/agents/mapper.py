"""From an agent's event stream to the payloads of `session/update`, in protocol version 1 or 2.

One `Mapper` serves one turn. It is public: any agent that can tell its work as `events` can speak ACP
with it. It does no I/O; sending what it returns, in order, is the caller's part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

from acp_editor.agents import events
from acp_editor.agents.arguments import canonical, parsed
from acp_editor.agents.content import Version, content_items, location_items, plan_update
from acp_editor.agents.terminals import Terminals
from acp_editor.core.model import UNSET, Json, Unset


@dataclass(frozen=True, slots=True)
class Approval:
    """How to ask for an approval: send `updates`, then request with `params`, a session id and options.

    `call_id` is the open call that the approval claimed, None where there is none that it may be about.
    """

    call_id: str | None
    updates: list[Json]
    params: dict[str, Json]


@dataclass(slots=True)
class _Call:
    call_id: str
    name: str
    known: dict[str, Json] = field(default_factory=dict[str, Json])
    """What was last sent of title, kind, content and locations."""
    pieces: list[str] = field(default_factory=list[str])
    raw_input: Json | Unset = UNSET
    """What was last sent."""
    claimed: bool = False
    finished: bool = False
    cancellable: bool = False
    stand_in: bool = False
    """Announced only because version 1 asks about calls and nothing else."""

    @property
    def arguments(self) -> Json | Unset:
        """The arguments so far: from their text, else as sent."""
        return parsed("".join(self.pieces)) if self.pieces else self.raw_input


def _fresh_id() -> str:
    return uuid4().hex


class Mapper:
    """The state of one turn; `new_id` makes ids that no other turn has."""

    def __init__(self, version: Version, *, new_id: Callable[[], str] = _fresh_id) -> None:
        self._version: Version = version
        self._new_id = new_id
        self._run: tuple[str, str] | None = None
        self._plan_id: str | None = None
        self._calls: dict[str, _Call] = {}
        self._terminals = Terminals(version)

    def updates(self, event: events.Event) -> list[Json]:
        """The payloads (each the `update` of a notification) that tell `event`, in order; often none."""
        match event:
            case events.Text(text):
                return self._chunk("agent_message_chunk", text)
            case events.Reasoning(text):
                return self._chunk("agent_thought_chunk", text)
            case _:
                self._run = None
        match event:
            case events.PlanChanged(entries):
                self._plan_id = self._plan_id or self._new_id()
                return [plan_update(entries, self._plan_id, self._version)]
            case events.ToolCallBegan():
                return self._began(event)
            case events.ToolArgumentsDelta(call_id, text):
                sent, call = self._call(call_id)
                call.pieces.append(text)
                return sent
            case events.ToolArgumentsDone(call_id, text):
                sent, call = self._call(call_id)
                if text is not None:
                    call.pieces = [text]
                return sent + self._patch(call, self._raw_input(call, call.arguments))
            case events.ToolProgress():
                return self._progress(event)
            case events.ToolResult():
                return self._result(event)
            case events.TerminalBegan() | events.TerminalOutput() | events.TerminalExited():
                sent, progress = self._terminals.tell(event)
                return sent + (self._progress(progress) if progress else [])
            case events.TurnEnded(cancelled):
                return self._close(cancelled)

    def approval(self, wanted: events.ApprovalWanted) -> Approval:
        """Finds the call that `wanted` is about and says how to ask.

        Without a call id it claims the open call that matches name and arguments, of equal ones the one
        announced first; where none matches by arguments, the oldest open call of that name; else none.
        """
        self._run = None
        sent: list[Json] = []
        if wanted.call_id is None:
            call = self._claim(wanted)
        else:
            sent, call = self._call(wanted.call_id, wanted.name)
            call = None if call.finished else call
        claimed = None if call is None else call.call_id
        if call is None and self._version == 1:
            sent, call = self._call(self._new_id(), wanted.name)
            call.stand_in = True
        if call is not None:
            call.claimed = True
            arguments = call.arguments if wanted.arguments is None else _value(wanted.arguments)
            sent += self._patch(call, self._raw_input(call, arguments))
        return Approval(claimed, sent, self._question(wanted, call))

    # -- messages ------------------------------------------------------------------------------

    def _chunk(self, kind: str, text: str) -> list[Json]:
        if not text:
            return []
        if self._run is None or self._run[0] != kind:
            self._run = (kind, self._new_id())
        content = {"type": "text", "text": text}
        return [{"sessionUpdate": kind, "messageId": self._run[1], "content": content}]

    # -- tool calls ----------------------------------------------------------------------------

    def _call(self, call_id: str, name: str = "tool") -> tuple[list[Json], _Call]:
        """The call, and the announcement of it where it was never announced."""
        if call := self._calls.get(call_id):
            return [], call
        call = self._calls[call_id] = _Call(call_id, name)
        return [self._announcement(call, {"title": name, "kind": "other"})], call

    def _announcement(self, call: _Call, fields: dict[str, Json]) -> Json:
        kind = "tool_call" if self._version == 1 else "tool_call_update"
        call.known |= fields
        head = {"sessionUpdate": kind, "toolCallId": call.call_id, "name": call.name, "status": "pending"}
        return head | fields

    def _patch(self, call: _Call, fields: dict[str, Json]) -> list[Json]:
        if not fields:
            return []
        shown = ("title", "kind", "content", "locations")
        call.known |= {key: value for key, value in fields.items() if key in shown}
        return [{"sessionUpdate": "tool_call_update", "toolCallId": call.call_id} | fields]

    def _began(self, event: events.ToolCallBegan) -> list[Json]:
        fields: dict[str, Json] = {"title": event.title or event.name, "kind": event.kind}
        if event.locations:
            fields["locations"] = location_items(event.locations)
        cancellable = event.cancellable and self._version == 2
        if cancellable:
            fields["capabilities"] = {"cancel": {}}
        if call := self._calls.get(event.call_id):
            return self._patch(call, fields)
        call = self._calls[event.call_id] = _Call(event.call_id, event.name, cancellable=cancellable)
        return [self._announcement(call, fields)]

    def _raw_input(self, call: _Call, arguments: Json | Unset) -> dict[str, Json]:
        if isinstance(arguments, Unset):
            return {}
        if not isinstance(call.raw_input, Unset) and canonical(call.raw_input) == canonical(arguments):
            return {}
        call.raw_input = arguments
        return {"rawInput": arguments}

    def _progress(self, event: events.ToolProgress) -> list[Json]:
        sent, call = self._call(event.call_id)
        fields: dict[str, Json] = {}
        if event.title is not None:
            fields["title"] = event.title
        if event.status is not None:
            fields["status"] = event.status
        return sent + self._patch(call, fields | self._shown(event))

    def _shown(self, event: events.ToolProgress | events.ToolResult) -> dict[str, Json]:
        fields: dict[str, Json] = {}
        if event.content is not None:
            fields["content"] = content_items(event.content, self._version)
        if event.locations is not None:
            fields["locations"] = location_items(event.locations)
        return fields

    def _result(self, event: events.ToolResult) -> list[Json]:
        sent, call = self._call(event.call_id)
        fields = self._shown(event)
        if event.outcome != "cancelled":
            fields |= self._raw_input(call, call.arguments)
        if event.output is not None:
            fields["rawOutput"] = event.output
        return sent + self._finish(call, event.outcome, fields)

    def _finish(self, call: _Call, outcome: str, fields: dict[str, Json]) -> list[Json]:
        call.finished = True
        call.pieces.clear()
        status = "failed" if outcome == "cancelled" and self._version == 1 else outcome
        if call.cancellable:
            fields["capabilities"] = None
        return self._patch(call, {"status": status} | fields)

    def _close(self, cancelled: bool) -> list[Json]:
        sent: list[Json] = []
        for call in self._calls.values():
            if not call.finished:
                over = "completed" if call.stand_in else "failed"
                sent += self._finish(call, "cancelled" if cancelled else over, {})
        return sent

    # -- approvals -----------------------------------------------------------------------------

    def _claim(self, wanted: events.ApprovalWanted) -> _Call | None:
        calls = self._calls.values()
        open_calls = [
            call for call in calls if call.name == wanted.name and not (call.claimed or call.finished)
        ]
        if wanted.arguments is not None:
            wanted_arguments = canonical(_value(wanted.arguments))
            for call in open_calls:
                arguments = call.arguments
                if canonical({} if isinstance(arguments, Unset) else arguments) == wanted_arguments:
                    return call
        return open_calls[0] if open_calls else None

    def _question(self, wanted: events.ApprovalWanted, call: _Call | None) -> dict[str, Json]:
        described = {"toolCallId": call.call_id} | call.known | {"status": "pending"} if call else None
        if self._version == 1:
            return {"toolCall": described}
        title = wanted.title or (call.known["title"] if call else wanted.name)
        params: dict[str, Json] = {"title": title}
        if wanted.description:
            params["description"] = wanted.description
        if wanted.command is not None and wanted.cwd is not None:
            params["subject"] = {"type": "command", "command": wanted.command, "cwd": wanted.cwd}
            if call:
                params["subject"]["toolCallId"] = call.call_id
        elif described:
            params["subject"] = {"type": "tool_call", "toolCall": described}
        return params


def _value(arguments: Json) -> Json:
    """An approval's arguments, from their text where that is what the stream has."""
    return parsed(arguments) if isinstance(arguments, str) else arguments
