"""Following, and review."""

from __future__ import annotations

import anyio.to_thread

from acp_editor.app.arguments import Arguments
from acp_editor.app.commands.reading import path_of
from acp_editor.app.commands.registry import Commands, command
from acp_editor.lsp import messages
from acp_editor.lsp.protocol import CommandError


@command("follow.toggle")
async def _follow_toggle(commands: Commands, arguments: Arguments) -> messages.FollowState:
    following = commands.app.following
    enabled = following.policy.toggle(arguments.maybe_flag("enabled"))
    following.nudge()
    commands.app.surfaces.status_changed()
    commands.app.options.changed()
    return {"enabled": enabled}


@command("follow.back")
async def _follow_back(commands: Commands, arguments: Arguments) -> None:
    if not await commands.app.following.back():
        raise CommandError("there is no earlier place to go back to")


@command("review.keep")
async def _keep(commands: Commands, arguments: Arguments) -> messages.Kept:
    path, hunk_id = path_of(arguments.maybe_text("uri")), arguments.maybe_text("hunkId")
    return {"kept": await commands.app.review.keep(path, hunk_id)}


@command("review.undo")
async def _undo(commands: Commands, arguments: Arguments) -> messages.Undone:
    path, hunk_id = path_of(arguments.maybe_text("uri")), arguments.maybe_text("hunkId")
    return {"undone": await commands.app.review.undo(path, hunk_id)}


@command("review.restore")
async def _restore(commands: Commands, arguments: Arguments) -> dict[str, int]:
    return {"restored": await commands.app.review.restore()}


@command("review.diff")
async def _diff(commands: Commands, arguments: Arguments) -> messages.DiffDocuments:
    path = path_of(arguments.text("uri"))
    assert path is not None
    return commands.app.review.diff(path)


@command("review.forget")
async def _forget(commands: Commands, arguments: Arguments) -> None:
    """Stores, logs and decisions of this workspace."""
    app = commands.app
    await app.review.forget()
    try:
        app.judge.forget_workspace()
        await anyio.to_thread.run_sync(app.traffic.forget, list(app.roots))
    except (OSError, ValueError) as error:
        raise CommandError(f"not everything could be removed: {error}") from error
