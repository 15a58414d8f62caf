"""Rules that are offered and kept, the log of decisions, and the command line."""

# ruff: noqa: E501 (a table reads best with one case in a line)
from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rule_subjects import file

from acp_editor.app import folders
from acp_editor.cli import main
from acp_editor.policy.check import CheckInput, Verdict, check
from acp_editor.policy.cli import check_rule_main
from acp_editor.policy.log import DecisionLog
from acp_editor.policy.rules import rules_from
from acp_editor.policy.store import RuleStore
from acp_editor.policy.suggest import suggestions

EDIT = CheckInput(kind="edit", files=(file("a"),))

# -- rules to offer ----------------------------------------------------------------------------


def offered(call: CheckInput, effect: Any = "allow") -> list[str]:
    return [one.rule for one in suggestions(call, effect)]


def command(line: str) -> CheckInput:
    return CheckInput(kind="execute", command=line)


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("git status --short", ["execute(git status --short)", "execute(git status:*)"]),
        ("npm run build -- -x", ["execute(npm run build -- -x)", "execute(npm run build:*)"]),
        ("ls -l", ["execute(ls -l)", "execute(ls:*)"]),
        ("timeout 5 ls -l", ["execute(timeout 5 ls -l)", "execute(ls:*)"]),
        ("git -c x=y status", ["execute(git -c x=y status)"]),
        ("python -c 'x'", ["execute(python -c 'x')"]),
        ("sh -c 'ls -l'", ["execute(sh -c 'ls -l')", "execute(ls:*)"]),
        ("rm -rf x", ["execute(rm -rf x)"]),
        ("ls && make", ["execute(ls && make)"]),
        ("make > log", ["execute(make > log)"]),
        ("ls $X", ["execute(ls $X)", "execute(ls:*)"]),
        ("$X", []),
        ("PATH=. ls", []),
    ],
)
def test_offers_for_a_command(line: str, rules: list[str]) -> None:
    assert offered(command(line)) == rules


def test_offers_for_files() -> None:
    one = CheckInput(kind="edit", tool="Edit", files=(file("src/a/b.py"),))
    two = CheckInput(kind="edit", files=(file("src/a/b.py"), file("src/c.py")))

    assert offered(one) == [
        "edit(/src/a/b.py)", "edit(/src/a/**)", "edit(/src/**)", "edit(**)", "Edit"
    ]  # fmt: skip
    assert offered(two) == ["edit(/src/**)", "edit(**)", "edit"]
    assert offered(CheckInput(kind="edit", files=(file("/etc/x"),))) == ["edit"]
    assert offered(CheckInput(kind="edit", files=(file("a[1]*.py"),)))[0] == "edit(/a\\[1\\]\\*.py)"


def test_offers_that_forbid() -> None:
    assert offered(command("rm -rf x && ls"), "deny") == [
        "execute(rm -rf x && ls)", "execute(rm:*)", "execute(ls:*)", "execute"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "call",
    [command("git status"), command("a | b"), EDIT, CheckInput(kind="other", tool="mcp__a__b"), CheckInput(kind="fetch")],
)  # fmt: skip
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_what_is_offered_decides_the_call(call: CheckInput, effect: Any) -> None:
    for text in offered(call, effect):
        assert check(call, rules_from({effect: [text]}, "user")).decision == effect


# -- what is kept ------------------------------------------------------------------------------


def test_saved_rules_hold_where_they_are_meant(tmp_path: Path) -> None:
    store = RuleStore(tmp_path / "config")
    store.add("edit(a)", "allow", "everywhere")
    store.add("edit(b)", "allow", "workspace", str(tmp_path / "w1"))
    store.add("edit(c)", "deny", "session", "s1")

    def texts(workspace: str | None, session: str | None) -> set[str]:
        return {rule.text for rule in RuleStore(tmp_path / "config").rules_for(workspace, session).rules}

    assert texts(None, None) == {"edit(a)"}
    assert texts(str(tmp_path / "w1"), "s1") == {"edit(a)", "edit(b)"}
    assert texts(str(tmp_path / "w2"), "s1") == {"edit(a)"}
    assert {rule.text for rule in store.rules_for(None, "s1").rules} == {"edit(a)", "edit(c)"}
    store.forget_session("s1")
    assert {rule.text for rule in store.rules_for(None, "s1").rules} == {"edit(a)"}


def test_saved_rules_are_listed_edited_and_revoked(tmp_path: Path) -> None:
    store = RuleStore(tmp_path)
    for scope, where in (("everywhere", ""), ("workspace", str(tmp_path)), ("session", "s1")):
        saved = store.add("edit(a)", "allow", scope, where)  # type: ignore[arg-type]
        assert saved in store.listed()
        changed = store.edit(saved, "edit(b)")
        assert [row.rule.text for row in store.listed()] == ["edit(b)"]
        with pytest.raises(ValueError, match="pattern"):
            store.edit(changed, "edit()")
        with pytest.raises(LookupError):
            store.revoke(saved)
        store.revoke(changed)
        assert store.listed() == ()


