"""Rules against calls, each with the reason why it is decided so."""

# ruff: noqa: E501 (a table reads best with one case in a line)
from __future__ import annotations

import pytest
from rule_subjects import Settings, file, runs, touches

from acp_editor.policy.decide import decide
from acp_editor.policy.matching import File, Subject
from acp_editor.policy.rules import Rule, RuleProblem, RuleSet, parse_rule, rules_from

# -- files -------------------------------------------------------------------------------------

SRC: Settings = {"allow": ["edit(src/**)"]}
ENV: Settings = {"allow": ["edit(src/**)"], "deny": ["edit(**/.env)"]}
CAREFUL: Settings = {"allow": ["edit(src/**)"], "ask": ["edit(**/careful.py)"], "deny": ["edit(**/.env)"]}

FILES: list[tuple[Settings, Subject, str, str]] = [
    (SRC, touches("edit", "src/a.py"), "allow", "below src"),
    (SRC, touches("edit", "src/a/b/c.py"), "allow", "deep below src"),
    (SRC, touches("edit", "src/a.py", "src/b.py"), "allow", "every file"),
    (SRC, touches("edit", "src/a.py", "b.py"), "ask", "not every file"),
    (SRC, touches("edit", "src"), "ask", "src itself is not below src"),
    (SRC, touches("edit", "srcx/a.py"), "ask", "another folder"),
    (SRC, touches("edit", "lib/src/a.py"), "ask", "a pattern with a slash begins at the workspace"),
    (SRC, touches("edit"), "ask", "it names no file"),
    (SRC, touches("edit", "/elsewhere/src/a.py"), "ask", "outside the workspace"),
    (SRC, touches("read", "src/a.py"), "ask", "another kind"),
    (SRC, touches("delete", "src/a.py"), "ask", "another kind"),
    (SRC, touches("move", "src/a.py"), "ask", "another kind"),
    (SRC, touches("other", "src/a.py", changes=True), "allow", "no kind, but it shows an edit"),
    (SRC, touches("other", "src/a.py"), "ask", "no kind, and it shows nothing"),
    (SRC, touches("read", "src/a.py", changes=True), "ask", "it says that it reads and shows an edit"),
    ({"allow": ["read", "edit(src/**)"]}, touches("read", "src/a.py", changes=True), "allow", "both are covered"),
    ({"allow": ["read"]}, touches("read", "src/a.py", changes=True), "ask", "the edit is not covered"),
    ({"allow": ["edit(src)"]}, touches("edit", "src/a.py"), "allow", "a folder is all below it"),
    ({"allow": ["edit(src/)"]}, touches("edit", "src/a.py"), "allow", "likewise"),
    ({"allow": ["edit(/src/**)"]}, touches("edit", "src/a.py"), "allow", "a slash is the workspace"),
    ({"allow": ["edit(*.py)"]}, touches("edit", "a/b/c.py"), "allow", "a name without a slash is anywhere"),
    ({"allow": ["edit(/*.py)"]}, touches("edit", "a/b.py"), "ask", "at the top only"),
    ({"allow": ["edit(/*.py)"]}, touches("edit", "b.py"), "allow", "at the top"),
    ({"allow": ["edit(*.py)"]}, touches("edit", "a.pyc"), "ask", "another ending"),
    ({"allow": ["edit(docs/*)"]}, touches("edit", "docs/a.md"), "allow", "in docs"),
    ({"allow": ["edit(a?.py)"]}, touches("edit", "ab.py"), "allow", "any letter"),
    ({"allow": ["edit(a[bc].py)"]}, touches("edit", "ad.py"), "ask", "not one of these letters"),
    ({"allow": ["edit(\\*.py)"]}, touches("edit", "a.py"), "ask", "an escaped star is a star"),
    ({"allow": ["edit(\\*.py)"]}, touches("edit", "*.py"), "allow", "an escaped star is a star"),
    ({"allow": ["edit(**)"]}, touches("edit", "x"), "allow", "anything in the workspace"),
    ({"allow": ["edit(**)"]}, touches("edit", "/x"), "ask", "but not outside"),
    ({"allow": ["edit(a.py)", "edit(b.py)"]}, touches("edit", "a.py", "b.py"), "allow", "two rules for two files"),
    ({"allow": ["edit"]}, touches("edit", "/x"), "allow", "every edit"),
    ({"allow": ["edit"]}, touches("edit"), "allow", "every edit, whatever it names"),
    ({"allow": ["*"]}, touches("delete", "/x"), "allow", "everything"),
    ({"allow": ["*(src/**)"]}, touches("read", "src/a"), "allow", "any kind below src"),
    ({"allow": ["*(src/**)"]}, touches("fetch"), "ask", "it names no file"),
    (ENV, touches("edit", "src/.env"), "deny", "deny goes first"),
    (ENV, touches("edit", ".env"), "deny", "at the top too"),
    (ENV, touches("edit", "src/ok.py", "src/.env"), "deny", "one denied file denies the call"),
    (ENV, touches("edit", "/home/a/.env"), "deny", "outside too"),
    (ENV, touches("edit", "src/.env.sample"), "allow", "another name"),
    (ENV, touches("edit"), "ask", "it may be about the denied file"),
    (ENV, touches("other", "src/.env", changes=True), "deny", "no kind, but it shows an edit"),
    (ENV, touches("read", "src/.env"), "ask", "another kind"),
    (CAREFUL, touches("edit", "src/careful.py"), "ask", "ask goes before allow"),
    (CAREFUL, touches("edit", "src/careful.py", ".env"), "deny", "deny goes before ask"),
    ({"allow": ["edit"], "deny": ["edit(**/.env)"]}, touches("edit"), "ask", "it may be about the denied file"),
    ({"allow": ["edit"], "ask": ["edit"]}, touches("edit", "a"), "ask", "ask goes before allow"),
    ({"deny": ["edit"], "allow": ["edit(a)"]}, touches("edit", "a"), "deny", "deny has no exceptions"),
    ({"deny": ["*"]}, touches("think"), "deny", "nothing at all"),
    ({"deny": ["edit(secret)"]}, touches("edit", "secret/a/b"), "deny", "a folder is all below it"),
    ({"deny": ["edit(src/**)"]}, touches("edit", "/src/a"), "ask", "outside the workspace there is no src/"),
    ({"deny": ["edit(*.pem)"]}, touches("edit", "/etc/x.pem"), "deny", "a name is meant anywhere"),
    ({"allow": ["edit(**)"], "deny": ["edit(link)"]},
     Subject("edit", files=(file("real.txt", named="link"),)), "deny", "denied by the name that leads there"),
    ({"allow": ["edit(link)"]},
     Subject("edit", files=(file("real.txt", named="link"),)), "ask", "allowed is only where it leads"),
    ({"allow": ["edit(**)"]},
     Subject("edit", files=(File("/etc/x", None, "link"),)), "ask", "a link that leads outside"),
    ({"allow": ["delete(**)"], "deny": ["delete(**/.env)"]},
     Subject("delete", files=(file("src", folder=True),)), "ask", "the folder may hold a denied file"),
    ({"allow": ["delete(**)"]}, Subject("delete", files=(file("src", folder=True),)), "allow", "nothing is denied"),
    ({"allow": ["read(**)"]}, touches("read", "."), "allow", "the workspace itself"),
    ({"allow": ["search(**)"]}, touches("search"), "ask", "it does not say where"),
    ({}, touches("read", "a"), "ask", "no rule at all"),
    ({"allow": ["switch_mode"]}, touches("switch_mode"), "allow", "a kind without files"),
    ({"allow": ["own_kind"]}, touches("own_kind"), "allow", "a kind of the agent's own"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "call", "expected", "why"), FILES, ids=lambda value: str(value)[:40])
