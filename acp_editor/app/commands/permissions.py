"""Permissions: answer, dry run, rules, and what was decided."""

from __future__ import annotations

from typing import Any

from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.registry import Commands, command
from acp_editor.lsp import messages


@command("permission.approve")
async def _approve(commands: Commands, arguments: Arguments) -> messages.AnsweredPermission:
    pending, option_id = commands.app.permissions.pick(arguments.maybe_text("requestId"), "allow_once")
    return {"requestId": pending.request_id, "optionId": option_id}


@command("permission.reject")
async def _reject(commands: Commands, arguments: Arguments) -> messages.AnsweredPermission:
    pending, option_id = commands.app.permissions.pick(arguments.maybe_text("requestId"), "reject_once")
    return {"requestId": pending.request_id, "optionId": option_id}


@command("permission.answer")
async def _answer(commands: Commands, arguments: Arguments) -> messages.AnsweredPermission:
    request_id, option_id = arguments.text("requestId"), arguments.text("optionId")
    commands.app.permissions.answer(request_id, option_id)
    return {"requestId": request_id, "optionId": option_id}


@command("permission.check")
async def _check(commands: Commands, arguments: Arguments) -> messages.Verdict:
    arguments.text("tool")
    return commands.app.judge.verdict(arguments.all())


@command("permission.rules")
async def _rules(commands: Commands, arguments: Arguments) -> list[messages.Rule]:
    return commands.app.judge.listed()


@command("permission.remember")
async def _remember(commands: Commands, arguments: Arguments) -> messages.Rule:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    entry = app.entry(session_id) if session_id else app.sessions.active
    scope = arguments.maybe_text("scope") or "workspace"
    saved = app.judge.remember(arguments.text("rule"), arguments.text("effect"), scope, entry)
    await app.asking.rules_changed()
    return saved


@command("permission.revoke")
async def _revoke(commands: Commands, arguments: Arguments) -> None:
    commands.app.judge.revoke(arguments.text("rule"), arguments.text("effect"), arguments.text("scope"))


@command("permission.log")
async def _log(commands: Commands, arguments: Arguments) -> list[dict[str, Any]]:
    return commands.app.judge.decisions(200)
