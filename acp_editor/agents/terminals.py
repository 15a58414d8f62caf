"""The agent's own terminals: told as such in version 2, as text at the end in version 1, which has none."""

from __future__ import annotations

import codecs
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TypeAlias

from acp_editor.agents.content import Version
from acp_editor.agents.events import (
    TerminalBegan,
    TerminalContent,
    TerminalExited,
    TerminalOutput,
    TextContent,
    ToolProgress,
)
from acp_editor.core.model import Json

TerminalEvent: TypeAlias = TerminalBegan | TerminalOutput | TerminalExited


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


@dataclass(slots=True)
class _Terminal:
    call_id: str
    decoder: codecs.IncrementalDecoder = field(default_factory=_decoder)
    text: list[str] = field(default_factory=list[str])


class Terminals:
    """The terminals of one turn."""

    def __init__(self, version: Version) -> None:
        self._version: Version = version
        self._open: dict[str, _Terminal] = {}

    def tell(self, event: TerminalEvent) -> tuple[list[Json], ToolProgress | None]:
        """The payloads that tell `event`, and how the call that it belongs to goes on after them."""
        match event:
            case TerminalBegan(terminal_id, call_id, command, cwd, cancellable):
                self._open[terminal_id] = _Terminal(call_id)
                if self._version == 1:
                    return [], None
                fields: dict[str, Json] = {"command": command, "cwd": cwd}
                if cancellable:
                    fields["capabilities"] = {"cancel": {}}
                shown = ToolProgress(call_id, content=(TerminalContent(terminal_id),))
                return [_update(terminal_id, fields)], shown
            case TerminalOutput(terminal_id, data) if self._version == 1:
                if terminal := self._open.get(terminal_id):
                    terminal.text.append(terminal.decoder.decode(data))
                return [], None
            case TerminalOutput(terminal_id, data):
                encoded = b64encode(data).decode()
                chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id, "data": encoded}
                return [chunk] if data else [], None
            case TerminalExited(terminal_id, exit_code, signal):
                terminal = self._open.pop(terminal_id, None)
                if self._version == 2:
                    status = {"exitCode": exit_code, "signal": signal}
                    return [_update(terminal_id, {"exitStatus": status, "capabilities": None})], None
                if terminal is None:
                    return [], None
                text = "".join(terminal.text) + terminal.decoder.decode(b"", final=True)
                return [], ToolProgress(
                    terminal.call_id, content=(TextContent(fenced(text)),)
                ) if text else None


def fenced(text: str) -> str:
    """`text` as a Markdown code block, whatever fences it has in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _update(terminal_id: str, fields: dict[str, Json]) -> Json:
    return {"sessionUpdate": "terminal_update", "terminalId": terminal_id} | fields
