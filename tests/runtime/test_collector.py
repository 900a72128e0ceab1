"""The collector of a server of its own: small collections, and survivors out of its sight."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from sendbox.runtime import collector


@pytest.fixture
def plain() -> Iterator[None]:
    """Whatever a test does, the collector is its own again afterwards."""
    yield
    collector.untune()
    gc.freeze()  # as tests/conftest.py left it


@pytest.mark.usefixtures("plain")
def test_survivors_are_frozen() -> None:
    """What a collection of the second generation leaves is not looked at again."""
    collector.tune()
    kept = [[number] for number in range(5_000)]
    frozen = gc.get_freeze_count()
    gc.collect(1)
    assert gc.get_freeze_count() >= frozen + 1
    assert len(kept) == 5_000


@pytest.mark.usefixtures("plain")
def test_tuned_twice_it_is_tuned_once() -> None:
    """`tune` may be called again, and one `untune` is enough."""
    before = gc.get_threshold()
    collector.tune()
    collector.tune()
    assert gc.get_threshold() == collector.THRESHOLDS
    assert gc.callbacks.count(collector._freeze) == 1
    collector.untune()
    assert gc.get_threshold() == before
    assert collector._freeze not in gc.callbacks
    collector.untune()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


@pytest.mark.usefixtures("plain")
def test_a_young_collection_freezes_nothing() -> None:
    """What is about to be freed by its counts is given the time for it."""
    collector.tune()
    gc.disable()
    try:
        frozen = gc.get_freeze_count()
        kept = [[number] for number in range(100)]
        gc.collect(0)
        assert gc.get_freeze_count() < frozen + len(kept)  # what was frozen before may be freed meanwhile
    finally:
        gc.enable()


@pytest.mark.usefixtures("plain")
def test_cycles_of_a_block_are_freed_and_not_frozen() -> None:
    """What is made in the block and is garbage at its end is gone, however often the collector ran meanwhile."""
    collector.tune()
    seen: list[weakref.ref[Ring]] = []
    with collector.collecting():
        ring = Ring()
        seen.append(weakref.ref(ring))
        gc.collect(1)
        assert gc.is_tracked(ring)
        del ring
    assert [ref() for ref in seen] == [None]


@pytest.mark.usefixtures("plain")
def test_frozen_cycles_are_freed_on_demand() -> None:
    """A process without memory collects everything, once; without `tune` the collector is left alone."""
    collector.collect()
    collector.tune()
    seen = weakref.ref(Ring())
    gc.freeze()
    gc.collect()
    assert seen() is not None
    collector.collect()
    assert seen() is None
    assert gc.get_freeze_count() > 0


class Ring:
    """A cycle."""

    def __init__(self) -> None:
        self.ring = self
