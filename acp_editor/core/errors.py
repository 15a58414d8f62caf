"""An error in words. What a task group raises says nothing itself: its leaves do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast


def leaves(error: BaseException) -> list[BaseException]:
    """The errors of a group, of groups in groups too; any other error alone."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [leaf for each in group.exceptions for leaf in leaves(each)]


def words(error: BaseException) -> str:
    """What the error says, or each leaf of a group says once; with its kind where that is no sentence."""
    return _joined(
        _named(leaf) if isinstance(leaf, KeyError) else str(leaf) or type(leaf).__name__
        for leaf in leaves(error)
    )


def named(error: BaseException) -> str:
    """The same with the kind of each error, for errors that were not made for a person."""
    return _joined(map(_named, leaves(error)))


def _named(leaf: BaseException) -> str:
    return f"{type(leaf).__name__}: {leaf}"


def _joined(said: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(said))
