"""The results of a world under other values of the assumptions that its client relied on.

The world is made again from its record, once for each other value. What its client saw, the answers to its calls and
the webhooks, is compared up to the first difference. Nothing is said about what comes after that: the client would have
acted differently. The module is long because the type of each answer stands with the operation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Annotated, Final, NamedTuple

import orjson
from msgspec.structs import replace

from sendbox.contract.findings import MISSING, differing, json_path, show
from sendbox.control.arguments import Count, Size, described
from sendbox.control.catalog import loaded
from sendbox.control.export.scenario import source_of
from sendbox.control.operation import Call, operation
from sendbox.control.replaying import TICKS_PER_PAUSE, Diverged, Replay
from sendbox.engine.answer import Answer, Instant, JsonMapping, JsonObject, moment
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.commands.command import Act, Command, Open, Outcome, Stamp
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.durations import iso
from sendbox.engine.kinds.answers import Value
from sendbox.engine.kinds.engine_kinds import json_of
from sendbox.engine.kinds.rows import KindTable, Observer
from sendbox.engine.world import World
from sendbox.runtime.slot import Slice, spread
from sendbox.scenario.language import Language
from sendbox.scenario.model import ScenarioError
from sendbox.services.assumptions import registry
from sendbox.services.settings import SETTINGS

#: Ticks that a replay goes on, at most, after it left the way of the record.
_BEYOND: Final = 10_000
_OBSERVED_KINDS: Final = frozenset({"request", "try"})


# -- other values


class Alternative(NamedTuple):
    """Another value of a setting, as a scenario has it; None = the scenario leaves the setting out."""

    assumption: str
    setting: str
    value: object

    @property
    def text(self) -> str:
        """The setting with the value."""
        return f"{self.setting}: {_setting_text(self.setting, self.value)}"


def alternatives(settings: object, ids: Iterable[str]) -> list[Alternative]:
    """Every other value of the settings of some assumptions, in the order of the settings."""
    assumption_ids = frozenset(ids)
    return [
        Alternative(next(id_ for id_ in row.assumptions if id_ in assumption_ids), name, value)
        for name, row in SETTINGS.items()
        if not assumption_ids.isdisjoint(row.assumptions)
        for value in row.others(getattr(settings, name))
    ]


def with_setting(language: Language, blueprint: Blueprint, other: Alternative) -> Blueprint:
    """A scenario with another value of a setting. Raises `ScenarioError` where the scenario is not legal with it."""
    source = source_of(blueprint)
    assume = {name: value for name, value in (source.get("assume") or {}).items() if name != other.setting}
    if other.value is not None:
        assume[other.setting] = other.value
    changed = language.load({**source, "assume": assume}, name=blueprint.name, paths=False)
    opened = {name: getattr(blueprint, name) for name in ("seed", "mode", "start", "rate")}
    return replace(changed, **opened)


def _setting_text(setting: str, value: object) -> str:
    if value is None:
        return SETTINGS[setting].unset or "null"
    return value if isinstance(value, str) else orjson.dumps(value).decode()


# -- what a client saw


class Observation(NamedTuple):
    """An answer or a webhook: its entry in the journal, how many of its kind came up to it, and what the client saw.

    `delivery` is the number of the webhook's delivery, None of a call.
    """

    entry: int
    kind: str
    number: int
    view: JsonObject
    delivery: int | None = None

    @property
    def place(self) -> str:
        """The observation as a text for people."""
        if self.kind == "call":
            return f"call {self.number}, {self.view['method']} {self.view['path']}"
        return f"webhook {self.number} to {self.view['target']}"


def observations(world: World) -> Iterator[Observation]:
    """The answers and webhooks that the client of a world saw, in order."""
    numbers = {"call": 0, "webhook": 0}
    for entry in world.journal.numbers(_OBSERVED_KINDS):
        at, _, subject = world.journal.entry(entry)
        delivery = None
        if isinstance(subject, tuple):
            kind, view, delivery = "webhook", _webhook(world, at, subject[0]), subject[0].number
        else:
            answer = json_of(subject.answer)
            kind = "call"
            view = {
                "method": subject.method,
                "path": subject.path,
                "status": subject.status,
                "answer": subject.answer.decode("utf-8", "replace") if answer is None else answer,
            }
        numbers[kind] += 1
        yield Observation(entry, kind, numbers[kind], view, delivery)


def _webhook(world: World, at: int, delivery: Delivery) -> JsonObject:
    bodies = (world.events[type(event)].body(world, event, delivery.made_at) for event in delivery.events)
    return {"at": iso(at), "target": delivery.address, "body": orjson.loads(orjson.dumps(list(bodies)))}


class ObservedDifference(NamedTuple):
    """The first difference: where it is, the path in it, and both values. `text` is a part of a sentence."""

    entry: int | None
    place: str
    path: str
    was: object
    would: object
    text: str


def find_first_difference(
    before: Sequence[Observation], after: Iterable[Observation], claims: Callable[[Observation], bool]
) -> Generator[None, None, ObservedDifference | None]:
    """Finds the first difference, None where there is none; pauses now and then.

    `claims` is false for an observation that is missing from `after` only because the replay may have ended before it.
    """
    for was, would in zip_longest(before, after):
        if was is not None and would is not None and was.kind == would.kind:
            for path, a, b in differing(was.view, would.view):
                return _differs(was, path, a, b)
        elif would is not None and would.kind == "webhook":
            text = f"a webhook to {would.view['target']} would have come at {would.view['at']}"
            return ObservedDifference(None, would.place, "$", None, would.view, text)
        elif was is not None and claims(was):
            text = f"{was.place} would not have come at {was.view['at']}"
            return ObservedDifference(was.entry, was.place, "$", was.view, None, text)
        else:
            return None
        yield
    return None


def _differs(was: Observation, path: tuple[str | int, ...], a: object, b: object) -> ObservedDifference:
    part, *rest = path
    place = json_path(rest)
    if isinstance(a, list) and isinstance(b, list):
        old, new = (f"{len(value)} {'entry' if len(value) == 1 else 'entries'}" for value in (a, b))
    else:
        old, new = ("nothing" if value is MISSING else show(value) for value in (a, b))
    match part:
        case "answer":
            text = f"the answer to {was.place} would have had {new} at {place}, not {old}"
        case "body":
            text = f"{was.place} would have had {new} at {place}, not {old}"
        case "at":
            text = f"{was.place} would have come at {b}, not at {a}"
        case _:
            text = f"{was.place} would have had the {part} {b}, not {a}"
    earlier, later = (None if value is MISSING else value for value in (a, b))
    return ObservedDifference(was.entry, was.place, json_path(path), earlier, later, text)


# -- replays


class ReplayResult(NamedTuple):
    """The outcome of a replay: `differs`, `equal`, or `ended`.

    `ended` means that the replay ended at another place than the record, without a visible difference.
    """

    outcome: str
    text: str
    first: ObservedDifference | None = None


def replay_with(
    call: Call, commands: Sequence[tuple[Stamp, Command]], ends: Stamp, before: Sequence[Observation]
) -> Generator[Callable[[], None] | None, None, ReplayResult]:
    """Replays commands with another setting, and returns the first difference that the client would have seen."""
    replay = Replay(call.control, commands, ends)
    world = replay.world
    stopped = False
    try:
        try:
            yield from replay.work()
        except Diverged:
            stopped = True
        goal, command = replay.goal
        if stopped and goal is not None:
            yield from _run_past_record(world, goal)
        lost = command.delivery if isinstance(command, Outcome) else None

        def claims(was: Observation) -> bool:
            if was.kind == "call":
                return False
            if not stopped or goal is None:
                return True
            return was.delivery == lost or was.view["at"] < iso(min(goal.at, world.now))

        first = yield from find_first_difference(before, observations(world), claims)
    except GeneratorExit:  # nobody waits for it any more
        spread(world.dispose())
        raise
    except BaseException:
        yield from world.dispose()
        raise
    yield from world.dispose()
    if first is not None:
        return ReplayResult("differs", first.text, first)
    if not stopped:
        return ReplayResult("equal", "no answer and no webhook would have been different")
    until = iso(world.now if goal is None else goal.at)
    return ReplayResult(
        "ended", f"no answer and no webhook would have been different until {until}; then the run differs"
    )


def _run_past_record(world: World, goal: Stamp) -> Generator[None, None, None]:
    """Brings a world that left the way of its record to the instant of the next command, as far as it goes alone."""
    left = _BEYOND
    while left > 0 and (done := world.run(goal.at, TICKS_PER_PAUSE, settle=False)):
        world.outlets.take()
        left -= done
        yield


def _with_alternative(
    language: Language, commands: Sequence[tuple[Stamp, Command]], other: Alternative
) -> list[tuple[Stamp, Command]]:
    """The commands, with another setting in each scenario that they bring. Raises `ScenarioError`."""
    changed: list[tuple[Stamp, Command]] = []
    for stamp, command in commands:
        match command:
            case Open():
                command = command._replace(blueprint=with_setting(language, command.blueprint, other))
            case Act(arguments=arguments) if any(isinstance(value, Blueprint) for value in arguments.values()):
                command = command._replace(
                    arguments={
                        name: with_setting(language, value, other) if isinstance(value, Blueprint) else value
                        for name, value in arguments.items()
                    }
                )
        changed.append((stamp, command))
    return changed


# -- the operation


def lines(answer: JsonMapping) -> list[str]:
    """The differences, one line for each other value; for an assumption without a setting, its first use."""
    texts = []
    for row in answer["leaned"]:
        texts += [f"{row['id']}: with {other['setting']}: {other['said']}, {other['text']}" for other in row["others"]]
        if not row["others"]:
            texts.append(f"{row['id']}: {row['title']}: first used at {row['used']['text']}")
    return texts if answer["why"] is None else [*texts, f"nothing was replayed: {answer['why']}"]


class FirstDifference(Answer):
    """Where the client would have seen something else first."""

    entry: int | None
    place: str
    path: str
    was: Value
    would: Value


class OtherValue(Answer):
    """The first difference that the client would have seen under another value of a setting."""

    setting: str
    value: Value
    said: str
    outcome: str
    text: str
    first: FirstDifference | None


class Used(Answer):
    """The first entry of the journal that depended on an assumption."""

    entry: int
    at: Instant
    text: str


class Leaned(Answer):
    """An assumption that the client relied on."""

    id: str
    title: str
    confidence: str
    count: int
    used: Used
    others: list[OtherValue]


class Leaning(Answer):
    """The assumptions that the client relied on; `why` nothing was replayed."""

    leaned: list[Leaned]
    why: str | None


@operation("GET", "/worlds/{id}/leaning", words=lines, present_only="it makes all that was done again", answers=Leaning)
async def leaning(
    call: Call,
    longest: Annotated[Size | None, described("a world with more entries in its journal is not replayed")] = None,
    most: Annotated[Count | None, described("after so many differences no further one is looked for")] = None,
) -> Leaning:
    """The assumptions that the client of this world relied on, and what it would see under other values."""
    hosted = call.hosted
    collected = await call.runtime.tried.present(hosted, await loaded(call.served))
    await hosted.wait_until_idle()
    call.runtime.check_not_advancing(hosted)
    world = hosted.world
    world.record.check_complete()
    rows = {row.id: row for row in registry() if row.id in collected.leaned}
    too_long = longest is not None and len(world.journal) > longest
    why = f"the journal has {len(world.journal)} entries, more than {longest}" if too_long else None
    outcomes: dict[str, list[OtherValue]] = {id_: [] for id_ in rows}
    if why is None:
        before, commands, ends = await hosted.run_exclusively(_present(world))
        differences = 0
        for other in alternatives(world.assume, rows):
            outcome = await _replay_alternative(call, other, commands, ends, before)
            outcomes[other.assumption].append(_other_value(other, outcome))
            differences += outcome.outcome == "differs"
            if differences == most:
                break
    on = Observer(world, call.served.kinds)
    return Leaning(
        leaned=[
            Leaned(
                id=id_,
                title=row.title,
                confidence=row.confidence,
                count=collected.leaned[id_].count,
                used=_first_use(on, call.served.kinds, collected.leaned[id_].entries[0]),
                others=outcomes[id_],
            )
            for id_, row in rows.items()
        ],
        why=why,
    )


def _present(world: World) -> Generator[None, None, tuple[list[Observation], list[tuple[Stamp, Command]], Stamp]]:
    """The observations of the client, the commands, and the place of the world, all at one moment."""
    before, commands = [], []
    for item in observations(world):
        before.append(item)
        yield
    for command in world.record.commands():
        commands.append(command)
        yield
    return before, commands, Stamp(world.epoch, world.now, world.ticks)


async def _replay_alternative(
    call: Call,
    other: Alternative,
    commands: Sequence[tuple[Stamp, Command]],
    ends: Stamp,
    before: Sequence[Observation],
) -> ReplayResult:
    loop = asyncio.get_running_loop()
    try:
        changed = await loop.run_in_executor(None, _with_alternative, call.served.language, commands, other)
    except ScenarioError as error:
        return ReplayResult("illegal", f"the scenario is not legal: {error.problems[0].message}")
    return await Slice().through(replay_with(call, changed, ends, before))


def _other_value(other: Alternative, result: ReplayResult) -> OtherValue:
    first = result.first
    return OtherValue(
        setting=other.setting,
        value=other.value,
        said=_setting_text(other.setting, other.value),
        outcome=result.outcome,
        text=result.text,
        first=None
        if first is None
        else FirstDifference(entry=first.entry, place=first.place, path=first.path, was=first.was, would=first.would),
    )


def _first_use(on: Observer, kinds: KindTable, entry: int) -> Used:
    """The first entry of the journal that depended on an assumption, in words."""
    view = on.entry(entry)
    journal = on.world.journal
    number = 1 + journal.kind.count(journal.kind[entry - journal.first], 0, entry - journal.first)
    match view["kind"]:
        case "request":
            text = Observation(entry, "call", number, view).place
        case "try":
            text = Observation(entry, "webhook", number, view).place
        case kind:
            text = f"entry {entry}, {kinds.describe(view) or kind}"
    return Used(entry=entry, at=moment(journal.entry(entry)[0]), text=text)
