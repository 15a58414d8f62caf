"""What the person's own git does to what is unanswered: what a commit contains is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_editor.review.history import Moved, alike
from acp_editor.review.tracked import Tracked
from acp_editor.review.versions import Lost, Version

if TYPE_CHECKING:
    from acp_editor.review.engine import Engine


def take_up(engine: Engine, moved: Moved) -> None:
    """Keeps of all files what the commits have that were made since the last look."""
    for tracked in [tracked for tracked in engine.tracked.values() if tracked.pending]:
        owner = engine.workspace.find(tracked.path)
        root = owner[0].root if owner is not None else ""
        positions = moved.positions.get(root)
        if positions is not None and positions[1].committed:
            try:
                _keep(engine, tracked, engine.histories.of(root).committed(tracked.path))
            except Lost:
                continue  # nothing can be told of it
            engine.settle(tracked)


def _keep(engine: Engine, tracked: Tracked, committed: bytes | None) -> None:
    """A file that the commit has as it was, and that has not grown by line ends, is not read for it."""
    engine.be_exact(tracked)
    found = Version(committed)
    if found.absent or tracked.current.absent:
        if found.absent and tracked.current.absent:
            tracked.keep(None, engine.differ, engine.new_id)
    elif found.same(tracked.current):
        tracked.keep(None, engine.differ, engine.new_id)
    elif committed is not None and not (found.same(tracked.base) and tracked.current.size <= found.size):
        engine.memory.bring(tracked)
        if alike(committed, tracked.current.data):
            tracked.keep(None, engine.differ, engine.new_id)
        else:
            tracked.commit(committed, engine.differ, engine.new_id)
