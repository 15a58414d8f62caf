"""The settings: fetched or pushed, and handed to all that go by them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio

from acp_editor import settings as settings_module
from acp_editor.acp.agent import AgentSpec
from acp_editor.core import follow
from acp_editor.core.model import Json
from acp_editor.settings import Settings

if TYPE_CHECKING:
    from acp_editor.app.app import App


class Configuration:
    """The settings that hold; the defaults until the first are known."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.settings: Settings
        self.settings, _ = settings_module.parse({})

    async def fetch(self, fetched: anyio.Event | None = None) -> None:
        section = await self._app.editor.configuration()
        if isinstance(section, dict):
            self.apply(section)  # pyright: ignore[reportUnknownArgumentType]
        if fetched is not None:
            fetched.set()

    def apply(self, raw: Mapping[str, Json]) -> None:
        settings, problems = settings_module.parse(raw)
        app, self.settings = self._app, settings
        servers = settings.mcp_servers.values()
        for given in (
            *(agent.env for agent in settings.agents.values()),
            *(named for server in servers for named in (server.env, server.headers)),
        ):
            app.secrets.learn_environment(given)
        for problem in problems:
            app.warn_once(problem)
        app.following.policy.update(
            follow.FollowSettings(
                settings.follow.enabled, frozenset(settings.follow.kinds), settings.follow.resume_after
            )
        )
        limit = settings.max_message_size
        app.agents.configure(
            {
                name: AgentSpec(name, a.command, tuple(a.args), dict(a.env), a.cwd, a.protocol, limit)
                for name, a in settings.agents.items()
            }
        )
        logging.getLogger("acp_editor").setLevel(settings.log.level.upper())
        app.traffic.log(settings.log.protocol)
        app.options.own.configure(settings)
        app.judge.configure(settings)
        if len(app.permissions):
            app.start(app.asking.rules_changed)
        app.review.configure()
        app.surfaces.settings_changed()
