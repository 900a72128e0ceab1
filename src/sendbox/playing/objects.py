"""A played scenario as plain objects, for `--format json`, which `sendbox diff` reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sendbox.engine import ENGINE
from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import iso
from sendbox.playing.play_result import refutes
from sendbox.scenario.library import folder
from sendbox.services.messaging.views import message_view

if TYPE_CHECKING:
    from sendbox.playing.play_result import Asked, Played


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
        "verdict": None if played.verdict is None else _anywhere(played.verdict),
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
        "requests": [_asked(request) for request in played.asked],
        "messages": [message_view(world, message).json for message in played.messages],
        "entries": played.entries,
        "canonical": played.canonical,
    }


def _anywhere(verdict: JsonObject) -> JsonObject:
    """The verdict with places in library scenarios that are the same on every machine: the name of the file."""
    return {**verdict, **{name: _placed(verdict[name]) for name in ("expectations", "unused", "warnings")}}


def _placed(rows: list[JsonObject]) -> list[JsonObject]:
    library = f"{folder()}{os.sep}"
    return [{**row, "place": row["place"] and row["place"].removeprefix(library)} for row in rows]


def _asked(request: Asked) -> JsonObject:
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
