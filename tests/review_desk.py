"""A review over real files, for tests of it as a whole."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
from review_editor import Desk

from acp_editor.core.model import Location, ToolCall
from acp_editor.review.review import FileChange

LINES = "".join(f"line {number}\n" for number in range(1, 61))
TEN = LINES.replace("line 10\n", "ten\n")


@contextlib.asynccontextmanager
async def at(root: Path, **settings: object) -> AsyncIterator[Desk]:
    desk = Desk(root, root.parent, **settings)
    async with anyio.create_task_group() as group:
        await desk.review.start(group)
        try:
            yield desk
        finally:
            await desk.review.aclose()


def git(root: Path, *args: str) -> None:
    config = ["-c", "user.email=p@example.org", "-c", "user.name=P", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *config, *args], check=True, capture_output=True)


def names(changes: tuple[FileChange, ...]) -> dict[str, str]:
    return {os.path.basename(change.path): change.operation for change in changes}


def call(path: str = "", *, kind: str = "edit", status: str = "in_progress", **fields: object) -> ToolCall:
    locations = (Location(path),) if path else ()
    return ToolCall("c1", kind=kind, status=status, locations=locations, **fields)  # type: ignore[arg-type]
