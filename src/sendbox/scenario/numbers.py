"""The magic numbers, as the default scenario defines them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sendbox.scenario import library
from sendbox.scenario.model import Node, Source

_MAGIC: Final = re.compile(r"(420777)\?{4}([0-9]{2})")
#: The free digits of the example numbers.
_FREE: Final = "0001"


def magic() -> list[tuple[str, str, str]]:
    """Suffix, an example and the meaning of each magic number, by suffix.

    They are the entries of the default scenario that have a name and a number 420777????NN.
    """
    from sendbox.scenario.parse import parse

    root, _ = parse(library.path("default").read_text("utf-8"), Source("default"))
    assert root is not None
    found = []
    for entry in _mappings(root):
        asked, name = entry.get("when") or entry, entry.get("name")
        number = asked.get("phone") or asked.get("number")
        match = _MAGIC.fullmatch(str(number.value)) if number is not None else None
        if match and name is not None:
            found.append((match[2], f"{match[1]}{_FREE}{match[2]}", str(name.value)))
    return sorted(found)


def _mappings(node: Node) -> Iterator[Node]:
    if node.entries():
        yield node
    for inner in (*node.entries().values(), *node.items()):
        yield from _mappings(inner)
