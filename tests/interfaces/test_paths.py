"""Paths of the interfaces: exact ones, and those with parameters."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sendbox.services.http.exchange import RouteTable


def row(method: str, path: str, **more: bool) -> Any:
    """As much of a route as is looked at."""
    return cast("Any", SimpleNamespace(method=method, path=path, **{"any_case": False, "at_root": False, **more}))


PATHS = RouteTable(
    [
        row("POST", "/v1/a"),
        row("POST", "/v1/a/{x}/b"),
        row("GET", "/v1/a/{x}"),
        row("PATCH", "/v1/a/{x}"),
        row("GET", "/Send", any_case=True, at_root=True),
    ]
)


@pytest.mark.parametrize(
    ("path", "methods", "params"),
    [
        ("/v1/a", {"POST"}, {}),
        ("/v1/a/1", {"GET", "PATCH"}, {"x": "1"}),
        ("/v1/a/1/b", {"POST"}, {"x": "1"}),
        ("/v1/a/b.c+d/b", {"POST"}, {"x": "b.c+d"}),
        ("/v1/a/", None, {}),
        ("/v1/a//b", None, {}),
        ("/v1/a/1/c", None, {}),
        ("/v1/a/1/b/2", None, {}),
        ("/v1/b", None, {}),
        ("/v1/a/{x}", {"GET", "PATCH"}, {}),
        ("/Send", {"GET"}, {}),
        ("/sEND", {"GET"}, {}),
        ("/V1/a", None, {}),
    ],
)
def test_find(path: str, methods: set[str] | None, params: dict[str, str]) -> None:
    """A path finds its rows by method, and what stands in its parameters: one part each, and not an empty one."""
    rows, found = PATHS.find(path)
    assert (None if rows is None else set(rows), found) == (methods, params)


def test_a_path_with_parameters_is_known_by_its_rows_only() -> None:
    """Containment is about exact paths: it is asked on the hot path."""
    assert "/v1/a" in PATHS
    assert "/v1/a/1" not in PATHS
    assert "/SEND" in PATHS
    assert set(PATHS.at_root) == {"GET"}
