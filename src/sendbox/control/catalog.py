"""The catalog of all that can be tried of what is served: each operation, with the fields of its requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sendbox.contract.fields import paths_of, request_with, smallest
from sendbox.contract.schemas import SchemaFiles, name_of
from sendbox.engine.coverage import Catalog, Form, Row

if TYPE_CHECKING:
    from sendbox.control.operation import Served
    from sendbox.services.http.exchange import Route, Upload


@cache
def catalog(served: Served) -> Catalog:
    """All that can be tried of what is served; each of its rows is made when it is asked for."""
    return Catalog(served.dimensions, served.facts, _Rows(served), served.kinds)


def whole_catalog(served: Served) -> Catalog:
    """The catalog with all of its items made, which takes some milliseconds the first time."""
    everything = catalog(served)
    _ = everything.items
    return everything


async def loaded(served: Served) -> Catalog:
    """The same without holding the loop."""
    return await asyncio.get_running_loop().run_in_executor(None, whole_catalog, served)


class _Rows(Mapping[str, Row]):
    """The rows of what is served, by their operations."""

    def __init__(self, served: Served) -> None:
        self._files, self._samples = SchemaFiles(*served.schemas), served.samples
        self._rows: dict[str, Row] = {upload.operation: _upload_row(upload) for upload in served.uploads}
        self._routes = {route.operation: route for route in served.routes}
        self._operations = (*self._routes, *self._rows)

    def __getitem__(self, operation: str) -> Row:
        row = self._rows.get(operation)
        if row is None:
            row = self._rows[operation] = _row(self._routes[operation], self._files, self._samples)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)


def _row(route: Route, files: SchemaFiles, samples: Mapping[str, object]) -> Row:
    takes = "" if not (route.request or route.query) else "query" if route.request is None else _takes(route)
    ref = route.request or route.query
    name, schema = ("", {}) if ref is None else (name_of(ref), files.inlined(ref))
    least = {} if ref is None else smallest(name, schema, samples)
    bad: object = [] if takes == "json" else {"apikey": "test-demo"} if route.auth == "form" else {}
    refused = _snippet(route, takes, bad) if route.refused is None else route.refused
    return Row(
        route.operation,
        "legacy" if route.auth == "form" else route.interface,
        route.section,
        takes,
        paths_of(schema),
        lambda path: _snippet(route, takes, request_with(path, name, schema, samples)),
        _snippet(route, takes, least),
        ("request", refused) if takes and refused else None,
    )


def _upload_row(upload: Upload) -> Row:
    refused: tuple[Form, str] = ("python", upload.refused)
    return Row(upload.operation, upload.interface, upload.section, "", {}, str, upload.accepted, refused)


def _takes(route: Route) -> str:
    return "json" if route.request_type == "application/json" else "form"


def _snippet(route: Route, takes: str, request: Any) -> str:
    """A request in one line: method, path, body."""
    line = f"{route.method} {route.path.replace('{token}', 'TOKEN')}"
    if takes == "json":
        return f"{line} {json.dumps(request, ensure_ascii=False)}"
    joined = urlencode(request)
    return f"{line}{'?' if takes == 'query' else ' '}{joined}" if joined else line
