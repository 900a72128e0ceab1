"""Long bodies: in a file without a name, whole and in pieces."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest

from sendbox.runtime.spool import MAX_BYTES_IN_MEMORY, Spool, Spooled, Writer

LONG = bytes(range(256)) * (MAX_BYTES_IN_MEMORY // 128)


def taken(spool: Spool, data: bytes, piece: int) -> bytes | Spooled:
    """A body that comes in pieces."""
    writer = Writer(spool)
    for at in range(0, len(data), piece):
        writer.feed(data[at : at + piece])
    assert writer.size == len(data)
    return writer.end()


@pytest.mark.parametrize("piece", [1, 7, 1_000, MAX_BYTES_IN_MEMORY + 1])
def test_a_short_body_stays_in_memory(piece: int) -> None:
    """Up to the longest one, it is bytes, and there is no file."""
    spool = Spool()
    body = taken(spool, LONG[:MAX_BYTES_IN_MEMORY], piece) if piece > 7 else taken(spool, LONG[:100], piece)
    assert body == LONG[: MAX_BYTES_IN_MEMORY if piece > 7 else 100]
    assert spool._file == -1
    assert taken(spool, b"", 1) == b""


@pytest.mark.parametrize("piece", [1_000, MAX_BYTES_IN_MEMORY, MAX_BYTES_IN_MEMORY + 1, len(LONG)])
def test_a_long_body_is_read_again(piece: int) -> None:
    """It is the same whole and in pieces of any size, and so are those around it."""
    spool = Spool()
    bodies = [taken(spool, LONG[n:], piece) for n in range(3)]
    for n, body in enumerate(bodies):
        assert isinstance(body, Spooled)
        assert bytes(body) == LONG[n:]
        for size in (4_096, 1 << 16, 1 << 20):
            parts = list(body.pieces(size))
            assert b"".join(parts) == LONG[n:]
            assert all(0 < len(each) <= size for each in parts)


def test_two_bodies_come_at_once() -> None:
    """Their parts lie between each other, and each is read as it came."""
    spool = Spool()
    first, second = Writer(spool), Writer(spool)
    for _ in range(3):
        first.feed(b"a" * (MAX_BYTES_IN_MEMORY + 1))
        second.feed(b"b" * (MAX_BYTES_IN_MEMORY + 1))
    first.feed(b"end")
    one, other = first.end(), second.end()
    assert bytes(one) == b"a" * (3 * MAX_BYTES_IN_MEMORY + 3) + b"end"
    assert bytes(other) == b"b" * (3 * MAX_BYTES_IN_MEMORY + 3)


def test_a_body_that_is_there_already_is_kept() -> None:
    """One that was read whole goes to the file as it is."""
    spool = Spool()
    kept = spool.keep(LONG)
    assert bytes(kept) == LONG
    assert spool.read(1, 2) == LONG[1:3]


def test_half_a_write_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that writes less than it was given is given the rest."""
    pwrite = os.pwrite

    def little(file: int, data: bytes, at: int) -> int:
        return pwrite(file, data[:1_000], at)

    monkeypatch.setattr(os, "pwrite", little)
    assert bytes(Spool().keep(LONG)) == LONG


def test_the_file_has_no_name_and_ends_with_the_spool() -> None:
    """Nothing is left on the disk, and no descriptor stays open; a body that is still known keeps its spool."""
    spool: Any = Spool()
    kept: Any = spool.keep(LONG)
    file = spool._file
    assert os.fstat(file).st_nlink == 0
    del spool
    gc.collect()
    assert bytes(kept) == LONG
    del kept
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_without_a_place_for_files_bodies_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the file can be written no more in the middle of a body."""
    long = b"x" * (MAX_BYTES_IN_MEMORY + 1)
    spool = Spool()
    monkeypatch.setattr("tempfile.mkstemp", _cannot)
    assert spool.keep(long) is long
    writer = Writer(spool)
    writer.feed(long)
    assert writer.end() == long
    monkeypatch.undo()
    half = Writer(Spool())
    half.feed(long)
    monkeypatch.setattr("os.pwrite", _cannot)
    half.feed(b"end")
    assert half.end() == long + b"end"


def _cannot(*_given: object, **_named: object) -> None:
    raise OSError("no space left")
