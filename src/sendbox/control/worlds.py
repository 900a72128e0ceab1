"""Operations on whole worlds: open, show, close, reset, scenario, rules.

It is long because the settings of a world, its rules and how it is shown are read together, each with its type.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from sendbox.contract.findings import show
from sendbox.control.answers import Bound, Checkpoint, Clock, Warned, World, addresses
from sendbox.control.arguments import (
    Body,
    Last,
    Limit,
    Moment,
    NextCursor,
    Order,
    ScenarioGiven,
    compile_long,
    compiled,
    described,
)
from sendbox.control.operation import (
    Call,
    Control,
    ControlError,
    Created,
    converted,
    json_object,
    one_of,
    operation,
    unreadable,
)
from sendbox.control.reading import Page, map_in_slices, newest, page, page_of, select
from sendbox.engine import bounds
from sendbox.engine.answer import Answer, Instant, JsonMapping, JsonObject, enum, keywords, moment, read, reference
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.bounds import FASTEST, SLOWEST
from sendbox.engine.commands.command import Open
from sendbox.engine.durations import excerpt, iso
from sendbox.engine.kinds.answers import Cursor
from sendbox.engine.texts import Pattern
from sendbox.engine.timeline import Mode
from sendbox.runtime.slot import HostedWorld, Slice
from sendbox.runtime.store.store import StoredWorld
from sendbox.runtime.worlds import BEGINS
from sendbox.scenario.keys.texts import compiles_slowly
from sendbox.scenario.model import ScenarioError
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.scenario.language import Language


#: The longest text that names are derived from, or draws.
LONGEST_SEED: Final = 1_000
WAYS: Final = ("push", "pull")
DELIVERIES: Final = enum(WAYS)
#: The ids of worlds, in words.
LEGAL_ID: Final = "test- and 1 to 64 of a-z A-Z 0-9 . _ -, or --any-key"
MODES: Final = get_args(Mode)
_MODE: Final = {"type": "string", "enum": list(MODES)}
_RATE: Final = {"type": "number", "minimum": SLOWEST, "maximum": FASTEST}
MODE: Final = keywords(**_MODE)
RATE: Final = keywords(**_RATE)
#: The settings of a clock.
CLOCK: Final = keywords(
    properties={
        "mode": _MODE,
        "rate": _RATE,
        "start": {"type": "string", "examples": ["2026-03-01T09:00:00Z"]},
    },
    additionalProperties=False,
)


def world_view(call: Call, hosted: HostedWorld) -> JsonObject:
    """A world in short, with the counts that services add."""
    return World(**_fields_of(call, hosted)).extended(hosted.world.counts)


def _fields_of(call: Call, hosted: HostedWorld) -> JsonObject:
    """The fields of a `World`."""
    world, bounds = hosted.world, call.runtime.bounds
    return {
        **_ways_to(call, world.id, pulling=hosted.pulling),
        "id": world.id,
        "scenario": hosted.blueprint.name,
        "seed": world.seed_given,
        "salt": world.salt,
        "tag": world.tag,
        "epoch": world.epoch,
        "started": moment(world.start),
        "clock": clock_view(hosted),
        "entries": len(world.journal),
        "closed": True if hosted.gone else None,
        "before": hosted.before,
        "bounds": None if bounds is None else read(bounds.of_world(hosted), dict[str, Bound]),
    }


def _ways_to(call: Call, world_id: str, *, pulling: bool) -> JsonObject:
    """The fields of a `World` that say how it is called, and how its webhooks come."""
    return {
        "api_key": world_id,
        "deliveries": WAYS[pulling],
        "callback_url": f"{call.origin}/_sandbox/worlds/{world_id}/hook",
        "addresses": addresses(call.origin),
    }


def clock_view(hosted: HostedWorld) -> Clock:
    """A world's clock."""
    world, clock = hosted.world, hosted.world.clock
    timeline, leaving = world.timeline, world.outlets.leaving or None
    return _clock(world.now, clock.mode, clock.rate, timeline.next_due(), timeline.scheduled, leaving)


