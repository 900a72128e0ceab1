"""The operation of a recorded call: found by the end of its path, since the service's addresses begin differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Route
    from sendbox.services.http.paths import Paths

#: What may stand before the end of a path here, where an address of the service does not have it.
_BEFORE: Final = ("", "/v2", "/v1")


class Place(NamedTuple):
    """The place of a recorded call here: the path, and the row of its operation, None if the method has none."""

    path: str
    route: Route | None


def find(paths: Paths, method: str, path: str) -> Place | None:
    """The place of a call, None if its path is of no interface: the path itself, else its longest end that fits."""
    other: Place | None = None
    for candidate in _candidates(path):
        rows, _ = paths.find(candidate)
        if rows is not None and (method in rows or candidate == path):
            return Place(candidate, rows.get(method))
        if rows is not None and other is None:
            other = Place(candidate, None)
    return other


def _candidates(path: str) -> Iterator[str]:
    for end in (path[place:] for place, char in enumerate(path) if char == "/"):
        yield from (f"{before}{end}" for before in _BEFORE)
