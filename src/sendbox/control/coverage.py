"""Operations that tell what a client's tests tried, and what was assumed while they did."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import asdict

from sendbox.control.arguments import described
from sendbox.control.catalog import loaded
from sendbox.control.operation import Call, ControlError, Text, one_of, operation
from sendbox.control.reports.coverage import FORMATS, Report, Scope, scope_of
from sendbox.engine.answer import Answer, JsonObject, enum, keywords, read
from sendbox.engine.coverage import Catalog, Sum
from sendbox.services.assumptions import CONFIDENCE, registry

FORM: Final = enum(FORMATS)
_MEDIA: Final = {"text": "text/plain", "html": "text/html"}
_TEXT: Final = Annotated[Text, *_MEDIA.values()]


class Share(Answer):
    """The number of items that were tried."""

    tried: int
    of: int


class DimensionShare(Share):
    """The same of one dimension."""

    name: str
    heading: str


class Covered(Answer):
    """The items that were tried: `items` are counts by dimension and name, `leaned` counts by assumption."""

    sendbox: str
    engine: int
    scope: list[str] | None
    total: Share
    dimensions: list[DimensionShare]
    items_: dict[str, dict[str, int]]
    leaned: dict[str, int]


class CoveredItem(Answer):
    """An item; the snippet says how to try it."""

    name: str
    count: int
    section: str
    assumed: str | None
    form: str
    snippet: str


class Dimension(DimensionShare):
    """The items of one dimension."""

    items_: list[CoveredItem]


#: Settings of the assumptions by name, with values of different types.
Settings = Annotated[JsonObject, keywords(description="Settings by name, as a scenario has them under `assume`.")]


class Assumption(Answer):
    """An assumption: the settings that change it, and the profiles that do."""

    id: str
    section: str
    title: str
    default: str
    setting: list[str]
    confidence: str
    built: bool
    profiles: dict[str, Settings]


class LeanedOn(Answer):
    """The number of times that the client of a world relied on an assumption, and the first entries of the journal."""

    id: str
    count: int
    entries: list[int]


class Untold(Answer):
    """An assumption of which no entry tells, and why."""

    id: str
    reason: str


class Assumptions(Answer):
    """All assumptions, the settings of the world, and the assumptions that its client relied on."""

    assumptions: list[Assumption]
    settings: Settings
    leaned: list[LeanedOn]
    confidence: dict[str, str]
    untold: list[Untold]


NamedScope = Annotated[
    str | None,
    described("the operations that the total is about, with commas between them, or `used`; else as `coverage:` says"),
]


@operation("GET", "/worlds/{id}/coverage", answers=Covered | _TEXT, unmasked=True)
async def coverage(call: Call, format: Annotated[str, FORM] = "json", scope: NamedScope = None) -> object:
    """The items of the service that the client of this world tried, and those that it did not."""
    hosted = call.hosted
    catalog = await loaded(call.served)
    parsed_scope = _scope(catalog, scope)
    return await _write_report(catalog, await call.runtime.tried.of_world(hosted, catalog), format, parsed_scope)


@operation("GET", "/worlds/{id}/coverage/{dimension}", answers=Dimension, unmasked=True)
async def coverage_of(call: Call, dimension: str, scope: NamedScope = None) -> Dimension:
    """The items of one dimension that are in the scope, those that were never tried first.

    `{name, heading, tried, of, items}`; an item is `{name, count, section, assumed, form, snippet}`, where the snippet
    says how to try it: a part of a scenario, a request, or a line of Python.
    """
    hosted = call.hosted
    catalog = await loaded(call.served)
    one_of(dimension, "dimension", catalog.headings)
    parsed_scope = _scope(catalog, scope)
    total = await call.runtime.tried.of_world(hosted, catalog)
    report = Report(catalog, total.tally, total.leaned, scope=parsed_scope, declared=total.declared)
    in_executor = asyncio.get_running_loop().run_in_executor
    return read(await in_executor(None, report.dimension_json, dimension), Dimension)


@operation("GET", "/coverage", answers=Covered | _TEXT, unmasked=True)
async def all_coverage(call: Call, format: Annotated[str, FORM] = "json", scope: NamedScope = None) -> object:
    """The same for all worlds together, with closed ones where the server collects them (`--coverage`)."""
    catalog = await loaded(call.served)
    parsed_scope = _scope(catalog, scope)
    runtime = call.runtime
    kept = (
        runtime.closed_worlds.worlds.values() if runtime.tried.keeping else ()
    )  # they are added to the sum when they go
    total = await runtime.tried.of_all([*runtime.worlds.values(), *kept], catalog)
    return await _write_report(catalog, total, format, parsed_scope)


def _scope(catalog: Catalog, scope: str | None) -> Scope | None:
    try:
        return None if scope is None else scope_of(scope.split(","), catalog.rows)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f"scope: {error}") from None


async def _write_report(catalog: Catalog, total: Sum, form: str, scope: Scope | None) -> object:
    report = Report(catalog, total.tally, total.leaned, scope=scope, declared=total.declared)
    in_executor = asyncio.get_running_loop().run_in_executor  # all that can be tried is looked through several times
    if form == "json":
        return read(await in_executor(None, report.as_json), Covered)
    text = await in_executor(None, report.render, form)
    return Text(text, _MEDIA[form])


@operation("GET", "/worlds/{id}/assumptions", answers=Assumptions, unmasked=True)
async def assumptions(call: Call) -> Assumptions:
    """Every assumption of this version, the settings of the world, and the assumptions that its client relied on.

    `confidence` says what the letters mean.
    """
    settings: Any = call.hosted.world.assume
    collected = await call.runtime.tried.present(call.hosted, await loaded(call.served))
    return Assumptions(
        assumptions=[read(row.as_json(), Assumption) for row in registry()],
        settings={name: _json_value(getattr(settings, name)) for name in settings.__struct_fields__},
        leaned=[
            LeanedOn(id=row.id, count=collected.leaned[row.id].count, entries=collected.leaned[row.id].entries)
            for row in registry()
            if row.id in collected.leaned
        ],
        confidence=CONFIDENCE,
        untold=[Untold(id=id_, reason=reason) for id_, reason in call.served.untold.items()],
    )


def _json_value(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return {name: _json_value(part) for name, part in asdict(value).items() if name != "table"}
    return list(value) if isinstance(value, tuple) else value
