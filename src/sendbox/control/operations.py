"""All operations: importing their modules enters them into the table."""

from __future__ import annotations

from functools import cache
from typing import Final

from sendbox.control import codes, coverage, partner, pending, records, time, traffic, worlds
from sendbox.control.export import export
from sendbox.control.operation import OPERATIONS, Operation

#: Where operations are written, in the order of the documentation.
MODULES: Final = (worlds, time, traffic, codes, partner, records, coverage, export, pending)
#: The order in which the contract has them.
_IN_CONTRACT: Final = (codes, coverage, records, export, partner, pending, worlds, time, traffic)


@cache
def load() -> dict[str, Operation]:
    """The table of all operations, by name, in the order of the contract."""
    places = {module.__name__: place for place, module in enumerate(_IN_CONTRACT)}
    return dict(sorted(OPERATIONS.items(), key=lambda item: places[item[1].function.__module__]))
