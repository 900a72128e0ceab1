"""Advice on phone numbers, whichever service is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.services.advice import NUMBER_DOUBTFUL, advise
from sendbox.services.numbers import normal as numbers

if TYPE_CHECKING:
    from sendbox.engine.remarks import Advice


def remark_number(number: str, path: str, advice: list[Advice]) -> None:
    """Advice on a normalized number that looks wrong for its country; it is sent to all the same (A14)."""
    if numbers.doubtful(number):
        advice.append(advise(NUMBER_DOUBTFUL, f'"{number}" {numbers.doubt(number)}; it is sent to all the same', path))
