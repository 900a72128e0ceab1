"""The families, in the order in which they are documented."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from sendbox.exploring.census import Census
from sendbox.exploring.families import calls, delivery, people, results, world
from sendbox.exploring.misfortune import ANY_TIME, Kind, Spot
from sendbox.services.numbers.notation import normalize

#: Every kind of misfortune, by its family.
FAMILIES: Final[dict[str, tuple[Kind, ...]]] = {
    family: tuple(kinds)
    for family, kinds in groupby(
        (*delivery.KINDS, *calls.KINDS, *results.KINDS, *people.KINDS, *world.KINDS), attrgetter("family")
    )
}
#: The families that are tried where none are named: questions fail no test, and most bugs of clients need them.
USUAL: Final = tuple(FAMILIES)
#: The kinds that are tried first, since they break clients of the zoo (`docs/explore.md`): most clients first.
FIRST: Final = (
    "answer lost",
    "before answer",
    "out of order",
    "bundled",
    "expiry",
    "start",
    "stop",
    "repeated",
    "other bytes",
    "failed",
    "late",
    "rate limit",
    "not confirmed",
    "credit",
    "two replies",
    "in two batches",
    "invalid_number",
)
_RANKS: Final = {name: number for number, name in enumerate(FIRST)}


def rank(kind: Kind) -> int:
    """The place of a kind in the order in which kinds are tried."""
    return _RANKS.get(kind.name, len(FIRST))


def parse_families(names: object) -> tuple[str, ...]:
    """Names of families, as a list or a text with commas. Raises ValueError with the legal ones."""
    words = names.split(",") if isinstance(names, str) else names if isinstance(names, list | tuple) else [names]
    chosen = tuple(dict.fromkeys(str(word).strip() for word in words if str(word).strip()))
    unknown = [word for word in chosen if word not in FAMILIES]
    if unknown or not chosen:
        named = f'"{unknown[0]}" is not a family' if unknown else "no family is named"
        raise ValueError(f"{named} of misfortunes; legal: {', '.join(FAMILIES)}")
    return chosen


def read_kept_kinds(names: object) -> tuple[str, ...]:
    """Names of kinds that stay as they are. Raises ValueError with the legal ones."""
    legal = [kind.name for kinds in FAMILIES.values() for kind in kinds]
    words = [names] if isinstance(names, str) else list(names) if isinstance(names, list | tuple) else [names]
    unknown = [word for word in words if word not in legal]
    if unknown:
        raise ValueError(f'"{unknown[0]}" is not a kind of misfortune; legal: {", ".join(legal)}')
    return tuple(words)


def spots(census: Collection[Census], families: Sequence[str], keep: Sequence[str] = ()) -> list[Spot]:
    """Everything that may go wrong in a run, by these families; kinds to `keep` are left out."""
    return [
        spot
        for place in census
        for family in families
        for kind in FAMILIES[family]
        if kind.name not in keep
        for spot in kind.spots(kind, place)
        # a rule can name its phone; a client may send to what is no number
        if spot.row is not None or spot.phone in ("", ANY_TIME) or normalize(spot.phone, "") is not None
    ]


def families_without_place(census: Collection[Census], families: Sequence[str], keep: Sequence[str] = ()) -> list[str]:
    """Families for which the run has no place."""
    return [family for family in families if not spots(census, (family,), keep)]


def untried_lines(counts: Mapping[str, int], tests: int) -> list[str]:
    """Lines about families and the number of tests that have no place for them, with the reason and the need."""
    alike: dict[tuple[str, int], list[str]] = {}
    for family in FAMILIES:
        if counts.get(family):
            alike.setdefault((WHY_NOT[family], counts[family]), []).append(family)
    where = {count: "" if count == tests else f" in {count:,} of {tests:,} tests" for count in counts.values()}
    return [f"{', '.join(names)} not tried{where[count]}: {why}" for (why, count), names in alike.items()]


_NO_RECEIVER: Final = (
    "no webhook came to a receiver of the test's own, so there was nothing to spoil; it needs one (deliver_to, a "
    "callback), and an advance"
)
#: Why a family may have nothing to spoil, and what a test needs to show it.
WHY_NOT: Final[dict[str, str]] = {
    "delivery": _NO_RECEIVER,
    "late": _NO_RECEIVER,
    "calls": "the test calls no operation, or makes calls of each of them fail itself; it needs another call",
    "codes": "the test asks for no code and enters none, or makes such calls fail itself; it needs such a call",
    "results": "the test sends no message, and moves no clock after it; it needs a message, and an advance after it",
    "people": "no message is on a phone while a clock moves, so nobody could answer; it needs a second advance",
    "account": "the test sends nothing that the account pays for, or that needs a sender or a template; it needs "
    "such a call",
    "time": "the start of the world is kept, and no advance comes near the end of a code; it needs one beyond it",
    "assumptions": "nothing in the run rests on an assumption that has a setting; it needs a call that does",
}
