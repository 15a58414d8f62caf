"""Watching a folder for those editors that do not."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import watchfiles

from acp_editor.review import watch

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("limited", [False, True])
async def test_changes_are_seen_by_events_or_by_polling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limited: bool
):
    seen: set[str] = set()
    told: list[str] = []
    real = watchfiles.awatch

    def without_watches(*roots: str, **settings: object):
        if not settings["force_polling"]:
            raise OSError("OS file watch limit reached")
        return real(*roots, **settings)  # type: ignore[arg-type]

    if limited:
        monkeypatch.setattr(watchfiles, "awatch", without_watches)
        monkeypatch.setattr(watch, "_POLL", 50)
    (tmp_path / ".git").mkdir()
    async with anyio.create_task_group() as group:
        group.start_soon(watch.watch, [str(tmp_path)], seen.update, told.append)
        with anyio.fail_after(20):
            number = 0
            while str(tmp_path / "a.py") not in seen:
                number += 1
                (tmp_path / ".git" / "index").write_text(str(number))
                (tmp_path / "a.py").write_text(str(number))
                await anyio.sleep(0.05)
        group.cancel_scope.cancel()
    assert not any(".git" in path for path in seen)
    assert bool(told) == limited
