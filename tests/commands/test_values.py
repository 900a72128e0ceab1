"""Sizes of memory, as settings write them."""

from __future__ import annotations

import pytest

from sendbox.engine.bounds import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("512MB", 512_000_000), ("1GiB", 2**30), ("1.5 gib", 3 * 2**29), ("64k", 64_000), (" 10 B ", 10)],
)
def test_a_size_of_memory(text: str, size: int) -> None:
    """A number and a unit of a thousand, or of 1,024."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "0.4", "-1", "1TB", "much", "1e9", "\uff19", "99999999999GiB"])
def test_what_is_no_size_of_memory(text: str) -> None:
    """The value, and what would be legal."""
    with pytest.raises(ValueError, match=r"is not a size of memory; legal: .*512MB or 1GiB"):
        parse_size(text)
