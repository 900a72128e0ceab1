"""The words that editors complete in a scenario, and underline where they are wrong.

`sendbox check` reads these words by tables of the code and says more about them, so it holds a node with `x-checked` to
the definition of that name instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sendbox.engine.expect.subjects import Field
from sendbox.engine.forms import Node, reference, switch, text, word
from sendbox.scenario.environment import MARK

#: What is legal beside words, as definitions of the schema: a value of the environment, patterns, and numbers.
DEFINITIONS: Final[dict[str, Node]] = {
    "environment": text("A value of the environment.", "a value of the environment", pattern=re.escape(MARK)).node,
    "textPattern": text(
        "A pattern; * stands for any characters.", "a text pattern", pattern="[*]", examples=["*"]
    ).node,
    "numbers": {
        "description": "A number, or a range of numbers.",
        "type": ["integer", "string"],
        "pattern": "^([<>]=? *)?[0-9]+([.][.][0-9]*)?$(?!\n)",
        "examples": [2, ">=2", "2..5"],
        "x-says": "a number or a range",
    },
}
#: What is legal beside words, by the kind of a field.
_OTHERS: Final = {
    "text": reference("textPattern").node,
    "number": reference("numbers").node,
    "flag": switch("True or false.").node,
}


def with_words(node: Node, words: Iterable[str], *others: Node, **rules: Any) -> Node:
    """A node of which these words are legal."""
    legal = [word("A word.", dict.fromkeys(words), "a word").node, *others, reference("environment").node]
    union = [branch for branch in legal if branch.get("enum") != []]
    return {"description": node["description"], "anyOf": union, "x-says": node["x-says"], **rules}


def legal_values(rows: Sequence[Field]) -> Node | None:
    """The legal values of a field of `where`, in all subjects that have it; None: it takes any value."""
    if not all(row.words or row.kind in ("number", "flag") for row in rows):
        return None
    others = [node for kind, node in _OTHERS.items() if kind in {row.kind for row in rows}]
    one = {"description": "One value.", "x-says": "a value"}
    return with_words(one, (legal for row in rows for legal in row.words), *others)
