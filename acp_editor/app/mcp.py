"""The MCP servers that agents get: the person's, and with their consent the workspace's."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from acp_editor.app import folders
from acp_editor.core import safe
from acp_editor.core.model import Json, McpServer, is_array
from acp_editor.settings import parse_mcp_file

if TYPE_CHECKING:
    from acp_editor.app.app import App

logger = logging.getLogger(__name__)

_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")


class McpServers:
    """Asks once about each `.vscode/mcp.json`: it would start programs that a workspace chose."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._consents = folders.state() / "mcp-consents.json"
        self._declined: set[str] = set()
        self._asking = anyio.Lock()

    async def servers(self) -> tuple[McpServer, ...]:
        """All servers for a new session, their variables resolved; the person's win over the workspace's."""
        own = [entry.server(name) for name, entry in self._app.settings.mcp_servers.items()]
        found = {server.name: server for server in [*await self._of_workspace(), *own]}
        resolved: list[McpServer] = []
        for server in found.values():
            ready, missing = resolve(server, self._app.roots[0], os.environ)
            if missing:
                names = ", ".join(sorted(missing))
                self._app.warn_once(f"The MCP server {server.name} is left out: {names} cannot be resolved.")
            else:
                resolved.append(ready)
        return tuple(resolved)

    async def _of_workspace(self) -> list[McpServer]:
        found: list[McpServer] = []
        for root in self._app.roots:
            path = Path(root, ".vscode", "mcp.json")
            try:
                data = path.read_bytes()
                raw = json.loads(data)
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                self._app.warn_once(f"{path} cannot be read: {error}")
                continue
            servers, problems = parse_mcp_file(raw, str(path))
            for problem in problems:
                self._app.warn_once(problem)
            if not servers:
                continue
            async with self._asking:  # two new sessions at once are one question
                if await self._consented(path, data, servers):
                    found += servers
        return found

    async def _consented(self, path: Path, data: bytes, servers: tuple[McpServer, ...]) -> bool:
        mark = hashlib.sha256(bytes(path) + b"\0" + data).hexdigest()
        if mark in self._declined:
            return False
        known = self._known()
        if mark in known:
            return True
        shown = "; ".join(map(_shown, servers))
        text = f"The workspace's .vscode/mcp.json names MCP servers that your agent would use: {shown}"
        if await self._app.editor.choose(text, ["Use Them", "Not Now"]) != "Use Them":
            self._declined.add(mark)
            return False
        try:
            self._consents.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._consents.write_text(json.dumps([*known, mark]))
        except OSError as error:
            logger.warning("the consent to %s is not remembered: %s", path, error)
        return True

    def _known(self) -> list[str]:
        try:
            found: Json = json.loads(self._consents.read_text())
        except (OSError, ValueError):
            return []
        return [str(mark) for mark in found] if is_array(found) else []


def _shown(server: McpServer) -> str:
    what = " ".join([server.command, *server.args]) if server.kind == "stdio" else server.url
    return safe.plain(f"{server.name}: {what}", 2000)


def resolve(server: McpServer, workspace: str, env: Mapping[str, str]) -> tuple[McpServer, set[str]]:
    """`${env:NAME}` and `${workspaceFolder}` filled in; and the variables that have no value."""
    missing: set[str] = set()

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name == "workspaceFolder":
            return workspace
        if name == "workspaceFolderBasename":
            return os.path.basename(workspace)
        if name == "userHome":
            return os.path.expanduser("~")
        if name.startswith("env:") and name[4:] in env:
            return env[name[4:]]
        missing.add(match[0])
        return match[0]

    def fill(text: str) -> str:
        return _VARIABLE.sub(value, text)

    ready = replace(
        server,
        command=fill(server.command),
        args=tuple(map(fill, server.args)),
        env={key: fill(text) for key, text in server.env.items()},
        url=fill(server.url),
        headers={key: fill(text) for key, text in server.headers.items()},
    )
    return ready, missing
