"""The check of a call: what it is gathered from, who decides, and what is kept of it."""

# ruff: noqa: E501 (a table reads best with one case in a line)
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rule_subjects import file

from acp_editor.core.model import Location, PermissionRequest, ToolCall
from acp_editor.policy import calls
from acp_editor.policy.calls import file_at, input_from, input_from_arguments
from acp_editor.policy.check import Ceiling, CheckInput, check, default_rules, ran_unasked
from acp_editor.policy.commands import parse_command
from acp_editor.policy.danger import danger
from acp_editor.policy.managed import load_ceiling
from acp_editor.policy.rules import RuleSet, rules_from

# -- what a call is about ----------------------------------------------------------------------


def gathered(call: ToolCall, root: Path, request: PermissionRequest | None = None) -> CheckInput:
    return input_from(call, request, str(root), [str(root)])


def names(call: CheckInput) -> list[str | None]:
    return [one.relative for one in call.files]


def diff(path: str, old: str | None = "a", new: str = "b") -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


@pytest.mark.parametrize(
    ("raw", "command"),
    [
        ({"command": "ls -l"}, "ls -l"),
        ({"command": ["ls", "a b"]}, "ls 'a b'"),
        ({"command": ["bash", "-lc", "ls; rm x"]}, "bash -lc 'ls; rm x'"),
        ({"command": ["ls -l"]}, "ls -l"),
        ({"command": "ls", "args": ["; rm x"]}, "ls '; rm x'"),
        ({"command": "ls", "args": "-l"}, "ls -l"),
        ({"cmd": "ls"}, "ls"),
        ({"script": "ls\nrm x"}, "ls\nrm x"),
        ({"command": "ls", "cmd": "rm x"}, "ls\nrm x"),
        ({"command": ""}, None),
        ({"command": 5}, None),
        ({"command": []}, None),
        ("ls", None),
        (None, None),
    ],
)
def test_the_command_of_a_call(raw: Any, command: str | None, tmp_path: Path) -> None:
    assert gathered(ToolCall("c", kind="execute", raw_input=raw), tmp_path).command == command


def test_the_command_of_a_request_counts_too(tmp_path: Path) -> None:
    request = PermissionRequest("s", (), command="rm x")

    assert gathered(ToolCall("c", kind="execute"), tmp_path, request).command == "rm x"
    call = ToolCall("c", kind="execute", raw_input={"command": "ls"})
    assert gathered(call, tmp_path, request).command == "ls\nrm x"


def many_names(how: str, count: int) -> ToolCall:
    """A call that names so many files, the last of which is a secret."""
    paths = [*(f"src/{number}" for number in range(count - 1)), "secrets/key"]
    patch = "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n" for path in paths)
    match how:
        case "locations":
            return ToolCall("c", kind="edit", locations=tuple(map(Location, paths)))
        case "diffs":
            return ToolCall("c", kind="edit", content=tuple(map(diff, paths)))
        case "a patch":
            return ToolCall("c", kind="edit", raw_input={"patch": patch})
        case _:
            return ToolCall("c", kind="edit", raw_input={"files": paths})


@pytest.mark.parametrize("how", ["locations", "diffs", "a patch", "input"])
def test_no_file_hides_behind_a_thousand_others(how: str, tmp_path: Path) -> None:
    deny = rules_from({"allow": ["edit"], "deny": ["edit(secrets/**)"]}, "user")
    allow = rules_from({"allow": ["edit(src/**)"]}, "user")
    few, many = (gathered(many_names(how, count), tmp_path) for count in (500, calls.MAX_FILES + 1))
    assert [check(few, rules).decision for rules in (deny, allow)] == ["deny", "ask"]
    assert [check(many, rules).decision for rules in (deny, allow)] == ["deny", "ask"]
    assert "too many files" in check(many, deny).reason
    assert len(many.files) <= calls.MAX_FILES
    assert check(many, rules_from({"allow": ["edit"]}, "user")).decision == "allow"
    assert check(many, rules_from({"deny": ["edit"]}, "user")).decision == "deny"


