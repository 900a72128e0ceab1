"""Which tests run which lines: a plugin of pytest for a run under coverage, and the reader of what it leaves."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import coverage
import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

COSTS = "SENDBOX_MUTATION_COSTS"
"""Name of the environment variable with the folder into which each process writes what its tests cost."""

_costs: dict[str, float] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Lines run from here on belong to this test."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid)
    before = time.process_time()
    try:
        return (yield)
    finally:
        _costs[item.nodeid] = time.process_time() - before
        if measured is not None:
            measured.switch_context("")


def pytest_sessionfinish() -> None:
    """Each process has a file of its own."""
    folder = os.environ.get(COSTS)
    if folder and _costs:
        with open(os.path.join(folder, f"costs-{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump(_costs, file)


@dataclass(slots=True)
class Coverings:
    """Tests by the lines that they run, and what each test costs, in seconds of processor time."""

    costs: dict[str, float]
    data: coverage.CoverageData

    @classmethod
    def read(cls, folder: Path) -> Coverings:
        """What a run with this plugin left in `folder`."""
        costs: dict[str, float] = {}
        for path in sorted(folder.glob("costs-*.json")):
            costs |= json.loads(path.read_text("utf-8"))
        data = coverage.CoverageData(str(folder / "coverage"))
        data.read()
        return cls(costs, data)

    def of_lines(self, path: Path, lines: Iterable[int]) -> tuple[set[str], bool]:
        """The tests that run one of these lines, and whether an import runs one as well.

        Not to be called in a forked process: there coverage begins a new file in place of this one.
        """
        by_line = self.data.contexts_by_lineno(str(path))
        contexts = {context for line in lines for context in by_line.get(line, ())}
        return {context for context in contexts if context in self.costs}, "" in contexts
