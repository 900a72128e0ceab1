"""The table of routes, which finds a path by a dictionary look-up, or by a pattern if it has parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Route

#: A parameter of a path after `re.escape`.
_PARAMETER: Final = re.compile(r"\\\{(\w+)\\\}")
_NO_PARAMETERS: Final[Mapping[str, str]] = {}

#: The routes of one path, by method.
MethodRoutes = dict[str, "Route"]


class RouteTable:
    """All routes, by path and method."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._routes_by_path: dict[str, MethodRoutes] = {}
        for route in self.routes:
            self._routes_by_path.setdefault(route.path, {})[route.method] = route
        #: for each path with parameters: the text before the first one, the pattern of the path, and its routes
        self._patterns = [
            (path.partition("{")[0], re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", re.escape(path))), rows)
            for path, rows in self._routes_by_path.items()
            if "{" in path
        ]

    def __contains__(self, path: str) -> bool:
        return path in self._routes_by_path

    def find(self, path: str) -> tuple[MethodRoutes | None, Mapping[str, str]]:
        """The routes of a path, None if there are none, and the values of its parameters."""
        rows = self._routes_by_path.get(path)
        if rows is None:
            for prefix, pattern, candidate in self._patterns:
                if path.startswith(prefix) and (match := pattern.fullmatch(path)):
                    return candidate, match.groupdict()
        return rows, _NO_PARAMETERS
