"""The requests of a played scenario and their results, and all of it as plain objects, for `--format json`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from sendbox.control.operation import Served
from sendbox.engine import ENGINE
from sendbox.engine.answer import JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.durations import iso
from sendbox.engine.expect.explainer import FAILED
from sendbox.engine.expect.verdict import proves
from sendbox.engine.traffic import Counterexample, Traffic
from sendbox.engine.world import World
from sendbox.scenario.library import folder
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.views import message_view


class Asked(msgspec.Struct):
    """One request of the traffic, and its result.

    `status` None = no answer came, and `error` says why. `number` is that of its entry in the journal, None if it
    has none. `at` is the instant at which it was sent. `garbled` = the content type of the answer is JSON, but its
    body is not.
    """

    traffic: Traffic
    at: int
    status: int | None = None
    answer: Any = None
    error: str | None = None
    number: int | None = None
    #: False where a reference has no target
    sent: bool = True
    garbled: bool = False
    #: how many entries the journal had before; those up to `number` are effects of the request
    before: int | None = None

    @property
    def ok(self) -> bool:
        """True if it was sent, and its own expectation, if it has one, holds."""
        expected = self.traffic.statuses
        if not self.sent or (self.error is not None and self.status is None and not expected):
            return False
        return (not expected or (self.status or 0) in expected) and not self.differences

    @property
    def differences(self) -> list[str]:
        """Each value of its answer that is not as its entry expects."""
        return self.traffic.differences(self.answer)


class Played(msgspec.Struct):
    """The result of a scenario. `entries` are the journal's, rendered; `verdict` None = the scenario expects nothing.
    `unused` are the rules that never decided anything, `warnings` those of the verdict. `counterexamples` are those of
    the scenario, each with its own result.

    `sampled` says that the traffic is the built-in one; `stopped` that the time ended before the world was idle;
    `served` is what was played on.
    """

    blueprint: Blueprint
    world: World
    sampled: bool
    served: Served
    asked: list[Asked] = msgspec.field(default_factory=list)
    entries: list[JsonObject] = msgspec.field(default_factory=list)
    canonical: list[JsonObject] = msgspec.field(default_factory=list)
    verdict: JsonObject | None = None
    unused: list[JsonObject] = msgspec.field(default_factory=list)
    warnings: list[JsonObject] = msgspec.field(default_factory=list)
    counterexamples: list[tuple[Counterexample, Played]] = msgspec.field(default_factory=list)
    digest: str = ""
    order_sensitive: bool = False
    stopped: bool = False

    def __repr__(self) -> str:
        """The scenario's name and the digest alone: asyncio formats the result of a task when its runner ends."""
        return f"<Played {self.blueprint.name} {self.digest}>"

    @property
    def messages(self) -> list[Message]:
        """The messages of the world, in order of acceptance; none where no service sends any."""
        return Messaging.of(self.world).messages if Messaging.NAME in self.world.parts else []

    @property
    def by_id(self) -> Mapping[str, Message]:
        """The same by id."""
        return Messaging.of(self.world).by_id if Messaging.NAME in self.world.parts else {}

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the expectations that failed."""
        views = () if self.verdict is None else self.verdict["expectations"]
        return tuple(view["name"] for view in views if view["state"] == FAILED)

    @property
    def passed(self) -> bool:
        """True if every request had the result that its entry expects, the scenario's expectations were met, and each
        counterexample failed those that it names."""
        is_met = self.verdict is None or proves(self.verdict)
        answered = all(request.ok for request in self.asked)
        return is_met and answered and all(refutes(*counterexample) for counterexample in self.counterexamples)


def refutes(counterexample: Counterexample, played: Played) -> bool:
    """True if a counterexample fails the expectations that it names, and no other."""
    return {*counterexample.fails} == {*played.failed} and all(request.ok for request in played.asked)


def objects(played: Played) -> JsonObject:
    """Everything; `canonical` are the entries as the digest reads them, `entries` the same for people."""
    world = played.world
    return {
        "scenario": played.blueprint.name,
        "traffic": "sample" if played.sampled else "scenario",
        "world": world.id,
        "seed": world.seed_given,
        "from": iso(world.start),
        "to": iso(world.now),
        "stopped": played.stopped,
        "passed": played.passed,
        "verdict": None if played.verdict is None else _portable(played.verdict),
        "counterexamples": [
            {
                "name": counterexample.name,
                "fails": list(counterexample.fails),
                "failed": list(result.failed),
                "passed": refutes(counterexample, result),
                "digest": result.digest,
            }
            for counterexample, result in played.counterexamples
        ],
        "unused": _placed(played.unused),
        "digest": played.digest,
        "engine": ENGINE,
        "order_sensitive": played.order_sensitive,
        "requests": [_request_object(request) for request in played.asked],
        "messages": [message_view(world, message).json for message in played.messages],
        "entries": played.entries,
        "canonical": played.canonical,
    }


def _portable(verdict: JsonObject) -> JsonObject:
    """The verdict with places in library scenarios that are the same on every machine: the name of the file."""
    return {**verdict, **{name: _placed(verdict[name]) for name in ("expectations", "unused", "warnings")}}


def _placed(rows: list[JsonObject]) -> list[JsonObject]:
    library = f"{folder()}{os.sep}"
    return [{**row, "place": row["place"] and row["place"].removeprefix(library)} for row in rows]


def _request_object(request: Asked) -> JsonObject:
    traffic = request.traffic
    return {
        "at": iso(request.at),
        "name": traffic.name,
        "operation": traffic.operation,
        "status": request.status,
        "expected": traffic.statuses[0] if len(traffic.statuses) == 1 else list(traffic.statuses) or None,
        "differences": request.differences,
        "ok": request.ok,
        "error": request.error,
        "answer": request.answer,
        "entry": request.number,
    }
