"""Who may do what, as a person says it: rules from the prompt, options from the status bar, commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import mock_llm
import pytest
from driver import SERVER, Editor, wait_for

import lab

HOOK = """
from acp_editor.policy.hooks import Answer, hookimpl

@hookimpl
def acp_check_tool_call(call):
    return Answer("deny", "Nothing is pushed from here.") if "push" in (call.command or "") else None

@hookimpl
def acp_lock_option(option):
    return "The house decides." if option.config_id == "pace" else None
"""


def waiting(editor: Editor) -> None:
    wait_for(lambda: editor.status_says("waiting"), "the status bar tells of a waiting permission")


def ready(editor: Editor) -> None:
    wait_for(lambda: editor.status_says("ready"), "the status bar says that the agent is ready", 60)


def told(editor: Editor, text: str) -> None:
    wait_for(lambda: editor.notification(text).count(), f"a notification says {text!r}")


def rows_with(editor: Editor, text: str) -> list[str]:
    return wait_for(lambda: [row for row in editor.rows() if text in row], f"a row has {text!r}")


def reject(editor: Editor) -> None:
    editor.palette("ACP: Reject")
    wait_for(lambda: not editor.status_says("waiting"), "nothing waits any more")
    ready(editor)


def clear(editor: Editor) -> None:
    """Away with the notifications that are there, so that what comes is new."""
    editor.palette("Notifications: Clear All Notifications")
    wait_for(lambda: not editor.notifications, "no notification is left")


def test_a_rule_from_the_prompt_used_listed_changed_revoked_and_asked_again(editor: Editor) -> None:
    editor.prompt("/run echo one")
    waiting(editor)
    told(editor, "echo one")
    editor.screenshot("rules-prompt")

    # its width and its scope are shown before it is saved
    editor.palette("ACP: Always Allow…")
    assert "execute(echo:*)" in rows_with(editor, "commands that begin with `echo`")[0]
    editor.screenshot("rules-width")
    editor.pick("commands that begin with `echo`")
    assert "Allow execute(echo:*), in this folder" in rows_with(editor, "In this workspace")[0]
    editor.screenshot("rules-scope")
    assert editor.status_says("waiting")
    editor.pick("In this workspace")
    ready(editor)
    told(editor, "/run: ")

    # the next such call is not asked for
    clear(editor)
    editor.prompt("/run echo two")
    told(editor, "/run: ")
    assert not editor.notification("echo two").filter(has_text="Allow").count()

    # it is listed with where it stands, and becomes another rule there
    editor.palette("ACP: Permission Rules…")
    assert "allow" in rows_with(editor, "execute(echo:*)")[0]
    assert "this workspace" in "".join(editor.rows())
    editor.screenshot("rules-list")
    editor.press_in_row("execute(echo:*)", "Edit")
    editor.answer("execute(echo one:*)")
    told(editor, "Changed execute(echo:*) to execute(echo one:*)")
    editor.prompt("/run echo two")
    waiting(editor)
    reject(editor)

    # revoked, what it allowed is asked for again
    editor.palette("ACP: Permission Rules…")
    rows_with(editor, "execute(echo one:*)")
    editor.press_in_row("execute(echo one:*)", "Revoke")
    told(editor, "Revoked execute(echo one:*)")
    editor.prompt("/run echo one")
    waiting(editor)

    # never, for this session: the request is answered, and the next one never asked
    editor.palette("ACP: Never Allow…")
    editor.pick("commands that begin with `echo`")
    rows_with(editor, "Never execute(echo:*), until the session ends")
    editor.pick("In this session")
    ready(editor)
    clear(editor)
    editor.prompt("/run echo three")
    told(editor, "/run: ")
    assert editor.status_says("ready")

    # what is to be minded can be seen
    editor.prompt("/run rm -rf build > /tmp/outside.log")
    waiting(editor)
    told(editor, "⚠ deletes without a way back")
    told(editor, "outside the workspace: /tmp/outside.log")
    editor.screenshot("rules-dangerous")
    reject(editor)

    editor.palette("ACP: Show Permission Decisions")
    wait_for(lambda: "decided by" in editor.lines.get(1, ""), "the decisions are a table")
    wait_for(lambda: any("rule execute" in line for line in editor.lines.values()), "a rule decided")
    assert any(re.search(r"reject once\s+you", line) for line in editor.lines.values())
    editor.screenshot("rules-decisions")


def test_where_there_is_nothing_yet_it_is_said_what_to_do(editor: Editor) -> None:
    editor.palette("ACP: Permission Rules…")
    told(editor, "There are no permission rules yet. When an agent asks")
    editor.palette("ACP: Show Hooks")
    told(editor, "No hooks are installed")
    editor.screenshot("nothing-yet")
    clear(editor)

    editor.palette("ACP: Sessions…")
    assert "There are no sessions yet" in rows_with(editor, "New Session")[0]
    editor.screenshot("sessions-none")
    editor.pick("New Session")
    wait_for(lambda: editor.status_item("mode").inner_text().strip() == "Ask", "there is a session")

    editor.palette("ACP: Choose Agent…")
    rows_with(editor, "Add an Agent…")
    editor.screenshot("agents-choose")
    editor.pick("Add an Agent…")
    shown = editor.page.locator(".settings-editor").filter(has_text="@agentclientprotocol/claude-agent-acp")
    wait_for(shown.count, "the setting is shown with an example")
    editor.screenshot("agents-add")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A hook that is installed beside the server."""
    site = tmp_path / "site"
    info = site / "house_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "house_rules.py").write_text(HOOK)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[acp_editor]\nhouse-rules = house_rules\n")
    return site


