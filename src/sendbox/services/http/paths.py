"""The paths of the interfaces: found by a dictionary look-up, or by a pattern where a part of them is a parameter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Route

#: A parameter of a path, as `re.escape` leaves it.
_PARAMETER: Final = re.compile(r"\\\{(\w+)\\\}")
_NO_PARAMETERS: Final[Mapping[str, str]] = {}

#: The rows of one path, by method.
Rows = dict[str, "Route"]


class Paths:
    """All rows, by path and method. Those that `later` makes, at these `paths`, are made when one is not found."""

    def __init__(
        self, routes: Iterable[Route], paths: Iterable[str] = (), later: Callable[[], Iterable[Route]] | None = None
    ) -> None:
        self._rows: dict[str, Rows] = {}
        self._paths = frozenset(paths)
        self._later = later
        #: what comes before the first parameter, and the whole
        self._patterns: list[tuple[str, re.Pattern[str], Rows]] = []
        self._add(routes)

    def _add(self, routes: Iterable[Route]) -> None:
        """Adds rows, all at once for another thread that looks for one."""
        all_rows = {path: {**rows} for path, rows in self._rows.items()}
        for route in routes:
            all_rows.setdefault(route.path, {})[route.method] = route
        self._patterns = [
            (path.partition("{")[0], re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", re.escape(path))), rows)
            for path, rows in all_rows.items()
            if "{" in path
        ]
        self._rows = all_rows

    def lacks(self, path: str) -> bool:
        """True if some rows have not been made yet and one of them may match the path."""
        return self._later is not None and path not in self._rows

    def load(self) -> None:
        """Makes the rows that were left for later; on any thread."""
        later = self._later
        if later is not None:
            self._add(later())
            self._later = None

    def __contains__(self, path: str) -> bool:
        return path in self._rows or path in self._paths

    def find(self, path: str) -> tuple[Rows | None, Mapping[str, str]]:
        """The rows of a path, None if it has none, and the values of its parameters."""
        rows = self._rows.get(path)
        if rows is None:
            self.load()
            rows = self._rows.get(path)
        if rows is None:
            for prefix, pattern, candidate in self._patterns:
                if path.startswith(prefix) and (match := pattern.fullmatch(path)):
                    return candidate, match.groupdict()
        return rows, _NO_PARAMETERS
