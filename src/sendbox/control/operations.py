"""All operations: importing their modules enters them into the table."""

from __future__ import annotations

from typing import Final

from sendbox.control import codes, coverage, export, partner, pending, records, time, traffic, worlds
from sendbox.control.operation import OPERATIONS, Operation

#: Where operations are written.
MODULES: Final = (worlds, time, traffic, codes, partner, records, coverage, export, pending)


def load() -> dict[str, Operation]:
    """The table of all operations, by name."""
    return OPERATIONS