def test_files(settings: Settings, call: Subject, expected: str, why: str) -> None:
    decision = decide(rules_from(settings, "user"), call)

    assert decision.effect == expected, f"{why}; but: {decision.reason}"


# -- tools -------------------------------------------------------------------------------------

TOOLS: list[tuple[Settings, Subject, str, str]] = [
    ({"allow": ["Bash"]}, runs("ls", tool="Bash"), "allow", "by its name"),
    ({"allow": ["Bash"]}, runs("ls", tool="bash"), "ask", "names have case"),
    ({"allow": ["Bash"]}, runs("ls"), "ask", "it has no name"),
    ({"allow": ["Bash(ls:*)"]}, runs("ls -l", tool="Bash"), "allow", "by its name and command"),
    ({"allow": ["Bash(ls:*)"]}, runs("ls && x", tool="Bash"), "ask", "each part, here too"),
    ({"deny": ["Bash(rm:*)"], "allow": ["execute"]}, runs("rm x", tool="Bash"), "deny", "deny by name"),
    ({"deny": ["Bash(rm:*)"], "allow": ["execute"]}, runs("rm x", tool="Shell"), "allow", "another tool"),
    ({"allow": ["mcp__github__get"]}, touches("other", tool="mcp__github__get"), "allow", "by its name"),
    ({"allow": ["mcp__github__get"]}, touches("other", tool="mcp__github__get_all"), "ask", "another name"),
    ({"allow": ["mcp__github__*"]}, touches("other", tool="mcp__github__get"), "allow", "all of a server"),
    ({"allow": ["mcp__github__*"]}, touches("other", tool="mcp__gitlab__get"), "ask", "another server"),
    ({"deny": ["mcp__*"], "allow": ["*"]}, touches("other", tool="mcp__a__b"), "deny", "all servers"),
    ({"allow": ["Write(src/**)"]}, touches("edit", "src/a", tool="Write"), "allow", "by its name and file"),
    ({"allow": ["Write(src/**)"]}, touches("edit", "a", tool="Write"), "ask", "another file"),
    ({"allow": ["read"]}, runs("rm x", tool="read"), "ask", "a tool that calls itself like a kind"),
    ({"allow": ["read"]}, runs("rm x", kind="read"), "ask", "what runs a command is no reading"),
    ({"deny": ["read"], "allow": ["*"]}, runs("ls", kind="read"), "deny", "what it says of itself counts against it"),
    ({"deny": ["execute"], "allow": ["*"]}, runs("ls", kind="read"), "deny", "and so does what it shows"),
    ({"allow": ["execute(ls:*)"]}, runs("ls", kind="search"), "allow", "a command by whatever kind"),
    ({"allow": ["execute(ls:*)"]}, Subject("execute"), "ask", "it does not say what it runs"),
    ({"allow": ["execute"], "deny": ["execute(rm:*)"]}, Subject("execute"), "ask", "it may run rm"),
    ({"allow": ["execute"]}, Subject("execute"), "allow", "every command, said or not"),
    ({"allow": ["execute(ls:*)"]}, runs("ls", astray=True), "ask", "in a folder outside"),
    ({"allow": ["execute"]}, runs("ls", astray=True), "allow", "every command, wherever"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "call", "expected", "why"), TOOLS, ids=lambda value: str(value)[:40])
