"""Who may do what, connected: every request goes through the policy before the person is asked."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread

from acp_editor.app import folders
from acp_editor.app.own_options import READ
from acp_editor.app.rulebook import Rulebook
from acp_editor.app.sessions import Entry
from acp_editor.app.unasked import Unasked
from acp_editor.core.model import Json, Location, PermissionRequest, ToolCall
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.calls import input_from, input_from_arguments
from acp_editor.policy.check import CheckInput, Verdict, check
from acp_editor.policy.hook_packages import load_hooks
from acp_editor.policy.hooks import Hooks
from acp_editor.policy.log import DecisionLog
from acp_editor.policy.managed import load_ceiling
from acp_editor.policy.rules import RuleSet
from acp_editor.policy.suggest import suggestions
from acp_editor.settings import Settings

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Decision:
    """An option to answer with, or None: the person is asked, or where nobody is there, it is cancelled."""

    option_id: str | None
    verdict: Verdict
    call: CheckInput

    @property
    def asks(self) -> bool:
        return self.option_id is None and self.verdict.answers != "nobody"


class Judge:
    """The rules of this machine, this person, this workspace and this session; hooks; the log."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.ceiling, problem = load_ceiling()
        self.book = Rulebook(self.ceiling, self._reads_inside, app.warn_once)
        self.unasked = Unasked(self.ceiling, lambda entry, fault: app.fault(entry.agent, fault))
        self._log = DecisionLog(folders.state() / "decisions.ndjson", workspace=app.roots[0])
        self._hooks: Hooks | None = None
        self.somebody = not app.editor.client.headless
        """Whether there is a person who can answer; an editor that cannot ask shows it when it is tried."""
        if problem:
            app.editor.warn(problem)

    def configure(self, settings: Settings) -> None:
        self.book.configure(settings)

    # -- deciding ------------------------------------------------------------------------------------

    async def decide(self, entry: Entry, request: PermissionRequest, call_id: str | None) -> Decision:
        """What rules and hooks say; an answer only where the request offers the option that means it."""
        call = self._input(entry, request, call_id)
        self.unasked.asked(entry, call, call_id)
        verdict = await self._check(call, self._rules(entry))
        kinds = {"allow": "allow_once", "deny": "reject_once"}
        kind = kinds.get(verdict.decision)
        option = next((o for o in request.options if o.kind == kind), None)
        if option is not None:
            self.note(call, verdict, option.kind)
            return Decision(option.option_id, verdict, call)
        if verdict.answers == "nobody":
            self.note(call, verdict, "cancelled")
        return Decision(None, verdict, call)

    def forget(self, entry: Entry) -> None:
        self.unasked.forget(entry)
        self.book.forget(entry.key)

    def forget_workspace(self) -> None:
        """Removes its saved rules and what was decided in it. Raises ValueError or OSError."""
        self.book.forget_workspace(self._app.roots[0])
        self._log.forget()

    def note(self, call: CheckInput, verdict: Verdict, outcome: str | None) -> None:
        """Writes a decision to the log, without what it was about."""
        try:
            self._log.add(call, verdict, outcome)
        except OSError as error:
            logger.warning("the decision log cannot be written: %s", error)

    def watch(self, calls: Iterable[tuple[Entry, ToolCall]]) -> list[tuple[Entry, str]]:
        """Looks whether agents run what they should have asked for; the calls that are told of now."""
        return self.unasked.look(calls, self._rules, self._input_of)

    def refuses_write(self, entry: Entry, path: str) -> str | None:
        """Why a file may not be written for the agent; None where no rule denies it."""
        return self._refusal(entry, ToolCall("", kind="edit", locations=(Location(path),)))

    def refuses_command(self, entry: Entry, command: str, args: Sequence[str]) -> str | None:
        """Why a command may not be run for the agent; None where no rule denies it."""
        return self._refusal(
            entry, ToolCall("", kind="execute", raw_input={"command": command, "args": list(args)})
        )

    async def verdict(self, arguments: Mapping[str, Json], entry: Entry | None) -> messages.Verdict:
        """The dry run of `acpEditor.permission.check`, by the rules of a session."""
        try:
            call = input_from_arguments(arguments, self._app.roots[0], self._app.roots)
        except ValueError as error:
            raise CommandError(str(error)) from error
        if entry is not None:
            call = call.model_copy(update={"agent": entry.agent, "session_id": entry.key})
        verdict = await self._check(call, self._rules(entry))
        return verdict.to_json()  # type: ignore[return-value]

    def command_of(self, entry: Entry, call: ToolCall) -> str | None:
        """The command line that a call would run."""
        return self._input_of(entry, call).command

    def _refusal(self, entry: Entry, call: ToolCall) -> str | None:
        verdict = check(self._input_of(entry, call), self._rules(entry), self.ceiling)
        return f"It is not allowed: {verdict.reason}" if verdict.decision == "deny" else None

    def _input(self, entry: Entry, request: PermissionRequest, call_id: str | None) -> CheckInput:
        call = entry.session.tool_call(call_id) if call_id else None
        call = call or ToolCall(call_id or "", kind="execute" if request.command else "other")
        return input_from(call, request, entry.cwd, self._app.roots, agent=entry.agent)

    def _input_of(self, entry: Entry, call: ToolCall) -> CheckInput:
        return input_from(call, None, entry.cwd, self._app.roots, agent=entry.agent)

    async def _check(self, call: CheckInput, rules: RuleSet) -> Verdict:
        checks = self.hooks().checks()
        judged = partial(check, call, rules, self.ceiling, checks, somebody=self.somebody)
        # A hook may take its second, and the editor must not wait for it.
        return await anyio.to_thread.run_sync(judged) if checks else judged()

    def _rules(self, entry: Entry | None) -> RuleSet:
        return self.book.rules(self._app.roots[0], entry.key if entry else None)

    def _reads_inside(self, session: str | None) -> bool:
        return self._app.options.own.value(READ, session) is True

    # -- hooks ---------------------------------------------------------------------------------------

    def hooks(self) -> Hooks:
        """The installed hooks; none is loaded from a workspace."""
        if self._hooks is None:
            self._hooks = load_hooks(self._app.roots)
            for problem in self._hooks.problems:
                self._app.warn_once(f"The hook {problem.hook} {problem.message}.")
        return self._hooks

    # -- for the person --------------------------------------------------------------------------------

    def offers(self, call: CheckInput) -> list[messages.RuleOffer]:
        """Rules of the right width for a call at hand, to be saved from the prompt."""
        effects: tuple[Literal["allow", "deny"], ...] = ("allow", "deny")
        return [
            {"rule": one.rule, "effect": effect, "label": one.label}
            for effect in effects
            for one in suggestions(call, effect)
        ]

    def listed(self) -> list[messages.Rule]:
        active = self._app.sessions.active
        return self.book.listed(self._app.roots[0], active.key if active else None)

    def decisions(self, count: int) -> list[dict[str, Any]]:
        """The newest decisions, the oldest of them first."""
        return self._log.last(count)
