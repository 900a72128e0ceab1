"""The paths of the interfaces: found by a dictionary look-up, or by a pattern where a part of them is a parameter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Route

#: A parameter of a path, as `re.escape` leaves it.
_PARAMETER: Final = re.compile(r"\\\{(\w+)\\\}")
_NO_PARAMETERS: Final[Mapping[str, str]] = {}

#: The rows of one path, by method.
Rows = dict[str, "Route"]


class Paths:
    """All rows, by path and method."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._rows: dict[str, Rows] = {}
        for route in self.routes:
            self._rows.setdefault(route.path, {})[route.method] = route
        #: what comes before the first parameter, and the whole
        self._patterns = [
            (path.partition("{")[0], re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", re.escape(path))), rows)
            for path, rows in self._rows.items()
            if "{" in path
        ]

    def __contains__(self, path: str) -> bool:
        return path in self._rows

    def find(self, path: str) -> tuple[Rows | None, Mapping[str, str]]:
        """The rows of a path, None if it has none, and the values of its parameters."""
        rows = self._rows.get(path)
        if rows is None:
            for prefix, pattern, candidate in self._patterns:
                if path.startswith(prefix) and (match := pattern.fullmatch(path)):
                    return candidate, match.groupdict()
        return rows, _NO_PARAMETERS
