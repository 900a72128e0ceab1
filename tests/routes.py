"""The paths and methods that an application serves, as its routes show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def listed(routes: Iterable[Any], prefix: str = "") -> list[tuple[str, str]]:
    """Each path with each of its methods, in the order of the routes; HEAD goes with GET."""
    found = []
    for route in routes:
        path = prefix + getattr(route, "path", "")
        if hasattr(route, "routes"):
            found += listed(route.routes, path)
        else:
            found += [(path, method) for method in sorted(route.methods - {"HEAD"})]
    return found
