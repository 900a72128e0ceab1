"""`time`: the world begins at an awkward hour, or the client looks at the very end of something that expires."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from sendbox.engine.answer import JsonObject
from sendbox.exploring.misfortune import ANY_TIME, Kind, Spot, Value, later, ordinal

if TYPE_CHECKING:
    from sendbox.exploring.census import Census, Moved, Session

#: Instants with what happens a second later: midnights, and all awkward hours at which a world may begin.
MIDNIGHTS: Final = (
    ("2026-03-09T23:59:59Z", "midnight in UTC"),
    ("2026-03-09T22:59:59Z", "midnight in Prague"),
)
STARTS: Final = (
    *MIDNIGHTS,
    ("2026-04-30T23:59:59Z", "the end of a month"),
    ("2026-12-31T23:59:59Z", "the end of a year"),
    ("2028-02-28T23:59:59Z", "the day of a leap year"),
    ("2026-03-29T00:59:59Z", "clocks in Europe go forward"),
    ("2026-10-25T00:59:59Z", "clocks in Europe go back"),
    ("2026-10-24T23:59:59Z", "the hour begins that Europe has twice"),
    ("2026-03-08T06:59:59Z", "clocks in New York go forward"),
    ("2026-11-01T05:59:59Z", "clocks in New York go back"),
)


#: Ends of an advance beyond the end of a code: milliseconds after it.
_AROUND: Final = ((0, "at the instant when"), (1, "a millisecond after"), (-1, "a millisecond before"))


def _start(kind: Kind, world: Census) -> Iterator[Spot]:
    values = [
        Value(f"is {instant}, a second before {moment}", {"clock": {"start": instant}}) for instant, moment in STARTS
    ]
    place, about = "the start of the world", f"{world.ordinal} time"
    yield Spot(kind, world.ordinal, place, about, "start", tuple(values), ANY_TIME)


def _expiry(kind: Kind, world: Census) -> Iterator[Spot]:
    for session in world.sessions:
        for move in world.moves:
            values = list(_ends(world, session, move))
            if values:
                place = f"the {ordinal(move.ordinal)} advance"
                about = f"{world.ordinal} session {session.phone} {session.ordinal}"
                yield Spot(kind, world.ordinal, place, about, "expiry", tuple(values))


def _ends(world: Census, session: Session, move: Moved) -> Iterator[Value]:
    """Other ends of an advance: nothing else may happen between that end and its own."""
    expires = session.expires
    whose = f"the {ordinal(session.ordinal)} code of {session.phone}"
    if session.verified is not None and session.verified < move.ended:
        return
    if move.began < expires < move.ended:
        for end, when in _AROUND:
            if expires + end < move.ended and _quiet(world, expires, move.ended):
                yield _moved(move, expires + end, f"ends {when} {whose} expires")
    elif session.at <= move.ended < expires - 1 and _quiet(world, move.ended, expires):
        yield _moved(move, expires - 1, f"ends a millisecond before {whose} expires")


def _quiet(world: Census, first: int, last: int) -> bool:
    """True if nothing happens between two instants, both excluded."""
    return not any(first < at < last for at in world.happened)


def _moved(move: Moved, end: int, says: str) -> Value:
    part: JsonObject = {"advances": [{"advance": move.ordinal, "to": later(end)}]}
    return Value(says, {"found": part})


KINDS: Final = (
    Kind(
        "time",
        "start",
        ("§1", "A84"),
        "Instants of the service are in UTC, a time of day without a zone is one of the zone that the client named. "
        "The clock of the client must be that of the world (`sendbox.freeze()`).",
        _start,
    ),
    Kind(
        "time",
        "expiry",
        ("§3.2", "A72"),
        "A code is valid before the instant at which it expires, and expired from that instant on.",
        _expiry,
    ),
)
