"""A file that is gone and a file that is new: one move, where they are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_editor.review.engine import Engine


def find(engine: Engine) -> None:
    """Makes a file that went and one that came one move, where libgit2 finds them alike."""
    gone = {p: t.base for p, t in engine.tracked.items() if t.current.absent and t.pending and not t.old_path}
    come = {
        p: t.current
        for p, t in engine.tracked.items()
        if t.base.absent and not t.current.absent and t.current.size
    }
    if not gone or not come:
        return
    checkpoint = next(iter(engine.workspace))
    names = {f"g/{at}": path for at, path in enumerate(gone)} | {f"c/{at}": p for at, p in enumerate(come)}
    found = checkpoint.moves(
        {name: gone[path] for name, path in names.items() if name.startswith("g/")},
        {name: come[path] for name, path in names.items() if name.startswith("c/")},
    )
    for new_name, old_name in found.items():
        new, old = engine.tracked[names[new_name]], names[old_name]
        new.begin_move(old, engine.tracked[old].base, engine.differ, engine.new_id)
        engine.sign(new)
        engine.moved_from[old] = new.path
        if old not in engine.open:
            del engine.tracked[old]


def part(engine: Engine, path: str) -> None:
    """A file is again where one was moved away from, or the moved one is answered: no move any more."""
    new = engine.moved_from.pop(path, None)
    tracked = engine.tracked.get(new) if new else None
    if tracked is not None and tracked.old_path == path:
        tracked.end_move(engine.differ, engine.new_id)
        engine.settle(tracked)


def forget(engine: Engine) -> None:
    """Drops moves whose new file is not one any more."""
    for old, new in list(engine.moved_from.items()):
        tracked = engine.tracked.get(new)
        if tracked is None or tracked.old_path != old:
            del engine.moved_from[old]
