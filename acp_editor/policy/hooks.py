"""Hooks: installed packages that take part in checks, commands and options, through pluggy.

In the order of their names. Each call into a hook has one second; what fails or takes longer is named, and
counts as ask where a decision is wanted. What each decided lately is kept, to be shown.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

import pluggy

from acp_editor.core.model import Command, ConfigOption, Json
from acp_editor.policy.check import CheckInput, HookWord, Verdict
from acp_editor.policy.hook_records import Package, Records
from acp_editor.policy.rules import STRICTNESS, Effect

_log = logging.getLogger(__name__)

GROUP: Final = "acp_editor"
TIME_LIMIT: Final = 1.0
"""Seconds that a hook has for one call."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook decides about a call, with its reason in a sentence."""

    decision: Effect
    reason: str


HIDDEN: Final = "hidden"
"""What a hook answers to hide a command."""


class Specification:
    """The hooks that there are; a package implements those that it wants, as functions of these names."""

    @hookspec
    def acp_check_tool_call(self, call: CheckInput, verdict: Verdict) -> Answer | None:
        """Judges a tool call after the rules; None for no opinion."""

    @hookspec
    def acp_commands(self, session_id: str) -> Iterable[Command] | None:
        """Names slash commands that this package answers itself."""

    @hookspec
    def acp_describe_command(self, command: Command, agent: str) -> Command | str | None:
        """Describes a slash command otherwise, or hides it (`HIDDEN`)."""

    @hookspec
    def acp_answer_command(self, name: str, arguments: str, session_id: str) -> str | None:
        """Answers a slash command with what it prints; None to leave it to the next one."""

    @hookspec
    def acp_describe_option(self, option: ConfigOption, agent: str) -> ConfigOption | None:
        """Describes an option otherwise: its name, description and choices; its id and value stay."""

    @hookspec
    def acp_lock_option(self, option: ConfigOption, agent: str) -> str | None:
        """Locks an option as it is, with the reason; None to leave it open."""

    @hookspec
    def acp_check_option(self, option: ConfigOption, value: Json, agent: str) -> str | None:
        """Refuses the setting of an option, with the reason; None to let it pass."""


@dataclass(frozen=True, slots=True)
class HookProblem:
    """A hook that could not be loaded, or that failed."""

    hook: str
    message: str