def test_a_rule_is_saved_once_and_for_the_person_alone(tmp_path: Path) -> None:
    store = RuleStore(tmp_path)
    store.add("edit(a)", "allow", "everywhere")
    store.add(" edit(a) ", "allow", "everywhere")

    assert len(store.listed()) == 1
    if os.name == "posix":
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["{", "[]", '"a"'])
def test_a_file_of_rules_that_cannot_be_read_makes_everything_ask_and_is_left(
    content: str, tmp_path: Path
) -> None:
    store = RuleStore(tmp_path)
    store.path.write_text(content)

    rules = store.rules_for(None, None) + rules_from({"allow": ["*"]}, "user")

    assert check(EDIT, rules).decision == "ask"
    with pytest.raises(ValueError, match=r"object|Expecting"):
        store.add("edit(a)", "allow", "everywhere")
    assert store.path.read_text() == content


def test_the_log_says_what_decided_and_no_contents(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "state" / "decisions.ndjson", now=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    call = CheckInput(kind="execute", tool="Bash", command="secret", input={"x": "secret"}, session_id="s1")

    log.add(call, check(call, rules_from({"deny": ["execute(secret:*)"]}, "user")))

    text = (tmp_path / "state" / "decisions.ndjson").read_text()
    assert "secret" not in text
    assert log.last() == [
        {
            "time": "2026-01-02T00:00:00.000+00:00",
            "session": "s1",
            "tool": "Bash",
            "kind": "execute",
            "decision": "deny",
            "answers": "rules",
            "rule": "execute",
            "source": "user",
        }
    ]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "state" / "decisions.ndjson").stat().st_mode) == 0o600


def test_the_log_is_rotated(tmp_path: Path) -> None:
    path = tmp_path / "decisions.ndjson"
    log = DecisionLog(path, limit=400, kept=2)
    verdict = Verdict(decision="allow", reason="Because.")

    for number in range(30):
        log.add(CheckInput(tool=f"t{number}"), verdict)

    assert sorted(one.name for one in tmp_path.iterdir()) == [path.name, f"{path.name}.1", f"{path.name}.2"]
    assert all(one.stat().st_size <= 400 for one in tmp_path.iterdir())
    found = [entry["tool"] for entry in log.last(5)]
    assert found == [f"t{number}" for number in range(25, 30)]
    with path.open("a") as file:
        file.write("{broken\n5\n")
    assert [entry["tool"] for entry in log.last(1)] == ["t29"]


# -- the command line --------------------------------------------------------------------------


def unasked() -> Path:
    raise AssertionError("the saved rules were looked for")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--allow", "execute(git:*)", "--command", "git x"], 0, "allow: The rule `execute(git:*)` allows it."),
        (["--allow", "execute(git:*)", "--command", "git x; y"], 3, "ask: No rule allows `y`."),
        (["--deny", "edit(**/.env)", "--kind", "edit", "--file", ".env"], 1, "deny: The rule `edit(**/.env)` forbids it."),
        (["--kind", "edit", "--file", "a"], 3, "ask: No rule is about it, so it is for you to say."),
        (["--headless", "--kind", "edit", "--file", "a"], 1, "deny: No rule is about it, so it is for you to say. Nobody is there to be asked, so it is denied."),
        (["--headless", "--allow", "edit", "--kind", "edit", "--file", "a"], 0, "allow: The rule `edit` allows it."),
        (["--allow", "Bash", "--tool", "Bash", "--input", '{"command": "x"}'], 0, "allow: The rule `Bash` allows it."),
    ],
)  # fmt: skip
def test_check_rule(
    arguments: list[str], code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_rule_main(["--only", "--workspace", str(tmp_path), *arguments], unasked) == code
    assert capsys.readouterr().out.strip() == says


def test_check_rule_reads_settings_and_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"acpEditor.permissions": {"allow": ["edit(a)", "edit("]}}))

    code = check_rule_main(
        [
            "--only",
            "--json",
            "--workspace",
            str(tmp_path),
            "--settings",
            str(path),
            "--kind",
            "edit",
            "--file",
            "a",
        ],
        unasked,
    )

    printed = capsys.readouterr()
    assert (code, json.loads(printed.out)["rule"]) == (0, "edit(a)")
    assert "`edit(`" in printed.err


@pytest.mark.parametrize("arguments", [["--input", "{"], ["--settings", "/nowhere.json"]])
def test_check_rule_says_what_it_cannot_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert check_rule_main(["--only", *arguments], unasked) == 2
    assert capsys.readouterr().err


def test_check_rule_finds_what_is_saved_where_the_server_saves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    RuleStore(folders.config()).add("edit(a)", "allow", "everywhere")

    assert main(["check-rule", "--workspace", str(tmp_path), "--kind", "edit", "--file", "a"]) == 0
    assert capsys.readouterr().out.startswith("allow: ")
