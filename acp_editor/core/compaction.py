"""What an agent tells while it shortens its own memory of a session."""

from __future__ import annotations

from typing import Final

from .growing import patched
from .model import CompactionChunk, CompactionUpdate, Unset

_BLOCKS: Final = 100
"""Blocks of a summary that are kept, the newest."""


def compacted(old: CompactionUpdate | None, update: CompactionUpdate | CompactionChunk) -> CompactionUpdate:
    """A compaction after one more word of it."""
    summary = old.summary if old and isinstance(old.summary, tuple) else ()
    if isinstance(update, CompactionChunk):
        return CompactionUpdate(
            update.compaction_id,
            old.status if old else "in_progress",
            (*summary, update.content)[-_BLOCKS:],
            old.error if old else None,
        )
    return CompactionUpdate(
        update.compaction_id,
        update.status,
        summary if isinstance(update.summary, Unset) else update.summary or (),
        patched(old.error if old and not isinstance(old.error, Unset) else None, update.error),
    )
