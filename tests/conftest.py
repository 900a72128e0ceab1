"""What every test shares: how hypothesis draws, what the garbage collector looks at, and what coverage measures."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests import answers
from tests.tiers import DEEP, LONG, examples

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
# A shell has what it starts in the background ignore Ctrl-C, and every program that a test starts would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Where workers do the tests, no tracer follows the process that hands them out: it runs nothing of ours."""
    if config.getoption("numprocesses", None):
        sys.settrace(None)
        threading.settrace(None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """No tracer follows an unmeasured test, nor a program that it starts."""
    if not _unmeasured(item):
        return (yield)
    tracer = sys.gettrace()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        sys.settrace(None)
        try:
            return (yield)
        finally:
            sys.settrace(tracer)


def _unmeasured(item: pytest.Item) -> bool:
    """True for a test that is marked so, and for a property: what is drawn does not decide what is covered."""
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return drawn or item.get_closest_marker("unmeasured") is not None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without the garbage collector, and then keeps it from modules and tests, which all stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """An ordinary run leaves out what is marked `deep` and does a part of what is marked `sample`; in a deep one every
    test may take long. Under a tracer what is unmeasured comes last: what is remembered from then on is measured."""
    if sys.gettrace():
        items.sort(key=_unmeasured)
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


@pytest.fixture(autouse=True)
def _answers_keep_to_the_contract() -> Generator[None, None, None]:
    """What control answered in a test was as its contract says."""
    yield
    wrong, answers.VIOLATIONS[:] = answers.VIOLATIONS[:], []
    assert wrong == []
