"""The command line: the server by default, and what else the package can do.

Nothing heavy is imported before it is known what is wanted.
"""

from __future__ import annotations

import functools
import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Never

from acp_editor.core.version import VERSION

if TYPE_CHECKING:
    from acp_editor.core.redact import Redactor
    from acp_editor.lsp.application import Application


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    commands: dict[str, tuple[str, Callable[[list[str]], int]]] = {
        "serve": ("serve one editor over stdin and stdout (the default)", _serve),
        "demo-agent": (
            "the built-in ACP agent, on stdin and stdout; needs no network and no key",
            _demo_agent,
        ),
        "replay": ("an ACP agent that plays a recorded conversation", _replay),
        "check": ("what an agent can and what it gets wrong: acp-editor check -- COMMAND ...", _check),
        "check-rule": ("what the permission rules say of a call", _check_rule),
    }
    if arguments and arguments[0] in commands:
        return commands[arguments[0]][1](arguments[1:])
    if not arguments or arguments == ["--stdio"]:
        return _serve([])
    import argparse

    parser = argparse.ArgumentParser(
        prog="acp-editor",
        description="Works beside a coding agent in an editor: a language server for agents that speak "
        "the Agent Client Protocol. Without a command it serves an editor over stdin and stdout.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n" + "\n".join(f"  {name:12} {text}" for name, (text, _) in commands.items()),
    )
    parser.add_argument("--version", action="version", version=f"acp-editor {VERSION}")
    # Editors add these to any language server; stdio is all there is.
    parser.add_argument("--stdio", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--clientProcessId", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.command is not None:
        parser.error(f"there is no command {options.command!r}; it is one of {', '.join(commands)}")
    if sys.stdin.isatty():
        print("acp-editor: waiting for an editor on stdin; see acp-editor --help", file=sys.stderr)
    return _serve([])


def _serve(arguments: list[str]) -> int:
    import anyio

    from acp_editor.app import offered
    from acp_editor.app.logs import WithoutSecrets
    from acp_editor.lsp.server import Offered, serve
    from acp_editor.processes import descendants

    @functools.cache
    def secrets() -> Redactor:
        from acp_editor.core.redact import Redactor, secrets_of

        return Redactor(secrets_of(os.environ))

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(WithoutSecrets(lambda text: secrets().text(text)))
    logging.basicConfig(level=os.environ.get("ACP_EDITOR_LOG", "INFO").upper(), handlers=[handler])
    # What agents say makes many values and hardly any circles.
    gc.set_threshold(10_000, 20, 20)

    def leave(code: int = 1) -> Never:
        descendants.end_all()
        sys.stderr.flush()
        # The threads that wait in a read of the editor's pipe must not hold the exit up.
        os._exit(code)

    def load() -> Callable[[], Application]:
        """Called when `initialize` has been answered: pydantic, libgit2 and tree-sitter take a while."""
        from acp_editor.app.app import App

        gc.freeze()  # what is loaded stays
        return lambda: App(secrets())

    descendants.adopt()
    leave(anyio.run(serve, Offered(VERSION, offered.COMMANDS, offered.ABILITIES), load, leave))


def _demo_agent(arguments: list[str]) -> int:
    import anyio

    from acp_editor.agents import demo

    return anyio.run(demo.main)


def _check_rule(arguments: list[str]) -> int:
    from acp_editor.app import folders
    from acp_editor.policy.cli import check_rule_main

    return check_rule_main(arguments, folders.config)


def _replay(arguments: list[str]) -> int:
    from acp_editor.agents.replay import replay_main

    return replay_main(arguments)


def _check(arguments: list[str]) -> int:
    from acp_editor.check.main import check_main

    return check_main(arguments)
