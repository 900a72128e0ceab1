"""What a scenario expects, and the verdict: which expectation failed, what came nearest, and why it did not count.

An expectation counts the things (rows of `subjects`) for which all its conditions hold. Its `then` is a
chain: after the first thing that counted, in time, the next must follow. Where none had to count and none did, nothing
has to follow. Times count from the world's start, in a chain from the thing before. Things of one instant follow each
other in the order of their journal entries; a message, a delivery and a code, which have no entry, follow
everything else that came then.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.engine.durations import iso, show
from sendbox.engine.expect.expectation import RULE_UNKNOWN, Condition, Expectation, Range, quoted
from sendbox.engine.expect.subjects import occurrences_of
from sendbox.engine.patterns import Pattern

if TYPE_CHECKING:
    from sendbox.engine.expect.subjects import Occurrence, Subject
    from sendbox.engine.rules.rule import Rule
    from sendbox.engine.world import World

#: The rows of what may be expected, by name.
Subjects = Mapping[str, "Subject"]
#: So many things that nearly counted, or counted and should not, are shown.
NEAREST: Final = 3
#: So many unused rules are listed for people, and so many characters of a name; rules looked at between two pauses.
UNUSED: Final = 20
NAME: Final = 80
_LOOKED: Final = 256


def differences(
    world: World, subjects: Subjects, expectation: Expectation, candidate: Occurrence, before: Occurrence | None = None
) -> list[str]:
    """Why a thing does not count, condition by condition; empty when it does. `before` is the thing it must follow."""
    unmet = _unmet(world, subjects, expectation, candidate, before)
    return [*(why for _, why in unmet.where), *unmet.times]


class _Unmet(NamedTuple):
    """What speaks against a thing: fields that differ, each with why, and times."""

    where: list[tuple[str, str]]
    times: list[str]

    @property
    def rank(self) -> tuple[int, bool, int]:
        """How far it is from counting: by the number of conditions; another phone is further, another time less far."""
        return len(self.where) + len(self.times), any(field == "phone" for field, _ in self.where), len(self.where)


def _unmet(
    world: World, subjects: Subjects, expectation: Expectation, candidate: Occurrence, before: Occurrence | None
) -> _Unmet:
    where = []
    fields = subjects[expectation.that].fields
    for condition in expectation.where:
        value = _inside(fields[condition.field].of(world, candidate.what), condition.path)
        if not _holds(condition, value):
            where.append((condition.field, f"{_is(condition.name, value)}, wanted {condition.text}"))
    times = []
    start = world.start if before is None else before.at
    passed = candidate.at - start
    if before is not None and not _follows(candidate, before):
        early = f"came {show(-passed)} before it" if passed < 0 else "came at the same instant, but before it"
        times.append(f"{early}, wanted after")
    elif expectation.within is not None and passed > expectation.within:
        since = "the start" if before is None else "it"
        times.append(f"came {show(passed)} after {since}, wanted within {show(expectation.within)}")
    for word, moment, wrong in (("after", expectation.after, -1), ("before", expectation.before, 1)):
        if moment is not None and (candidate.at - moment.instant(world.start)) * wrong > 0:
            times.append(f"came at {iso(candidate.at)}, wanted {word} {iso(moment.instant(world.start))}")
    return _Unmet(where, times)


def _follows(candidate: Occurrence, before: Occurrence) -> bool:
    if candidate.at != before.at:
        return candidate.at > before.at
    if candidate.entry is None or before.entry is None:
        return candidate.what is not before.what
    return (candidate.entry, candidate.part) > (before.entry, before.part)


def _inside(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _holds(condition: Condition, value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return any(_fits(wanted, item) for wanted in (*condition.wanted, *condition.means) for item in values)


def _fits(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, Pattern):
        return isinstance(value, str) and bool(wanted.matches(value))
    if isinstance(wanted, Range):
        return (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (wanted.low is None or value >= wanted.low)
            and (wanted.high is None or value <= wanted.high)
        )
    return type(value) is type(wanted) and bool(value == wanted)


def _is(name: str, value: Any) -> str:
    if value is None or value == ():
        return f"{name} is empty"
    return f"{name} is {' and '.join(map(quoted, value)) if isinstance(value, tuple) else quoted(value)}"


class _Count(NamedTuple):
    """How many counted, the first of them in time, those that are too many, and those that came nearest."""

    number: int
    first: Occurrence | None
    surplus: list[Occurrence]
    nearest: list[Occurrence]


def _count(
    world: World, subjects: Subjects, expectation: Expectation, before: Occurrence | None
) -> Generator[None, None, _Count]:
    number = 0
    first: Occurrence | None = None
    surplus: list[Occurrence] = []
    near: list[Occurrence] = []
    rank: tuple[int, bool, int] = (0, False, 0)
    for candidate in occurrences_of(world, subjects[expectation.that]):
        yield  # each time: a delivery with a thousand events takes long
        if candidate is None:
            continue
        unmet = _unmet(world, subjects, expectation, candidate, before)
        if not (unmet.where or unmet.times):
            number += 1
            if first is None or candidate.at < first.at:
                first = candidate
            if expectation.high is not None and number > expectation.high and len(surplus) < NEAREST:
                surplus.append(candidate)
        elif not near or unmet.rank < rank:
            rank, near = unmet.rank, [candidate]
        elif unmet.rank == rank and len(near) < NEAREST:
            near.append(candidate)
    return _Count(number, first, surplus, near)


def _judge(world: World, subjects: Subjects, expectation: Expectation) -> Generator[None, None, dict[str, Any]]:
    before: Occurrence | None = None
    chain = (expectation, *expectation.then)
    view: dict[str, Any] = {
        "name": expectation.name or expectation.text,
        "passed": True,
        "that": expectation.that,
        "place": expectation.place,
        "never": [
            never._asdict()
            for never in expectation.never
            if never.rule != RULE_UNKNOWN or not any(book.put for book in world.rulebooks.values())
        ],
    }
    for step, expected in enumerate(chain):
        counted = yield from _count(world, subjects, expected, before)
        few = expected.low is not None and counted.number < expected.low
        many = expected.high is not None and counted.number > expected.high
        if few or many:
            return {
                **view,
                "passed": False,
                "that": expected.that,
                "step": step,
                "found": counted.number,
                "wanted": expected.wanted,
                "why": _why(expected, counted.number, world, before),
                "nearest": [
                    _near(world, subjects, expected, candidate, before)
                    for candidate in (counted.surplus if many else counted.nearest)
                ],
            }
        if step == 0:
            view |= {"step": 0, "found": counted.number, "wanted": expected.wanted, "why": None, "nearest": []}
        if before is None and counted.first is None:
            break  # nothing that anything could follow, and that was legal
        before = counted.first or before
    return view


def _why(expectation: Expectation, number: int, world: World, before: Occurrence | None) -> str:
    conditions = [] if expectation.within is None else [f"within {show(expectation.within)}"]
    if expectation.after is not None:
        conditions.append(f"not before {iso(expectation.after.instant(world.start))}")
    if expectation.before is not None:
        conditions.append(f"until {iso(expectation.before.instant(world.start))}")
    if before is not None:
        conditions.append(f"after the thing before, which came at {iso(before.at)}")
    return " ".join([f"{number or 'no'} {expectation.text}", *conditions]) + f", wanted {expectation.wanted}"


def _near(
    world: World, subjects: Subjects, expectation: Expectation, candidate: Occurrence, before: Occurrence | None
) -> dict[str, Any]:
    unmet = differences(world, subjects, expectation, candidate, before)
    return {
        "entry": candidate.entry,
        "at": iso(candidate.at),
        "what": subjects[expectation.that].line(world, candidate.what),
        "why_not": "; ".join(unmet) or f"it counts, and makes too many: wanted {expectation.wanted}",
    }


def _unused(world: World, usual: Iterable[Rule]) -> Generator[None, None, list[dict[str, Any]]]:
    unused = []
    # in an export or a record the rules of other files have other places
    known = {rule.key: replace(rule, place=None) for rule in usual}
    lists = {path: book for part in world.parts.values() for path, book in part.lists.items()}
    for path, book in (lists | world.rulebooks).items():
        for number, rule in enumerate(book.unused, 1):
            if rule.place is not None and known.get(rule.key) != replace(rule, place=None):
                unused.append({"rule": rule.title, "in": path, "place": rule.place})
            if number % _LOOKED == 0:
                yield
    return unused


def verdict_in_slices(
    world: World, subjects: Subjects, expectations: Iterable[Expectation], usual: Iterable[Rule] = ()
) -> Generator[None, None, dict[str, Any]]:
    """The verdict, with pauses, so that a loop can do other work; the generator returns it.

    `{passed, trusted, lost, next_due, expectations: [{name, passed, that, step, found, wanted, why, nearest, place,
    never}], unused: [{rule, in, place}]}`: `step` is 0 for the entry itself and n for the nth of its `then`; `lost`
    counts forgotten journal entries, and with any of them the verdict is not `trusted`; `next_due` says that something
    is still to come; `never` has the conditions that nothing can meet, each with its rule and a message; `unused` are
    the rules that never decided anything, without the `usual` ones.
    """
    judged: list[dict[str, Any]] = []
    for expectation in expectations:
        view = yield from _judge(world, subjects, expectation)
        judged += [view]
    due = world.timeline.next_due()
    lost = world.journal.first
    return {
        "passed": all(view["passed"] for view in judged),
        "trusted": not lost,
        "lost": lost,
        "next_due": None if due is None else iso(due),
        "expectations": judged,
        "unused": (yield from _unused(world, usual)),
    }


def proves(verdict: dict[str, Any]) -> bool:
    """Whether every expectation holds, and could have failed to."""
    return bool(verdict["passed"] and verdict["trusted"] and not any(view["never"] for view in verdict["expectations"]))


def untrusted(verdict: dict[str, Any]) -> str | None:
    """Why a verdict cannot be trusted, None where it can."""
    if verdict["trusted"]:
        return None
    return f"NOT TO BE TRUSTED: {verdict['lost']} entries of the journal were forgotten (--max-journal)"


def lines(verdict: dict[str, Any]) -> list[str]:
    """A verdict as text that a person reads: a line that sums up, then each expectation, the failed ones explained."""
    judged = verdict["expectations"]
    failed = [view for view in judged if not view["passed"]]
    if not judged:
        summary = "nothing is expected: the scenario has no expect"
    elif failed:
        summary = f"{len(failed)} of {len(judged)} expectations failed"
    else:
        summary = f"all {len(judged)} expectations hold" if len(judged) > 1 else "the expectation holds"
    if doubted := sum(bool(view["never"]) for view in judged):
        summary += f"; {doubted} with a condition that nothing can meet"
    text = [f"verdict: {summary}"]
    if (doubt := untrusted(verdict)) is not None:
        text.append(f"  {doubt}")
    for view in judged:
        text.append(f"  {'FAILED' if not view['passed'] else 'DOUBT ' if view['never'] else 'ok    '}  {view['name']}")
        if not view["passed"]:
            text += [f"          {line}" for line in reasons(view)]
        text += [f"          never: {never['message']}" for never in view["never"]]
    if failed and verdict["next_due"]:
        text.append(f"  something is still to come, next at {verdict['next_due']}: was the clock moved far enough?")
    return text + unused_lines(verdict)


def unused_lines(verdict: dict[str, Any]) -> list[str]:
    """The rules that never decided anything, as text that a person reads; nothing where there are none."""
    unused = verdict["unused"]
    if not unused:
        return []
    rules = "a rule" if len(unused) == 1 else f"{len(unused)} rules"
    shown = [f"  unused  {_cut(rule['rule'])} of {rule['in']} ({_file(rule['place'])})" for rule in unused[:UNUSED]]
    more = [f"  unused  and {len(unused) - UNUSED} more"] if len(unused) > UNUSED else []
    return [f"{rules} of the scenario never decided anything", *shown, *more]


def _cut(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"


def _file(place: str) -> str:
    return place.rpartition("/")[2]


def reasons(failed: dict[str, Any]) -> list[str]:
    """Why an expectation does not hold, and what came nearest, as text that a person reads."""
    where = f" ({_file(failed['place'])})" if failed["place"] else ""
    step = f"then, {failed['step']}: " if failed["step"] else ""
    text = [f"{step}{failed['why']}{where}"]
    for near in failed["nearest"]:
        entry = "" if near["entry"] is None else f", entry {near['entry']}"
        text += [f"nearest: {near['what']} (at {near['at']}{entry})", f"  {near['why_not']}"]
    return text
