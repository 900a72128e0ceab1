"""Doubts: what a scenario says that can be used, and is probably not meant. They are warnings of `sendbox check`.

A doubt is asked of what is sound only: an entry with a problem of its own has no meaning yet. Rules are compared with
rules of the same file, since putting one's own before those of another scenario is what building on it is for.
"""

from __future__ import annotations

from sendbox.scenario.lint import lengths, reach, shadows, spelling
from sendbox.scenario.lint.doubts import Doubts
from sendbox.scenario.model import Node, Problem
from sendbox.services.blueprint import Blueprint


def doubts_of(root: Node, blueprint: Blueprint, problems: list[Problem]) -> list[Problem]:
    """Every doubt about a scenario; `problems` are those that it has already."""
    doubts = Doubts(root, blueprint, problems)
    for find in (shadows.find, reach.find, lengths.find, spelling.find):
        find(doubts)
    return doubts.found
