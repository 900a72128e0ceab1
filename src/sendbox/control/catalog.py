"""The catalog of all that can be tried of what is served: each operation, with the fields of its requests."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from sendbox.contract import schemas
from sendbox.contract.fields import Field, fields_of, smallest
from sendbox.data import folder
from sendbox.engine.coverage.tally import Catalog, FieldRow, Row
from sendbox.services.coverage.catalog import DIMENSIONS, FACTS
from sendbox.services.http.exchange import Route
from sendbox.services.kinds import ROWS
from sendbox.services.routes import ROUTES

#: The one call that comes by a route of its own.
_UPLOAD: Final = Row(
    "uploadBulk",
    "rest",
    "§4.2",
    "",
    (),
    'PUT /upload/ADDRESS {"body": "Hello", "to": [{"phone_number": "420777000101"}]}',
    ("python", 'sendbox.advance("60s"); client.upload(url, lines)'),
)
#: Refused in a world only if something in the body says in which.
_IN_WORLD: Final = {"verifyProof": 'POST /v1/verify-proof {"token": "TOKEN"}'}


@cache
def catalog() -> Catalog:
    """All that can be tried of what is served. The first call takes some milliseconds."""
    definitions = schemas.load(folder("schemas"))
    return Catalog(DIMENSIONS, FACTS, [*(_row(route, definitions) for route in ROUTES), _UPLOAD], ROWS)


async def loaded() -> Catalog:
    """The same without holding the loop."""
    return await asyncio.get_running_loop().run_in_executor(None, catalog)


def _row(route: Route, definitions: dict[str, schemas.Node]) -> Row:
    takes = "" if not (route.request or route.query) else "query" if route.request is None else _takes(route)
    ref = route.request or route.query
    fields: list[Field] = []
    least: Any = {}
    if ref is not None:
        name = schemas.name_of(ref)
        schema = schemas.inlined(definitions, name)
        fields, least = fields_of(name, schema), smallest(name, schema)
    bad: Any = [] if takes == "json" else {"apikey": "test-demo"} if route.auth == "form" else {}
    refused = _IN_WORLD.get(route.operation) or _snippet(route, takes, bad)
    return Row(
        route.operation,
        "legacy" if route.auth == "form" else route.interface,
        route.section,
        takes,
        tuple(FieldRow(each.path, each.assumed, _snippet(route, takes, each.request)) for each in fields),
        _snippet(route, takes, least),
        ("request", refused) if takes else None,
    )


def _takes(route: Route) -> str:
    return "json" if route.request_type == "application/json" else "form"


def _snippet(route: Route, takes: str, request: Any) -> str:
    """A request in one line: method, path, body."""
    line = f"{route.method} {route.path.replace('{token}', 'TOKEN')}"
    if takes == "json":
        return f"{line} {json.dumps(request, ensure_ascii=False)}"
    joined = urlencode(request)
    return f"{line}{'?' if takes == 'query' else ' '}{joined}" if joined else line