def _clock(now: int, mode: Mode, rate: int, due: int | None, pending: int, webhooks: int | None = None) -> Clock:
    """A clock as it is shown; its `rate` is in thousandths."""
    next_due = None if due is None else moment(due)
    return Clock(now=moment(now), mode=mode, rate=rate / 1000, next_due=next_due, pending=pending, webhooks=webhooks)


async def read_scenario(control: Control, source: Any) -> Blueprint:
    """A scenario by library name, YAML text or object, or a list. Raises `ControlError` 422 with every problem.

    A long one, and one for which texts must be invented, is compiled off the loop, one at a time.
    """
    if isinstance(source, Blueprint):  # in process, compiled where the test runs
        return source
    sources = source if isinstance(source, list) and source else [source]
    if not all(isinstance(item, str | dict) for item in sources):
        legal = "a name, YAML text, or an object, or a list of them"
        raise ControlError(400, "bad_body", f"{excerpt(source)} is not a scenario; legal: {legal}")

    def compile_source() -> Blueprint:
        try:
            blueprint: Blueprint = control.served.language.load(source, paths=False, sent=True)
            return blueprint
        except ScenarioError as error:  # to say every problem takes as long as to find it
            raise unreadable(error) from None

    if compiles_slowly(source):
        return await control.runtime.builder.build(compile_source)
    return compile_source()


class Memory(Answer):
    """The use of memory, in bytes."""

    used: int
    most: int
    full: bool


class Health(Answer):
    """The server answers; `instance` is another one after each start, or that of the store which keeps its worlds."""

    status: Literal["ok", "failed"]
    version: str
    engine: int
    instance: str
    worlds: int
    dropped: int
    memory: Memory | None = None


class WholeWorld(World):
    """A world, and its checkpoints."""

    checkpoints: list[Checkpoint]


class ListedWorld(World):
    """A world, and the real time since when no client has used it. `stored`: it waits in the store to be asked for."""

    idle_since: Instant
    stored: Literal[True] | None = None


class Worlds(Cursor):
    """Open worlds, or closed ones that can still be read."""

    worlds: list[Annotated[JsonObject, reference("ListedWorld", ListedWorld)]]


class Started(Answer):
    """The start of a world."""

    started: Instant


class Closed(Answer):
    """The world that was closed."""

    closed: str


class ClosedMany(Answer):
    """The number of worlds that were closed."""

    closed: int


class Loaded(Answer):
    """The parts of a scenario that differ: those that hold already, and those that wait for the reset.

    `warnings` say of what does not hold at once how it can.
    """

    applied: list[str]
    at_reset: list[str]
    skipped: list[str]
    warnings: list[Warned]


class PutRule(Answer):
    """The id of a rule, and its list."""

    id: str
    in_: str


class DroppedRule(Answer):
    """The rule that was removed."""

    dropped: str


@operation("GET", "/health", answers=Health, own_scope="open")
async def health(
    call: Call,
    store: Annotated[bool, described("with `false` a store that cannot be written is no reason for a 503")] = True,
) -> Health:
    """Answers once the scenario is loaded. `dropped` counts lines of the log that could not be written.

    While the memory is full the answer is 503 `memory_full` with the same fields and the `status` `full`; while the
    store cannot be written, 503 `store_failed` and `failed`.
    """
    health, problem = call.runtime.health(), call.runtime.health_problem(store=store)
    if problem is not None:
        raise ControlError(503, *problem, **health)
    return read(health, Health)


@operation("GET", "/schema", answers=dict, unmasked=True, own_scope="facts")
async def schema(call: Call) -> JsonObject:
    """The JSON Schema of scenarios, by which editors complete and check them."""
    return dict(call.served.language.shape.schema)


Seed = Annotated[int | str | None, described("what all draws depend on; that of the scenario unless given")]
Salt = Annotated[str | None, described("a part of request and message ids; the id of the world unless given")]
ClockSettings = Annotated[JsonObject | None, CLOCK, described("without a start the world begins at the present second")]
Carried = Annotated[str, DELIVERIES, described("`pull` leaves webhooks in the outbox, until they are fetched")]
Frozen = Annotated[bool, described("the clock of the caller is frozen at `now`; the start counts as pinned")]


