"""What a tester did, as entries of a scenario's `timeline`, and the reasons where there is none that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sendbox.control.export.rows import Act, Exported, NoEntry, before
from sendbox.engine.journal import CODE
from sendbox.services.numbers.normal import normalize
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.engine.world import World

_NONE: Final = Exported()


def entry_of(world: World, step: Act, exported: Mapping[str, Exported]) -> dict[str, Any]:
    """The entry of a timeline that does what was done, without its instant. Raises `NoEntry`."""
    row = exported.get(step.what, _NONE)
    if row.entry is None:
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
        if code in sooner and phone in (None, what.message.phone):
            text = f"what was due at that instant came first ({what.message.phone} {sooner[code]})"
            raise NoEntry(f"{text}, and an entry of a timeline comes before that")
    return entry
