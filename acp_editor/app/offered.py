"""What an editor is told at the start, known without loading what does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

ABILITIES: Final[Mapping[str, Any]] = {"review": True, "rules": True, "versions": [1, 2]}

_NAMES: Final = (
    "agent.start",
    "agent.restart",
    "agent.stop",
    "auth.login",
    "auth.logout",
    "log.traffic",
    "toolCall.cancel",
    "terminal.cancel",
    "terminal.read",
    "commands",
    "command.run",
    "config",
    "config.set",
    "permission.approve",
    "permission.reject",
    "permission.answer",
    "permission.check",
    "permission.rules",
    "permission.remember",
    "permission.revoke",
    "permission.edit",
    "permission.log",
    "hooks",
    "follow.toggle",
    "follow.back",
    "review.keep",
    "review.undo",
    "review.restore",
    "review.diff",
    "review.forget",
    "state",
    "session.new",
    "session.list",
    "session.resume",
    "session.select",
    "session.close",
    "session.fork",
    "session.delete",
    "prompt",
    "cancel",
)
COMMANDS: Final = tuple("acpEditor." + name for name in _NAMES)
"""`app.commands` refuses to register any that is not listed here."""
