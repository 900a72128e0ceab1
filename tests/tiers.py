"""How much of itself a test does: a sample in an ordinary run, everything in a deep one (`scripts/test deep`).

A test that an ordinary run leaves out as a whole has the marker `deep`; of one with the marker `sample(n)` an ordinary
run does every n-th case. `tests/conftest.py` carries both out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

#: Whether everything is run.
DEEP: Final = os.environ.get("SENDBOX_DEEP") == "1"
#: So many times as many examples of a property are made up in a deep run.
MORE: Final = 25
#: Seconds that a long test may take on a busy machine; `timeout` of pyproject.toml is for all others.
LONG: Final = 3_600 if DEEP else 600


def examples(count: int, deep: int | None = None) -> int:
    """How many examples of a property are made up: `count` in an ordinary run, `deep` or `MORE` times as many else."""
    return (deep or count * MORE) if DEEP else count


def turn(values: Sequence[T], number: int, parts: int) -> Sequence[T]:
    """The values that the place with this number gets: one part of them in an ordinary run, so that its neighbours
    get the others."""
    return values if DEEP else values[number % parts :: parts]
