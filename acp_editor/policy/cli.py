"""`acp-editor check-rule`: what rules would say of a call, from the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

from acp_editor.policy.calls import input_from_arguments
from acp_editor.policy.check import check
from acp_editor.policy.hook_packages import load_hooks
from acp_editor.policy.managed import load_ceiling
from acp_editor.policy.rules import STRICTNESS, RuleSet, rules_from
from acp_editor.policy.store import RuleStore

EXIT_CODES: Final = {"allow": 0, "deny": 1, "ask": 3}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "acp-editor check-rule",
        description="Says what the rules and hooks would decide about a tool call, and why.",
        epilog="Ends with 0 for allow, 1 for deny, 3 for ask, 2 for a mistake in what is given.",
    )
    for effect in STRICTNESS:
        parser.add_argument(
            f"--{effect}", action="append", default=[], metavar="RULE", help=f"a rule that says {effect}"
        )
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help='JSON with "permissions", or just the rules'
    )
    parser.add_argument(
        "--workspace", default=os.getcwd(), metavar="FOLDER", help="default: the current folder"
    )
    parser.add_argument("--tool", help="the agent's name for the tool")
    parser.add_argument("--kind", help="read, edit, execute, …; default: as the rest suggests")
    parser.add_argument("--command", help="the command line that it would run")
    parser.add_argument("--file", action="append", default=[], metavar="PATH", help="a file that it touches")
    parser.add_argument("--input", metavar="JSON", help="the tool's input")
    parser.add_argument(
        "--only", action="store_true", help="without the saved rules, hooks and managed settings"
    )
    parser.add_argument("--headless", action="store_true", help="as if nobody were there to be asked")
    parser.add_argument("--json", action="store_true", help="the whole verdict as JSON")
    return parser


def check_rule_main(argv: Sequence[str], saved: Callable[[], Path]) -> int:
    """Runs the subcommand and gives its exit code; `saved` is the folder of the saved rules."""
    options = _parser().parse_args(argv)
    root = os.path.abspath(options.workspace)
    rules = rules_from({effect: getattr(options, effect) for effect in STRICTNESS}, "user")
    try:
        if options.settings is not None:
            rules += _settings(options.settings)
        arguments: dict[str, Any] = {
            "tool": options.tool,
            "kind": options.kind,
            "command": options.command,
            "files": options.file,
            "input": json.loads(options.input) if options.input else None,
        }
        call = input_from_arguments(arguments, root, [root])
    except (OSError, ValueError) as error:
        print(f"acp-editor check-rule: {error}", file=sys.stderr)
        return 2
    if options.only:
        verdict = check(call, rules, somebody=not options.headless)
    else:
        store = RuleStore(saved())
        rules += store.rules_for(root, None)
        ceiling, problem = load_ceiling()
        if problem:
            print(problem, file=sys.stderr)
        checks = load_hooks([root]).checks()
        verdict = check(call, rules, ceiling, checks, somebody=not options.headless)
    for problem in rules.problems:
        print(f"`{problem.text}`: {problem.message}", file=sys.stderr)
    if options.json:
        print(json.dumps(verdict.to_json(), indent=2))
    else:
        by = verdict.hook and f" (hook {verdict.hook})"
        print(f"{verdict.decision}{by or ''}: {verdict.reason}")
    return EXIT_CODES[verdict.decision]


def _settings(path: Path) -> RuleSet:
    """The rules of a settings file; raises OSError or ValueError."""
    found: object = json.loads(path.read_text("utf-8"))
    if isinstance(found, dict):
        content = cast("dict[str, object]", found)
        found = content.get("permissions", content.get("acpEditor.permissions", content))
    return rules_from(found, "user")
