"""The operation `compare`, which compares two open worlds as `sendbox diff` does."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from difflib import SequenceMatcher
from operator import itemgetter
from typing import Annotated

import orjson

from sendbox.control.answers import CanonicalEntry
from sendbox.control.arguments import Size, described
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import map_in_slices
from sendbox.control.replicas import journals
from sendbox.control.replicas.journals import Difference, Entry, Journal
from sendbox.engine.answer import Answer, Instant, JsonObject, moment, reference
from sendbox.engine.digest import canonical_in_slices, digest_in_slices
from sendbox.engine.kinds.answers import Value
from sendbox.engine.kinds.rows import KindTable, Observer
from sendbox.engine.world import World
from sendbox.runtime.slot import Slice

#: An entry in canonical form.
Canonical = Annotated[JsonObject, reference("CanonicalEntry", CanonicalEntry)]


class DifferentField(Answer):
    """A field that differs."""

    path: str
    here: Value
    there: Value


class DifferentEntry(Answer):
    """The first entry that differs, null where a world has none, in canonical form."""

    n: int
    at: int
    what: str
    here: Canonical | None
    there: Canonical | None
    fields: list[DifferentField]


class AroundIt(Answer):
    """An entry near the difference; `only` says that the other world does not have it."""

    n: int
    at: Instant
    kind: str
    words: str
    only: bool
    canonical: list[Canonical]


class Aligned(Answer):
    """What happened in both worlds, or in one of them: the other one has null there."""

    here: AroundIt | None
    there: AroundIt | None


class Digests(Answer):
    """The digests of two worlds."""

    here: str
    there: str


class Compared(Answer):
    """The first difference between two worlds."""

    same: bool
    equal: int
    first: DifferentEntry | None
    left_out: list[str]
    lines: list[str]
    digest: Digests
    here: list[AroundIt]
    there: list[AroundIt]
    rows: list[Aligned]


@operation("GET", "/worlds/{id}/compare", present_only="it compares two worlds as they are", answers=Compared)
async def compare(
    call: Call,
    with_: Annotated[str, described("the id of the other world")],
    around: Annotated[Size, described("so many entries are shown before and after the difference")] = 5,
) -> Compared:
    """The first difference between this world and another one (`with`), as `sendbox diff` finds it.

    `equal` counts the canonical entries before it. `here` and `there` are the entries around it, and `rows` has them
    side by side: in one row what happened in both worlds.
    """
    here = call.hosted.world
    if with_ == here.id:
        raise ControlError(400, "bad_argument", f'with: "{with_}" is this world; legal: another open world')
    other = call.other_world(with_)
    other.readers += 1
    try:
        there, kinds = other.world, call.served.kinds
        digests = Digests(
            here=await Slice().through(digest_in_slices(here, kinds)),
            there=await Slice().through(digest_in_slices(there, kinds)),
        )
        a, b = await _read_journal(here, kinds), await _read_journal(there, kinds)
        difference = await asyncio.get_running_loop().run_in_executor(None, _difference, a, b)
        views: dict[str, list[AroundIt]] = {"here": [], "there": []}
        if difference is not None:
            sides = (
                ("here", here, a, difference.a, difference.only_a),
                ("there", there, b, difference.b, difference.only_b),
            )
            for name, world, entries, differs, only in sides:
                views[name] = await _nearby_entries(
                    Observer(world, kinds), entries, differs, only, difference.at, around
                )
        return Compared(
            same=difference is None,
            equal=len(a.entries if difference is None else difference.before),
            first=None if difference is None else _first_difference(a, b, difference),
            left_out=journals.notes(a, b),
            lines=list(journals.as_text(a, b, difference)),
            digest=digests,
            **views,
            rows=[Aligned(here=mine, there=other) for mine, other in align(views["here"], views["there"])],
        )
    finally:
        other.readers -= 1
        call.runtime.kick(other)


#: An entry of this world beside one of the other; None where a world has nothing like it.
Row = tuple[AroundIt | None, AroundIt | None]


def align(here: list[AroundIt], there: list[AroundIt]) -> list[Row]:
    """The entries of two worlds in pairs, by what they say and not when; one that only one world has is alone.

    An entry whose counterpart lies outside, or elsewhere at its instant, is left out.
    """
    rows: list[Row] = []
    mine, others = (list(map(_content, side)) for side in (here, there))
    # what is in no digest, such as that a webhook was made, is alike everywhere: it only follows what it belongs to
    alike = {_content(entry) for entry in (*here, *there) if not entry.canonical}
    matcher = SequenceMatcher(alike.__contains__, mine, others, autojunk=False)
    for word, first, end, other_first, other_end in matcher.get_opcodes():
        pair = zip if word == "equal" else _pairs
        rows += pair(here[first:end], there[other_first:other_end])
    return [row for row in rows if None not in row or any(entry.only for entry in row if entry is not None)]


def _content(entry: AroundIt) -> bytes:
    """What an entry says, without its place and its instant."""
    lines = [{name: value for name, value in line.items() if name not in ("n", "at")} for line in entry.canonical]
    return orjson.dumps([entry.kind, lines or entry.words], option=orjson.OPT_SORT_KEYS)


def _pairs(here: list[AroundIt], there: list[AroundIt]) -> Iterator[Row]:
    """The entries in pairs that belong together, in their order; those without a counterpart are alone."""
    others = list(there)
    for entry in here:
        place = next((place for place, other in enumerate(others) if _belong(entry, other)), None)
        if place is None:
            yield entry, None
            continue
        yield from ((None, other) for other in others[:place])
        yield entry, others[place]
        del others[: place + 1]
    yield from ((None, other) for other in others)


def _belong(here: AroundIt, there: AroundIt) -> bool:
    """True if two entries of one kind differ in both worlds, or are about the same message."""
    return here.kind == there.kind and ((here.only and there.only) or bool(_messages(here) & _messages(there)))


def _messages(entry: AroundIt) -> set[object]:
    """The messages that an entry is about, by their canonical names."""
    lines = [*entry.canonical, *(line.get("event") or {} for line in entry.canonical)]
    return {line["message"] for line in lines if "message" in line}


async def _read_journal(world: World, kinds: KindTable) -> Journal:
    entries = await Slice().through(canonical_in_slices(world, kinds))
    return Journal(world.id, entries, lost=world.journal.first, bound=world.record.cut_by or "")


def _difference(a: Journal, b: Journal) -> Difference | None:
    return journals.compare(*journals.comparable_entries(a, b))


def _first_difference(a: Journal, b: Journal, difference: Difference) -> DifferentEntry:
    return DifferentEntry(
        n=(difference.a or difference.b or {})["n"],
        at=difference.at,
        what=journals.headline(a, b, difference),
        here=difference.a,
        there=difference.b,
        fields=[DifferentField(path=path, here=was, there=now) for path, was, now in difference.fields],
    )


async def _nearby_entries(
    observer: Observer, journal: Journal, differs: Entry | None, only: list[Entry], at: int, limit: int
) -> list[AroundIt]:
    """The entries of a world near the one that differs, or near the place where the other world has an entry."""
    canonical_entries, kept = journal.entries, observer.world.journal
    if differs is not None:
        middle = differs["n"]
        last = middle + limit + 1
    else:
        later = bisect_right(canonical_entries, at, key=itemgetter("at"))
        middle = last = canonical_entries[later]["n"] if later < len(canonical_entries) else len(kept)
        last += limit
    own_numbers = {entry["n"] for entry in only}

    def view(number: int) -> AroundIt:
        entry = observer.entry(number)
        first, end = (bisect_left(canonical_entries, edge, key=itemgetter("n")) for edge in (number, number + 1))
        return AroundIt(
            n=number,
            at=moment(kept.entry(number)[0]),
            kind=entry["kind"],
            words=observer.kinds.describe(entry),
            only=number in own_numbers,
            canonical=canonical_entries[first:end],
        )

    return await map_in_slices(range(max(middle - limit, kept.first), min(last, len(kept))), view)
