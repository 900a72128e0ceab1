"""Operations on a world's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from sendbox.control.answers import Clock
from sendbox.control.arguments import Duration, Moment, described
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import map_in_slices
from sendbox.control.worlds import MODE, RATE, clock_settings, clock_view
from sendbox.engine.answer import Answer, Instant, enum, keywords, moment
from sendbox.engine.durations import shown
from sendbox.engine.kinds.answers import Entry
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.timeline import Goal
from sendbox.runtime.dispatcher import UNATTENDED
from sendbox.services.advice import OUTBOX_NOT_FETCHED

if TYPE_CHECKING:
    from sendbox.runtime.slot import FailedTries

#: How far an advance without a time goes.
UNTIL: Final = enum(("idle",))
#: A number of instants, which unlike other numbers is not written as a text.
NEXT: Final = keywords(type="integer", minimum=1)
#: The most entries of the journal that an advance shows.
SHOWN = 200
#: The code of the warning that tries of webhooks failed.
WEBHOOK_FAILED: Final = "webhook-failed"


class Warned(Answer):
    """A remark on an advance: `code` is `webhook-failed`, or that of an advice."""

    code: str
    message: str


class Advanced(Answer):
    """The way that a world moved, and what happened; `truncated` says that the journal has more `entries` of it."""

    from_: Instant
    to: Instant
    fired: int
    deliveries: int
    failed: int
    entries: list[Entry]
    truncated: bool
    next_due: Instant | None
    idle: bool
    warnings: list[Warned]


@operation("GET", "/worlds/{id}/clock", answers=Clock)
async def clock(call: Call) -> Clock:
    """The present clock."""
    return clock_view(call.hosted)


@operation("PATCH", "/worlds/{id}/clock", answers=Clock)
async def change_clock(call: Call, mode: Annotated[Any, MODE] = None, rate: Annotated[Any, RATE] = None) -> Clock:
    """Sets the mode or rate, from the present instant on."""
    settings = {name: value for name, value in (("mode", mode), ("rate", rate)) if value is not None}
    clock_settings(settings)
    hosted = call.hosted
    await call.runtime.steady(hosted)
    await hosted.free()
    call.runtime.check_not_advancing(hosted)
    call.runtime.tune(hosted, settings)
    return clock_view(hosted)


@operation("POST", "/worlds/{id}/clock/advance", answers=Advanced)
async def advance(
    call: Call,
    by: Annotated[Duration | None, described("a duration; 0 carries out what is due now")] = None,
    to: Annotated[Moment | None, described("an instant of the world, not before the present one")] = None,
    next: Annotated[Any, NEXT, described("so many instants at which something is due")] = None,
    until: Annotated[str | None, UNTIL, described("until nothing is due any more")] = None,
) -> Advanced:
    """Moves the world forward; answers when everything that was due is done.

    `warnings` are `{code, message}`: `webhook-failed` for each target and outcome where tries failed, such as *3 tries
    to http://127.0.0.1:3000/hooks: refused*, unless a rule asks for it; `outbox-not-fetched` where webhooks waited in
    the outbox and no client asked for them. An advance waits 2 s of real time for such a client, once.
    """
    moved = await call.runtime.advance(call.hosted, _goal(by, to, next, until))
    world = call.hosted.world
    first, last = moved["first"], moved["last"]
    return Advanced(
        from_=moment(moved["from"]),
        to=moment(moved["to"]),
        fired=moved["fired"],
        deliveries=moved["deliveries"],
        failed=moved["failed"],
        entries=await map_in_slices(range(first, min(last, first + SHOWN)), Observer(world, call.served.kinds).entry),
        truncated=last - first > SHOWN,
        next_due=None if moved["next_due"] is None else moment(moved["next_due"]),
        idle=moved["idle"],
        warnings=[
            *([unfetched(world.id, moved["unfetched"])] if moved["unfetched"] else []),
            *_failures(moved["failures"]),
        ],
    )


def unfetched(world_id: str, tries: int) -> Warned:
    """The warning that no client fetched these tries of webhooks from the outbox."""
    text = UNATTENDED.format(id=world_id)
    return Warned(code=OUTBOX_NOT_FETCHED, message=f"{_tries(tries)} of webhooks: {text}")


def _failures(failures: FailedTries) -> list[Warned]:
    """The warnings about tries that failed, one for each target and outcome."""
    texts = [f"{_tries(count)} to {target}: {outcome}" for (target, outcome), count in failures.counts.items()]
    others = [f"{_tries(failures.others)} to further targets failed"] if failures.others else []
    return [Warned(code=WEBHOOK_FAILED, message=text) for text in [*texts, *others]]


def _tries(count: int) -> str:
    return f"{count} {'try' if count == 1 else 'tries'}"


def _goal(by: int | None, to: int | None, next: object, until: str | None) -> Goal:
    """The goal that the arguments of `advance` describe. Raises `ControlError`."""
    count = 4 - (by, to, next, until).count(None)
    if not count:
        legal = 'by="1m", to an instant, next=1, until="idle"'
        raise ControlError(400, "bad_argument", f"nothing says how far the clock moves; legal: one of {legal}")
    if count != 1:
        raise ControlError(
            400, "bad_argument", f"{count} of by, to, next, until were given; legal: exactly one of them"
        )
    if by is not None:
        return Goal("by", by)
    if to is not None:
        return Goal("to", to)
    if next is None:
        return Goal("idle")
    if not isinstance(next, int) or isinstance(next, bool) or next < 1:
        raise ControlError(400, "bad_argument", f"next: {shown(next)} is not legal; legal: 1 and more")
    return Goal("next", next)
