"""The blacklist and the opt-out list, as a client adds to them (§2.5, §4.4; A27, A70, A81)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from sendbox.engine.journal import CODE
from sendbox.services.account.account import Account
from sendbox.services.assume import Assume
from sendbox.services.numbers import normal as numbers

if TYPE_CHECKING:
    from collections.abc import Generator

    from sendbox.engine.world import World
    from sendbox.services.ports import Billing

ListName = Literal["blacklist", "optout"]

_LINE: Final = re.compile(r"[^\r\n]+")
#: How many lines are read between two pauses.
_SLICE: Final = 200
#: So many lines in another form are named.
NAMED: Final = 10


class Listed(NamedTuple):
    """The result of a call: how many lines were numbers, and the lines that were not.

    `converted` has the first lines that were written in another form, with their numbers.
    """

    accepted: int
    invalid: list[str]
    converted: tuple[tuple[str, str], ...] = ()


def enter(world: World, name: ListName, billing: Billing, text: str) -> Generator[None, None, Listed]:
    """Enters the numbers of a text, one on each line, in force after `list_delay`; with pauses.

    A number that is on the list already is unchanged. The generator returns the result; blank lines are
    ignored.
    """
    entries = billing.blacklist if name == "blacklist" else billing.optout
    country = Account.of(world).country
    since = world.clock.now + Assume.of(world).list_delay
    invalid: list[str] = []
    new: dict[str, None] = {}
    accepted = 0
    converted: dict[str, str] = {}
    for count, match in enumerate(_LINE.finditer(text), 1):
        line = match.group().strip()
        number = numbers.normalize(line, country) if line else None
        if number is not None:
            accepted += 1
            if number != line and len(converted) < NAMED:
                converted[line] = number
            if entries.setdefault(number, since) == since:
                new[number] = None
        elif line:
            invalid.append(line)
        if count % _SLICE == 0:
            yield
    if new:
        billing.complete_at = since
        world.journal.add(world.clock.now, CODE["listed"], (name, billing.subid, tuple(new)))
    return Listed(accepted, invalid, tuple(converted.items()))