def test_what_an_editing_tool_calls_its_command_is_none(tmp_path: Path) -> None:
    call = ToolCall("c", kind="edit", raw_input={"command": "create", "path": "a", "file_text": "x"})

    found = gathered(call, tmp_path)

    assert (found.command, names(found)) == (None, ["a"])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (ToolCall("c", locations=(Location("a"), Location("b/../c"))), ["a", "c"]),
        (ToolCall("c", raw_input={"file_path": "a"}), ["a"]),
        (ToolCall("c", raw_input={"filePath": "a", "newPath": "b"}), ["a", "b"]),
        (ToolCall("c", raw_input={"paths": ["a", "b"]}), ["a", "b"]),
        (ToolCall("c", raw_input={"edits": [{"path": "a"}, {"path": "b"}]}), ["a", "b"]),
        (ToolCall("c", raw_input={"files": [{"path": "a"}, "b"]}), ["a", "b"]),
        (ToolCall("c", raw_input={"changes": {"a.py": {}, "b/c": {}}}), ["a.py", "b/c"]),
        (ToolCall("c", content=(diff("a"), diff("b"))), ["a", "b"]),
        (ToolCall("c", content=({"type": "diff", "path": "a"},)), ["a"]),
        (
            ToolCall("c", content=({"type": "diff", "changes": [{"path": "b", "oldPath": "a", "operation": "move"}]},)),
            ["b", "a"],
        ),
        (
            ToolCall("c", kind="edit", raw_input={"patch": "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch"}),
            ["a"],
        ),
        (ToolCall("c", locations=(Location("a"),), content=(diff("./a"),), raw_input={"path": "a"}), ["a"]),
        (ToolCall("c", raw_input={"content": "a", "pattern": "b"}), []),
    ],
)  # fmt: skip
def test_the_files_of_a_call(call: ToolCall, expected: list[str], tmp_path: Path) -> None:
    assert sorted(str(name) for name in names(gathered(call, tmp_path))) == sorted(expected)


def test_an_edit_is_an_edit_whatever_it_says_that_it_is(tmp_path: Path) -> None:
    assert gathered(ToolCall("c", kind="other", content=(diff("a"),)), tmp_path).changes
    assert gathered(ToolCall("c", kind="read", content=(diff("a"),)), tmp_path).changes
    # Some agents show what they read as a diff from nothing.
    assert not gathered(ToolCall("c", kind="read", content=(diff("a", None),)), tmp_path).changes


def test_the_name_of_a_tool(tmp_path: Path) -> None:
    assert gathered(ToolCall("c", name="Bash"), tmp_path).tool == "Bash"
    assert gathered(ToolCall("c", meta={"claudeCode": {"toolName": "Edit"}}), tmp_path).tool == "Edit"
    assert gathered(ToolCall("c", meta={"claudeCode": 5}), tmp_path).tool is None


def test_files_are_where_their_links_lead(tmp_path: Path) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "src").mkdir(parents=True)
    outside.mkdir()
    (root / "out").symlink_to(outside)
    (root / "alias").symlink_to(root / "src")

    def at(name: str) -> tuple[str | None, str | None]:
        found = file_at(name, str(root), [str(root)])
        return found.relative, found.named

    assert at("src/a.py") == ("src/a.py", "src/a.py")
    assert at("src/../b") == ("b", "b")
    assert at("alias/new.py") == ("src/new.py", "alias/new.py")
    assert at("out/x") == (None, "out/x")
    # The folder above a link is the one above where it leads.
    assert at("out/../ws/b") == ("b", "ws/b")
    assert at("../outside/x") == (None, None)
    assert at((root / "src" / "a b").as_uri()) == ("src/a b", "src/a b")
    assert at(".") == (".", ".")
    assert file_at("src", str(root), [str(root)]).folder


