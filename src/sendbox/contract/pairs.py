"""Two JSON values side by side: the places at which they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

#: Stands for a field that one of the two does not have.
MISSING: Final = object()

#: The steps to a place.
Path = tuple[str | int, ...]


def differing(a: Any, b: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Each place that differs, with both values; of arrays first their common entries, then arrays of other lengths."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys((*a, *b)):
            yield from differing(a.get(key, MISSING), b.get(key, MISSING), (*path, key))
    elif isinstance(a, list) and isinstance(b, list):
        for index, (left, right) in enumerate(zip(a, b, strict=False)):
            yield from differing(left, right, (*path, index))
        if len(a) != len(b):
            yield path, a, b
    elif type(a) is not type(b) or a != b:
        yield path, a, b
