"""A world as it is observed, with the rows of all services."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from sendbox.app import SERVED
from sendbox.engine import digest as digests
from sendbox.engine.coverage import Catalog, Collected, collect_in_slices
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.digest import finished
from sendbox.engine.expect import verdict as verdicts
from sendbox.engine.expect.expectation import Expectation
from sendbox.engine.expect.subjects import Occurrence, occurrences_of
from sendbox.engine.kinds import engine_kinds
from sendbox.engine.kinds.rows import Line, Observer
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from tests.scenarios import load


def entry_view(world: World, number: int) -> dict[str, Any]:
    return Observer(world, SERVED.kinds).entry(number)


def delivery_view(world: World, delivery: Delivery) -> dict[str, Any]:
    return engine_kinds.delivery_view(Observer(world, SERVED.kinds), delivery).json


def collect(world: World, catalog: Catalog, first: int = 0) -> Collected:
    return finished(collect_in_slices(world, catalog, first))


def digest(world: World) -> str:
    return digests.digest(world, SERVED.kinds)


def digest_in_slices(world: World) -> Generator[None, None, str]:
    return digests.digest_in_slices(world, SERVED.kinds)


def canonical_in_slices(world: World) -> Generator[None, None, list[Line]]:
    return digests.canonical_in_slices(world, SERVED.kinds)


def occurrences(world: World, that: str) -> Iterator[Occurrence | None]:
    return occurrences_of(world, SUBJECTS[that])


def verdict(world: World, expectations: Iterable[Expectation] | None = None) -> dict[str, Any]:
    return finished(verdict_in_slices(world, world.expect if expectations is None else expectations))


def verdict_in_slices(world: World, expectations: Iterable[Expectation]) -> Generator[None, None, dict[str, Any]]:
    compiled = load("default").compiled
    usual = (*compiled["attempts"], *compiled["verify"])
    return verdicts.verdict_in_slices(world, SUBJECTS, expectations, usual)
