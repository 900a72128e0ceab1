"""Phone numbers that a call names, normalized with advice, whichever service is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.contract.findings import show
from sendbox.services.advice import NUMBER_CONVERTED, NUMBER_DOUBTFUL, NUMBER_INVALID, advise
from sendbox.services.numbers import normal as numbers

if TYPE_CHECKING:
    from sendbox.engine.remarks import Advice


def remark_number(number: str, path: str, advice: list[Advice]) -> None:
    """Advice on a normalized number that looks wrong for its country; it is used anyway (A14)."""
    if numbers.doubtful(number):
        advice.append(advise(NUMBER_DOUBTFUL, f'"{number}" {numbers.doubt(number)}; it is used anyway', path))


def remark_converted(raw: str, number: str, path: str, advice: list[Advice], section: str | None = None) -> None:
    """Advice on a number that was written in another form."""
    if number != raw:
        advice.append(advise(NUMBER_CONVERTED, f"{show(raw)} is converted to {number}", path, section))


def remark_recipient(
    raw: str, number: str | None, path: str, advice: list[Advice], fate: str = "will be rejected"
) -> None:
    """Advice on a recipient as it was given, and its number; None for a recipient that cannot be normalized.

    `fate` says what happens to a recipient that cannot be normalized.
    """
    if number is None:
        text = f"{show(raw)} cannot be normalized to a number in international format and {fate}"
        advice.append(advise(NUMBER_INVALID, text, path))
        return
    remark_converted(raw, number, path, advice)
    remark_number(number, path, advice)
