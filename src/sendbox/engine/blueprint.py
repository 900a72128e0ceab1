"""A blueprint: a compiled scenario, immutable and shared by every world that is opened from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.durations import Moment
from sendbox.engine.faults.calls import ApiRule
from sendbox.engine.plan import NO_PLAN, Plan

if TYPE_CHECKING:
    from sendbox.engine.expect.expectation import Expectation
    from sendbox.engine.timeline import Handler, Mode, Timeline
    from sendbox.engine.traffic import Counterexample, ReceiverBehavior, Traffic


class TimelineEntry(msgspec.Struct, frozen=True):
    """An entry of `timeline`: `at` in milliseconds, from the start of the epoch when `relative`, else an instant.

    `what` is how it was written, as the journal shows it; `means` what was compiled from it, where that is not the
    same; draws are keyed by `key`. With `every` it happens again after so many milliseconds each, before `until`;
    `ordinal` counts how often it happened before. `id` is its own in the world.
    """

    at: int
    relative: bool
    kind: str
    what: JsonObject
    place: str | None = None
    means: Any = None
    key: str = ""
    every: int = 0
    until: Moment | None = None
    ordinal: int = 0
    id: str = ""

    def due(self, start: int) -> int:
        """The instant of its first time, where the epoch began at `start`."""
        return start + self.at if self.relative else max(start, self.at)

    def again(self, timeline: Timeline, handler: Handler, now: int, start: int) -> None:
        """Schedules its next time, after one that is now; nothing if it does not happen again."""
        if self.until is not None and (at := now + self.every) < self.until.instant(start):
            later = replace(self, at=at, relative=False, ordinal=self.ordinal + 1)
            timeline.at(at, -1, handler, later)


class Written(Struct, frozen=True):
    """The text of a scenario as it was given; `file` is what places in it begin with, which may be only a name."""

    file: str
    text: str
    is_file: bool


class Blueprint(msgspec.Struct, frozen=True, kw_only=True):
    """All that a scenario settles. `start` in virtual milliseconds, None = the present second when a world opens.

    `compiled` is what each service compiled from its keys of the language, by key: records, or tuples of records.
    `assume` are the settings of the assumptions, which the services share.
    """

    name: str = "empty"
    seed: int | str = 0
    mode: Mode | None = None
    start: int | None = None
    rate: float = 1.0
    compiled: JsonMapping
    timeline: tuple[TimelineEntry, ...] = ()
    assume: Any
    digest_ignore: tuple[str, ...] = ()
    #: the operations that a client's tests are to try
    coverage: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = ()
    #: what a sample client sends; only `play` and tests look at it
    traffic: tuple[Traffic, ...] = ()
    #: how a sample receiver answers; only `play` looks at it
    receiver: tuple[ReceiverBehavior, ...] = ()
    #: clients that must not pass; only `play` looks at them
    counterexamples: tuple[Counterexample, ...] = ()
    api: tuple[ApiRule, ...] = ()
    webhooks: tuple[WebhookRule, ...] = ()
    #: what some draws are to give
    plan: Plan = NO_PLAN
    #: the scenario as it stands in files, merged with all that it builds on; None if it never was one
    source: JsonObject | None = None
    #: its own text; None for one of the library, an object, and several together
    written: Written | None = None

    def of(self, key: str) -> Any:
        """The value that the scenario has for a key of the language, one of a service or one of the engine."""
        return self.compiled[key] if key in self.compiled else getattr(self, key)
