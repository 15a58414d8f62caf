"""Permissions: answer, dry run, rules, and what was decided."""

from __future__ import annotations

from typing import Any

from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.registry import Commands, command
from acp_editor.app.hook_rows import hook_rows
from acp_editor.lsp import messages
from acp_editor.policy.store import SavedRule


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
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    entry = app.entry(session_id) if session_id else app.sessions.active
    return await app.judge.verdict(arguments.all(), entry)


@command("permission.rules")
async def _rules(commands: Commands, arguments: Arguments) -> list[messages.Rule]:
    return commands.app.judge.listed()


@command("permission.remember")
async def _remember(commands: Commands, arguments: Arguments) -> messages.Rule:
    app = commands.app
    session_id = arguments.maybe_text("sessionId")
    entry = app.entry(session_id) if session_id else app.sessions.active
    scope = arguments.maybe_text("scope") or "workspace"
    rule, effect = arguments.text("rule"), arguments.text("effect")
    saved = app.judge.book.save(rule, effect, scope, app.roots[0], entry)
    await app.asking.rules_changed()
    return saved


@command("permission.revoke")
async def _revoke(commands: Commands, arguments: Arguments) -> None:
    commands.app.judge.book.revoke(_saved(commands, arguments))


@command("permission.edit")
async def _edit(commands: Commands, arguments: Arguments) -> messages.Rule:
    app = commands.app
    changed = app.judge.book.edit(_saved(commands, arguments), arguments.text("to"))
    await app.asking.rules_changed()
    return changed


def _saved(commands: Commands, arguments: Arguments) -> SavedRule:
    return commands.app.judge.book.find(
        arguments.text("rule"),
        arguments.text("effect"),
        arguments.text("scope"),
        arguments.maybe_text("where"),
        commands.app.roots[0],
    )


@command("permission.log")
async def _log(commands: Commands, arguments: Arguments) -> list[dict[str, Any]]:
    return commands.app.judge.decisions(200)


@command("hooks")
async def _hooks(commands: Commands, arguments: Arguments) -> list[messages.Hook]:
    return hook_rows(commands.app.judge.hooks())