def test_a_workspace_behind_a_link_is_that_workspace(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    found = file_at("a", str(tmp_path / "link"), [str(tmp_path / "link")])

    assert (found.relative, found.named) == ("a", "a")


def test_redirections_are_resolved_where_the_command_runs(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    raw = {"command": "make > log 2> /x/err", "cwd": "sub"}

    found = gathered(ToolCall("c", kind="execute", raw_input=raw), tmp_path)

    assert found.targets["log"].relative == "sub/log"
    assert found.targets["/x/err"].relative is None
    assert not found.astray


def test_a_folder_outside_is_astray(tmp_path: Path) -> None:
    raw = {"command": "make", "cwd": "/"}

    found = gathered(ToolCall("c", kind="execute", raw_input=raw), tmp_path / "ws")
    verdict = check(found, rules_from({"allow": ["execute(make:*)"]}, "user"))

    assert found.astray
    assert (verdict.decision, verdict.reason) == ("ask", "It runs in a folder outside the workspace.")


@pytest.mark.parametrize(
    ("arguments", "kind", "command", "expected"),
    [
        ({"tool": "Bash", "command": "ls"}, "execute", "ls", []),
        ({"tool": "execute", "command": "ls"}, "execute", "ls", []),
        ({"tool": "edit", "files": ["a"]}, "edit", None, ["a"]),
        ({"tool": "Write", "kind": "edit", "input": {"file_path": "a"}}, "edit", None, ["a"]),
        ({"tool": "Bash", "input": {"command": "ls"}}, "execute", "ls", []),
        ({"tool": "Bash", "input": {"command": "ls"}, "command": "ls"}, "execute", "ls", []),
        ({"tool": "mcp__a__b"}, "other", None, []),
    ],
)
def test_a_dry_run(
    arguments: dict[str, Any], kind: str, command: str | None, expected: list[str], tmp_path: Path
) -> None:
    found = input_from_arguments(arguments, str(tmp_path), [str(tmp_path)])

    assert (found.kind, found.command, names(found)) == (kind, command, expected)


@pytest.mark.parametrize("arguments", [{"tool": 5}, {"tool": "a", "files": "b"}, {"tool": "a", "files": [5]}])
def test_a_dry_run_of_another_shape_says_so(arguments: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has to be"):
        input_from_arguments(arguments, str(tmp_path), [str(tmp_path)])


# -- the verdict -------------------------------------------------------------------------------

EDIT = CheckInput(kind="edit", files=(file("a"),))


def test_nothing_is_allowed_by_default() -> None:
    for kind in ("read", "edit", "execute", "fetch", "other"):
        assert check(CheckInput(kind=kind, files=(file("a"),)), default_rules()).decision == "ask"


def test_reading_inside_is_allowed_to_those_who_turn_it_on() -> None:
    rules = default_rules(read_inside=True)

    allowed = check(CheckInput(kind="read", files=(file("a"),)), rules)
    assert (allowed.decision, allowed.source) == ("allow", "builtin")
    assert check(CheckInput(kind="read", files=(file("/etc/passwd"),)), rules).decision == "ask"
    assert check(CheckInput(kind="read"), rules).decision == "ask"
    assert check(EDIT, rules).decision == "ask"


def test_a_verdict_says_who_answers_and_what_decided() -> None:
    allowed = check(EDIT, rules_from({"allow": ["edit(a)"]}, "user"))
    asked = check(EDIT, RuleSet())

    assert (allowed.answers, allowed.rule, allowed.source) == ("rules", "edit(a)", "user")
    assert (asked.answers, asked.rule) == ("person", None)


def test_with_nobody_there_it_is_denied() -> None:
    verdict = check(EDIT, RuleSet(), somebody=False)

    assert (verdict.decision, verdict.answers) == ("deny", "nobody")
    assert verdict.reason.endswith("Nobody is there to be asked, so it is denied.")


def test_the_prompt_sees_what_is_special() -> None:
    removing = check(CheckInput(kind="execute", command="rm -rf x"), RuleSet())
    reading = check(CheckInput(kind="read", files=(file("/etc/x"), file("a"))), RuleSet())
    writing = check(CheckInput(kind="execute", command="a > /x", targets={"/x": file("/x")}), RuleSet())

    assert removing.dangerous == "deletes without a way back"
    assert (reading.read_only, reading.outside) == (True, ("/etc/x",))
    assert writing.outside == ("/x",)
    assert not check(CheckInput(kind="read", command="ls"), RuleSet()).read_only
    assert check(CheckInput(kind="other", read_only=True), RuleSet()).read_only


def test_the_shape_for_editors() -> None:
    allowed = check(EDIT, rules_from({"allow": ["edit(a)"]}, "user")).to_json()

    assert allowed["decision"] == "allow"
    assert allowed["rule"] == "edit(a)"
    assert "hook" not in allowed
    assert json.dumps(allowed)


def test_words_that_are_run_without_a_shell() -> None:
    rules = rules_from({"allow": ["execute(git status:*)"]}, "user")

    assert check(CheckInput(kind="execute", words=("git", "status", "; x")), rules).decision == "allow"
    assert check(CheckInput(kind="execute", words=("git status",)), rules).decision == "ask"
    assert check(CheckInput(kind="execute", words=("sh", "-c", "x")), rules).decision == "ask"


@pytest.mark.parametrize(
    ("ceiling", "expected", "why"),
    [
        ({}, "allow", "no ceiling"),
        ({"most": "ask"}, "ask", "nothing is allowed"),
        ({"most": "deny"}, "deny", "nothing is even asked"),
        ({"allow": ["edit(a)"]}, "allow", "up to the ceiling"),
        ({"allow": ["edit(b)"]}, "ask", "above the ceiling"),
        ({"allow": ["read"]}, "ask", "another kind"),
        ({"ask": ["edit"]}, "ask", "to be asked"),
        ({"deny": ["edit(a)"]}, "deny", "denied"),
        ({"deny": ["edit("]}, "ask", "a denial that cannot be read"),
        ({"most": "everything"}, "ask", "a ceiling that cannot be read"),
        ([], "ask", "a ceiling that cannot be read"),
    ],
)
def test_a_ceiling(ceiling: Any, expected: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "managed.json"
    path.write_text(json.dumps(ceiling))

    verdict = check(EDIT, rules_from({"allow": ["*"]}, "user"), load_ceiling(path)[0])

    assert verdict.decision == expected, why
    if expected != "allow":
        assert verdict.source == "managed"


def test_a_ceiling_allows_nothing_by_itself() -> None:
    ceiling = Ceiling("allow", rules_from({"allow": ["edit"]}, "managed"))

    assert check(EDIT, RuleSet(), ceiling).decision == "ask"


def test_a_ceiling_that_cannot_be_read_allows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "managed.json"
    path.write_text("{")

    ceiling, problem = load_ceiling(path)

    assert ceiling.most == "ask"
    assert problem
    assert load_ceiling(tmp_path / "none.json") == (Ceiling(), None)


def test_an_agent_that_did_not_ask() -> None:
    asked, denied = check(EDIT, RuleSet()), check(EDIT, rules_from({"deny": ["edit"]}, "user"))
    allowed = check(EDIT, rules_from({"allow": ["edit"]}, "user"))

    assert ran_unasked("c", allowed) is None
    for verdict in (asked, denied):
        fault = ran_unasked("c", verdict)
        assert fault is not None
        assert (fault.code, fault.detail) == ("ran_unasked", "c")


# -- what destroys -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf x", "rm -f x", "rm --recursive x", "sudo rm -r x", "find . -delete", "git push -f", "git push --force origin x",
        "git reset --hard", "git clean -fd", "git checkout -- .", "git restore x", "git branch -D x", "git stash clear",
        "dd if=a of=b", "mkfs.ext4 /dev/sda", "shred x", "chmod -R 777 .", "kill -9 -1", "curl x | sh", "wget -O- x | bash",
        "sh -c 'rm -rf x'", "ls > /dev/sda", "reboot", "docker system prune", "terraform destroy", "xargs rm -rf",
    ],
)  # fmt: skip
def test_destructive_shapes_are_marked(line: str) -> None:
    assert danger("execute", parse_command(line))


@pytest.mark.parametrize(
    "line",
    [
        "rm", "ls", "git push", "git reset", "git checkout main", "git restore --staged x", "git branch x", "echo rm -rf",
        "find . -name x", "kill 5", "curl x", "chmod +x a", "docker ps", "ls > /dev/null", "grep -rf x y",
    ],
)  # fmt: skip
def test_others_are_not(line: str) -> None:
    assert danger("execute", parse_command(line)) is None


def test_deleting_is_marked() -> None:
    assert danger("delete", None)
    assert danger("edit", None) is None
