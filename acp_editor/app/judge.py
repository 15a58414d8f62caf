"""Who may do what, connected: every request goes through the policy before the person is asked."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread
import platformdirs

from acp_editor.app.sessions import Entry
from acp_editor.core.model import Json, Location, PermissionRequest, ToolCall
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.calls import input_from, input_from_arguments
from acp_editor.policy.check import CheckInput, Verdict, check, default_rules, ran_unasked
from acp_editor.policy.hook_packages import load_hooks
from acp_editor.policy.hooks import Hooks
from acp_editor.policy.log import DecisionLog
from acp_editor.policy.managed import load_ceiling
from acp_editor.policy.rules import RuleSet, rules_from
from acp_editor.policy.store import RuleStore, SavedRule
from acp_editor.policy.suggest import suggestions
from acp_editor.settings import Settings

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

_WORKING = frozenset({"in_progress", "completed"})
"""Statuses that say a tool runs or ran."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An option to answer with, or None: the person is asked."""

    option_id: str | None
    verdict: Verdict
    call: CheckInput


class Judge:
    """The rules of this machine, this person, this workspace and this session; hooks; the log."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._settings = RuleSet()
        self._builtin = default_rules()
        self._ceiling, problem = load_ceiling()
        self._store = RuleStore(Path(platformdirs.user_config_dir("acp-editor")))
        self._log = DecisionLog(Path(platformdirs.user_state_dir("acp-editor")) / "decisions.ndjson")
        self._hooks: Hooks | None = None
        self._asked: set[tuple[str, str]] = set()
        """Calls that permission was asked for."""
        if problem:
            app.editor.warn(problem)

    def configure(self, settings: Settings) -> None:
        self._builtin = default_rules(settings.permissions.read_inside)
        found = rules_from(settings.permissions.rules, "user")
        found += rules_from(settings.workspace_permissions.rules, "workspace")
        for problem in found.problems:
            self._app.warn_once(f"acpEditor.permissions: {problem.text}: {problem.message}")
        self._settings = found

    # -- deciding ------------------------------------------------------------------------------------

    async def decide(self, entry: Entry, request: PermissionRequest, call_id: str | None) -> Decision:
        """What rules and hooks say; an answer only where the request offers the option that means it."""
        if call_id is not None:
            self._asked.add((entry.key, call_id))
        call = self._input(entry, request, call_id)
        verdict = await self._check(call)
        kinds = {"allow": "allow_once", "deny": "reject_once"}
        kind = kinds.get(verdict.decision)
        option = next((o for o in request.options if o.kind == kind), None)
        if option is not None:
            self.note(call, verdict, option.kind)
            return Decision(option.option_id, verdict, call)
        return Decision(None, verdict, call)

    def forget(self, entry: Entry) -> None:
        self._asked = {key for key in self._asked if key[0] != entry.key}

    def note(self, call: CheckInput, verdict: Verdict, outcome: str | None) -> None:
        """Writes a decision to the log, without what it was about."""
        try:
            self._log.add(call, verdict, outcome)
        except OSError as error:
            logger.warning("the decision log cannot be written: %s", error)

    def watch(self, entry: Entry, call: ToolCall) -> None:
        """Tells of an agent that runs a tool without asking, though a rule of the person's says it has to."""
        key = (entry.key, call.tool_call_id)
        if key in self._asked or call.status not in _WORKING or call.replayed:
            return
        rules = self._rules(entry)
        if not any(rule.effect != "allow" for rule in rules.rules):
            return
        verdict = check(
            input_from(call, None, entry.cwd, self._app.roots, agent=entry.agent), rules, self._ceiling
        )
        if verdict.rule is None or verdict.decision == "allow":
            return
        self._asked.add(key)
        if (fault := ran_unasked(call.tool_call_id, verdict)) is not None:
            self._app.fault(entry.agent, fault)

    def refuses_write(self, entry: Entry, path: str) -> str | None:
        """Why a file may not be written for the agent; None where no rule denies it."""
        return self._refusal(entry, ToolCall("", kind="edit", locations=(Location(path),)))

    def refuses_command(self, entry: Entry, command: str, args: Sequence[str]) -> str | None:
        """Why a command may not be run for the agent; None where no rule denies it."""
        return self._refusal(
            entry, ToolCall("", kind="execute", raw_input={"command": command, "args": list(args)})
        )

    def verdict(self, arguments: Mapping[str, Json]) -> messages.Verdict:
        """The dry run of `acpEditor.permission.check`."""
        try:
            call = input_from_arguments(arguments, self._app.roots[0], self._app.roots)
        except ValueError as error:
            raise CommandError(str(error)) from error
        verdict = check(call, self._rules(None), self._ceiling, self.hooks().checks())
        return verdict.to_json()  # type: ignore[return-value]

    def command_of(self, entry: Entry, call: ToolCall) -> str | None:
        """The command line that a call would run."""
        return input_from(call, None, entry.cwd, self._app.roots).command

    def _refusal(self, entry: Entry, call: ToolCall) -> str | None:
        verdict = check(
            input_from(call, None, entry.cwd, self._app.roots, agent=entry.agent),
            self._rules(entry),
            self._ceiling,
        )
        return f"It is not allowed: {verdict.reason}" if verdict.decision == "deny" else None

    def _input(self, entry: Entry, request: PermissionRequest, call_id: str | None) -> CheckInput:
        call = entry.session.tool_call(call_id) if call_id else None
        call = call or ToolCall(call_id or "", kind="execute" if request.command else "other")
        return input_from(call, request, entry.cwd, self._app.roots, agent=entry.agent)

    async def _check(self, call: CheckInput) -> Verdict:
        rules = self._rules_of(call.session_id)
        checks = self.hooks().checks()
        if not checks:
            return check(call, rules, self._ceiling)
        # A hook may take its second, and the editor must not wait for it.
        return await anyio.to_thread.run_sync(partial(check, call, rules, self._ceiling, checks))

    def _rules(self, entry: Entry | None) -> RuleSet:
        return self._rules_of(entry.key if entry else None)

    def _rules_of(self, session_id: str | None) -> RuleSet:
        saved = self._store.rules_for(self._app.roots[0], session_id)
        return self._builtin + self._settings + saved

    def hooks(self) -> Hooks:
        """The installed hooks; none is loaded from a workspace."""
        if self._hooks is None:
            self._hooks = load_hooks(self._app.roots)
            for problem in self._hooks.problems:
                self._app.warn_once(f"The hook {problem.hook} {problem.message}.")
        return self._hooks

    # -- rules of the person's -------------------------------------------------------------------------

    def offers(self, call: CheckInput) -> list[messages.RuleOffer]:
        """Rules of the right width for a call at hand, to be saved from the prompt."""
        effects: tuple[Literal["allow", "deny"], ...] = ("allow", "deny")
        return [
            {"rule": one.rule, "effect": effect, "label": one.label}
            for effect in effects
            for one in suggestions(call, effect)
        ]

    def listed(self) -> list[messages.Rule]:
        """Every rule that holds here, with where it stands; only saved ones can be revoked here."""
        rows: list[messages.Rule] = [
            {
                "rule": rule.text,
                "effect": rule.effect,
                "source": rule.source,
                "scope": None,
                "where": "settings" if rule.source in ("user", "workspace") else rule.source,
            }
            for rule in (*self._ceiling.rules.rules, *self._builtin.rules, *self._settings.rules)
        ]
        rows += [_row(saved) for saved in self._store.listed(self._app.roots[0])]
        return rows

    def remember(self, text: str, effect: str, scope: str, entry: Entry | None) -> messages.Rule:
        """Saves a rule for the session, the workspace or everywhere."""
        where = {"session": entry.key if entry else "", "workspace": self._app.roots[0]}.get(scope, "")
        if effect not in ("allow", "ask", "deny") or scope not in ("session", "workspace", "everywhere"):
            raise CommandError("a rule allows, asks or denies, for the session, the workspace or everywhere")
        try:
            return _row(self._store.add(text, effect, scope, where))  # type: ignore[arg-type]
        except (ValueError, OSError) as error:
            raise CommandError(f"the rule was not saved: {error}") from error

    def revoke(self, text: str, effect: str, scope: str) -> None:
        """Takes a saved rule back."""
        for saved in self._store.listed(self._app.roots[0]):
            if (saved.rule.text, saved.rule.effect, saved.scope) == (text, effect, scope):
                self._store.revoke(saved)
                return
        raise CommandError(f"there is no saved rule {effect} {text!r} for {scope}")

    def decisions(self, count: int) -> list[dict[str, Any]]:
        """The newest decisions, the oldest of them first."""
        return self._log.last(count)


def _row(saved: SavedRule) -> messages.Rule:
    return {
        "rule": saved.rule.text,
        "effect": saved.rule.effect,
        "source": saved.rule.source,
        "scope": saved.scope,
        "where": saved.where,
    }
