"""What a scenario expects, and the verdict: which expectation failed, what came nearest, and why it did not count.

An expectation counts the things (rows of `subjects`) for which all its conditions hold. Its `then` is a
chain: after the first thing that counted, in time, the next must follow. Where none had to count and none did, nothing
has to follow. Times count from the world's start, in a chain from the thing before. Things of one instant follow each
other in the order of their journal entries; a message, a delivery and a code, which have no entry, follow whatever
else came then.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.engine.durations import iso, show
from sendbox.engine.expect.expectation import Condition, Expectation, Range, quoted
from sendbox.engine.expect.subjects import found_of
from sendbox.engine.patterns import Pattern

if TYPE_CHECKING:
    from sendbox.engine.expect.subjects import Found, Thing
    from sendbox.engine.world import World

#: The rows of what may be expected, by name.
Things = Mapping[str, "Thing"]
#: So many things that nearly counted, or counted and should not, are shown.
NEAREST: Final = 3


def differences(
    world: World, things: Things, expectation: Expectation, found: Found, before: Found | None = None
) -> list[str]:
    """Why a thing does not count, condition by condition; empty when it does. `before` is the thing it must follow."""
    unmet = _unmet(world, things, expectation, found, before)
    return [*(why for _, why in unmet.where), *unmet.times]


class _Unmet(NamedTuple):
    """What speaks against a thing: fields that differ, each with why, and times."""

    where: list[tuple[str, str]]
    times: list[str]

    @property
    def rank(self) -> tuple[int, bool, int]:
        """How far it is from counting: by the number of conditions; another phone is further, another time less far."""
        return len(self.where) + len(self.times), any(field == "phone" for field, _ in self.where), len(self.where)


def _unmet(world: World, things: Things, expectation: Expectation, found: Found, before: Found | None) -> _Unmet:
    where = []
    fields = things[expectation.that].fields
    for condition in expectation.where:
        value = _inside(fields[condition.field].of(world, found.what), condition.path)
        if not _holds(condition, value):
            where.append((condition.field, f"{_is(condition.name, value)}, wanted {condition.text}"))
    times = []
    start = world.start if before is None else before.at
    passed = found.at - start
    if before is not None and not _follows(found, before):
        early = f"came {show(-passed)} before it" if passed < 0 else "came at the same instant, but before it"
        times.append(f"{early}, wanted after")
    elif expectation.within is not None and passed > expectation.within:
        since = "the start" if before is None else "it"
        times.append(f"came {show(passed)} after {since}, wanted within {show(expectation.within)}")
    for word, moment, wrong in (("after", expectation.after, -1), ("before", expectation.before, 1)):
        if moment is not None and (found.at - moment.instant(world.start)) * wrong > 0:
            times.append(f"came at {iso(found.at)}, wanted {word} {iso(moment.instant(world.start))}")
    return _Unmet(where, times)


def _follows(found: Found, before: Found) -> bool:
    if found.at != before.at:
        return found.at > before.at
    if found.entry is None or before.entry is None:
        return found.what is not before.what
    return (found.entry, found.part) > (before.entry, before.part)


def _inside(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _holds(condition: Condition, value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return any(_fits(wanted, each) for wanted in (*condition.wanted, *condition.means) for each in values)


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
    first: Found | None
    surplus: list[Found]
    nearest: list[Found]


def _count(
    world: World, things: Things, expectation: Expectation, before: Found | None
) -> Generator[None, None, _Count]:
    number = 0
    first: Found | None = None
    surplus: list[Found] = []
    near: list[Found] = []
    rank: tuple[int, bool, int] = (0, False, 0)
    for found in found_of(world, things[expectation.that]):
        yield  # each time: a delivery with a thousand events takes its while
        if found is None:
            continue
        unmet = _unmet(world, things, expectation, found, before)
        if not (unmet.where or unmet.times):
            number += 1
            if first is None or found.at < first.at:
                first = found
            if expectation.high is not None and number > expectation.high and len(surplus) < NEAREST:
                surplus.append(found)
        elif not near or unmet.rank < rank:
            rank, near = unmet.rank, [found]
        elif unmet.rank == rank and len(near) < NEAREST:
            near.append(found)
    return _Count(number, first, surplus, near)


def _judge(world: World, things: Things, expectation: Expectation) -> Generator[None, None, dict[str, Any]]:
    before: Found | None = None
    chain = (expectation, *expectation.then)
    view: dict[str, Any] = {
        "name": expectation.name or expectation.text,
        "passed": True,
        "that": expectation.that,
        "place": expectation.place,
    }
    for step, each in enumerate(chain):
        counted = yield from _count(world, things, each, before)
        few = each.low is not None and counted.number < each.low
        many = each.high is not None and counted.number > each.high
        if few or many:
            return {
                **view,
                "passed": False,
                "that": each.that,
                "step": step,
                "found": counted.number,
                "wanted": each.wanted,
                "why": _why(each, counted.number, world, before),
                "nearest": [
                    _near(world, things, each, found, before)
                    for found in (counted.surplus if many else counted.nearest)
                ],
            }
        if step == 0:
            view |= {"step": 0, "found": counted.number, "wanted": each.wanted, "why": None, "nearest": []}
        if before is None and counted.first is None:
            break  # nothing that anything could follow, and that was legal
        before = counted.first or before
    return view


def _why(expectation: Expectation, number: int, world: World, before: Found | None) -> str:
    said = [] if expectation.within is None else [f"within {show(expectation.within)}"]
    if expectation.after is not None:
        said.append(f"not before {iso(expectation.after.instant(world.start))}")
    if expectation.before is not None:
        said.append(f"until {iso(expectation.before.instant(world.start))}")
    if before is not None:
        said.append(f"after the thing before, which came at {iso(before.at)}")
    return " ".join([f"{number or 'no'} {expectation.text}", *said]) + f", wanted {expectation.wanted}"


def _near(world: World, things: Things, expectation: Expectation, found: Found, before: Found | None) -> dict[str, Any]:
    unmet = differences(world, things, expectation, found, before)
    return {
        "entry": found.entry,
        "at": iso(found.at),
        "what": things[expectation.that].line(world, found.what),
        "why_not": "; ".join(unmet) or f"it counts, and makes too many: wanted {expectation.wanted}",
    }


def verdict_in_slices(
    world: World, things: Things, expectations: Iterable[Expectation]
) -> Generator[None, None, dict[str, Any]]:
    """The verdict, pausing now and then so that a loop can breathe; the generator returns it.

    `{passed, trusted, lost, next_due, expectations: [{name, passed, that, step, found, wanted, why, nearest, place}]}`:
    `step` is 0 for the entry itself and n for the nth of its `then`; `lost` counts forgotten journal entries, and with
    any of them the verdict is not `trusted`; `next_due` says that something is still to come.
    """
    judged: list[dict[str, Any]] = []
    for expectation in expectations:
        one = yield from _judge(world, things, expectation)
        judged += [one]
    due = world.timeline.next_due()
    lost = world.journal.first
    return {
        "passed": all(each["passed"] for each in judged),
        "trusted": not lost,
        "lost": lost,
        "next_due": None if due is None else iso(due),
        "expectations": judged,
    }


def verdict(world: World, things: Things, expectations: Iterable[Expectation] | None = None) -> dict[str, Any]:
    """The verdict over what happened so far, of the world's own expectations unless others are given."""
    steps = verdict_in_slices(world, things, world.expect if expectations is None else expectations)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: dict[str, Any] = done.value
            return found


