"""The store of long bodies of a world: a file without a name, so that they take no memory. It ends with the world.

Where no file can be written, on a machine without a place for temporary files, they stay in memory.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import Final

#: The longest body that stays in memory.
MAX_BYTES_IN_MEMORY: Final = 64 * 1024


class Spool:
    """The long bodies of one world. The file is made when the first one comes."""

    def __init__(self) -> None:
        self._file = -1
        self._end = 0

    def keep(self, body: bytes) -> bytes | Spooled:
        """A body as it is from now on."""
        at = self.put(body)
        return body if at is None else Spooled(self, [at])

    def read(self, at: int, size: int) -> bytes:
        """A part of the file."""
        return os.pread(self._file, size, at)

    def put(self, data: bytes) -> tuple[int, int] | None:
        """Appends to the file; returns where it lies, (place, size), or None if it cannot be written."""
        at = self._end
        try:
            if self._file < 0:
                self._file, path = tempfile.mkstemp(prefix="sendbox-")
                weakref.finalize(self, os.close, self._file)
                os.unlink(path)
            while data:
                written = os.pwrite(self._file, data, self._end)
                self._end += written
                data = data[written:]
        except OSError:
            self._end = at
            return None
        return at, self._end - at


class Spooled:
    """A body in a spool: the parts of the file that it consists of."""

    __slots__ = ("_parts", "_spool")

    def __init__(self, spool: Spool, parts: list[tuple[int, int]]) -> None:
        self._spool = spool
        self._parts = parts

    def __bytes__(self) -> bytes:
        return b"".join(self._spool.read(at, size) for at, size in self._parts)

    def pieces(self, size: int) -> Iterator[bytes]:
        """The body, so many bytes at a time at most."""
        for at, length in self._parts:
            for first in range(at, at + length, size):
                yield self._spool.read(first, min(size, at + length - first))


class Writer:
    """A body on its way in; it goes to the spool once it is long."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._parts: list[tuple[int, int]] = []
        self._waiting = bytearray()
        self.size = 0

    def feed(self, piece: bytes) -> None:
        """The next piece."""
        self.size += len(piece)
        self._waiting += piece
        if len(self._waiting) > MAX_BYTES_IN_MEMORY:
            self._flush()

    def end(self) -> bytes | Spooled:
        """The body, once all of it has come."""
        if self._parts:
            self._flush()
        if not self._parts:
            return bytes(self._waiting)
        spooled = Spooled(self._spool, self._parts)
        return bytes(spooled) + self._waiting if self._waiting else spooled

    def _flush(self) -> None:
        at = self._spool.put(bytes(self._waiting)) if self._waiting else None
        if at is not None:
            self._parts.append(at)
            self._waiting.clear()
