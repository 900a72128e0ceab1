"""The magic numbers, as the default scenario defines them."""

from __future__ import annotations

import re
from typing import Final

from sendbox.scenario import library
from sendbox.scenario.read import read

_MAGIC: Final = re.compile(r"(420777)\?{4}([0-9]{2})")
#: The free digits of the example numbers.
_FREE: Final = "0001"


def magic() -> list[tuple[str, str, str]]:
    """Suffix, an example and the meaning of each magic number, by suffix.

    They are the rules and phones of the default scenario that have a name and a number 420777????NN.
    """
    node, _, _ = read(library.path("default"))
    assert node is not None
    found = []
    parts = node.entries()
    for entries in (parts["attempts"], parts["phones"], parts["verify"].entries()["rules"]):
        for entry in entries.items():
            asked = entry.get("when")
            number = entry.get("number") if asked is None else asked.get("phone")
            name = entry.get("name")
            match = _MAGIC.fullmatch(str(number.value)) if number is not None else None
            if match and name is not None:
                found.append((match[2], f"{match[1]}{_FREE}{match[2]}", str(name.value)))
    return sorted(found)