def lines(verdict: dict[str, Any]) -> list[str]:
    """A verdict as text that a person reads: a line that sums up, then each expectation, the failed ones explained."""
    judged = verdict["expectations"]
    failed = [each for each in judged if not each["passed"]]
    if not judged:
        summary = "nothing is expected: the scenario has no expect"
    elif failed:
        summary = f"{len(failed)} of {len(judged)} expectations failed"
    else:
        summary = f"all {len(judged)} expectations hold" if len(judged) > 1 else "the expectation holds"
    text = [f"verdict: {summary}"]
    if not verdict["trusted"]:
        text.append(f"  NOT TO BE TRUSTED: {verdict['lost']} entries of the journal were forgotten (--max-journal)")
    for each in judged:
        text.append(f"  {'ok    ' if each['passed'] else 'FAILED'}  {each['name']}")
        if not each["passed"]:
            text += _explained(each)
    if failed and verdict["next_due"]:
        text.append(f"  something is still to come, next at {verdict['next_due']}: was the clock moved far enough?")
    return text


def _explained(failed: dict[str, Any]) -> list[str]:
    where = f" ({failed['place'].rpartition('/')[2]})" if failed["place"] else ""
    step = f"then, {failed['step']}: " if failed["step"] else ""
    text = [f"          {step}{failed['why']}{where}"]
    for near in failed["nearest"]:
        entry = "" if near["entry"] is None else f", entry {near['entry']}"
        text += [f"          nearest: {near['what']} (at {near['at']}{entry})", f"            {near['why_not']}"]
    return text
