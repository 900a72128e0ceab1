"""The catalog of all that can be tried of what is served: each operation, with the fields of its requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sendbox.contract import schemas
from sendbox.contract.fields import Field, fields_of, smallest
from sendbox.engine.coverage import Catalog, FieldRow, Row

if TYPE_CHECKING:
    from sendbox.control.operation import Served
    from sendbox.services.http.exchange import Route, Upload


@cache
def catalog(served: Served) -> Catalog:
    """All that can be tried of what is served. The first call takes some milliseconds."""
    definitions = schemas.load(*served.schemas)
    rows = [*(_row(route, definitions, served.samples) for route in served.routes), *map(_upload_row, served.uploads)]
    return Catalog(served.dimensions, served.facts, rows, served.kinds)


async def loaded(served: Served) -> Catalog:
    """The same without holding the loop."""
    return await asyncio.get_running_loop().run_in_executor(None, catalog, served)


def _row(route: Route, definitions: dict[str, schemas.Node], samples: Mapping[str, object]) -> Row:
    takes = "" if not (route.request or route.query) else "query" if route.request is None else _takes(route)
    ref = route.request or route.query
    fields: list[Field] = []
    least: object = {}
    if ref is not None:
        name = schemas.name_of(ref)
        schema = schemas.inlined(definitions, name)
        fields, least = fields_of(name, schema, samples), smallest(name, schema, samples)
    bad: object = [] if takes == "json" else {"apikey": "test-demo"} if route.auth == "form" else {}
    refused = _snippet(route, takes, bad) if route.refused is None else route.refused
    return Row(
        route.operation,
        "legacy" if route.auth == "form" else route.interface,
        route.section,
        takes,
        tuple(FieldRow(row.path, row.assumed, _snippet(route, takes, row.request)) for row in fields),
        _snippet(route, takes, least),
        ("request", refused) if takes and refused else None,
    )


def _upload_row(upload: Upload) -> Row:
    return Row(upload.operation, upload.interface, upload.section, "", (), upload.accepted, ("python", upload.refused))


def _takes(route: Route) -> str:
    return "json" if route.request_type == "application/json" else "form"


def _snippet(route: Route, takes: str, request: Any) -> str:
    """A request in one line: method, path, body."""
    line = f"{route.method} {route.path.replace('{token}', 'TOKEN')}"
    if takes == "json":
        return f"{line} {json.dumps(request, ensure_ascii=False)}"
    joined = urlencode(request)
    return f"{line}{'?' if takes == 'query' else ' '}{joined}" if joined else line
