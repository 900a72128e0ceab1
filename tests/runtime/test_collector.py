"""The collector of a server of its own: small collections, and survivors out of its sight."""

from __future__ import annotations

import gc
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
