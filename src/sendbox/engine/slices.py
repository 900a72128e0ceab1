"""Work in slices: generators that pause now and then, so that the caller can do other work meanwhile."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def finished(work: Generator[None, None, T]) -> T:
    """Does the work without a pause, and returns what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
