"""Operations on the time of a world: its clock, and what joins its timeline."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final

from msgspec.structs import replace

from sendbox.control.answers import Clock, Warned
from sendbox.control.arguments import Duration, Moment, compile_long, compiled, described, object_like
from sendbox.control.export.rows import Exported
from sendbox.control.operation import Call, ControlError, json_object, operation, unreadable
from sendbox.control.reading import map_in_slices
from sendbox.control.worlds import MODE, RATE, clock_settings, clock_view
from sendbox.engine import bounds, durations
from sendbox.engine.answer import Answer, Instant, JsonMapping, JsonObject, enum, keywords, moment
from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.durations import duration, excerpt, iso, on_calendar
from sendbox.engine.kinds.answers import Entry
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.timeline import Goal
from sendbox.engine.world import World
from sendbox.runtime.dispatcher import UNATTENDED
from sendbox.runtime.slot import FailedTries
from sendbox.scenario.keys.texts import compiles_slowly
from sendbox.scenario.model import ScenarioError
from sendbox.services.advice import OUTBOX_NOT_FETCHED
from sendbox.services.ports import account_of

#: How far an advance without a time goes.
UNTIL: Final = enum(("idle",))
#: A number of instants, which unlike other numbers is not written as a text.
NEXT: Final = keywords(type="integer", minimum=1)
#: The most entries of the journal that an advance shows.
SHOWN = 200
#: The code of the warning that tries of webhooks failed.
WEBHOOK_FAILED: Final = "webhook-failed"
#: The keys of an entry that say when it happens; control has a duration from now, too.
AFTER: Final = "after"
TIMES: Final = ("at", AFTER, "every", "until")
#: The key of the id of an entry, where its kind has one, and its longest value.
NAME: Final = "name"
LONGEST_NAME: Final = 100
#: Bodies, as the contract shows them.
EXAMPLES: Final = (
    {"inbound": {"channel": "sms", "from": "420777000101", "body": "Are you open today?"}},
    {"after": "10m", "account": {"credit": {"eur": 0}}},
    {"at": "2026-03-01T18:00:00Z", "phone": {"number": "420777000101", "act": "offline"}},
)
#: The instant and the start of a world, and of its account and its assumptions what an entry depends on.
_Surroundings = tuple[int, int, str, str, object]


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
    await hosted.wait_until_idle()
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
        raise ControlError(400, "bad_argument", f"next: {excerpt(next)} is not legal; legal: 1 and more")
    return Goal("next", next)


class Happening(Answer):
    """What happens, when, and the id that it has in the world."""

    id: str
    kind: str
    at: Instant


def _surroundings(world: World) -> _Surroundings:
    account = account_of(world)
    return world.now, world.start, account.country, account.currency, world.assume


def _compile(call: Call, kind: str, raw: JsonMapping, of: _Surroundings) -> TimelineEntry:
    """The entry of a body, which has the keys of an entry, or with a `kind` those of that kind. Raises `ControlError`.

    Without a time it happens now.
    """
    now, start, country, currency, assume = of
    happening: JsonObject = dict(raw)
    if kind:
        times = {name: value for name, value in raw.items() if name in TIMES}
        happening = {kind: {name: value for name, value in raw.items() if name not in (*TIMES, NAME)}, **times}
    if AFTER in happening:
        happening["at"] = _later(now, happening)
    happening.setdefault("at", iso(now))
    try:
        entry: TimelineEntry = call.served.language.compile_happening(
            happening,
            scenario={"account": {"country": country, "currency": currency}},
            start=start,
            assume=assume,
        )
    except ScenarioError as error:
        inside = f"$.{kind}" if kind else "$"  # the body is that part of the entry
        problems = [replace(problem, path=problem.path.replace(inside, "$", 1)) for problem in error.problems]
        raise unreadable(ScenarioError(problems), "bad_happening") from None
    if (at := durations.Moment(entry.at, entry.relative).instant(start)) < now:
        legal = "a later instant, after with a duration, or neither for now"
        text = f"at: {iso(at)} lies before the present of the world, {iso(now)}; legal: {legal}"
        raise ControlError(400, "bad_argument", text)
    return entry


def _later(now: int, happening: JsonObject) -> str:
    """The instant of an entry that happens after a duration from now. Raises `ControlError`."""
    after = happening.pop(AFTER)
    if "at" in happening:
        text = "at and after both say when it happens; legal: one of them, or neither for now"
        raise ControlError(400, "bad_argument", text)
    try:
        return iso(on_calendar(now + duration(after), after))
    except ValueError as error:
        raise ControlError(400, "bad_argument", f"{AFTER}: {error}") from None


def put_entry(call: Call, raw: JsonMapping, kind: str = "") -> TimelineEntry:
    """The entry of a body, which joins the timeline of a world. Raises `ControlError`.

    With a `kind` the body has the keys of that kind, and may have a `name`, which is then the id of the entry.
    """
    world = call.hosted.world
    name = raw.get(NAME) if kind else None
    if name is not None and not (isinstance(name, str) and 0 < len(name) <= LONGEST_NAME):
        legal = f"a text of 1 to {LONGEST_NAME} characters"
        raise ControlError(400, "bad_argument", f"{NAME}: {excerpt(name)} is not a name; legal: {legal}")
    entry = compiled(raw, _surroundings(world), partial(_compile, call, kind))
    if entry.key:  # the same text again is another message
        entry = replace(entry, key=f"{entry.key}+{world.numbered('happening', entry.key.encode())[1]}")
    number = world.numbered("happening", entry.kind.encode())[1] + 1
    entry = replace(entry, id=name or f"{entry.kind}-{number}")
    world.journal_act(kind or "happening", {"id": entry.id, "put": dict(raw)})
    world.happen(entry)
    if world.clock.switched:
        world.clock.rebase(call.runtime.reading())
    return entry


async def compile_entry_on_thread(call: Call, arguments: JsonMapping, *, kind: str = "") -> JsonMapping:
    """The arguments; a long entry, and one for which texts must be invented, is compiled off the loop."""
    compile_entry = partial(_compile, call, kind)
    return await compile_long(
        call.runtime.builder, arguments, lambda _raw: _surroundings(call.hosted.world), compile_entry, compiles_slowly
    )


@operation(
    "POST",
    "/worlds/{id}/happenings",
    status=201,
    raw=True,
    act=True,
    journals=True,
    prepare=compile_entry_on_thread,
    answers=Happening,
    longest=bounds.LONG_BODY,
)
async def happen(
    call: Call,
    raw: Annotated[
        Any, object_like(*EXAMPLES), described("an entry of `timeline:`, with `at` or `after`, or neither for now")
    ] = None,
) -> Happening:
    """Lets happen what an entry of a scenario's `timeline` can: now, `at` an instant, or `after` a duration.

    The body is such an entry. 422 `bad_happening` with every problem.
    """
    entry = put_entry(call, json_object(raw, "an entry of a timeline"))
    return Happening(id=entry.id, kind=entry.kind, at=moment(entry.due(call.hosted.world.start)))


def put_again(operation: str) -> Exported:
    """The row of an act that puts an entry, in exports."""
    return Exported(line=lambda literals, detail: literals.call("sendbox.perform", [operation], {"raw": detail["put"]}))


EXPORTED: Final[Mapping[str, Exported]] = {"happening": put_again(happen.name)}
