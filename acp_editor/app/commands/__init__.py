"""The commands of the editor protocol: each reads its argument, does one thing, or says why it cannot."""

from __future__ import annotations

from acp_editor.app.commands import agents, calls, options, permissions, review, sessions, turns
from acp_editor.app.commands.registry import COMMANDS, Commands

__all__ = ["COMMANDS", "Commands", "agents", "calls", "options", "permissions", "review", "sessions", "turns"]
