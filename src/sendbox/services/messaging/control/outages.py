"""Operations on outages: begin, list, end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal

from sendbox.control.arguments import described, object_like
from sendbox.control.export.rows import Exported
from sendbox.control.operation import Call, ControlError, json_object, operation
from sendbox.control.reading import select
from sendbox.control.time import compile_entry_on_thread, put_again, put_entry
from sendbox.engine.answer import Answer, moment
from sendbox.engine.blueprint import TimelineEntry
from sendbox.services.messaging.answers import OutageView
from sendbox.services.messaging.messaging import Messaging

KIND: Final = "outage"
#: Bodies, as the contract shows them.
EXAMPLES: Final = (
    {"channel": "sms", "for": "10m"},
    {"name": "one operator", "country": "CZ", "operator": 2, "for": "1h", "after": "5m", "new": "failed"},
)


class OutageList(Answer):
    """The outages of a world that have begun and not ended, and those to come, by the time of their beginning."""

    outages: list[OutageView]


class EndedOutages(Answer):
    """The ids of the outages that were ended."""

    ended: list[str]


def _shown(entry: TimelineEntry, at: int, state: Literal["current", "upcoming"]) -> OutageView:
    until = moment(at + entry.means.lasts)
    return OutageView(id=entry.id, state=state, from_=moment(at), until=until, outage=entry.what)


@operation("GET", "/worlds/{id}/outages", answers=OutageList)
async def outages(call: Call) -> OutageList:
    """The outages that have begun and not ended (`current`), and those to come (`upcoming`), of the scenario too."""
    world = call.hosted.world
    part = Messaging.of(world).outages
    current = [_shown(current.entry, current.began, "current") for current in part.current]
    steps: list[Any] = await select(world.timeline.steps[:], lambda step: part.is_upcoming(*step[3:]))
    steps.sort(key=lambda step: step[:3])
    return OutageList(outages=[*current, *(_shown(entry, at, "upcoming") for at, _, _, _, entry in steps)])


@operation(
    "POST",
    "/worlds/{id}/outages",
    status=201,
    raw=True,
    act=True,
    journals=True,
    prepare=partial(compile_entry_on_thread, kind=KIND),
    answers=OutageView,
)
async def begin_outage(
    call: Call,
    raw: Annotated[Any, object_like(*EXAMPLES), described("`outage:` of `timeline:`, and when it begins")] = None,
) -> OutageView:
    """Begins an outage: the body is what a scenario's `timeline` has under `outage`. It begins now, or later.

    The body may also have the keys of an entry, `at`, `every` and `until`; or `after`, a duration from now; and a
    `name`, which is then the id of the outage. 422 `bad_happening` with every problem.
    """
    entry = put_entry(call, json_object(raw, "an outage"), KIND)
    world = call.hosted.world
    at = entry.due(world.start)
    return _shown(entry, at, "upcoming" if at > world.now else "current")


@operation("DELETE", "/worlds/{id}/outages", act=True, answers=EndedOutages)
async def end_outages(call: Call) -> EndedOutages:
    """Ends all outages at once, also those of the scenario; those to come do not begin.

    What waited for the end of one is due now, and happens when the clock is next moved.
    """
    return EndedOutages(ended=Messaging.of(call.hosted.world).outages.end(None))


@operation("DELETE", "/worlds/{id}/outages/{outage}", act=True, answers=EndedOutages)
async def end_outage(call: Call, outage: str) -> EndedOutages:
    """The same for the outages with an id; of one that happens again the others do not begin either."""
    ended = Messaging.of(call.hosted.world).outages.end(outage)
    if not ended:
        text = f'"{outage}" is not an outage that has begun or is to come; GET …/outages lists those'
        raise ControlError(404, "no_such_outage", text)
    return EndedOutages(ended=ended)


EXPORTED: Final[Mapping[str, Exported]] = {KIND: put_again(begin_outage.name)}
