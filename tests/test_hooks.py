"""Hooks: loaded from what is installed, heard in their order, and never able to loosen."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from acp_editor.core.model import Command, ConfigOption
from acp_editor.policy.check import CheckInput, Verdict, check
from acp_editor.policy.hook_packages import load_hooks
from acp_editor.policy.hook_records import Records
from acp_editor.policy.hooks import HIDDEN, Answer, Hooks, hookimpl
from acp_editor.policy.matching import File
from acp_editor.policy.rules import rules_from

CALL = CheckInput(kind="edit", files=(File("/ws/a", "a"),))
ALLOW = rules_from({"allow": ["edit"]}, "user")
ASK = rules_from({"ask": ["edit"]}, "user")
DENY = rules_from({"deny": ["edit"]}, "user")


def hook(**functions: Any) -> SimpleNamespace:
    """A package with these hooks."""
    return SimpleNamespace(**{name: hookimpl(function) for name, function in functions.items()})


def says(decision: Any, reason: str = "Because.") -> SimpleNamespace:
    return hook(acp_check_tool_call=lambda call: Answer(decision, reason))


def judged(rules: Any, **plugins: object) -> Verdict:
    return check(CALL, rules, hooks=Hooks(dict(plugins)).checks())


# -- the chain ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "words", "expected", "why"),
    [
        (ALLOW, ["deny"], "deny", "a hook tightens"),
        (ALLOW, ["ask"], "ask", "a hook tightens"),
        (ALLOW, ["allow"], "allow", "a hook agrees"),
        (ASK, ["allow"], "ask", "what needs the person is not loosened"),
        (ASK, ["deny"], "deny", "but tightened"),
        (ASK, ["deny", "ask"], "ask", "the last word wins"),
        (ASK, ["deny", "allow"], "deny", "but not below what needs the person"),
        (DENY, ["allow"], "deny", "what the person denied stays"),
        (DENY, ["ask"], "deny", "what the person denied stays"),
        (ALLOW, ["deny", "allow"], "allow", "the last word wins"),
        (ALLOW, ["ask", "allow"], "ask", "a hook that wants the person gets them"),
        (ALLOW, ["ask", "deny"], "deny", "the last word wins"),
        (ALLOW, ["ask", "deny", "allow"], "deny", "and never below what needs the person"),
    ],
)
def test_the_chain(rules: Any, words: list[str], expected: str, why: str) -> None:
    plugins = {f"hook{index}": says(word) for index, word in enumerate(words)}

    verdict = judged(rules, **plugins)

    assert verdict.decision == expected, why
    assert [word.hook for word in verdict.hooks] == list(plugins)


def test_hooks_are_heard_in_the_order_of_their_names() -> None:
    heard: list[tuple[str, str]] = []

    def listens(name: str, decision: Any) -> SimpleNamespace:
        def acp_check_tool_call(call: CheckInput, verdict: Verdict) -> Answer:
            heard.append((name, verdict.decision))
            return Answer(decision, "Because.")

        return hook(acp_check_tool_call=acp_check_tool_call)

    verdict = judged(ALLOW, c=listens("c", "deny"), a=listens("a", "deny"), b=listens("b", "ask"))

    assert heard == [("a", "allow"), ("b", "deny"), ("c", "ask")]
    assert (verdict.hook, verdict.rule) == ("c", None)


def test_a_hook_without_an_opinion_changes_nothing() -> None:
    verdict = judged(ALLOW, quiet=hook(acp_check_tool_call=lambda call: None))

    assert (verdict.decision, verdict.hooks, verdict.rule) == ("allow", (), "edit")


@pytest.mark.parametrize("answer", ["allow", True, Answer("yes", "No."), 5, {"decision": "allow"}])  # type: ignore[arg-type]
def test_an_answer_of_another_shape_is_an_ask_that_names_the_hook(answer: object) -> None:
    verdict = judged(ALLOW, odd=hook(acp_check_tool_call=lambda call: answer))

    assert (verdict.decision, verdict.hook) == ("ask", "odd")
    assert "odd" in verdict.reason


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(1), KeyboardInterrupt()])
def test_a_hook_that_fails_is_an_ask_that_names_it(error: BaseException) -> None:
    def acp_check_tool_call(call: CheckInput) -> None:
        raise error

    hooks = Hooks({"bad": hook(acp_check_tool_call=acp_check_tool_call)})
    verdict = check(CALL, ALLOW, hooks=hooks.checks())

    assert (verdict.decision, verdict.hook, verdict.hooks[0].failed) == ("ask", "bad", True)
    assert hooks.problems[0].hook == "bad"


def test_a_hook_that_fails_does_not_loosen_a_denial() -> None:
    def acp_check_tool_call(call: CheckInput) -> None:
        raise ValueError

    assert judged(DENY, bad=hook(acp_check_tool_call=acp_check_tool_call)).decision == "deny"
    assert judged(ALLOW, a=says("deny"), bad=hook(acp_check_tool_call=acp_check_tool_call)).decision == "deny"


@pytest.fixture
def forever() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_hook_that_takes_too_long_is_an_ask_that_names_it(forever: threading.Event) -> None:
    hooks = Hooks({"slow": hook(acp_check_tool_call=lambda call: forever.wait())}, limit=0.05)
    started = time.monotonic()

    verdict = check(CALL, ALLOW, hooks=hooks.checks())

    assert time.monotonic() - started < 10
    assert (verdict.decision, verdict.hook) == ("ask", "slow")
    assert verdict.reason == "The hook slow took longer than 0.05 s."


def test_the_limit_is_a_second() -> None:
    assert Hooks().limit == 1.0


# -- commands and options ----------------------------------------------------------------------

OPTION = ConfigOption("mode", "Mode", "choice", "default")


def test_commands_of_hooks() -> None:
    hooks = Hooks(
        {
            "a": hook(acp_commands=lambda: [Command("x", "first"), "no command"]),
            "b": hook(
                acp_commands=lambda session_id: [Command("x", "second"), Command(session_id)],
                acp_answer_command=lambda name, arguments: f"{name}: {arguments}" if name == "x" else None,
            ),
        }
    )

    assert hooks.commands("s1") == (("a", Command("x", "first")), ("b", Command("s1")))
    assert hooks.answer_command("x", "1 2", "s1") == ("b", "x: 1 2")
    assert hooks.answer_command("y", "", "s1") is None


def test_a_command_described_and_hidden() -> None:
    def acp_describe_command(command: Command, agent: str) -> Command | str | None:
        return (
            HIDDEN if command.name == "secret" else Command(command.name, f"{command.description} of {agent}")
        )

    hooks = Hooks(
        {
            "a": hook(acp_describe_command=acp_describe_command),
            "b": hook(acp_describe_command=lambda command: Command("other")),
        }
    )

    assert hooks.describe_command(Command("x", "the x"), "demo") == Command("x", "the x of demo")
    assert hooks.describe_command(Command("secret"), "demo") is None


def test_an_option_keeps_what_it_is() -> None:
    renamed = ConfigOption("mode", "How careful", "choice", "default")
    hooks = Hooks({"a": hook(acp_describe_option=lambda option: renamed)})
    other = Hooks(
        {"a": hook(acp_describe_option=lambda option: ConfigOption("mode", "M", "choice", "changed"))}
    )

    assert hooks.describe_option(OPTION, "demo") == renamed
    assert other.describe_option(OPTION, "demo") == OPTION


def test_the_setting_of_an_option_refused() -> None:
    def fails(option: ConfigOption) -> str:
        raise ValueError("broken")

    quiet = hook(acp_check_option=lambda option, value: None)
    refuses = hook(acp_check_option=lambda option, value, agent: f"{agent} has no {value}.")

    assert Hooks({"a": quiet}).check_option(OPTION, "x", "demo") is None
    assert Hooks({"a": quiet, "b": refuses}).check_option(OPTION, "x", "demo") == ("b", "demo has no x.")
    failed = Hooks({"bad": hook(acp_check_option=fails)}).check_option(OPTION, "x", "demo")
    assert failed is not None
    assert failed[0] == "bad"


def test_a_hook_that_fails_at_a_description_leaves_the_others_their_turn() -> None:
    def fails(command: Command) -> None:
        raise ValueError("broken")

    hooks = Hooks(
        {
            "bad": hook(acp_describe_command=fails),
            "good": hook(acp_describe_command=lambda command: Command(command.name, "better")),
        }
    )

    assert hooks.describe_command(Command("x"), "demo") == Command("x", "better")
    assert [problem.hook for problem in hooks.problems] == ["bad"]


def test_a_hook_with_unknown_arguments_is_told() -> None:
    hooks = Hooks({"bad": hook(acp_check_tool_call=lambda nonsense: None), "good": says("deny")})

    assert hooks.names == ("good",)
    assert hooks.problems[0].hook == "bad"


# -- loading -----------------------------------------------------------------------------------


def install(site: Path, name: str, module: str, text: str, point: str | None = None) -> None:
    """Puts a package in place as an installer would."""
    site.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(text)
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[acp_editor]\n{name} = {point or module}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield tmp_path / "site"
    for name in set(sys.modules) - before:
        del sys.modules[name]


SMALL = "from acp_editor.policy.hooks import Answer, hookimpl\n"
DENIES = SMALL + "@hookimpl\ndef acp_check_tool_call(call):\n    return Answer('deny', 'No.')\n"


def test_loads_what_is_installed(site: Path) -> None:
    install(site, "denies", "hook_denies", DENIES)

    hooks = load_hooks()

    assert "denies" in hooks.names
    assert check(CALL, ALLOW, hooks=hooks.checks()).decision == "deny"


def test_a_package_that_cannot_be_loaded_is_told(site: Path) -> None:
    install(site, "broken-hook", "hook_broken", "1 / 0")

    assert [problem.hook for problem in load_hooks().problems] == ["broken-hook"]


def test_nothing_is_loaded_from_a_workspace(site: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    install(site, "planted", "hook_planted", f"open({str(ran)!r}, 'w')\n" + DENIES)

    hooks = load_hooks([str(tmp_path)])

    assert "planted" not in hooks.names
    assert [problem.hook for problem in hooks.problems] == ["planted"]
    assert not ran.exists()


def test_a_module_of_a_workspace_does_not_stand_in_for_an_installed_one(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    install(site, "shadowed", "hook_shadowed", DENIES)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "hook_shadowed.py").write_text(f"open({str(ran)!r}, 'w')\n")
    monkeypatch.syspath_prepend(str(workspace))

    hooks = load_hooks([str(workspace)])

    assert [problem.hook for problem in hooks.problems] == ["shadowed"]
    assert not ran.exists()


# -- the example of the docs -------------------------------------------------------------------

DOCS = Path(__file__).parent.parent / "docs" / "hooks.md"


@pytest.fixture
def example(site: Path) -> Hooks:
    text = DOCS.read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    project = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert code
    assert project
    import tomllib

    points = tomllib.loads(project[1])["project"]["entry-points"]["acp_editor"]
    ((name, module),) = points.items()
    install(site, name, module, code[1])
    return load_hooks()


def test_the_example_of_the_docs_checks_calls(example: Hooks) -> None:
    assert example.problems == []
    push = CheckInput(kind="execute", command="git push")
    old = CheckInput(kind="edit", files=(File("/ws/migrations/1.sql", "migrations/1.sql"),))
    everything = rules_from({"allow": ["*"]}, "user")

    pushed = check(push, everything, hooks=example.checks())
    assert (pushed.decision, pushed.hook) == ("ask", "house-rules")
    assert pushed.reason == "Pushing is looked at by a person here."
    assert check(old, everything, hooks=example.checks()).decision == "deny"
    assert check(CALL, everything, hooks=example.checks()).decision == "allow"


def test_the_example_of_the_docs_has_a_command_and_minds_options(example: Hooks) -> None:
    assert [command.name for _, command in example.commands("s1")] == ["ticket"]
    assert example.answer_command("ticket", " 7", "s1") == ("house-rules", "https://tickets.example/7")
    assert example.describe_command(Command("feedback"), "claude") is None
    assert example.describe_command(Command("review"), "claude") == Command(
        "review", "Review by the house's checklist"
    )
    assert example.check_option(OPTION, "bypassPermissions", "claude")
    assert example.check_option(OPTION, "plan", "claude") is None


def test_the_docs_name_every_hook() -> None:
    text = DOCS.read_text("utf-8")
    from acp_editor.policy.hooks import Specification

    for name in vars(Specification):
        if name.startswith("acp_"):
            assert f"`{name}(" in text


# -- what they said ------------------------------------------------------------------------------


def test_what_a_hook_said_is_kept_with_its_time_and_counted() -> None:
    clock = iter(range(100))
    records = Records(lambda: float(next(clock)))
    hooks = Hooks(
        {"a": says("deny", "Never."), "b": hook(acp_check_tool_call=lambda call: None)}, records=records
    )

    check(CALL, ALLOW, hooks=hooks.checks())
    check(CheckInput(kind="execute", tool="Bash", command="secret"), ALLOW, hooks=hooks.checks())
    check(CALL, ALLOW, hooks=hooks.checks())

    assert records.counts("a") == {"deny": 3}
    assert [(word.time, word.about, word.said, word.reason) for word in records.last("a")] == [
        (2.0, "edit", "deny", "Never."),
        (1.0, "execute Bash", "deny", "Never."),
    ]
    assert records.last("b") == ()


def test_only_so_many_words_of_a_hook_are_kept() -> None:
    records = Records()
    for number in range(100):
        records.add("a", f"/x{number}", "answered")

    assert [word.about for word in records.last("a")][:2] == ["/x99", "/x98"]
    assert len(records.last("a")) == 20
    assert records.counts("a") == {"answered": 100}


def test_a_hook_says_where_it_takes_part() -> None:
    hooks = Hooks(
        {
            "a": says("deny"),
            "b": hook(acp_commands=lambda session_id: [], acp_lock_option=lambda option: None),
        }
    )

    assert hooks.takes_part("a") == ("acp_check_tool_call",)
    assert hooks.takes_part("b") == ("acp_commands", "acp_lock_option")


def test_an_option_locked_by_a_hook_also_where_it_fails() -> None:
    def fails(option: ConfigOption) -> str:
        raise ValueError("broken")

    assert Hooks({"a": hook(acp_lock_option=lambda: None)}).lock_option(OPTION, "demo") is None
    locked = Hooks({"a": hook(acp_lock_option=lambda option: "Not here.")}).lock_option(OPTION, "demo")
    assert locked == ("a", "Not here.")
    failed = Hooks({"bad": hook(acp_lock_option=fails)}).lock_option(OPTION, "demo")
    assert failed is not None
    assert failed[0] == "bad"
