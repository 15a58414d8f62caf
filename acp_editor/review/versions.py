"""What a path holds, as a value; its bytes are in memory, or set aside in a store that has them."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable

from acp_editor.review import objects

FILE = 0o100644
EXECUTABLE = 0o100755
LINK = 0o120000

Source = Callable[[str], bytes]
"""Reads an object of a store by its name; KeyError where the store has it not."""


class Lost(OSError):
    """Bytes were set aside and cannot be read any more: somebody has emptied the store."""


class Version:
    """What a path holds: `data` is None for no file, the target for a link; `mode` with all permissions.

    Never changes and is equal to any other with the same bytes and mode. Where its bytes are is no part of
    that: they are told apart by their size and by the name that git gives them, so comparing reads nothing.
    """

    __slots__ = ("_data", "_oid", "_size", "_source", "mode")

    def __init__(self, data: bytes | None, mode: int = FILE) -> None:
        self._data = data
        self._size = len(data or b"")
        self._oid: str | None = None
        self._source: Source | None = None
        self.mode = mode

    def __repr__(self) -> str:
        what = "set aside" if self.aside else repr(self._data)
        return f"Version({what}, {self.mode:#o})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Version):
            return NotImplemented
        return self is other or (self.mode == other.mode and self.same(other))

    def __hash__(self) -> int:
        return hash((self._size, self.mode))

    # -- the value -------------------------------------------------------------------------------

    @property
    def data(self) -> bytes | None:
        """The bytes, read anew each time where they are set aside. Raises Lost."""
        data = self._data
        return self._read() if data is None and self._source is not None else data

    @property
    def size(self) -> int:
        """Bytes; 0 where there is no file."""
        return self._size

    @property
    def absent(self) -> bool:
        return self._data is None and self._source is None

    @property
    def is_link(self) -> bool:
        return self.mode == LINK

    @property
    def git_mode(self) -> int:
        """The mode as far as git knows it."""
        return LINK if self.is_link else EXECUTABLE if self.mode & stat.S_IXUSR else FILE

    @property
    def oid(self) -> str:
        """The name that git gives the bytes; none for no file, which is an error to ask for."""
        if self._oid is None:
            assert self._data is not None
            self._oid = objects.identity(self._data)
        return self._oid

    def same(self, other: Version) -> bool:
        """Whether both have the same bytes, or are both absent, whatever their modes."""
        if self.absent or other.absent or self._size != other._size:
            return self.absent and other.absent
        mine, theirs = self._data, other._data
        if mine is not None and theirs is not None:
            return mine == theirs
        return self.oid == other.oid

    def cuts(self, other: Version) -> bool:
        """Whether this is only how the other begins; where that is lost, it cannot be told and is not."""
        if self.absent or self._size >= other.size:
            return False
        try:
            return (other.data or b"").startswith(self.data or b"")
        except Lost:
            return False

    # -- where its bytes are ---------------------------------------------------------------------

    @property
    def source(self) -> Source | None:
        """What reads it from a store that has it, whether or not it is in memory too."""
        return self._source

    @property
    def aside(self) -> bool:
        return self._data is None and self._source is not None

    @property
    def held(self) -> int:
        """Bytes that it takes in memory."""
        return len(self._data or b"")

    def keep_in(self, source: Source, oid: str) -> None:
        """A store has its bytes under that name."""
        self._oid, self._source = oid, source

    def set_aside(self) -> None:
        """Lets go of bytes that a store has."""
        assert self.absent or self._source is not None
        self._data = None

    def bring_back(self, found: Version | None = None) -> None:
        """Has its bytes in memory: those of another version that is the same, else of the store.

        Raises Lost.
        """
        if self.aside:
            self._data = found.data if found is not None and self.same(found) else self._read()

    def loaded(self) -> Version:
        """The same with its bytes in memory; itself, if they are. Raises Lost."""
        return Version(self.data, self.mode) if self.aside else self

    def _read(self) -> bytes:
        assert self._source is not None
        try:
            return self._source(self.oid)
        except KeyError as error:
            raise Lost(errno.ENODATA, "what it was is not in the cache folder any more") from error


ABSENT = Version(None, 0)