@operation("POST", "/worlds", status=201, answers=World, unmasked=True, longest=bounds.LONG_BODY, own_scope="worlds")
async def open_world(
    call: Call,
    id: Annotated[str | None, described("the API key of the world; a new one unless given")] = None,
    scenario: ScenarioGiven = None,
    seed: Seed = None,
    clock: ClockSettings = None,
    salt: Salt = None,
    deliveries: Carried = "push",
    now: Annotated[
        Moment | None, described("the time of the caller, where the world starts if nothing else sets a start")
    ] = None,
    frozen: Frozen = False,
    late: Annotated[
        bool, described("a start that nothing sets is open until the first command or reading of time")
    ] = False,
) -> JsonObject:
    """Opens a world with its own settings. 409 `world_exists` with the world that is open.

    With `now`, a world whose start nothing else sets agrees with a client whose clock is frozen. With `late` its start
    is the present by the first command or reading of time, or `now`, unless `start_world` says it.
    """
    runtime = call.runtime
    if id is not None:
        call.check_own(id)
    else:
        id = runtime.draw_id(call.token.prefix or BEGINS)
    settings = await _settings(call, id, scenario, seed, clock, salt, deliveries)
    pinned = (settings["blueprint"] or runtime.blueprint).start, runtime.settings.start
    if pinned == (None, None) and "start" not in settings:
        if now is not None:
            settings["start"], settings["pinned"] = now, frozen
        settings["late"] = late
    await runtime.wake(id)
    existing = runtime.worlds.get(id)
    if existing is not None:
        raise ControlError(409, "world_exists", f"{id} is open already", world=world_view(call, existing))
    return world_view(call, _open_world(call, id, settings, deliveries))


@operation("PUT", "/worlds/{id}", makes=True, answers=World, unmasked=True, longest=bounds.LONG_BODY)
async def ensure_world(
    call: Call,
    id: str,
    scenario: ScenarioGiven = None,
    seed: Seed = None,
    clock: ClockSettings = None,
    salt: Salt = None,
    deliveries: Carried = "push",
) -> JsonObject:
    """Opens a world with these settings (201), unless it was opened with the same ones (200): it is left as it is.

    409 `settings_differ` where it was opened with others, or its scenario was replaced since: `differs` has `{setting,
    open, asked}` of each, and `world` the world that is open. A setting that is not given is the one that a new world
    would have. Starts are compared where one of them is set.
    """
    settings = await _settings(call, id, scenario, seed, clock, salt, deliveries)
    await call.runtime.wake(id)
    existing = call.runtime.worlds.get(id)
    if existing is None:
        return Created(world_view(call, _open_world(call, id, settings, deliveries)))
    view = world_view(call, existing)
    opening = call.runtime.opening(id, **settings)
    if differs := _differences(existing, opening, deliveries):
        words = ", ".join(f"{row['setting']} is {show(row['open'])} and not {show(row['asked'])}" for row in differs)
        text = f"{id} was opened otherwise: {words}"
        if _is_replaced(existing):
            text = f"{id} is not as it was opened, its scenario was replaced since: {words}"
        raise ControlError(409, "settings_differ", text, differs=differs, world=view)
    return view


async def _settings(
    call: Call,
    id: str | None,
    scenario: object,
    seed: int | str | None,
    clock: JsonObject | None,
    salt: str | None,
    deliveries: str,
) -> JsonObject:
    """The settings of a world as `Runtime.opening` takes them. Raises `ControlError`."""
    if id is not None and not call.runtime.legal_id(id):
        raise ControlError(
            400,
            "bad_id",
            f'"{id}" is not an id of a world; legal: {LEGAL_ID}',
        )
    for name, text in (("salt", salt), ("seed", seed)):
        if isinstance(text, str) and len(text) > LONGEST_SEED:
            legal = f"at most {LONGEST_SEED}"
            raise ControlError(400, "bad_argument", f"{name}: {len(text)} characters are too many; legal: {legal}")
    blueprint = None if scenario is None else await read_scenario(call.control, scenario)
    return {"blueprint": blueprint, "seed": seed, "salt": salt, **clock_settings(clock or {})}


