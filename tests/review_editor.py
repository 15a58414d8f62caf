"""An editor as the review sees it: documents over real files, reloaded when the disk changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from acp_editor.review.review import Buffer, FileChange, Review


class Desk:
    """Plays an editor and an agent on one workspace."""

    def __init__(self, root: Path, home: Path, **settings: object) -> None:
        self.root = root
        self.told: list[str] = []
        self.review = Review(
            [str(root)], home / "cache", home / "state", self, tell=self.told.append, **settings
        )  # type: ignore[arg-type]
        self.documents: dict[str, Buffer] = {}
        self.saves: list[str] = []
        self.refuse = False
        self.formats = lambda text: text
        """What the editor does to a text when it saves it."""

    def path(self, name: str) -> str:
        return os.path.join(self.root, name)

    # -- what the review asks --------------------------------------------------------------------

    def buffer(self, path: str) -> Buffer | None:
        return self.documents.get(path)

    async def edit(self, path: str, text: str, version: int) -> bool:
        buffer = self.documents[path]
        if self.refuse or buffer.version != version:
            return False
        self._replace(path, text, dirty=True, by_us=True)
        return True

    async def save(self, path: str) -> None:
        self.save_by_hand(path)

    # -- what the person does --------------------------------------------------------------------

    def open(self, name: str) -> None:
        path = self.path(name)
        self.documents[path] = Buffer(Path(path).read_bytes().decode("utf-8", "replace"), 1, False)
        self.review.buffer_opened(path)

    def type(self, name: str, old: str, new: str) -> None:
        path = self.path(name)
        text = self.documents[path].text
        assert old in text
        self._replace(path, text.replace(old, new, 1), dirty=True, by_us=False)

    def save_by_hand(self, name: str) -> None:
        path = self.path(name)
        if (formatted := self.formats(self.documents[path].text)) != self.documents[path].text:
            self._replace(path, formatted, dirty=True, by_us=False)
        buffer = self.documents[path]
        Path(path).write_bytes(buffer.text.encode())
        self.documents[path] = Buffer(buffer.text, buffer.version, False)
        self.saves.append(path)
        self.review.buffer_saved(path)

    def reload(self, name: str) -> None:
        """What an editor does with a clean document whose file changed."""
        path = self.path(name)
        self._replace(
            path, Path(path).read_bytes().decode("utf-8", "replace"), dirty=False, by_us=False, by_disk=True
        )

    def _replace(self, path: str, text: str, *, dirty: bool, by_us: bool, by_disk: bool = False) -> None:
        before = self.documents[path]
        self.documents[path] = Buffer(text, before.version + 1, dirty)
        self.review.buffer_changed(path, before.text, text, by_us=by_us, by_disk=by_disk)

    # -- what the agent does ---------------------------------------------------------------------

    def write(self, name: str, text: str | bytes) -> None:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def text(self, name: str) -> str:
        return self.documents[self.path(name)].text

    def bytes(self, name: str) -> bytes:
        return Path(self.path(name)).read_bytes()

    async def begin(self) -> None:
        await self.review.checkpoint()
        self.review.turn_started()

    async def end(self) -> tuple[FileChange, ...]:
        self.review.turn_ended()
        ended = time.time()
        await self.review.rescan()
        probe = Path(f"{self.root}.probe")

        def later() -> bool:
            probe.write_bytes(b"")
            return probe.stat().st_ctime > ended

        await self.until(later)  # files are stamped by a coarser clock than ours
        return self.review.changes()

    async def changes(self) -> tuple[FileChange, ...]:
        await self.review.rescan()
        return self.review.changes()

    async def until(self, holds: Callable[[], bool], seconds: float = 5.0) -> None:
        with anyio.fail_after(seconds):
            while not holds():  # noqa: ASYNC110
                await anyio.sleep(0.01)
