"""An index by names over a list that grows and forgets."""

from __future__ import annotations

from collections.abc import Iterator

from sendbox.engine.kept import ITEMS_PER_PAUSE, Index, Kept


def named(number: int) -> str:
    """The name of an item."""
    return f"name {number % 1000}"


def indexed(count: int) -> tuple[Kept[int], Index[int]]:
    """So many items, and their index."""
    items: Kept[int] = Kept()
    items.extend(range(count))
    return items, Index(items, named)


def test_items_are_read_as_they_are_asked_for() -> None:
    """In slices; what came since is read too."""
    items, index = indexed(2 * ITEMS_PER_PAUSE + 1)
    reading: Iterator[None] = index.read()
    next(reading)
    assert index.behind == ITEMS_PER_PAUSE + 1
    assert (index["name 7"], index.behind, len(index)) == (7, 0, 2 * ITEMS_PER_PAUSE + 1)
    items.append(5000)
    assert (index.behind, list(index)[-1]) == (1, f"name {2 * ITEMS_PER_PAUSE}")


def test_the_first_of_a_name_stays() -> None:
    """Another one does not take its place, and does not take it away when it goes."""
    items, index = indexed(3)
    items.append(1001)
    assert index["name 1"] == 1
    index.forget([1001, 7777])
    assert index["name 1"] == 1
    index.forget([1, 2])
    assert "name 1" not in index
    assert "name 2" not in index
    assert len(index) == 1


def test_what_was_never_read_needs_no_forgetting() -> None:
    """And what stays is read by its number."""
    items, index = indexed(ITEMS_PER_PAUSE + 2)
    gone = items.forget(0, 2, lambda _: True).gone
    index.forget(gone)
    assert index.behind == ITEMS_PER_PAUSE + 2
    assert "name 0" not in index
    assert index["name 2"] == 2