def _open_world(call: Call, id: str | None, settings: JsonMapping, deliveries: str) -> HostedWorld:
    """A world that is open with these settings now."""
    hosted = call.runtime.open(id, **settings)
    if deliveries == "pull":
        hosted.opened_pulling = True
        call.runtime.pull(hosted)
    return hosted


def _differences(existing: HostedWorld, opening: Open, deliveries: str) -> list[JsonObject]:
    """The settings with which a world was not opened as it is asked for."""
    was = existing.opened or existing.world.opening
    pairs: dict[str, tuple[object, object]] = {
        "seed": (was.seed, opening.seed),
        "salt": (was.salt, opening.salt),
        "clock.mode": (was.mode, opening.mode),
        "clock.start": (_set_start(was), _set_start(opening)),
        "clock.rate": (was.rate, opening.rate),
        "deliveries": (WAYS[existing.opened_pulling], deliveries),
    }
    differences = [(name, here, there) for name, (here, there) in pairs.items() if here != there]
    if not _are_equal(was.blueprint, opening.blueprint) or _is_replaced(existing):
        differences.insert(0, ("scenario", existing.loaded.name, opening.blueprint.name))
    return [{"setting": name, "open": here, "asked": there} for name, here, there in differences]


def _are_equal(one: Blueprint, other: Blueprint) -> bool:
    """True if two scenarios are the same; one that a store has kept does not know its file."""
    same_source = one.source is not None and (one.name, one.source) == (other.name, other.source)
    return one == other or same_source


def _is_replaced(hosted: HostedWorld) -> bool:
    """True if a world has another scenario than the one that it was opened with."""
    return hosted.opened is not None and not _are_equal(hosted.loaded, hosted.opened.blueprint)


def _set_start(opening: Open) -> str | None:
    """The start of a world, where it is set."""
    return iso(opening.start) if opening.pinned else None


def clock_settings(clock: JsonObject) -> JsonObject:
    """`{mode, start, rate}` checked. Raises `ControlError`."""
    settings: JsonObject = {}
    for name, value in clock.items():
        if name == "mode" and value in MODES:
            settings["mode"] = value
        elif name == "rate" and isinstance(value, int | float) and not isinstance(value, bool):
            if not SLOWEST <= value <= FASTEST:
                legal = f"{SLOWEST} to {FASTEST} seconds of the world in one real second"
                raise ControlError(400, "bad_clock", f"rate: {excerpt(value)} is not a rate of a clock; legal: {legal}")
            settings["rate"] = float(value)
        elif name == "start" and isinstance(value, str | int | float) and not isinstance(value, bool):
            settings["start"] = converted("start", value, Moment)
        else:
            legal = f"mode (manual, real, auto), rate (a number from {SLOWEST} to {FASTEST}), start (an instant)"
            raise ControlError(
                400, "bad_clock", f"{name}: {excerpt(value)} is not a setting of a clock; legal: {legal}"
            )
    return settings


