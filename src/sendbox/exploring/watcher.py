"""Watches the worlds of one run: lays a plan over each as it opens, and says afterwards what happened in it.

The rules of a scenario in front of another are asked first, all else holds only where the other says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from msgspec.structs import replace

from sendbox.control.catalog import catalog
from sendbox.control.export.scenario import of_the_library, scenario_of, source_of
from sendbox.control.export.script import build_script
from sendbox.control.operation import Served
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.coverage import collect_in_slices
from sendbox.engine.digest import finished
from sendbox.engine.durations import duration, instant, iso
from sendbox.engine.faults.connections import BeforeAnswer
from sendbox.engine.faults.table import CALLS
from sendbox.engine.kinds.happened import line_of, narrator_of
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.timeline import Goal
from sendbox.engine.world import World
from sendbox.exploring.census import Census, census
from sendbox.exploring.misfortune import LISTS
from sendbox.runtime.interface import WorldHooks
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.worlds import Runtime
from sendbox.scenario.environment import escape_texts
from sendbox.scenario.language import Language
from sendbox.scenario.model import ScenarioError, errors
from sendbox.scenario.read import Scenarios, read
from sendbox.scenario.write import standalone

#: The keys that stand in front, and those of them that stand within another key.
_RULES: Final = (*LISTS, "timeline", "plan")
_WITHIN: Final = {"verify": ("rules",), "partner": ("template_review", "signup")}
#: What the scenario behind always decides, or what is about a run of its own.
_LEFT_OUT: Final = (
    "sendbox",
    "name",
    "seed",
    "clock",
    "found",
    "traffic",
    "receiver",
    "expect",
    "counterexamples",
    "include",
    "extends",
)
#: Keys whose rules need nothing else of a scenario.
_ALONE: Final = frozenset({"sendbox", *LISTS})
#: The scenario that stands behind everything, never in front.
_BEHIND: Final = frozenset({"default"})


def front(language: Language, scenario: Scenarios, env: Mapping[str, str]) -> JsonObject:
    """A scenario, by name, path, text or object, as it stands in front: without the default scenario.

    Raises `ScenarioError` with every problem.
    """
    language.load(scenario, env=env)
    node, problems, _ = read(scenario, language.shape, env=env, without=_BEHIND)
    if node is None or (wrong := errors(problems)):
        raise ScenarioError(wrong if node is not None else problems)
    return standalone(node)


def in_front(language: Language, blueprint: Blueprint, fronts: Sequence[JsonMapping]) -> Blueprint:
    """A blueprint with these scenarios in front of it, the first of them foremost."""
    parts = [part for scenario in fronts for part in (scenario, *scenario.get("include", ()))]
    halves = [_split_scenario(part) for part in parts]
    rules = [{"sendbox": 1, **first} for first, _ in halves if first]
    settings = [{"sendbox": 1, **second} for _, second in halves if second]
    if not rules and not settings:
        return blueprint
    source = {"sendbox": 1, "name": blueprint.name, "include": [*rules, source_of(blueprint), *settings]}
    if not settings and all(rule.keys() <= _ALONE for rule in rules):
        return _quickly(language, blueprint, rules, source)
    return language.load(escape_texts(source))


def _quickly(language: Language, blueprint: Blueprint, rules: Sequence[JsonMapping], source: JsonObject) -> Blueprint:
    """The same where only lists of rules stand in front, without compiling all that is behind them again."""

    def rules_of(key: str) -> tuple[object, ...]:
        before = [
            language.compile_rule(key, rule, assume=blueprint.assume)
            for scenario in rules
            for rule in scenario.get(key, ())
        ]
        return (*before, *blueprint.of(key))

    compiled = {**blueprint.compiled, "attempts": rules_of("attempts")}
    return replace(blueprint, compiled=compiled, api=rules_of("api"), webhooks=rules_of("webhooks"), source=source)


def _split_scenario(part: JsonMapping) -> tuple[JsonObject, JsonObject]:
    """The two parts of a scenario: the part that stands in front, and the part that stands behind."""
    first: JsonObject = {}
    second: JsonObject = {}
    for key, value in part.items():
        if key in _RULES:
            first[key] = value
        elif key in _WITHIN and isinstance(value, Mapping):
            inner = {name: item for name, item in value.items() if name in _WITHIN[key]}
            outer = {name: item for name, item in value.items() if name not in inner}
            first |= {key: inner} if inner else {}
            second |= {key: outer} if outer else {}
        elif key not in _LEFT_OUT:
            second[key] = value
    return first, second


#: A line of a story: milliseconds from the start of the world, and what happened.
Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class ObservedWorld:
    """A world after its run: its census, its entries in words, and the scenario that does the same again.

    `name` is its id, without what the ids of its run begin with.
    """

    census: Census
    lines: tuple[Line, ...]
    start: str
    scenario: JsonMapping
    name: str = ""


#: A world of a run: its name, and the number of worlds that the run has opened under this name.
_Key = tuple[str, int]


class Watcher(WorldHooks):
    """The hooks that watch a server. `fronts` stand in front of every world, the plan's scenarios in front of them.

    A world has the ordinal that a world of its name had in the run without misfortune, else the next one.
    """

    def __init__(self, served: Served, fronts: Sequence[JsonMapping] = ()) -> None:
        self._served = served
        self._fronts = tuple(fronts)
        self._plan: Mapping[int, JsonMapping] = {}
        self._observing = False
        #: what the ids of the worlds of this run begin with, and the ordinals of all that were opened
        self._prefix = ""
        self._opened: dict[_Key, int] = {}
        #: the ordinals of the worlds of the run without misfortune
        self._known: dict[_Key, int] = {}
        #: the ordinals of the worlds that are open
        self._ordinals: dict[HostedWorld, int] = {}
        #: what each world would have been opened from without a plan
        self._bases: dict[int, Blueprint] = {}
        self._moves: dict[HostedWorld, list[tuple[int, int]]] = {}
        self._observed: dict[int, ObservedWorld] = {}
        #: what the rules that decided something in this run are called, by the worlds
        self._fired: dict[int, set[str]] = {}
        #: what the rules of `fronts` are called, and those of them that ever decided anything
        self._own: set[str] = set()
        self.used: set[str] = set()
        #: where the advances ended in the run without misfortune, by their worlds and ordinals
        self._usual: dict[tuple[int, int], int] = {}
        #: why a scenario could not be laid in front
        self._refused: ScenarioError | None = None

    def begin(self, plan: Mapping[int, JsonMapping], *, observing: bool, prefix: str = "") -> None:
        """A run begins; `plan` has a scenario for each world that it is about, by its ordinal.

        The ids of its worlds begin with `prefix`, which is another one in each run.
        """
        self._prefix = prefix
        self._plan = plan
        self._observing = observing
        self._opened = {}
        self._ordinals, self._bases, self._moves, self._observed, self._fired = {}, {}, {}, {}, {}

    def end(self, runtime: Runtime) -> list[ObservedWorld]:
        """The run has ended: its worlds, in the order in which they were opened.

        Raises `ScenarioError` where a scenario could not be laid in front of a world.
        """
        for hosted in list(runtime.worlds.values()):
            self.before_close(hosted)
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused
        worlds = [self._observed[ordinal] for ordinal in sorted(self._observed)]
        if self._observing and not self._plan:
            self.set_baseline(worlds)
        return worlds

    def set_baseline(self, worlds: Sequence[ObservedWorld]) -> None:
        """Takes the worlds of the run without misfortune, with which those of other runs are compared."""
        self._usual = {
            (world.census.ordinal, move.ordinal): move.ended for world in worlds for move in world.census.moves
        }
        names: Counter[str] = Counter()
        self._known = {}
        for world in worlds:
            names[world.name] += 1
            self._known[world.name, names[world.name]] = world.census.ordinal

    @property
    def idle(self) -> bool:
        """True if nothing of the plan happened in the run: it has only rules, and none of them decided anything."""
        return bool(self._plan) and not any(
            rules is None or not rules.isdisjoint(self._fired.get(world, ()))
            for world, rules in ((world, _rules(scenario)) for world, scenario in self._plan.items())
        )

    @property
    def unused(self) -> bool:
        """True if the scenarios in front have rules, and no world ever used one."""
        return bool(self._own) and not self.used

    # -- as the runtime calls it

    def before_open(self, world_id: str, blueprint: Blueprint, start: int | None) -> tuple[Blueprint, int | None]:
        """A world is about to open."""
        _, ordinal = self._place(world_id)
        self._bases[ordinal] = blueprint
        clock = self._plan.get(ordinal, {}).get("clock", {})
        return self._laid(ordinal, blueprint), instant(clock["start"]) if "start" in clock else start

    def after_open(self, hosted: HostedWorld) -> None:
        """A world has opened."""
        key, ordinal = self._place(hosted.world.id)
        self._opened[key] = self._ordinals[hosted] = ordinal

    def before_load(self, hosted: HostedWorld, blueprint: Blueprint) -> Blueprint:
        """A world gets another scenario."""
        ordinal = self._ordinals.get(hosted)
        return blueprint if ordinal is None else self._laid(ordinal, blueprint)

    def before_advance(self, hosted: HostedWorld, goal: Goal) -> Goal:
        """A tester is about to move a clock."""
        ordinal = self._ordinals.get(hosted, 0)
        plan = self._plan.get(ordinal, {})
        number = len(self._moves.get(hosted, ())) + 1
        ends = {advance["advance"]: duration(advance["to"]) for advance in plan.get("found", {}).get("advances", ())}
        end = ends.get(number)
        if end is None and self._plan and goal.way == "next":  # a misfortune is a step more, and the test counts others
            end = self._usual.get((ordinal, number))
        if end is None and goal.way == "by" and hosted.world.clock.mode == "manual" and _moving(plan):
            moves = self._moves.get(hosted)
            end = (moves[-1][1] if moves else hosted.world.start) + goal.value - hosted.world.start
        if end is None or hosted.world.start + end < hosted.world.now:
            return goal
        return Goal("to", hosted.world.start + end)

    def after_advance(self, hosted: HostedWorld, began: int) -> None:
        """A tester has moved a clock."""
        if hosted in self._ordinals:
            self._moves.setdefault(hosted, []).append((began, hosted.world.now))

    def before_close(self, hosted: HostedWorld) -> None:
        """A world is about to close."""
        ordinal, moves = self._ordinals.pop(hosted, None), self._moves.pop(hosted, [])
        if ordinal is not None:
            base = self._bases.pop(ordinal)
            fired = {key for book in hosted.world.rulebooks.values() for key in book.fired}
            self._fired[ordinal] = fired
            self.used |= fired & self._own
            if self._observing:
                self._observed[ordinal] = self._seen(hosted.world, ordinal, moves, base)

    # -- inside

    def _place(self, world_id: str) -> tuple[_Key, int]:
        """The place of the next world with this id."""
        name = world_id.removeprefix(self._prefix)
        key = name, 1 + sum(opened == name for opened, _ in self._opened)
        taken = set(self._opened.values())
        ordinal = self._known.get(key)
        if ordinal is None or ordinal in taken:
            ordinal = next(n for n in count(1) if n not in taken)
        return key, ordinal

    def _laid(self, ordinal: int, blueprint: Blueprint) -> Blueprint:
        """A blueprint with the plan of its world in front."""
        plan = self._plan.get(ordinal)
        fronts = self._fronts if plan is None else (plan, *self._fronts)
        try:
            laid = in_front(self._served.language, blueprint, fronts) if fronts else blueprint
            if self._fronts and plan is None:
                self._own |= {rule.key for key in LISTS for rule in laid.of(key) if rule not in blueprint.of(key)}
            return laid
        except ScenarioError as error:
            if plan is None:
                raise
            self._refused = self._refused or error
            return blueprint

    def _seen(self, world: World, ordinal: int, moves: Sequence[tuple[int, int]], base: Blueprint) -> ObservedWorld:
        return ObservedWorld(
            census(world, ordinal, moves, taken=world.outlets.captured, leaned=self._leaned(world)),
            tuple(self._lines(world)),
            iso(world.start),
            self._scenario(world, base),
            world.id.removeprefix(self._prefix),
        )

    def _leaned(self, world: World) -> Collection[str]:
        """The assumptions on which what happened in a world rests."""
        return finished(collect_in_slices(world, catalog(self._served))).leaned.keys()

    def _lines(self, world: World) -> list[Line]:
        journal = world.journal
        on = Observer(world, self._served.kinds)
        numbers = range(journal.first, len(journal))
        entries = [on.entry(number) for number in numbers]
        narrator = narrator_of(self._served.kinds, entries, finished(self._served.phones_by_id(world)))
        return [
            (journal.entry(number)[0] - world.start, line)
            for number, entry in zip(numbers, entries, strict=True)
            if (line := line_of(narrator, entry)) is not None
        ]

    def _scenario(self, world: World, base: Blueprint) -> JsonObject:
        language = self._served.language
        source = {"extends": base.name} if of_the_library(language, base) else {"include": [source_of(base)]}
        value, _ = scenario_of(language, world, build_script(world), source, self._served.exported)
        return value


def _moving(scenario: JsonMapping) -> bool:
    """True if a plan moves the clock before answers: the test moves it from where it would stand otherwise."""
    faults = (rule["fault"] for rule in scenario.get("api", ()))
    return any(
        issubclass(CALLS[kind], BeforeAnswer) for fault in faults if isinstance(fault, Mapping) for kind in fault
    )


def _rules(scenario: JsonMapping) -> set[str] | None:
    """The names of the rules of a plan; None if it has other parts too."""
    lists = [scenario.get(key, ()) for key in LISTS] + [scenario.get("verify", {}).get("rules", ())]
    if scenario.keys() - {"sendbox", "verify", *LISTS}:
        return None
    return {rule["name"] for rules in lists for rule in rules if "name" in rule} or None