class TestWithHook:
    @pytest.fixture
    def settings(self, house: Path) -> dict[str, object]:
        found = os.pathsep.join(filter(None, [str(house), os.environ.get("PYTHONPATH")]))
        return {"acpEditor.server.command": ["env", f"PYTHONPATH={found}", *SERVER]}

    def test_options_modes_and_commands(self, editor: Editor) -> None:
        editor.prompt("/todo")
        told(editor, "left to do")
        editor.screenshot("command-printed")

        # the mode, from the status bar and by its key
        mode = editor.status_item("mode")
        wait_for(lambda: mode.inner_text().strip() == "Ask", "the status bar has the mode")
        mode.click()
        editor.pick("Plan only")
        wait_for(lambda: mode.inner_text().strip() == "Plan only", "the mode is another one")
        editor.press("Control+Alt+A", "Control+Alt+M")
        wait_for(lambda: mode.inner_text().strip() == "Ask", "its key goes on to the next mode")

        # all options in one list, ours among them, a locked one with who locked it
        editor.palette("ACP: Set Option…")
        assert "locked by the hook house-rules: The house decides." in rows_with(editor, "Pace")[0]
        editor.screenshot("options")
        editor.pick("Follow again after")
        editor.quick_input().fill("soon")
        wait_for(lambda: "A number" in editor.input_says, "a text is no number")
        editor.screenshot("options-number")
        editor.answer("30")
        wait_for(lambda: not editor.quick_input().count(), "the box is closed")
        editor.palette("ACP: Set Option…")
        assert "30" in rows_with(editor, "Follow again after")[0]
        editor.pick("Pace")
        told(editor, "Pace is locked by the hook house-rules: The house decides.")

        # a command by the picker: its arguments are asked for with their hint
        clear(editor)
        editor.palette("ACP: Run Slash Command…")
        rows_with(editor, "/rename")
        editor.screenshot("commands")
        editor.pick("/rename")
        wait_for(lambda: "/rename OLD NEW" in editor.input_says, "the hint is there before anything is typed")
        editor.screenshot("command-hint")
        editor.answer("/rename CLOSE NEAR")
        waiting(editor)
        reject(editor)
        told(editor, "/rename: ")

        # as typed, with its arguments; one that nobody knows is said to be unknown
        clear(editor)
        editor.palette("ACP: Prompt Agent…")
        editor.answer("/renam CLOSE NEAR")
        wait_for(lambda: "There is no command /renam" in editor.input_says, "it is said to be unknown")
        editor.screenshot("command-unknown")
        editor.answer("/run git push")
        told(editor, "/run: ")
        assert editor.status_says("ready")

        # the hook is listed with what it decided
        editor.palette("ACP: Show Hooks")
        assert "deny × 1" in rows_with(editor, "house-rules")[0]
        editor.screenshot("hooks")
        editor.pick("house-rules")
        assert "Nothing is pushed from here." in rows_with(editor, "execute run_command: deny")[0]