@operation("GET", "/worlds", answers=Worlds, unmasked=True, own_scope="worlds")
async def worlds(
    call: Call,
    last: Last = None,
    limit: Limit = None,
    cursor: NextCursor = None,
    prefix: Annotated[str, described("the first characters of their ids")] = "",
    order: Order = "oldest",
    closed: Annotated[
        bool, described("closed worlds that can still be read, in the order in which they were closed")
    ] = False,
    pattern: Annotated[str | None, described("a pattern of their ids, where `*` stands for any characters")] = None,
    part: Annotated[str, described("any part of their ids, in capitals or not")] = "",
) -> Worlds:
    """Open worlds, in the order in which they were opened; with `last` the newest.

    One that is `stored` was open in an earlier process, and is made again when it is first asked for, or it is open in
    another process that shares the store; what is shown is its last commit. Each says since when no client has used it
    (`idle_since`, real time); a list is not a use. 400 `bad_pattern` where no legal id fits the `pattern`.
    """
    compiled_pattern = None if pattern is None else Pattern(pattern)
    if compiled_pattern is not None and not call.runtime.legal_pattern(compiled_pattern):
        text = f'"{pattern}" fits no id of a world; legal: {LEGAL_ID}; with * for any characters'
        raise ControlError(400, "bad_pattern", text)

    def fits(hosted: HostedWorld | StoredWorld) -> bool:
        world_id = hosted.id if isinstance(hosted, StoredWorld) else hosted.world.id
        if not (world_id.startswith(prefix) and call.token.covers(world_id)):
            return False
        if part.casefold() not in world_id.casefold():
            return False
        return compiled_pattern is None or bool(compiled_pattern.matches(world_id))

    await call.runtime.look_at_store()
    result: Page[HostedWorld | StoredWorld]
    if closed:
        kept: list[HostedWorld | StoredWorld] = list(call.runtime.closed_worlds.worlds.values())
        if last is None:
            result = await page(kept, attrgetter("closed"), fits, limit, cursor, order)
        else:
            result = Page(await newest(kept, fits, last))
    elif last is not None:
        result = Page((await select(call.runtime.all_backwards(), fits, last))[::-1] if last else [])
    else:
        all_behind = call.runtime.all_backwards(cursor) if order == "newest" else call.runtime.all_after(cursor or 0)
        result = await page_of(all_behind, attrgetter("number"), fits, limit)

    def view(hosted: HostedWorld | StoredWorld) -> JsonObject:
        if isinstance(hosted, StoredWorld):
            return _stored_view(call, hosted)
        listed = ListedWorld(**_fields_of(call, hosted), idle_since=moment(call.runtime.idle_since(hosted)))
        return listed.extended(hosted.world.counts)

    return Worlds(worlds=await map_in_slices(result.items, view), next_cursor=result.cursor)


def _stored_view(call: Call, stored: StoredWorld) -> JsonObject:
    """A world that is only in the store, as the list shows it."""
    facts = stored.facts
    listed = ListedWorld(
        **_ways_to(call, stored.id, pulling=facts.pulling),
        id=stored.id,
        scenario=facts.scenario,
        seed=facts.seed,
        salt=facts.salt,
        tag=facts.tag,
        epoch=facts.ends.epoch,
        started=moment(facts.started),
        clock=_clock(facts.at, facts.mode, facts.rate, facts.due, facts.pending, facts.webhooks or None),
        entries=facts.entries,
        idle_since=moment(stored.used),
        stored=True,
    )
    return listed.extended(facts.counts)


@operation("GET", "/worlds/{id}", answers=WholeWorld, unmasked=True)
async def world(call: Call) -> JsonObject:
    """One world. `checkpoints` are `{name, at}`, in the order in which their names were first taken."""
    taken = [Checkpoint(name=name, at=moment(record.at[-1])) for name, record in call.hosted.checkpoints.items()]
    whole = WholeWorld(**_fields_of(call, call.hosted), checkpoints=taken)
    return whole.extended(call.hosted.world.counts)


@operation("POST", "/worlds/{id}/start", early=True, answers=Started, unmasked=True)
async def start_world(call: Call, now: Moment, frozen: Frozen = False) -> Started:
    """Begins a world that was opened `late`, at the caller's `now`; one that has begun stays as it is."""
    if call.hosted.starts is not None:
        call.runtime.start(call.hosted, now, frozen)
    return Started(started=moment(call.hosted.world.start))


@operation("DELETE", "/worlds/{id}", early=True, closes=True, answers=Closed)
async def close_world(call: Call) -> Closed:
    """Closes a world; its key is denied until it is opened again. A server keeps some closed worlds to be read."""
    world_id = call.hosted.world.id
    await call.hosted.wait_until_idle()
    call.runtime.close(call.hosted)
    return Closed(closed=world_id)


@operation("DELETE", "/worlds", answers=ClosedMany, own_scope="worlds")
async def close_worlds(
    call: Call, prefix: Annotated[str, described("the first characters of their ids, at least one")]
) -> ClosedMany:
    """Closes all worlds whose id begins with `prefix`, which is not empty; `closed` counts them."""
    if not prefix:
        legal = "the beginning of an id, such as test-job42-"
        raise ControlError(400, "bad_argument", f"prefix: it is empty, which would close every world; legal: {legal}")
    call.check_own(prefix)
    await call.runtime.claim_all(prefix)
    matching = await select(call.runtime.open_worlds.after(0), lambda hosted: hosted.world.id.startswith(prefix))
    closed, work = call.runtime.close_all_stored(prefix), Slice()
    for hosted in matching:
        await hosted.wait_until_idle()
        if not hosted.gone:
            call.runtime.close(hosted)
            closed += 1
        await work.pause()
    return ClosedMany(closed=closed)


