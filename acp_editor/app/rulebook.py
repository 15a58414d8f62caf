"""The rules that hold here, wherever they stand: listed, and the person's saved, changed and revoked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias

from acp_editor.app import folders
from acp_editor.app.own_options import READ
from acp_editor.app.sessions import Entry
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError
from acp_editor.policy.check import Ceiling, default_rules
from acp_editor.policy.managed import managed_file
from acp_editor.policy.rules import Effect, RuleSet, rules_from
from acp_editor.policy.store import RuleStore, SavedRule, Scope
from acp_editor.settings import Settings

_EFFECTS: Final[tuple[Effect, ...]] = ("allow", "ask", "deny")
_SCOPES: Final[tuple[Scope, ...]] = ("session", "workspace", "everywhere")

Reads: TypeAlias = Callable[[str | None], bool]


class Rulebook:
    """`reads_inside` says whether reading in the workspace is allowed in a session, by its public name."""

    def __init__(self, ceiling: Ceiling, reads_inside: Reads, warn: Callable[[str], None]) -> None:
        self._ceiling = ceiling
        self._reads_inside = reads_inside
        self._warn = warn
        self._settings = RuleSet()
        self._store = RuleStore(folders.config())

    def configure(self, settings: Settings) -> None:
        found = rules_from(settings.permissions.rules, "user")
        found += rules_from(settings.workspace_permissions.rules, "workspace")
        for problem in found.problems:
            self._warn(f"acpEditor.permissions: {problem.text}: {problem.message}")
        self._settings = found

    def rules(self, workspace: str, session: str | None) -> RuleSet:
        """All rules for a call in that session, the ceiling's apart."""
        builtin = default_rules(self._reads_inside(session))
        return builtin + self._settings + self._store.rules_for(workspace, session)

    def listed(self, workspace: str, session: str | None) -> list[messages.Rule]:
        """Every rule that holds here, with where it stands, also those that cannot be read."""
        return [*self._standing(session), *self._saved(workspace)]

    def save(self, text: str, effect: str, scope: str, workspace: str, entry: Entry | None) -> messages.Rule:
        """Saves a rule for the session, the workspace or everywhere."""
        effect, scope = _effect(effect), _scope(scope)
        if scope == "session" and entry is None:
            raise CommandError("there is no session that the rule could be for")
        where = {"session": entry.key if entry else "", "workspace": workspace}.get(scope, "")
        try:
            return _row(self._store.add(text, effect, scope, where))
        except (ValueError, OSError) as error:
            raise CommandError(f"the rule was not saved: {error}") from error

    def edit(self, saved: SavedRule, text: str) -> messages.Rule:
        try:
            return _row(self._store.edit(saved, text))
        except (ValueError, LookupError, OSError) as error:
            raise CommandError(f"the rule was not changed: {error}") from error

    def revoke(self, saved: SavedRule) -> None:
        try:
            self._store.revoke(saved)
        except (ValueError, LookupError, OSError) as error:
            raise CommandError(f"the rule was not revoked: {error}") from error

    def find(self, text: str, effect: str, scope: str, where: str | None, workspace: str) -> SavedRule:
        """A saved rule; `where` tells those of several sessions apart."""
        for saved in self._listed(workspace):
            found = (saved.rule.text, saved.rule.effect, saved.scope)
            if found == (text.strip(), effect, scope) and where in (None, saved.where):
                return saved
        raise CommandError(f"there is no saved rule {effect} {text!r} for {scope}")

    def forget_workspace(self, workspace: str) -> None:
        """Removes the rules that were saved for it. Raises ValueError or OSError."""
        self._store.forget_workspace(workspace)

    def forget(self, session: str) -> None:
        """A session is over, and so are the rules that were for it alone."""
        self._store.forget_session(session)

    def _standing(self, session: str | None) -> Iterator[messages.Rule]:
        places = {
            "managed": (str(managed_file()), self._ceiling.rules),
            "builtin": (READ, default_rules(self._reads_inside(session))),
            "settings": ("acpEditor.permissions", self._settings),
        }
        for where, rules in places.values():
            for rule in rules.rules:
                yield _listed(rule.text, rule.effect, rule.source, None, where)
            for problem in rules.problems:
                row = _listed(problem.text, problem.effect, problem.source, None, where)
                row["problem"] = problem.message
                yield row

    def _saved(self, workspace: str) -> Iterator[messages.Rule]:
        for saved in self._listed(workspace):
            yield _row(saved)
        for problem in self._store.rules_for(workspace, None).problems:
            row = _listed(problem.text, problem.effect, problem.source, None, str(self._store.path))
            row["problem"] = problem.message
            yield row

    def _listed(self, workspace: str) -> tuple[SavedRule, ...]:
        try:
            return self._store.listed(workspace)
        except ValueError:  # the file cannot be read, which its problem says
            return ()


def _listed(text: str, effect: str, source: str, scope: str | None, where: str) -> messages.Rule:
    return {"rule": text, "effect": effect, "source": source, "scope": scope, "where": where}


def _row(saved: SavedRule) -> messages.Rule:
    rule = saved.rule
    return _listed(rule.text, rule.effect, rule.source, saved.scope, saved.where)


def _effect(text: str) -> Literal["allow", "ask", "deny"]:
    for effect in _EFFECTS:
        if effect == text:
            return effect
    raise CommandError(f"a rule allows, asks or denies; it cannot {text!r}")


def _scope(text: str) -> Scope:
    for scope in _SCOPES:
        if scope == text:
            return scope
    raise CommandError(f"a rule is for the session, the workspace or everywhere, not for {text!r}")
