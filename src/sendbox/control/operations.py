"""All operations: importing their modules enters them into the table."""

from __future__ import annotations

from typing import Final

from sendbox.control import codes, coverage, partner, pending, records, time, traffic, worlds
from sendbox.control.export import export
from sendbox.control.operation import OPERATIONS, Operation

#: Where operations are written, in the order in which they are listed, whoever is imported first.
MODULES: Final = (codes, coverage, records, export, partner, pending, worlds, time, traffic)
_PLACES: Final = {module.__name__: place for place, module in enumerate(MODULES)}
_ALL: Final = {row.name: row for row in sorted(OPERATIONS.values(), key=lambda row: _PLACES[row.function.__module__])}


def load() -> dict[str, Operation]:
    """The table of all operations, by name."""
    return _ALL
