"""Watches the worlds of one run: lays a plan over each as it opens, and says afterwards what happened in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sendbox.engine.clock import Goal
from sendbox.engine.durations import duration, instant, iso
from sendbox.engine.kinds.narration import Names, Teller
from sendbox.engine.kinds.rows import Observer
from sendbox.exploring.census import Census, census
from sendbox.exploring.front import in_front
from sendbox.runtime.watch import Watch
from sendbox.scenario.model import ScenarioError
from sendbox.services.messaging.messaging import Messaging

if TYPE_CHECKING:
    from sendbox.control.operation import Served
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.world import World
    from sendbox.runtime.slot import Hosted
    from sendbox.runtime.worlds import Runtime

#: A line of a story: milliseconds from the start of the world, and what happened.
Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Observed:
    """A world after its run: its census, its entries in words, and the scenario that does the same again."""

    census: Census
    lines: tuple[Line, ...]
    start: str
    scenario: Mapping[str, Any]


class Watcher(Watch):
    """The watch of one server. `fronts` stand in front of every world, the plan's scenarios in front of them."""

    def __init__(self, served: Served, fronts: Sequence[Mapping[str, Any]] = ()) -> None:
        self._served = served
        self._fronts = tuple(fronts)
        self._plan: Mapping[int, Mapping[str, Any]] = {}
        self._observing = False
        self._worlds: list[Hosted] = []
        #: what each world would have been opened from without a plan
        self._bases: list[Blueprint] = []
        self._moves: dict[int, list[tuple[int, int]]] = {}
        self._observed: dict[int, Observed] = {}
        #: why a scenario could not be laid in front
        self._refused: ScenarioError | None = None

    def begin(self, plan: Mapping[int, Mapping[str, Any]], *, observing: bool) -> None:
        """A run begins; `plan` has a scenario for each world that it is about, by its ordinal."""
        self._plan = plan
        self._observing = observing
        self._worlds, self._bases, self._moves, self._observed = [], [], {}, {}

    def end(self, runtime: Runtime) -> list[Observed]:
        """The run has ended: its worlds, in the order in which they were opened.

        Raises `ScenarioError` where a scenario could not be laid in front of a world.
        """
        for hosted in list(runtime.worlds.values()):
            self.closes(hosted)
        self._worlds = []
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused
        return [self._observed[ordinal] for ordinal in sorted(self._observed)]

    # -- as the runtime calls it

    def opens(self, blueprint: Blueprint, start: int | None) -> tuple[Blueprint, int | None]:
        """A world is about to open."""
        ordinal = len(self._worlds) + 1
        self._bases[ordinal - 1 :] = [blueprint]
        clock = self._plan.get(ordinal, {}).get("clock", {})
        return self._laid(ordinal, blueprint), instant(clock["start"]) if "start" in clock else start

    def opened(self, hosted: Hosted) -> None:
        """A world has opened."""
        self._worlds.append(hosted)

    def loads(self, hosted: Hosted, blueprint: Blueprint) -> Blueprint:
        """A world gets another scenario."""
        return self._laid(self._ordinal(hosted), blueprint) if hosted in self._worlds else blueprint

    def advances(self, hosted: Hosted, goal: Goal) -> Goal:
        """A tester is about to move a clock."""
        if hosted not in self._worlds:
            return goal
        number = len(self._moves.get(id(hosted), ())) + 1
        for other in self._plan.get(self._ordinal(hosted), {}).get("found", {}).get("advances", ()):
            end = hosted.world.start + duration(other["to"])
            if other["advance"] == number and end >= hosted.world.now:
                return Goal("to", end)
        return goal

    def advanced(self, hosted: Hosted, began: int) -> None:
        """A tester has moved a clock."""
        self._moves.setdefault(id(hosted), []).append((began, hosted.world.now))

    def closes(self, hosted: Hosted) -> None:
        """A world is about to close."""
        if self._observing and hosted in self._worlds:
            self._observed[self._ordinal(hosted)] = self._seen(hosted)

    # -- inside

    def _ordinal(self, hosted: Hosted) -> int:
        return self._worlds.index(hosted) + 1

    def _laid(self, ordinal: int, blueprint: Blueprint) -> Blueprint:
        """A blueprint with the plan of its world in front."""
        plan = self._plan.get(ordinal)
        fronts = self._fronts if plan is None else (plan, *self._fronts)
        try:
            return in_front(self._served.language, blueprint, fronts) if fronts else blueprint
        except ScenarioError as error:  # a client must not see it: it is not the client's
            self._refused = self._refused or error
            return blueprint

    def _seen(self, hosted: Hosted) -> Observed:
        world = hosted.world
        taken = world.outlets.captured or hosted.deliverer is not None or hosted.pulling
        return Observed(
            census(world, self._ordinal(hosted), self._moves.get(id(hosted), ()), taken=taken),
            tuple(self._lines(world)),
            iso(world.start),
            self._scenario(world, self._bases[self._ordinal(hosted) - 1]),
        )

    def _lines(self, world: World) -> list[Line]:
        journal = world.journal
        on = Observer(world, self._served.kinds)
        numbers = range(journal.first, len(journal))
        entries = [on.entry(number) for number in numbers]
        sent = {message.id: message.phone for message in Messaging.of(world).messages}
        teller = Teller(self._served.kinds.told, Names(), entries, places=True, sent=sent)
        lines = []
        for number, entry in zip(numbers, entries, strict=True):
            narration = teller.tell(entry)
            if narration is not None:
                lines.append((journal.entry(number)[0] - world.start, str(entry.get("message") or narration.line)))
        return lines

    def _scenario(self, world: World, base: Blueprint) -> dict[str, Any]:
        from sendbox.control.export.scenario import scenario_of
        from sendbox.control.export.script import script
        from sendbox.control.export.source import of_the_library, source_of

        language = self._served.language
        source = {"extends": base.name} if of_the_library(language, base) else {"include": [source_of(base)]}
        value, _ = scenario_of(language, world, script(world), source, self._served.exported)
        return value
