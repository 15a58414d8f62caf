"""What the review needs of the editor, and how it says that something cannot be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class ReviewError(Exception):
    """Why nothing was kept or undone, as a sentence that a person can act on."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open document."""

    text: str
    version: int
    dirty: bool


class Editor(Protocol):
    def buffer(self, path: str) -> Buffer | None:
        """The open document of a path."""
        ...

    async def edit(self, path: str, text: str, version: int) -> bool:
        """Gives the document a new text, by edits to that version; False if the editor refuses."""
        ...

    async def save(self, path: str) -> None:
        """Saves the document; the file has its text when this returns."""
        ...