# -- an agent that nobody here wrote -----------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with mock_llm.serving() as address:
        yield address


def with_agent(name: str, home: Path, model: str) -> dict[str, object]:
    home.mkdir()
    return {"acpEditor.agents": {name: lab.settings(name, home, model)}, "acpEditor.agent": name}


@pytest.mark.live
@pytest.mark.timeout(400)
class TestWithClaude:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        target = tmp_path / "demo"
        lab.prepare(target)
        return target

    @pytest.fixture
    def settings(self, tmp_path: Path, model: str) -> dict[str, object]:
        return with_agent("claude", tmp_path / "home", model)

    def test_its_mode_is_changed_and_a_rule_answers_it(self, editor: Editor, folder: Path) -> None:
        editor.prompt(f"SCENARIO:editonly WS:{folder}")
        wait_for(lambda: editor.status_says("waiting"), "the agent asks", 90)
        told(editor, "Edit app.py")
        editor.screenshot("prompt-claude")
        editor.palette("ACP: Always Allow…")
        rows_with(editor, "edit anything in the workspace")
        editor.screenshot("rules-claude")
        editor.pick("edit anything in the workspace")
        editor.pick("In this session")
        wait_for(lambda: 'f"Hello, {name}!"' in (folder / "app.py").read_text(), "the edit is on the disk")
        ready(editor)
        mode = editor.status_item("mode")
        before = wait_for(lambda: mode.inner_text().strip(), "the status bar has the agent's mode")
        mode.click()
        rows_with(editor, "Plan")
        editor.screenshot("mode-claude")
        editor.pick("Plan")
        wait_for(lambda: "Plan" in mode.inner_text(), "the mode is another one")
        assert mode.inner_text().strip() != before
        editor.palette("ACP: Set Option…")
        rows_with(editor, "Follow the agent")
        editor.screenshot("options-claude")


if "codex" in lab.chosen():

    @pytest.mark.live
    @pytest.mark.timeout(400)
    class TestWithCodex:
        @pytest.fixture
        def settings(self, tmp_path: Path, model: str) -> dict[str, object]:
            return with_agent("codex", tmp_path / "home", model)

        def test_its_options_are_listed_set_and_seen_in_the_status_bar(self, editor: Editor) -> None:
            editor.palette("ACP: New Session")
            mode = editor.status_item("mode")
            wait_for(lambda: mode.inner_text().strip(), "the status bar has its mode", 90)
            chosen = editor.status_item("model")
            before = wait_for(lambda: chosen.inner_text().strip(), "and its model")

            editor.palette("ACP: Set Option…")
            for name in ("Mode", "Collaboration mode", "Model"):
                rows_with(editor, name)
            editor.screenshot("options-codex")
            editor.pick("Collaboration mode")
            rows_with(editor, "Plan")
            editor.pick("Plan")
            wait_for(lambda: not editor.quick_input().count(), "it is set")
            editor.palette("ACP: Set Option…")
            assert "Plan" in rows_with(editor, "Collaboration mode")[0]
            editor.press("Escape")

            chosen.click()
            rows_with(editor, "6 Astra")
            editor.screenshot("model-codex")
            editor.pick("6 Astra")
            wait_for(lambda: chosen.inner_text().strip() == "6 Astra", "the status bar has the new model")
            assert before != "6 Astra"

            mode.click()
            editor.pick("Full access")
            wait_for(lambda: mode.inner_text().strip() == "Full access", "the status bar has the new mode")
            editor.screenshot("mode-codex")
