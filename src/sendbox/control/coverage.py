"""Operations that tell what a client's tests tried, and what was assumed while they did."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from sendbox.control.catalog import loaded
from sendbox.control.operation import Call, ControlError, Text, operation
from sendbox.control.report import FORMATS, Report
from sendbox.services.assumptions import registry

_MEDIA: Final = {"text": "text/plain", "html": "text/html"}


@operation("GET", "/worlds/{id}/coverage")
async def coverage(call: Call, format: str = "json") -> Any:
    """What this world's client tried, and what of the service it never did."""
    _check(format)
    hosted = call.here
    report = Report(await loaded(call.served))
    await call.runtime.tried.of_world(hosted, report)
    return await _shown(report, format)


@operation("GET", "/coverage")
async def all_coverage(call: Call, format: str = "json") -> Any:
    """The same of all worlds together; also of closed ones where the server collects them (`--coverage`)."""
    _check(format)
    report = Report(await loaded(call.served))
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
    settings: Any = call.here.world.assume
    collected = await call.runtime.tried.present(call.here, await loaded(call.served))
    return {
        "assumptions": [row.as_json() for row in registry()],
        "settings": {name: _plain(getattr(settings, name)) for name in settings.__dataclass_fields__},
        "leaned": [
            {"id": row.id, "count": collected.leaned[row.id].count, "entries": collected.leaned[row.id].entries}
            for row in registry()
            if row.id in collected.leaned
        ],
        "untold": [{"id": id_, "reason": reason} for id_, reason in call.served.untold.items()],
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__ if name != "table"}
    return list(value) if isinstance(value, tuple) else value
