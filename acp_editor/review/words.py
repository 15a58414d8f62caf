"""What is said only once: files that are left out, and to the agent, what the person undid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_NAMED = 3

ANOTHER_WINDOW = "Another window reviews this workspace; changes are listed there."
THIS_WINDOW = "The other window has gone: changes are reviewed in this one now."
NO_CHECKPOINT = "Changes are not reviewed: the checkpoint could not be made (see the log)."
NO_WATCHES = "The system has no file watches left: changes are looked for, and found a little later."


def lost(name: str) -> str:
    """What an answer needs of a file is in the cache folder no more."""
    return (
        f"What {name} was before these changes cannot be read any more: it is gone from the cache folder. "
        "The file stays as it is; you can keep it as a whole."
    )


class Words:
    """Remembers what was said."""

    def __init__(self) -> None:
        self._left_out: set[str] = set()
        self._undone: set[str] = set()

    def left_out(self, paths: Mapping[str, str]) -> str | None:
        """A sentence about those that were not named before; `paths` say why each is left out."""
        new = {path: why for path, why in paths.items() if path not in self._left_out}
        self._left_out.update(new)
        if not new:
            return None
        some = ", ".join(f"{path} ({why})" for path, why in list(new.items())[:_NAMED])
        more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
        return f"Left out of the review: {some}{more}."

    def was_undone(self, paths: Iterable[str]) -> None:
        self._undone.update(paths)

    def was_restored(self, paths: Iterable[str]) -> None:
        self._undone.difference_update(paths)

    def undone(self) -> str | None:
        """One note for the agent, and then it has been said."""
        if not self._undone:
            return None
        names = ", ".join(sorted(self._undone))
        self._undone.clear()
        return (
            f"The user has undone changes that you made in: {names}. Read these files again before editing."
        )