@dataclass(slots=True)
class Hooks:
    """The loaded hooks in their order; what they fail at is in `problems`, what they said in `records`."""

    plugins: dict[str, object] = field(default_factory=dict[str, object])
    problems: list[HookProblem] = field(default_factory=list[HookProblem])
    limit: float = TIME_LIMIT
    packages: dict[str, Package] = field(default_factory=dict[str, Package])
    records: Records = field(default_factory=Records)
    _manager: pluggy.PluginManager = field(init=False)

    def __post_init__(self) -> None:
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(Specification)
        for name, plugin in sorted(self.plugins.items()):
            try:
                self._manager.register(plugin, name)
                self._manager.check_pending()
            except Exception as error:  # a stranger's module: whatever is wrong with it is told
                _log.warning("hook %s could not be registered: %s", name, error)
                self.problems.append(HookProblem(name, f"could not be registered: {error}"))
                if self._manager.has_plugin(name):
                    self._manager.unregister(name=name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(name for name, _ in self._manager.list_name_plugin()))

    def takes_part(self, hook: str) -> tuple[str, ...]:
        """The functions that a hook has, by the names of their specifications."""
        return tuple(
            name
            for name in vars(Specification)
            if name.startswith("acp_") and any(one == hook for one, _ in self._calls(name))
        )

    def checks(self) -> tuple[Check, ...]:
        """The links of the chain of a check, in their fixed order."""
        return tuple(Check(name, call, self) for name, call in self._calls("acp_check_tool_call"))

    def commands(self, session_id: str) -> tuple[tuple[str, Command], ...]:
        """The commands of all hooks, each with the name of its hook; the first of a name counts."""
        found: dict[str, tuple[str, Command]] = {}
        for hook, call in self._calls("acp_commands"):
            given = self._tried(hook, call, session_id=session_id)
            for command in cast("Iterable[object]", given) if isinstance(given, (list, tuple)) else ():
                if isinstance(command, Command):
                    found.setdefault(command.name, (hook, command))
        return tuple(found.values())

    def describe_command(self, command: Command, agent: str) -> Command | None:
        """The command as it is to be shown; None where a hook hides it."""
        for hook, call in self._calls("acp_describe_command"):
            result = self._tried(hook, call, command=command, agent=agent)
            if result == HIDDEN:
                self.records.add(hook, f"/{command.name}", "hidden")
                return None
            if isinstance(result, Command) and result.name == command.name:
                self.records.add(hook, f"/{command.name}", "described")
                command = result
        return command

    def answer_command(self, name: str, arguments: str, session_id: str) -> tuple[str, str] | None:
        """The hook that answers a command and what it prints; None where none does."""
        for hook, call in self._calls("acp_answer_command"):
            result = self._tried(hook, call, name=name, arguments=arguments, session_id=session_id)
            if isinstance(result, str):
                self.records.add(hook, f"/{name}", "answered")
                return hook, result
        return None

    def describe_option(self, option: ConfigOption, agent: str) -> ConfigOption:
        """The option as it is to be shown; a hook changes neither its id nor its kind nor its value."""
        for hook, call in self._calls("acp_describe_option"):
            result = self._tried(hook, call, option=option, agent=agent)
            if isinstance(result, ConfigOption) and _same(result, option):
                self.records.add(hook, f"option {option.config_id}", "described")
                option = result
        return option

    def lock_option(self, option: ConfigOption, agent: str) -> tuple[str, str] | None:
        """The hook that locks an option and why, a failing one included; None where all leave it open."""
        return self._refusal("acp_lock_option", "locked", option, option=option, agent=agent)

    def check_option(self, option: ConfigOption, value: Json, agent: str) -> tuple[str, str] | None:
        """The hook that refuses a setting and why, a failing one included; None where all let it pass."""
        return self._refusal("acp_check_option", "refused", option, option=option, value=value, agent=agent)

    def _refusal(
        self, function: str, said: str, about: ConfigOption, **given: object
    ) -> tuple[str, str] | None:
        for hook, call in self._calls(function):
            try:
                reason = limited(partial(call, **given), self.limit)
            except Exception as error:  # a stranger's handler: its failure does not let a setting pass
                return hook, self.failed(hook, error)
            if isinstance(reason, str):
                self.records.add(hook, f"option {about.config_id}", said, reason)
                return hook, reason
        return None

    def failed(self, hook: str, error: Exception) -> str:
        """Notes a failure and says it in a sentence."""
        why = (
            f"took longer than {self.limit:g} s" if isinstance(error, TimeoutError) else f"failed: {error!r}"
        )
        _log.warning("hook %s %s", hook, why)
        self.records.add(hook, "", "failed", why)
        problem = HookProblem(hook, why[:500])
        if problem not in self.problems:
            self.problems.append(problem)
        return f"The hook {hook} {why[:200]}."

    def _calls(self, name: str) -> Sequence[tuple[str, Callable[..., Any]]]:
        """The implementations of one hook by the names of their packages."""
        caller = cast("pluggy.HookCaller", getattr(self._manager.hook, name))
        found = sorted(caller.get_hookimpls(), key=lambda implementation: implementation.plugin_name)
        return [(one.plugin_name, _with_names(one)) for one in found]

    def _tried(self, hook: str, call: Callable[..., object], **given: object) -> object:
        """What a hook answers; None where it fails, so that the others still have their turn."""
        try:
            return limited(partial(call, **given), self.limit)
        except Exception as error:  # a stranger's handler
            self.failed(hook, error)
            return None


@dataclass(frozen=True, slots=True)
class Check:
    """One hook's link in the chain of a check."""

    name: str
    call: Callable[..., Any]
    hooks: Hooks

    def check(self, call: CheckInput, verdict: Verdict) -> HookWord | None:
        """What the hook says; whatever goes wrong with it is an ask that names it."""
        try:
            answer = limited(partial(self.call, call=call, verdict=verdict), self.hooks.limit)
            if answer is None:
                return None
            if not isinstance(answer, Answer) or answer.decision not in STRICTNESS:
                raise TypeError(f"it answered {answer!r:.100}")
            word = HookWord(hook=self.name, decision=answer.decision, reason=str(answer.reason)[:500])
            about = f"{call.kind} {call.tool}" if call.tool else call.kind
            self.hooks.records.add(self.name, about, word.decision, word.reason)
            return word
        except Exception as error:  # a stranger's handler
            return HookWord(
                hook=self.name, decision="ask", reason=self.hooks.failed(self.name, error), failed=True
            )


def _same(one: ConfigOption, other: ConfigOption) -> bool:
    return (one.config_id, one.kind, one.value, one.origin) == (
        other.config_id,
        other.kind,
        other.value,
        other.origin,
    )


def _with_names(implementation: pluggy.HookImpl) -> Callable[..., Any]:
    """A hook's function, called with those of the arguments that it takes."""

    def call(**given: Any) -> Any:
        return implementation.function(*(given[name] for name in implementation.argnames))

    return call


def limited(call: Callable[[], Any], limit: float) -> Any:
    """What a stranger's function gives, or TimeoutError; one that hangs is left behind in its thread."""
    done: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((True, call()))
        except BaseException as error:  # also SystemExit: it must not pass for silence
            done.put((False, error))

    threading.Thread(target=run, name="hook", daemon=True).start()
    try:
        fine, result = done.get(timeout=limit)
    except queue.Empty:
        raise TimeoutError from None
    if fine:
        return result
    raise result if isinstance(result, Exception) else RuntimeError(repr(result))