@operation("POST", "/worlds/{id}/reset", answers=World, unmasked=True)
async def reset(call: Call) -> JsonObject:
    """Begins a new epoch at the start of the world."""
    await call.runtime.steady(call.hosted)
    await call.hosted.wait_until_idle()
    call.runtime.reset(call.hosted)
    return world_view(call, call.hosted)


async def _compile_scenario(call: Call, arguments: JsonMapping) -> JsonMapping:
    """The scenario compiled, and the clock at rest."""
    raw, name = arguments.get("raw"), arguments.get("name")
    if name is not None:
        raw = name
    elif isinstance(raw, dict) and set(raw) == {"name"} and "sendbox" not in raw:
        raw = raw["name"]
    blueprint = await read_scenario(call.control, raw)
    await call.runtime.steady(call.hosted)
    return {**arguments, "raw": blueprint, "name": None}


@operation(
    "PUT",
    "/worlds/{id}/scenario",
    raw=True,
    act=True,
    journals=True,
    prepare=_compile_scenario,
    answers=Loaded,
    longest=bounds.LONG_BODY,
)
async def load_scenario(
    call: Call,
    raw: ScenarioGiven = None,
    name: Annotated[str | None, described("the name of a scenario of the library, in place of a body")] = None,
    reset: Annotated[bool, described("resets the world too, so that all of it holds at once")] = False,
) -> Loaded:
    """Loads another scenario: its rules at once, the rest at the next reset, or all at once with `reset`.

    `warnings` are `{code, message}` of what does not hold at once, and how it can: `at-reset`, `seed-replaced`,
    `clock-kept`, `not-sent`.
    """
    hosted = call.hosted
    blueprint = call.runtime.hooks.before_load(hosted, raw)
    call.runtime.check_not_advancing(hosted)
    differs = blueprint_differences(call.served.language, hosted.blueprint, blueprint)
    warnings = _warnings(call, blueprint, differs, reset=reset)
    hosted.next_blueprint = blueprint
    hosted.world.journal_act("scenario", {"name": blueprint.name, "source": blueprint.source})
    world = hosted.world
    books = world.rulebooks
    engine_lists = ("api", "webhooks")
    current = {name: book.from_scenario for name, book in books.items() if name not in ("attempts", *engine_lists)}
    current |= {"expect": world.expect, **{name: books[name].from_scenario for name in engine_lists}}
    rules = ["attempts", *(name for name, rules_now in current.items() if rules_now != blueprint.of(name))]
    if reset:
        call.runtime.reset(hosted)
        return Loaded(applied=[*rules, *differs], at_reset=[], skipped=[], warnings=warnings)
    for name, book in world.rulebooks.items():
        book.set_rules(blueprint.of(name))
    world.expect = blueprint.expect
    return Loaded(applied=rules, at_reset=differs, skipped=[], warnings=warnings)


#: The remark on the timeline of a scenario that waits for a reset.
_TIMELINE: Final = "; that of the scenario before goes on, and POST …/happenings lets things happen now or later"


