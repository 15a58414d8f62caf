"""Writes docs/agents.md from what the live tests saw.

`python scripts/agents_table.py` brings the page up to date with tests/live/results.json; with `--check` it
changes nothing and exits 1 where the page is stale. The results are kept by running the live tests with
ACP_EDITOR_AGENTS_RESULTS=tests/live/results.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from cached import run_script

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "tests" / "live" / "results.json"
PAGE = ROOT / "docs" / "agents.md"

Json: TypeAlias = Any

NAMES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "fast-agent": "fast-agent",
    "gemini": "Gemini CLI",
    "kimi": "Kimi CLI",
    "opencode": "OpenCode",
    "pydantic": "Pydantic AI",
    "sdk-dual": "ACP SDK, example of both versions",
    "sdk-example": "ACP SDK, example",
}
EXAMPLES = frozenset({"sdk-dual", "sdk-example"})
"""They only talk."""

SCENARIOS = {
    "full": "Turn and undo",
    "script": "What a command changes",
    "reject": "Reject",
    "permcancel": "Cancel at a question",
    "cancelshell": "Cancel a command",
    "again": "Take up again",
    "fork": "Fork",
}

HEAD = """\
# Agents

Any agent that speaks the Agent Client Protocol can be set up. These were run: the real agent through the
whole server, with a language model that plays a script instead of a real one. This page is made from the
results of those runs (`scripts/agents_table.py`), not by hand.

## What works

- **Turn and undo**: a turn with edits and commands, every request approved; its changes are listed and shown,
  and undoing them all leaves the files as they were.
- **What a command changes**: files that a command rewrites, and that nothing else tells of, are listed as
  changes of that command, and undone.
- **Reject**: every request is rejected, and nothing that was asked for happens.
- **Cancel at a question**: a cancel while a permission is pending ends the turn and takes the question back.
- **Cancel a command**: a cancel while a command runs ends both, and the next prompt works.
- **Take up again**: the agent is started anew and takes its session up; the conversation is shown, once, and
  goes on.
- **Fork**: a fork shows the conversation so far, once, and both sessions go on.

After each of them nothing of the agent is left running, and every message that was sent to it has been
checked against the protocol's schema. “–”: the agent has nothing that could be tried.

"""

SEEN_HEAD = """
## How they work

As seen in “Turn and undo”. “Writes files” and “Commands run in” say whether the agent does it itself
or through the editor; what it wrote itself is found on the disk. “Lines” says that its tool calls name lines;
where they do not, the place is found by the text that changes.

"""

CAN_HEAD = """
## What they say they can

"""

FAULTS_HEAD = """
## Where they deviate from the protocol

Seen in any of these runs. “Faults” are worked around, counted and told to the person;
[Faults](faults.md) says what each code means. “Against the schema” is what the official schema of that
version does not allow, also where it is harmless and nobody is told of it.

"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def page(results: dict[str, Json]) -> str:
    """The whole page; agents in the order of their names, the newest protocol version last."""
    rows = sorted(results.values(), key=lambda row: (NAMES[row["agent"]].lower(), row["protocol"]))
    seen = [row for row in rows if "seen" in row]
    working = [row for row in seen if row["agent"] not in EXAMPLES]
    worked = ([*_who(row), *_outcomes(row)] for row in rows)
    deviating = [row for row in rows if _of_all(row, "faults") or _of_all(row, "deviations")]
    parts = [
        HEAD,
        table(["Agent", "Package", "ACP", *SCENARIOS.values()], worked),
        SEEN_HEAD,
        table(
            ["Agent", "ACP", "Writes files", "Commands run in", "Asks", "Diffs", "Lines", "Options"],
            ([_name(row), str(row["protocol"]), *_ways(row["seen"])] for row in working),
        ),
        CAN_HEAD,
        table(
            ["Agent", "ACP", "Sessions", "Prompts beside text", "MCP servers", "Slash commands"],
            ([_name(row), str(row["protocol"]), *_abilities(row["seen"])] for row in seen),
        ),
    ]
    if deviating:
        told = ([_name(row), str(row["protocol"]), *_deviations(row)] for row in deviating)
        parts += [FAULTS_HEAD, table(["Agent", "ACP", "Faults", "Against the schema"], told)]
    return "".join(parts)


def _name(row: Json) -> str:
    return NAMES[row["agent"]]


def _who(row: Json) -> list[str]:
    return [_name(row), f"`{row['package']}`", str(row["protocol"])]


def _outcomes(row: Json) -> list[str]:
    return [_outcome(row["scenarios"].get(name), row["agent"] in EXAMPLES) for name in SCENARIOS]


def _outcome(outcome: str | None, only_talks: bool) -> str:
    match outcome:
        case None:
            return "–"
        case "ok":
            return "yes; it only talks" if only_talks else "yes"
        case _:
            return f"**no**: {_plain(outcome)}"


def _ways(seen: Json) -> list[str]:
    terminals = {"editor": "the editor's terminals", "agent": "its own, shown", "none": "its own"}
    return [
        "through the editor" if seen["writes"] else "itself",
        terminals[seen["terminals"]],
        "yes" if seen["permissions"] else "no",
        "yes" if seen["diffs"] else "no",
        "yes" if seen["lines"] else "no",
        ", ".join(seen["options"]) or "–",
    ]


def _abilities(seen: Json) -> list[str]:
    prompts = [name.replace("embedded_context", "embedded files") for name in seen["prompts"]]
    lists = [seen["sessions"], prompts, seen["mcp"]]
    return [*(", ".join(names) or "–" for names in lists), str(seen["commands"] or "–")]


def _of_all(row: Json, key: str) -> list[str]:
    """What was seen in any scenario, each once."""
    return sorted({each for found in row.get(key, {}).values() for each in found})


def _deviations(row: Json) -> list[str]:
    codes = ", ".join(f"`{code}`" for code in _of_all(row, "faults"))
    return [codes or "–", "<br>".join(map(_plain, _of_all(row, "deviations"))) or "–"]


def _plain(text: str) -> str:
    return text.replace("|", "\\|")[:120]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether the page is current")
    text = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    if parser.parse_args().check:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        if not current:
            print(f"{PAGE.relative_to(ROOT)} is stale: run python scripts/agents_table.py", file=sys.stderr)
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    run_script(main)
