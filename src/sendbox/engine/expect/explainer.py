"""Explains why an expectation does not hold: how it is missed, what came nearest, and why that does not count."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Moment, iso, show
from sendbox.engine.expect.expectation import Expectation, describe_value, differences, quoted
from sendbox.engine.expect.row import end_of, place_of
from sendbox.engine.expect.subjects import Occurrence, Subject, occurrences_of

if TYPE_CHECKING:
    from sendbox.engine.world import World


#: The states of an expectation. One that is open may still hold: what it waits for has not had all its time.
PASSED: Final = "passed"
FAILED: Final = "failed"
OPEN: Final = "open"
#: The number of shown things that nearly counted, or counted and should not.
NEAREST: Final = 3
#: The number of failed subjects that are named.
NAMED: Final = 20

#: The subject of a thing: a value for each name.
Key = tuple[object, ...]


class Miss(NamedTuple):
    """An entry that does not hold (0, or the nth of `then`): the thing it had to follow, the number that counted, the
    reason why that is wrong, the things that are too many, and the time limit for more (None = it is too late)."""

    step: int
    before: Occurrence | None
    number: int
    why: str
    surplus: list[Occurrence]
    due: int | None
    #: the subjects to which the things had to belong
    keys: list[Key]
    #: the problem of the surplus, in words
    wrong: str
    #: the thing before is of the same kind
    alike: bool = False
    #: True if the entry holds so far, and can still fail
    holds: bool = False


class SubjectMiss(NamedTuple):
    """A subject for which an expectation does not hold, and its first thing that counted."""

    key: Key
    first: Occurrence | None
    miss: Miss


class Explainer:
    """The texts that explain why one expectation does not hold."""

    def __init__(self, world: World, subjects: Mapping[str, Subject], expectation: Expectation) -> None:
        self._world = world
        self._subjects = subjects
        self._expectation = expectation

    def miss_view(self, miss: Miss) -> Generator[None, None, JsonObject]:
        """The fields of the view that this miss changes."""
        entry = self._expectation.chain[miss.step]
        nearest = miss.surplus
        if not nearest and not miss.holds:
            nearest = yield from self._nearest(entry, miss)
        explained = []
        for thing in nearest:
            yield  # each time: a delivery with a thousand events takes long
            reason = "; ".join(self._unmet(entry, miss, thing).why)
            if not reason:
                expected = entry.expected_count or entry.share
                reason = f"it counts{self._part(entry, thing)}, and {miss.wrong}: wanted {expected}"
            explained.append({**self._thing(entry.that, thing), "why_not": reason})
        return state_view(miss.due) | {
            "that": entry.that,
            "step": miss.step,
            "found": miss.number,
            "wanted": entry.expected_count,
            "why": miss.why,
            "nearest": explained,
        }

    def _nearest(self, entry: Expectation, miss: Miss) -> Generator[None, None, list[Occurrence]]:
        """The things that nearly count."""
        near: list[Occurrence] = []
        nearest: tuple[int, bool, int] = (0, False, 0)
        for thing in occurrences_of(self._world, self._subjects[entry.that]):
            yield
            if thing is None or (miss.before is not None and thing.record is miss.before.record):
                continue
            rank = self._unmet(entry, miss, thing).rank
            if not rank[0]:
                continue
            if not near or rank < nearest:
                nearest, near = rank, [thing]
            elif rank == nearest and len(near) < NEAREST:
                near.append(thing)
        return near

    def _unmet(self, entry: Expectation, miss: Miss, thing: Occurrence) -> Unmet:
        subject = self._subjects[entry.that]
        where, _ = differences(entry.where, subject.readings(self._world, thing))
        differing = {name for name, _ in where}
        for place, name in enumerate(self._expectation.names(miss.step)):
            values = [key[0] for key in subject.belonging([name], entry.ignoring)(self._world, thing.record)]
            expected = dict.fromkeys(key[place] for key in miss.keys)
            if name not in differing and expected.keys().isdisjoint(values):
                is_ = describe_value(name, tuple(values)) if all(map(_is_plain, values)) else f"{name} is another one"
                where.append((name, f"{is_}, wanted {' or '.join(map(_word, expected))}"))
        return Unmet(where, [*time_problems(entry, thing, self._world.start, miss.before, alike=miss.alike)])

    def _part(self, entry: Expectation, thing: Occurrence) -> str:
        """The part by which a thing counts, in words; "" if it has no other."""
        readings = self._subjects[entry.that].readings(self._world, thing)
        return f" by {differences(entry.where, readings)[1].line}" if len(readings) > 1 else ""

    def subject_view(self, missed: SubjectMiss) -> JsonObject:
        """A subject that failed, or is open."""
        key, first, miss = missed
        return {
            "subject": dict(zip(self._expectation.each, map(_plain, key), strict=True)),
            "first": None if first is None else self._thing(self._expectation.that, first),
            "step": miss.step,
            "found": miss.number,
            "open_until": None if miss.due is None else iso(miss.due),
            "why": self._sentence(missed),
        }

    def _thing(self, that: str, thing: Occurrence) -> JsonObject:
        line = self._subjects[that].line(self._world, thing.record)
        return {"entry": thing.entry, "at": iso(thing.at), "what": line}

    def _sentence(self, missed: SubjectMiss) -> str:
        """The reason why a subject failed, with its first thing unless its name says enough."""
        key, first, miss = missed
        name = ", ".join(map(str, key)) if all(map(_is_plain, key)) else ""
        if first is None or (name and not self._expectation.then):
            return f"{name}: {miss.why}"
        thing = self._thing(self._expectation.that, first)
        fields = self._subjects[self._expectation.that].fields
        is_named = not name or not fields.keys() >= set(self._expectation.each) or name in thing["what"]
        return f"{'' if is_named else f'{name}: '}{thing['what']} at {thing['at']}: {miss.why}"

    def why(self, missed: list[SubjectMiss], total: int, who: str) -> str:
        sentences = [self._sentence(subject) for subject in missed[:NEAREST]]
        more = [f"and {len(missed) - NEAREST} more"] if len(missed) > NEAREST else []
        share = f" ({self._expectation.share} of them must hold)" if self._expectation.share else ""
        return f"{len(missed)} of {total} {who}: {'; '.join([*sentences, *more])}{share}"

    def count_text(self, entry: Expectation, number: int, before: Occurrence | None) -> str:
        """The number of things that counted, the times they had, and the number that is wanted, in words."""
        start = self._world.start if before is None else before.at
        conditions = [] if entry.within is None else [f"within {show(entry.within)}"]
        if entry.after is not None:
            conditions.append(f"not before {_bound(entry.after, start, before)}")
        if entry.before is not None:
            conditions.append(f"until {_bound(entry.before, start, before)}")
        if before is not None and not self._expectation.each:
            conditions.append(f"after the thing before, which came at {iso(before.at)}")
        elif before is not None and entry.latest is not None:
            conditions.append(f"(until {iso(before.at + entry.latest)})")
        return " ".join([f"{number or 'no'} {entry.text}", *conditions]) + f", wanted {entry.expected_count}"


class Unmet(NamedTuple):
    """The reasons why a thing does not count: fields that differ, each with its reason, and times."""

    where: list[tuple[str, str]]
    times: list[str]

    @property
    def rank(self) -> tuple[int, bool, int]:
        """The distance from counting: the number of unmet conditions; another phone is further, another time nearer."""
        return len(self.where) + len(self.times), any(field == "phone" for field, _ in self.where), len(self.where)

    @property
    def why(self) -> list[str]:
        """The reasons why it does not count."""
        return [*(why for _, why in self.where), *self.times]


def limit_problems(entry: Expectation, thing: Occurrence, start: int | None) -> Iterator[str]:
    """The reasons why an instant is wrong; durations count from `start`, None = they are ignored."""
    for word, moment, wrong in (("after", entry.after, -1), ("before", entry.before, 1)):
        if moment is None or (moment.relative and start is None):
            continue
        if (thing.at - moment.instant(start or 0)) * wrong > 0:
            yield f"came at {iso(thing.at)}, wanted {word} {iso(moment.instant(start or 0))}"


def time_problems(
    entry: Expectation, thing: Occurrence, start: int, before: Occurrence | None, *, alike: bool = False
) -> Iterator[str]:
    """The reasons why a time is wrong, from the start or from the thing before; `alike`: both are of the same kind."""
    if before is None:
        if entry.within is not None and thing.at - start > entry.within:
            yield f"came {show(thing.at - start)} after the start, wanted within {show(entry.within)}"
        yield from limit_problems(entry, thing, start)
        return
    passed = thing.at - before.at
    if place_of(thing) <= end_of(before, alike=alike):
        yield f"{_early(thing, before)}, wanted after"
    else:
        for word, bound, wrong in (("not before", entry.soonest, -1), ("within", entry.latest, 1)):
            if bound is not None and (passed - bound) * wrong > 0:
                yield f"came {show(passed)} after it, wanted {word} {show(bound)}"
    yield from limit_problems(entry, thing, None)


def _early(thing: Occurrence, before: Occurrence) -> str:
    """The reason why a thing comes too early to follow another one, in words."""
    if thing.at < before.at:
        return f"came {show(before.at - thing.at)} before it"
    if before.begun <= thing.begun:
        return "came with it, at the same instant"
    return "came at the same instant, but before it"


def _bound(moment: Moment, start: int, before: Occurrence | None) -> str:
    """A bound in words: from the thing before if it counts from there, else an instant."""
    return iso(moment.instant(start)) if before is None or not moment.relative else show(moment.at)


def state_view(due: int | None) -> JsonObject:
    """The state of an expectation that does not hold: open until an instant, or failed."""
    return {
        "passed": False,
        "state": FAILED if due is None else OPEN,
        "open_until": None if due is None else iso(due),
    }


def plural(names: tuple[str, ...]) -> str:
    if len(names) > 1:
        return f"combinations of {' and '.join(names)}"
    return f"{names[0][:-1]}ies" if names[0].endswith("y") and names[0] != "key" else f"{names[0]}s"


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _plain(value: object) -> object:
    """A value as JSON has it, None for what has no text."""
    return value if _is_plain(value) else None


def _word(value: object) -> str:
    return "that of the thing before" if not _is_plain(value) else quoted(value)