def _warnings(call: Call, new: Blueprint, differs: list[str], *, reset: bool) -> list[Warned]:
    """Remarks on the parts of a scenario that do not hold once it is loaded, as its world stands before that."""
    hosted, opening = call.hosted, call.hosted.world.opening
    at_once = {row.path.rpartition("/")[2] for row in call.served.operations if row.method == "PATCH"}
    warnings = []
    for part in [] if reset else differs:
        hint = f"; PATCH …/{part} changes at once what it can" if part in at_once else ""
        text = f"{part}: it holds from the next reset on: POST …/reset, or load it with reset=true"
        warnings.append(Warned(code="at-reset", message=f"{text}{_TIMELINE if part == 'timeline' else hint}"))
    if "seed" not in differs and new.seed != opening.seed:
        since = "from now on" if reset else "from the next reset on"
        text = f"seed: the world was opened with {show(opening.seed)}; {since} it has {show(new.seed)}, the scenario's"
        warnings.append(Warned(code="seed-replaced", message=text))
    for name, value in (("mode", opening.mode), ("start", iso(opening.start))):
        if getattr(new, name) is None and getattr(hosted.blueprint, name) is not None:
            text = f"clock.{name}: the scenario has none, and the world keeps {value}, at a reset too"
            warnings.append(
                Warned(code="clock-kept", message=f"{text}; open a new world with it: POST /_sandbox/worlds")
            )
    if new.traffic:
        text = "traffic: to load a scenario sends nothing; POST …/play carries it out, step by step"
        warnings.append(Warned(code="not-sent", message=text))
    return warnings


def blueprint_differences(language: Language, old: Blueprint, new: Blueprint) -> list[str]:
    """The parts of a scenario that hold only from the next reset on, where they differ: all but lists of rules."""
    brought = [key for key in language.brought.values() if key.rules is None]
    pairs = {
        **{key.name: (old.of(key.name), new.of(key.name)) for key in brought if not key.late},
        "seed": (old.seed, new.seed),
        "plan": (old.plan, new.plan),
        "clock": ((old.mode, old.start, old.rate), (new.mode, new.start, new.rate)),
        "timeline": (old.timeline, new.timeline),
        "assume": (old.assume, new.assume),
        "digest": (old.digest_ignore, new.digest_ignore),
        "coverage": (old.coverage, new.coverage),
        **{key.name: (old.of(key.name), new.of(key.name)) for key in brought if key.late},
    }
    return [name for name, (before, after) in pairs.items() if before != after]


def _rule(call: Call, raw: JsonMapping, of: tuple[str, str, object]) -> object:
    """A rule for this list, in a world of this country and these assumptions. Raises `ControlError`."""
    name, country, assume = of
    fields = {field: value for field, value in raw.items() if field != "in"}
    try:
        return call.served.language.compile_rule(name, fields, country=country, assume=assume)
    except ScenarioError as error:
        raise unreadable(error, "bad_rule") from None


def _place(call: Call, raw: JsonMapping) -> tuple[str, str, object]:
    """The list of a rule, and what else it is compiled by. Raises `ControlError`."""
    world = call.hosted.world
    name = raw.get("in", "attempts")
    one_of(name, "in", world.rulebooks)
    return name, account_of(world).country, world.assume


async def _compile_rule(call: Call, arguments: JsonMapping) -> JsonMapping:
    """A long rule, and one for which texts must be invented, is compiled off the loop."""
    place, compile_rule = partial(_place, call), partial(_rule, call)
    return await compile_long(call.runtime.builder, arguments, place, compile_rule, compiles_slowly)


@operation(
    "POST",
    "/worlds/{id}/rules",
    status=201,
    raw=True,
    act=True,
    journals=True,
    prepare=_compile_rule,
    answers=PutRule,
    longest=bounds.LONG_BODY,
)
async def put_rule(
    call: Call, raw: Annotated[Body, described("a rule, and `in`: the list, `attempts` unless given")] = None
) -> PutRule:
    """Puts a rule in front of a list; answers its id."""
    raw = json_object(raw, "a rule")
    place = name, *_ = _place(call, raw)
    world = call.hosted.world
    rule_id = world.rulebooks[name].put_rule(compiled(raw, place, partial(_rule, call)))
    fields = {field: value for field, value in raw.items() if field != "in"}
    world.journal_act("rule", {"id": rule_id, "rule": fields, "in": name})
    return PutRule(id=rule_id, in_=name)


@operation("DELETE", "/worlds/{id}/rules/{rule}", act=True, answers=DroppedRule)
async def drop_rule(call: Call, rule: str) -> DroppedRule:
    """Removes a rule that was put there."""
    world = call.hosted.world
    if not any(book.drop_rule(rule) for book in world.rulebooks.values()):
        raise ControlError(404, "no_such_rule", f'"{rule}" is not a rule that control put into this world')
    return DroppedRule(dropped=rule)