def test_tools(settings: Settings, call: Subject, expected: str, why: str) -> None:
    decision = decide(rules_from(settings, "user"), call)

    assert decision.effect == expected, f"{why}; but: {decision.reason}"


# -- reading rules -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what", "pattern"),
    [
        ("edit", "edit", None),
        (" edit(src/**) ", "edit", "src/**"),
        ("*", "*", None),
        ("*(a)", "*", "a"),
        ("Bash(git status:*)", "Bash", "git status:*"),
        ("execute(echo (a))", "execute", "echo (a)"),
        ("mcp__a__b", "mcp__a__b", None),
        ("execute(a\nb)", "execute", "a\nb"),
    ],
)
def test_reads_rules(text: str, what: str, pattern: str | None) -> None:
    rule = parse_rule(text)

    assert isinstance(rule, Rule)
    assert (rule.what, rule.pattern) == (what, pattern)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "*"),
        ("edit(", "edit"),
        ("edit)", "edit"),
        ("edit()", "edit"),
        ("edit( )", "edit"),
        ("edit(!a)", "edit"),
        ("edit(#a)", "edit"),
        ("edit(../a)", "edit"),
        ("edit(~/a)", "edit"),
        ("edit([z-a])", "edit"),
        ("execute(:*)", "execute"),
        ("execute(a && b:*)", "execute"),
        ("execute('a:*)", "execute"),
        ("execute($X:*)", "execute"),
        ("two words", "two"),
        ("(a)", "*"),
        (5, "*"),
        (None, "*"),
        (["edit"], "*"),
    ],
)
def test_says_what_is_wrong_with_a_rule(text: object, what: str) -> None:
    problem = parse_rule(text)

    assert isinstance(problem, RuleProblem)
    assert problem.what == what
    assert problem.message.endswith(".")


def test_a_broken_rule_allows_nothing_and_denies_nothing() -> None:
    rules = rules_from({"allow": ["edit("], "deny": ["read("]}, "user")

    assert decide(rules, touches("edit", "a")).effect == "ask"
    assert decide(rules, touches("read", "a")).effect == "ask"
    assert len(rules.problems) == 2


@pytest.mark.parametrize("effect", ["deny", "ask"])
def test_a_broken_rule_that_forbids_makes_its_kind_ask(effect: str) -> None:
    rules = rules_from({"allow": ["*"], effect: ["edit(../x)"]}, "user")

    assert decide(rules, touches("edit", "a")).effect == "ask"
    assert decide(rules, touches("read", "a")).effect == "allow"


def test_a_broken_rule_of_no_known_kind_makes_everything_ask() -> None:
    rules = rules_from({"allow": ["*"], "deny": [5]}, "user")

    assert decide(rules, touches("read", "a")).effect == "ask"


@pytest.mark.parametrize("settings", [5, [], "edit", {"deny": "edit"}, {"deny": 5}])
def test_broken_settings_make_everything_ask(settings: object) -> None:
    rules = rules_from(settings, "user") + rules_from({"allow": ["*"]}, "user")

    assert rules.problems
    assert decide(rules, touches("read", "a")).effect == "ask"


def test_a_workspace_tightens_and_does_not_loosen() -> None:
    rules = rules_from({"allow": ["*"], "deny": ["edit(x)"]}, "workspace")

    assert [rule.text for rule in rules.rules] == ["edit(x)"]
    assert rules.problems[0].text == "*"
    assert decide(rules, touches("read", "a")).effect == "ask"
    assert decide(rules, touches("edit", "x")).effect == "deny"


def test_a_decision_names_its_rule_and_where_it_stands() -> None:
    rules = rules_from({"deny": ["edit(x)"]}, "workspace") + RuleSet()

    rule = decide(rules, touches("edit", "x")).rule

    assert rule is not None
    assert (rule.text, rule.source) == ("edit(x)", "workspace")
