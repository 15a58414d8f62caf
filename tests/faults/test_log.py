"""What the server's log says of requests that it refuses, and of those that fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_editor import Editor

pytestmark = pytest.mark.anyio


async def test_a_refusal_is_one_line_in_the_log_and_no_traceback(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        await editor.state()
        with pytest.raises(RuntimeError, match="there is no session 'nowhere'"):
            await editor.command("session.select", {"sessionId": "nowhere"})
        with pytest.raises(RuntimeError, match="is not available any more"):
            await editor.ask("workspace/textDocumentContent", {"uri": "acp-editor:/nothing"})
    lines = (tmp_path / "server.stderr").read_text().splitlines()
    refused = [line for line in lines if "refused" in line]
    assert len(refused) == 2
    assert refused[0].endswith("was refused: there is no session 'nowhere'")
    assert not [line for line in lines if "Traceback" in line or "ERROR" in line]


async def test_a_request_that_no_handler_knows_is_still_told_of(tmp_path: Path) -> None:
    async with Editor(tmp_path, {"one": {"version": 1}}) as editor:
        with pytest.raises(RuntimeError):
            await editor.ask("acpEditor/nothing", {})
    assert "acpEditor/nothing" in (tmp_path / "server.stderr").read_text()
