"""What every test shares: how hypothesis draws, what the garbage collector looks at, and what coverage measures."""

from __future__ import annotations

import gc
import os
import signal
import ssl
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from xdist.workermanage import NodeManager  # type: ignore[import-untyped]  # it has no types

from tests import answers
from tests.tiers import DEEP, LONG, examples, unmeasured_files

#: True where coverage is measured.
_MEASURING: Final = sys.gettrace() is not None
_UNMEASURED: Final = unmeasured_files()


def _remember_authorities() -> None:
    """Reads each file of authorities once: a client of httpx reads one when it is made, and most tests make one."""
    make = ssl.create_default_context
    remembered = cache(lambda cafile: make(cafile=cafile))

    def create_default_context(*arguments: Any, **options: Any) -> ssl.SSLContext:
        alone = not arguments and options.keys() == {"cafile"}
        return remembered(options["cafile"]) if alone else make(*arguments, **options)

    ssl.create_default_context = create_default_context


# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile("here", deadline=None, max_examples=examples(20, 1_000))
# The same examples on every run, so that a red build is about its change.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=examples(20, 1_000),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "here")
answers.watch()
_remember_authorities()
# A shell has what it starts in the background ignore Ctrl-C, and every program that a test starts would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Where workers do the tests, no tracer follows the process that hands them out: it runs nothing of ours.

    It waits for each worker: one that is killed at its end loses what was measured in it.
    """
    if config.getoption("numprocesses", None):
        NodeManager.EXIT_TIMEOUT = LONG
        sys.settrace(None)
        threading.settrace(None)


def pytest_unconfigure() -> None:
    """No collection at the end walks modules and tests, which a test may have shown to the collector again."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """No tracer follows an unmeasured test, nor a program that it starts."""
    if not _MEASURING or not _unmeasured(item):
        return (yield)
    with _untraced():
        return (yield)


@contextmanager
def _untraced() -> Generator[None, None, None]:
    """No tracer follows this thread, threads that it starts, and programs; none takes SIGTERM to save what it has."""
    tracer, tracer_of_threads = sys.gettrace(), threading.gettrace()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        sys.settrace(None)
        threading.settrace(None)
        handler = signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, handler)
            sys.settrace(tracer)
            threading.settrace(tracer_of_threads)


def _unmeasured(item: pytest.Item) -> bool:
    """True for a test that is marked so, and for a property: what is drawn does not decide what is covered."""
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return drawn or item.path in _UNMEASURED or item.get_closest_marker("unmeasured") is not None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without the garbage collector, and then keeps it from modules and tests, which all stay to the end.

    All workers collect the same, so a tracer follows the first one: what is remembered from then on is measured.
    """
    gc.disable()
    try:
        if not _MEASURING or os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
            return (yield)
        with _untraced():
            return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 100)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """An ordinary run leaves out what is marked `deep` and does a part of what is marked `sample`; in a deep one every
    test may take long."""
    if DEEP:
        for item in items:
            if not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(LONG))
        return
    cases: Counter[tuple[object, ...]] = Counter()
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        sample = item.get_closest_marker("sample")
        part = 0
        if sample is not None:
            test = (item.path, item.parent, getattr(item, "originalname", item.name))
            part = cases[test] % sample.args[0]
            cases[test] += 1
        (left if part or item.get_closest_marker("deep") else chosen).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = chosen
    if _MEASURING:
        items[:] = _measured_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _measured_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in an order by which each worker, of which each gets a part in a row, begins with those that are
    measured: what is remembered from then on is measured."""
    halves = [item for item in items if not _unmeasured(item)], [item for item in items if _unmeasured(item)]
    return [
        item
        for number in range(workers)
        for half in halves
        for item in half[len(half) * number // workers : len(half) * (number + 1) // workers]
    ]


@pytest.fixture(autouse=True)
def _answers_keep_to_the_contract() -> Generator[None, None, None]:
    """What control answered in a test was as its contract says."""
    yield
    wrong, answers.VIOLATIONS[:] = answers.VIOLATIONS[:], []
    assert wrong == []
