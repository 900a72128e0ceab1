"""What a tester did, as entries of a scenario's `timeline`, and the reasons where there is none that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sendbox.control.export.rows import Done, Exported, NoEntry, before
from sendbox.engine.journal import CODE
from sendbox.services.numbers.normal import normalize
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.engine.world import World

_NONE: Final = Exported()


def entry_of(world: World, step: Done, exported: Mapping[str, Exported], *, strict: bool = False) -> dict[str, Any]:
    """The entry of a timeline that does what was done, without its instant. Raises `NoEntry`.

    With `strict` also where anything at all came first at its instant.
    """
    row = exported.get(step.what, _NONE)
    if row.entry is None or step.refused:
        raise NoEntry("no entry of a timeline does that")
    entry = row.entry(world, step)
    phone = None
    if row.by_phone:
        text = str(step.detail["number"])
        phone = normalize(text, account_of(world).country) or text
    sooner = {CODE[kind]: kind for kind in row.sooner}
    for at, code, what in before(world, step):
        if at < step.at:
            break
        if strict and code != CODE["control"]:
            raise NoEntry("something came first at that instant, and an entry of a timeline comes before it")
        if code in sooner and phone in (None, what.message.phone):
            text = f"what was due at that instant came first ({what.message.phone} {sooner[code]})"
            raise NoEntry(f"{text}, and an entry of a timeline comes before that")
    return entry
