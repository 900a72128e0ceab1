"""The magic numbers, as the default scenario defines them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sendbox.scenario import library
from sendbox.scenario.model import Source

_MAGIC: Final = re.compile(r"(420777)\?{4}([0-9]{2})")
#: The free digits of the example numbers.
_FREE: Final = "0001"


class Magic(NamedTuple):
    """The digits that a magic number ends in, an example, and what happens to a message to it."""

    ends: str
    example: str
    meaning: str


def magic() -> list[Magic]:
    """Each magic number, in order of its ends.

    They are the entries of the default scenario that have a name and a number 420777????NN.
    """
    from sendbox.scenario.parse import parse

    root, _ = parse(library.path("default").read_text("utf-8"), Source("default"))
    assert root is not None
    rows = []
    for entry in root.mappings():
        conditions, name = entry.get("when") or entry, entry.get("name")
        number = conditions.get("phone") or conditions.get("number")
        match = _MAGIC.fullmatch(str(number.value)) if number is not None else None
        if match and name is not None:
            rows.append(Magic(match[2], f"{match[1]}{_FREE}{match[2]}", str(name.value)))
    return sorted(rows)
