"""How much of the files under review is in memory: past a room, what nobody has open is set aside."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from acp_editor.review import files
from acp_editor.review.tracked import Tracked
from acp_editor.review.versions import Lost, Version
from acp_editor.review.workspace import Workspace

log = logging.getLogger(__name__)


class Memory:
    """Only what a store has is set aside: that is where it is read again when somebody asks.

    Open documents are not counted: who types in one cannot wait for the disk at every key.
    """

    def __init__(
        self, workspace: Workspace, tracked: Mapping[str, Tracked], is_open: Collection[str], room: int
    ) -> None:
        self._workspace = workspace
        self._tracked = tracked
        self._open = is_open
        self.room = room
        self._count = 0
        """Bytes that there are at most, as far as was told since they were counted."""

    @property
    def held(self) -> int:
        """Bytes of all files that are not open; counted, so not for every file."""
        return sum(
            version.held
            for path, tracked in self._tracked.items()
            if path not in self._open
            for version in tracked.versions
        )

    def take(self, *versions: Version) -> None:
        """These come into memory; others go, where there is no room for them too."""
        self._make_room(sum(version.held for version in versions))

    def bring(self, tracked: Tracked) -> None:
        """Has all of a file in memory, so that what is done with it now cannot stop half way.

        Raises Lost where a store has it not any more; what the disk still has is taken from there.
        """
        if not any(version.aside for version in tracked.versions):
            return
        self._make_room(sum(version.size for version in tracked.versions))
        for version in reversed(tracked.versions):  # the base last, which nobody else has
            self.secure(tracked.path, version)
            version.bring_back()

    @staticmethod
    def secure(path: str, *versions: Version) -> None:
        """Takes into memory what is only on the disk any more, which is about to be written.

        Raises Lost where it is not even there.
        """
        for version in versions:
            try:
                version.loaded()
            except Lost as lost:
                try:
                    version.bring_back(files.read(path))
                except OSError:
                    raise lost from None

    def check(self) -> None:
        """Counts, and makes room where there is less of it than was thought."""
        self._count = self.held
        self._make_room(0)

    def _make_room(self, size: int) -> None:
        if self._count + size > self.room:
            self._count = self.held
            if self._count + size > self.room:
                self._set_aside(self._count + size - self.room // 2)
        self._count += size

    def _set_aside(self, size: int) -> None:
        """At least so many bytes, as far as there are, from those that have been there longest."""
        for path, tracked in self._tracked.items():
            if size <= 0:
                return
            if path in self._open or (owner := self._workspace.find(path)) is None:
                continue
            for version in tracked.versions:
                if not (held := version.held):
                    continue
                try:
                    owner[0].keep(version)
                except OSError as error:
                    log.warning("pending changes stay in memory: %s", error)
                    self._count = 0  # asked again when as much has come again
                    return
                version.set_aside()
                self._count, size = self._count - held, size - held
