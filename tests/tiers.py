"""How much of itself a test does: a sample in an ordinary run, everything in a deep one (`scripts/test deep`)."""

from __future__ import annotations

import os
from typing import Final

#: Whether everything is run.
DEEP: Final = os.environ.get("SENDBOX_DEEP") == "1"
#: So many times as many examples of a property are made up in a deep run.
MORE: Final = 25


def examples(count: int) -> int:
    """How many examples of a property are made up: `count` in an ordinary run."""
    return count * MORE if DEEP else count
