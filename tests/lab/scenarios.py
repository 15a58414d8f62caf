"""What the scripted model says and does, step by step, and how it says it with an agent's own tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolset import Call, Tool, fit

MARK = re.compile(r"SCENARIO:([\w-]+)\s+WS:(\S+)")


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model. `wanted` are (operation, arguments); `slow` are seconds between words."""

    text: str = ""
    thought: str = ""
    wanted: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    slow: float = 0.0
    calls: tuple[Call, ...] = field(default=())
    """What is wanted, in the words of the agent's tools."""


def do(operation: str, **arguments: Any) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    return ((operation, arguments),)


NOTES = "# Notes\n\nmade by the agent\n"
SCRIPTS: Mapping[str, tuple[Step, ...]] = {
    "full": (
        Step("I'll read the file first.", "I should look at app.py first.", do("read", path="app.py")),
        Step(wanted=do("plan", state=0)),
        Step("Now I'll edit it.", wanted=do("edit", path="app.py")),
        Step(wanted=do("write", path="NOTES.md", content=NOTES)),
        Step("Running it.", wanted=do("shell", cmd="python3 app.py && echo done")),
        Step(wanted=do("read", path="missing.txt")),
        Step(wanted=do("shell", cmd="sh -c 'echo oops >&2; exit 3'")),
        Step(
            "Two at once.",
            wanted=do("read", path="README.md", offset=2, limit=2) + do("grep", pattern="greet"),
        ),
        Step(wanted=do("plan", state=1)),
        Step("All done: app.py now uses an f-string."),
    ),
    "reject": (
        Step(wanted=do("read", path="app.py")),
        Step("I'll edit the file.", wanted=do("edit", path="app.py")),
        Step(wanted=do("shell", cmd="touch rejected-marker.txt")),
        Step("Understood, I left it."),
    ),
    "permcancel": (
        Step("I'll edit the file.", wanted=do("read", path="app.py")),
        Step("I'll edit the file.", wanted=do("edit", path="app.py")),
        Step(wanted=do("shell", cmd="touch cancelled-marker.txt")),
        Step("This should not be reached."),
    ),
    "cancelshell": (
        Step("Running something slow.", wanted=do("shell", cmd="echo started; sleep 25; echo finished")),
        Step("This should not be reached."),
    ),
    "cancelstream": (Step(" ".join(f"word{i}" for i in range(400)), slow=0.1),),
    "hello": (Step("Hello there."),),
    "mode": (
        Step("Planning first.", wanted=do("enterplan")),
        Step("Leaving plan mode.", wanted=do("exitplan", plan="1. edit app.py")),
        Step("Mode demo over."),
    ),
    "tasks": (
        Step(wanted=do("taskcreate", n=0)),
        Step(wanted=do("taskcreate", n=1)),
        Step(wanted=do("taskupdate", id="1", status="in_progress")),
        Step(wanted=do("taskupdate", id="1", status="completed")),
        Step("Tasks noted."),
    ),
    "editonly": (
        Step(wanted=do("read", path="app.py")),
        Step(wanted=do("edit", path="app.py")),
        Step("Edited."),
    ),
    # a shell command that rewrites a file: no edit tool, no diff, nothing announced
    "script": (
        Step(wanted=do("shell", cmd="sed -i 's/Hello/Goodbye/' app.py && printf 'x' > made.txt")),
        Step("Rewritten."),
    ),
}


def marked(text: str) -> tuple[str, str] | None:
    """The last scenario and workspace that a text names."""
    found = MARK.findall(text)
    return found[-1] if found else None


def decide(scenario: tuple[str, str] | None, rounds: int, tools: Sequence[Tool]) -> Step:
    """The step after so many rounds of tool calls; steps for which the agent has no tool are passed over."""
    if scenario is None or not tools:
        return Step("Demo session")
    name, workspace = scenario
    able: list[Step] = []
    for step in SCRIPTS.get(name, (Step(f"unknown scenario {name}"),)):
        calls = tuple(
            call for operation, given in step.wanted if (call := fit(operation, given, tools, workspace))
        )
        if calls or not step.wanted:
            able.append(Step(step.text, step.thought, step.wanted, step.slow, calls))
    return able[min(rounds, len(able) - 1)]
