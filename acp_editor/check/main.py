"""`acp-editor check -- COMMAND …`: runs an agent through a conversation and tells what it does."""

from __future__ import annotations

import argparse
import json
import logging
import shlex
import sys
from typing import Final

import anyio

from acp_editor.acp.agent import AgentSpec
from acp_editor.acp.negotiate import Wanted
from acp_editor.check import report
from acp_editor.check.conversation import PROMPT
from acp_editor.check.run import Wishes, check

_VERSIONS: Final[dict[str, Wanted]] = {"auto": "auto", "1": 1, "2": 2}


def check_main(arguments: list[str]) -> int:
    """The command line; 0 nothing wrong, 1 something wrong, 2 it could not be checked."""
    parser = argparse.ArgumentParser(
        prog="acp-editor check",
        usage="%(prog)s [options] -- COMMAND ...",
        description="Runs an agent through a conversation in a temporary folder, in each protocol version "
        "that it speaks, and tells what it can and what it gets wrong. The agent is prompted twice, and "
        "what it asks for is allowed.",
        epilog="exit code: 0 nothing wrong was seen, 1 something was, 2 it could not be checked",
    )
    parser.add_argument("--json", action="store_true", help="tell it as JSON")
    parser.add_argument("--protocol", choices=_VERSIONS, default="auto", help="only that version")
    parser.add_argument("--prompt", default=PROMPT, help="what it is asked to do first")
    parser.add_argument("--login", metavar="METHOD", help="log in by that method of its own first")
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="for an answer or a turn (120)"
    )
    parser.add_argument("command", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    command: list[str] = options.command
    spec = AgentSpec("the agent", command[0], tuple(command[1:]), protocol=_VERSIONS[options.protocol])
    wishes = Wishes(options.prompt, options.timeout, options.login)
    try:
        runs = anyio.run(check, spec, wishes)
    except KeyboardInterrupt:
        return 130
    if options.json:
        print(json.dumps(report.as_json(command, runs), indent=2))
    else:
        print(report.as_text([shlex.quote(word) for word in command], runs), end="")
    return report.exit_code(runs)
