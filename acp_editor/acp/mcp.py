"""Which MCP servers an agent can be given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from acp_editor.core.model import Capabilities, McpServer
from acp_editor.processes.child import SpawnError, find_command


def usable(wanted: Sequence[McpServer], can: Capabilities, agent: str) -> tuple[list[McpServer], list[str]]:
    """The servers that the agent can use, and a sentence for each of the others."""
    offered = {"stdio": can.mcp_stdio, "http": can.mcp_http, "sse": can.mcp_sse}
    servers: list[McpServer] = []
    left_out: list[str] = []
    for server in wanted:
        if not offered[server.kind]:
            left_out.append(f"{agent} cannot use {server.kind} for the MCP server {server.name}")
        elif server.kind == "stdio":
            try:
                # Version 2 wants an absolute path.
                command = find_command(server.command, {**os.environ, **server.env}, None)
            except SpawnError as error:
                left_out.append(f"The MCP server {server.name} was left out: {error}")
            else:
                servers.append(replace(server, command=command))
        else:
            servers.append(server)
    return servers, left_out
