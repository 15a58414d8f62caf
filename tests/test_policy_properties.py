"""What holds of rules whatever they are: more that forbids never allows more, and a ceiling always holds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rule_subjects import file

from acp_editor.policy.check import Ceiling, CheckInput, HookWord, Verdict, check
from acp_editor.policy.rules import STRICTNESS, Effect, RuleSet, rules_from

EFFECTS: tuple[Effect, ...] = ("allow", "ask", "deny")

rule_texts = st.sampled_from(
    [
        "*", "read", "edit", "execute", "delete", "Bash", "mcp__a__*", "edit(src/**)", "edit(**)",
        "edit(**/.env)",
        "edit(*.py)", "read(**)", "*(src/**)", "execute(git status:*)", "execute(git:*)",
        "execute(rm:*)",
        "execute(git status)", "Bash(git:*)", "execute(sudo rm:*)", "execute(a && b)", "execute(*)", "edit(",
        "read(!x)", "*(", "",
    ]
)  # fmt: skip
rule_lists = st.fixed_dictionaries({effect: st.lists(rule_texts, max_size=3) for effect in EFFECTS})
lines = st.sampled_from(
    [
        "git status", "git status -s", "rm x", "git status && rm x", "$X", "sudo rm x", "sh -c 'rm x'",
        "git log > src/a", "git log > .env", "ls (", "a && b", "git $X", "env git status",
        "git status | xargs rm", "",
    ]
)  # fmt: skip
paths = st.sampled_from(["src/a.py", "src/.env", ".env", "a.py", "/etc/x.py", "src"])
known_targets = {name: file(name) for name in ("src/a", ".env")}
calls = st.one_of(
    st.builds(
        CheckInput,
        kind=st.sampled_from(["execute", "read", "other"]),
        tool=st.sampled_from([None, "Bash", "mcp__a__b", "read"]),
        command=lines,
        targets=st.sampled_from([{}, known_targets]),
        astray=st.booleans(),
    ),
    st.builds(
        CheckInput,
        kind=st.sampled_from(["read", "edit", "delete", "other", "execute", "own"]),
        tool=st.sampled_from([None, "Write", "mcp__a__b", "edit"]),
        files=st.lists(paths.map(file), max_size=2).map(tuple),
        changes=st.booleans(),
    ),
)


class Says:
    """A hook with one answer."""

    def __init__(self, decision: Effect, failed: bool) -> None:
        self.name = "says"
        self._word = HookWord(
            hook="says", decision="ask" if failed else decision, reason="Because.", failed=failed
        )

    def check(self, call: CheckInput, verdict: Verdict) -> HookWord | None:
        return self._word


hooks = st.lists(st.builds(Says, st.sampled_from(EFFECTS), st.booleans()), max_size=3)
ceilings = st.builds(
    Ceiling, st.sampled_from(EFFECTS), rule_lists.map(lambda given: rules_from(given, "managed"))
)


def decided(given: dict[str, list[str]], call: CheckInput) -> int:
    return STRICTNESS[check(call, rules_from(given, "user")).decision]


@settings(deadline=None)
@given(given_rules=rule_lists, more=rule_texts, effect=st.sampled_from(["ask", "deny"]), call=calls)
def test_more_that_forbids_never_allows_more(
    given_rules: dict[str, list[str]], more: str, effect: str, call: CheckInput
) -> None:
    with_more = {**given_rules, effect: [*given_rules[effect], more]}

    assert decided(with_more, call) >= decided(given_rules, call)


@settings(deadline=None)
@given(given_rules=rule_lists, more=rule_texts, call=calls)
def test_more_that_allows_never_forbids_more(
    given_rules: dict[str, list[str]], more: str, call: CheckInput
) -> None:
    with_more = {**given_rules, "allow": [*given_rules["allow"], more]}

    assert decided(with_more, call) <= decided(given_rules, call)


@settings(deadline=None)
@given(given_rules=rule_lists, call=calls, data=st.data())
def test_the_order_within_a_list_does_not_matter(
    given_rules: dict[str, list[str]], call: CheckInput, data: st.DataObject
) -> None:
    shuffled = {effect: data.draw(st.permutations(texts)) for effect, texts in given_rules.items()}

    assert decided(shuffled, call) == decided(given_rules, call)


@settings(deadline=None)
@given(given_rules=rule_lists, ceiling=ceilings, chain=hooks, call=calls, somebody=st.booleans())
def test_a_ceiling_always_holds(
    given_rules: dict[str, list[str]], ceiling: Ceiling, chain: list[Says], call: CheckInput, somebody: bool
) -> None:
    verdict = check(call, rules_from(given_rules, "user"), ceiling, chain, somebody=somebody)

    assert STRICTNESS[verdict.decision] >= STRICTNESS[ceiling.of(call.subject()).effect]
    assert STRICTNESS[verdict.decision] >= STRICTNESS[ceiling.most]


@settings(deadline=None)
@given(given_rules=rule_lists, chain=hooks, call=calls)
def test_hooks_never_loosen_what_the_rules_say(
    given_rules: dict[str, list[str]], chain: list[Says], call: CheckInput
) -> None:
    verdict = check(call, rules_from(given_rules, "user"), hooks=chain)

    assert STRICTNESS[verdict.decision] >= decided(given_rules, call)


@settings(deadline=None)
@given(given_rules=rule_lists, call=calls)
def test_a_workspace_never_loosens(given_rules: dict[str, list[str]], call: CheckInput) -> None:
    own: RuleSet = rules_from({"allow": ["edit(src/**)", "execute(git:*)"]}, "user")

    alone = check(call, own)
    together = check(call, own + rules_from(given_rules, "workspace"))

    assert STRICTNESS[together.decision] >= STRICTNESS[alone.decision]


@settings(deadline=None)
@given(given_rules=rule_lists, call=calls)
def test_with_nobody_there_nothing_is_asked(given_rules: dict[str, list[str]], call: CheckInput) -> None:
    verdict = check(call, rules_from(given_rules, "user"), somebody=False)

    assert verdict.decision in ("allow", "deny")
    assert (verdict.decision == "allow") == (decided(given_rules, call) == STRICTNESS["allow"])


@settings(deadline=None)
@given(given_rules=rule_lists, call=calls)
def test_every_verdict_has_a_reason(given_rules: dict[str, list[str]], call: CheckInput) -> None:
    verdict = check(call, rules_from(given_rules, "user"))

    assert verdict.reason.strip().endswith((".", "`", "…"))
