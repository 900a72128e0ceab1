"""Operations that tell what a client's tests tried, and what was assumed while they did."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from sendbox.contract import schemas
from sendbox.contract.fields import Field, fields_of, smallest
from sendbox.control.operation import Call, ControlError, Text, operation
from sendbox.control.report import FORMATS, Report
from sendbox.data import folder
from sendbox.engine.coverage.assumptions import UNTOLD
from sendbox.engine.coverage.tally import Catalog, FieldRow, Row
from sendbox.services.assumptions import ASSUMPTIONS
from sendbox.services.http.exchange import Route
from sendbox.services.routes import ROUTES

_MEDIA: Final = {"text": "text/plain", "html": "text/html"}
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
    return Catalog([*(_row(route, definitions) for route in ROUTES), _UPLOAD])


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


@operation("GET", "/worlds/{id}/coverage")
async def coverage(call: Call, format: str = "json") -> Any:
    """What this world's client tried, and what of the service it never did."""
    _check(format)
    hosted = call.here
    report = Report(await loaded())
    await call.runtime.tried.of_world(hosted, report)
    return await _shown(report, format)


@operation("GET", "/coverage")
async def all_coverage(call: Call, format: str = "json") -> Any:
    """The same of all worlds together; also of closed ones where the server collects them (`--coverage`)."""
    _check(format)
    report = Report(await loaded())
    await call.runtime.tried.of_all(list(call.runtime.worlds.values()), report)
    return await _shown(report, format)


def _check(how: str) -> None:
    if how not in FORMATS:
        raise ControlError(400, "bad_argument", f'format: "{how}" is no format; legal: {", ".join(FORMATS)}')


async def _shown(report: Report, how: str) -> Any:
    if how == "json":
        return report.as_json()
    text = await asyncio.get_running_loop().run_in_executor(None, report.render, how)  # ten milliseconds of HTML
    return Text(text, _MEDIA[how])


@operation("GET", "/worlds/{id}/assumptions")
async def assumptions(call: Call) -> Any:
    """Every assumption that this version builds on, the world's settings, and what its client leaned on."""
    settings = call.here.world.assume
    collected = await call.runtime.tried.present(call.here, await loaded())
    return {
        "assumptions": [row.as_json() for row in ASSUMPTIONS],
        "settings": {name: _plain(getattr(settings, name)) for name in settings.__dataclass_fields__},
        "leaned": [
            {"id": row.id, "count": collected.leaned[row.id].count, "entries": collected.leaned[row.id].entries}
            for row in ASSUMPTIONS
            if row.id in collected.leaned
        ],
        "untold": [{"id": id_, "reason": reason} for id_, reason in UNTOLD.items()],
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__ if name != "table"}
    return list(value) if isinstance(value, tuple) else value
