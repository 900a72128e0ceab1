"""Judges an expectation: which subjects it fails for, what came nearest, and why it did not count.

An expectation counts the things (rows of `subjects`) for which all its conditions hold, for each subject if it says
so. Its `then` is a chain: after the first thing that counted, in time, the next must follow. Where none had to count
and none did, nothing has to follow. Times count from the world's start, in a chain from the thing before.

Each kind of thing is read once for each entry, into rows by what the things belong to (`row`), in which what follows a
thing is found without reading on. So a verdict takes as long as the journal is, however many subjects there are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.engine.durations import iso, show
from sendbox.engine.expect.conditions import holds, quoted, said
from sendbox.engine.expect.expectation import RULE_UNKNOWN, Share
from sendbox.engine.expect.row import Row, place_of
from sendbox.engine.expect.subjects import occurrences_of

if TYPE_CHECKING:
    from sendbox.engine.expect.conditions import Where
    from sendbox.engine.expect.expectation import Expectation
    from sendbox.engine.expect.subjects import Occurrence, Subject
    from sendbox.engine.world import World

#: The states of an expectation. One that is open may still hold: what it waits for has not had all its time.
PASSED: Final = "passed"
FAILED: Final = "failed"
OPEN: Final = "open"
#: So many things that nearly counted, or counted and should not, are shown.
NEAREST: Final = 3
#: So many subjects that failed are named.
NAMED: Final = 20

_ALL: Final = Share("all", Fraction(1))
#: What a thing belongs to: a value for each name.
Key = tuple[Any, ...]
Rows = dict[Key, Row]


class Miss(NamedTuple):
    """How an entry is missed, 0 or the nth of `then`: what it had to follow, how many counted, why that is wrong, those
    that are too many, and until when more may come (None = it is too late)."""

    step: int
    before: Occurrence | None
    number: int
    why: str
    surplus: list[Occurrence]
    due: int | None
    #: to what the things had to belong
    keys: list[Key]
    #: what is wrong with the surplus
    wrong: str
    #: nothing is wrong so far: it may still come to that
    holds: bool = False


class _Missed(NamedTuple):
    """A subject that an expectation is missed for, and the first thing of it that counted."""

    key: Key
    first: Occurrence | None
    miss: Miss


class Judge:
    """One expectation over a world. With `ended` nothing more can come."""

    def __init__(self, world: World, subjects: Mapping[str, Subject], expectation: Expectation, *, ended: bool) -> None:
        self._world = world
        self._subjects = subjects
        self._expectation = expectation
        self._chain = (expectation, *expectation.then)
        self._ended = ended
        #: the things that count for each entry of the chain, by what they belong to
        self._rows: list[Rows] = []

    def view(self) -> Generator[None, None, dict[str, Any]]:
        """What the verdict says of it."""
        expectation = self._expectation
        for step in range(len(self._chain)):
            self._rows.append((yield from self._gathered(step)))
        view: dict[str, Any] = {
            "name": expectation.name or expectation.text,
            "passed": True,
            "state": PASSED,
            "open_until": None,
            "that": expectation.that,
            "place": expectation.place,
            "never": [
                never._asdict()
                for never in expectation.never
                if never.rule != RULE_UNKNOWN or not any(book.put for book in self._world.rulebooks.values())
            ],
            "step": 0,
            "found": 0,
            "wanted": expectation.wanted,
            "why": None,
            "nearest": [],
            "subjects": None,
            "failed": [],
        }
        if expectation.each:
            return view | (yield from self._of_each())
        if expectation.share:
            return view | (yield from self._of_things())
        view["found"] = len(self._row(0, [()]).things)
        miss = yield from self._missed((), expectation.low)
        return view if miss is None else view | (yield from self._shown(miss))

    # --- reading

    def _gathered(self, step: int) -> Generator[None, None, Rows]:
        """The things that count for an entry, by what they belong to; what must follow something is not yet timed."""
        world, entry = self._world, self._chain[step]
        subject = self._subjects[entry.that]
        belongs = subject.belonging(self._names(step))
        wrong = _outside if step else partial(_untimely, before=None)
        rows: Rows = {}
        for thing in occurrences_of(world, subject):
            yield  # each time: a delivery with a thousand events takes long
            if thing is None or not self._holds(entry.where, subject, thing):
                continue
            if not any(wrong(entry, thing, world.start)):
                for key in belongs(world, thing.what):
                    rows.setdefault(key, Row()).things.append(thing)
        for row in rows.values():
            yield from row.sort()
        return rows

    def _names(self, step: int) -> tuple[str, ...]:
        """What things of an entry must agree in."""
        return self._chain[step].same if step else self._expectation.each

    def _known(self, among: Iterable[tuple[str, tuple[Where, ...]]]) -> Generator[None, None, dict[Key, None]]:
        """Every subject that one of these kinds of things, with these conditions, is about."""
        world = self._world
        known: dict[Key, None] = {}
        for kind, where in among:
            subject = self._subjects[kind]
            belongs = subject.belonging(self._expectation.each)
            for thing in occurrences_of(world, subject):
                yield
                if thing is not None and self._holds(where, subject, thing):
                    known |= dict.fromkeys(belongs(world, thing.what))
        return known

    def _holds(self, where: tuple[Where, ...], subject: Subject, thing: Occurrence) -> bool:
        return not where or holds(where, subject.reading(self._world, thing))

    def _row(self, step: int, keys: Iterable[Key]) -> Row:
        rows = [row for key in keys if (row := self._rows[step].get(key)) is not None]
        if len(rows) == 1:
            return rows[0]
        several = Row()  # of a thing that belongs to several, such as a request with several recipients
        several.things = list({thing[:2] + thing[3:]: thing for row in rows for thing in row.things}.values())
        for _ in several.sort():
            pass
        return several

    # --- judging

    def _missed(self, key: Key, low: int | None) -> Generator[None, None, Miss | None]:
        """How the chain is missed for a subject, None where it holds."""
        before: Occurrence | None = None
        kind = ""
        open_: Miss | None = None
        for step, entry in enumerate(self._chain):
            yield
            keys = [key]
            if before is not None and entry.same != self._expectation.each:
                keys = self._agreeing(kind, entry.same, before, key)
            row = self._row(step, keys)
            span = range(len(row.things))
            if before is not None:
                span = row.follow(before, alike=kind == entry.that, within=entry.within)
            miss = self._miss(step, row, span, before, keys, entry.low if step else low)
            if miss is not None and not miss.holds:
                return miss
            open_ = open_ or miss
            if span:
                before, kind = row.things[span.start], entry.that
            if before is None:
                break  # nothing that anything could follow, and that was legal
        return open_

    def _agreeing(self, kind: str, same: tuple[str, ...], before: Occurrence, key: Key) -> list[Key]:
        """What a thing belongs to by these names; of several values of a name of `each`, that of the subject."""
        subject = dict(zip(self._expectation.each, key, strict=True))
        keys = self._subjects[kind].belonging(same)(self._world, before.what)
        own = [
            values
            for values in keys
            if all(subject.get(name, value) == value for name, value in zip(same, values, strict=True))
        ]
        return own or keys

    def _miss(
        self, step: int, row: Row, span: range, before: Occurrence | None, keys: list[Key], low: int | None
    ) -> Miss | None:
        """How an entry is missed by the things that count for it, None where it holds."""
        entry, number = self._chain[step], len(span)

        def missed(why: str, surplus: list[Occurrence], due: int | None = None, wrong: str = "makes too many") -> Miss:
            return Miss(step, before, number, why, surplus, due, keys, wrong)

        if entry.high is not None and number > entry.high:
            many = row.things[span.start + entry.high : span.stop]
            return missed(self._counted(entry, number, before), many[:NEAREST])
        if entry.rate is not None and (crowd := row.crowd(entry.rate, span)) is not None:
            first, *_, last = [row.things[place] for place in crowd]
            took = f"from {iso(first.at)} to {iso(last.at)}"
            return missed(f"{len(crowd)} {entry.text} {took}, wanted {entry.wanted}", [last])
        if entry.pauses and (hurry := row.hurry(entry.pauses, span, before)) is not None:
            thing, pause, wanted = hurry
            after = f"came {show(pause)} after the one before, wanted a pause of at least {show(wanted)}"
            return missed(f"one of {number} {entry.text} {after}", [thing], wrong="came too soon")
        if low is not None and number < low:
            due, ended = self._late(entry, before)
            return missed(self._counted(entry, number, before) + ended, [], due)
        if not self._ended and (entry.high is not None or entry.rate is not None or entry.pauses):
            due, _ = self._late(entry, before)
            if due is not None:  # what must not come has time until then
                return missed(self._counted(entry, number, before), [], due)._replace(holds=True)
        return None

    def _late(self, entry: Expectation, before: Occurrence | None) -> tuple[int | None, str]:
        """Until when more may come, None where it is too late or nothing bounds the time; and whether the world ended
        before that, in words."""
        start, now = self._world.start, self._world.now
        ends = [] if entry.within is None else [(start if before is None else before.at) + entry.within]
        ends += [] if entry.before is None else [entry.before.instant(start)]
        due = min(ends, default=now)
        if due <= now:
            return None, ""
        return (None, f"; the world ended before that, at {iso(now)}") if self._ended else (due, "")

    def _of_each(self) -> Generator[None, None, dict[str, Any]]:
        """What differs in the view of an expectation that is judged for each subject."""
        expectation = self._expectation
        own = self._rows[0]
        known: Iterable[Key] = own if expectation.then else (yield from self._known(expectation.among))
        total, missed = 0, []
        for key in known:
            total += 1
            miss = yield from self._missed(key, expectation.low)
            if miss is not None:
                missed.append(_Missed(key, own[key].things[0] if key in own else None, miss))
        late = [each for each in missed if each.miss.due is None]
        open_ = [each for each in missed if each.miss.due is not None]
        held = total - len(missed)
        who = _plural(expectation.each)
        wanted = f"{expectation.share or 'each'} of {total} {who}"
        view = {
            "found": held,
            "wanted": wanted if expectation.then else f"{expectation.wanted} for {wanted}",
            "subjects": {"found": total, "passed": held, "failed": len(late), "open": len(open_)},
            "failed": [self._named(each) for each in (*late, *open_)[:NAMED]],
        }
        low = expectation.share_low or (None if expectation.share_high else _ALL)
        high = expectation.share_high
        if not expectation.subjects.has(total):
            few = f"{total or 'no'} {who} of {expectation.text}, wanted {expectation.subjects.text}"
            due, ended = self._late(expectation, None) if total < (expectation.subjects.low or 0) else (None, "")
            return view | _state(due) | {"why": few + ended}
        if high is not None and held > high.of * total:
            return view | _state(None) | {"why": f"{held} of {total} {who}, wanted {expectation.share}"}
        if high is not None and held + len(open_) > high.of * total:
            due = max(each.miss.due or 0 for each in open_)
            return view | _state(due) | {"why": f"{held} of {total} {who} so far, wanted {expectation.share}"}
        if low is None or held >= low.of * total:
            return view
        first = (late or missed)[0]
        shown = {
            key: value for key, value in (yield from self._shown(first.miss)).items() if key in ("step", "nearest")
        }
        if held + len(open_) >= low.of * total:
            due = max(each.miss.due or 0 for each in open_)
            return view | shown | _state(due) | {"why": self._why(missed, total, who)}
        return view | shown | _state(None) | {"why": self._why(late, total, who)}

    def _of_things(self) -> Generator[None, None, dict[str, Any]]:
        """What differs in the view of an expectation that must hold for a share of the things."""
        expectation = self._expectation
        total, counted = 0, {thing[:2] + thing[3:] for thing in self._row(0, [()]).things}
        others: list[Occurrence] = []
        for kind, where in expectation.among:
            subject = self._subjects[kind]
            for thing in occurrences_of(self._world, subject):
                yield
                if thing is not None and self._holds(where, subject, thing):
                    total += 1
                    if len(others) < NEAREST and thing[:2] + thing[3:] not in counted:
                        others.append(thing)
        number = len(self._row(0, [()]).things)
        wanted = f"{expectation.share} of {total} {expectation.that}"
        view = {"found": number, "wanted": wanted}
        low, high = expectation.share_low, expectation.share_high
        few = low is not None and (number < low.of * total or not total)
        if few or (high is not None and number > high.of * total):
            due, ended = self._late(expectation, None) if few else (None, "")
            why = f"{number or 'no'} {expectation.text}, wanted {wanted}{ended}"
            shown = others if few else self._row(0, [()]).things[:NEAREST]
            wrong = Miss(0, None, number, why, shown, due, [()], "is one of too many")
            return view | (yield from self._shown(wrong)) | view
        miss = yield from self._missed((), expectation.low)
        if miss is not None:
            return view | (yield from self._shown(miss))
        due, _ = self._late(expectation, None)
        if high is None or due is None or self._ended:
            return view
        return view | _state(due) | {"why": f"{number or 'no'} {expectation.text} so far, wanted {wanted}"}

    # --- in words

    def _shown(self, miss: Miss) -> Generator[None, None, dict[str, Any]]:
        """What differs in the view of an expectation that is missed like this."""
        entry = self._chain[miss.step]
        nearest = miss.surplus
        if not nearest and not miss.holds:
            nearest = yield from self._nearest(entry, miss)
        return _state(miss.due) | {
            "that": entry.that,
            "step": miss.step,
            "found": miss.number,
            "wanted": entry.wanted,
            "why": miss.why,
            "nearest": [
                {
                    **self._thing(entry.that, thing),
                    "why_not": "; ".join(self._unmet(entry, miss, thing).why)
                    or f"it counts, and {miss.wrong}: wanted {entry.wanted or entry.share}",
                }
                for thing in nearest
            ],
        }

    def _nearest(self, entry: Expectation, miss: Miss) -> Generator[None, None, list[Occurrence]]:
        """The things that nearly count."""
        near: list[Occurrence] = []
        nearest: tuple[int, bool, int] = (0, False, 0)
        for thing in occurrences_of(self._world, self._subjects[entry.that]):
            yield
            if thing is None or (miss.before is not None and thing.what is miss.before.what):
                continue
            rank = self._unmet(entry, miss, thing).rank
            if not rank[0]:
                continue
            if not near or rank < nearest:
                nearest, near = rank, [thing]
            elif rank == nearest and len(near) < NEAREST:
                near.append(thing)
        return near

    def _unmet(self, entry: Expectation, miss: Miss, thing: Occurrence) -> _Unmet:
        subject = self._subjects[entry.that]
        where = [unmet for condition in entry.where for unmet in condition.unmet(subject.reading(self._world, thing))]
        asked = {name for name, _ in where}
        for place, name in enumerate(self._names(miss.step)):
            values = [key[0] for key in subject.belonging([name])(self._world, thing.what)]
            wanted = dict.fromkeys(key[place] for key in miss.keys)
            if name not in asked and wanted.keys().isdisjoint(values):
                is_ = said(name, tuple(values)) if all(map(_is_plain, values)) else f"{name} is another one"
                where.append((name, f"{is_}, wanted {' or '.join(map(_word, wanted))}"))
        return _Unmet(where, [*_untimely(entry, thing, self._world.start, miss.before)])

    def _named(self, missed: _Missed) -> dict[str, Any]:
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

    def _thing(self, that: str, thing: Occurrence) -> dict[str, Any]:
        line = self._subjects[that].line(self._world, thing.what)
        return {"entry": thing.entry, "at": iso(thing.at), "what": line}

    def _sentence(self, missed: _Missed) -> str:
        """Why a subject failed, with its first thing unless its name says enough."""
        key, first, miss = missed
        name = ", ".join(map(str, key)) if all(map(_is_plain, key)) else ""
        if first is None or (name and not self._expectation.then):
            return f"{name}: {miss.why}"
        thing = self._thing(self._expectation.that, first)
        asked = self._subjects[self._expectation.that].fields
        said_ = not name or not asked.keys() >= set(self._expectation.each) or name in thing["what"]
        return f"{'' if said_ else f'{name}: '}{thing['what']} at {thing['at']}: {miss.why}"

    def _why(self, missed: list[_Missed], total: int, who: str) -> str:
        told = [self._sentence(each) for each in missed[:NEAREST]]
        more = [f"and {len(missed) - NEAREST} more"] if len(missed) > NEAREST else []
        wanted = f" ({self._expectation.share} of them must hold)" if self._expectation.share else ""
        return f"{len(missed)} of {total} {who}: {'; '.join([*told, *more])}{wanted}"

    def _counted(self, entry: Expectation, number: int, before: Occurrence | None) -> str:
        """How many counted, within which times, and how many had to."""
        start = self._world.start
        conditions = [] if entry.within is None else [f"within {show(entry.within)}"]
        if entry.after is not None:
            conditions.append(f"not before {iso(entry.after.instant(start))}")
        if entry.before is not None:
            conditions.append(f"until {iso(entry.before.instant(start))}")
        if before is not None and not self._expectation.each:
            conditions.append(f"after the thing before, which came at {iso(before.at)}")
        elif before is not None and entry.within is not None:
            conditions.append(f"(until {iso(before.at + entry.within)})")
        return " ".join([f"{number or 'no'} {entry.text}", *conditions]) + f", wanted {entry.wanted}"


class _Unmet(NamedTuple):
    """What speaks against a thing: fields that differ, each with why, and times."""

    where: list[tuple[str, str]]
    times: list[str]

    @property
    def rank(self) -> tuple[int, bool, int]:
        """How far it is from counting: by the number of conditions; another phone is further, another time less far."""
        return len(self.where) + len(self.times), any(field == "phone" for field, _ in self.where), len(self.where)

    @property
    def why(self) -> list[str]:
        """Why it does not count."""
        return [*(why for _, why in self.where), *self.times]


def _outside(entry: Expectation, thing: Occurrence, start: int) -> Iterator[str]:
    """Why an instant is wrong."""
    for word, moment, wrong in (("after", entry.after, -1), ("before", entry.before, 1)):
        if moment is not None and (thing.at - moment.instant(start)) * wrong > 0:
            yield f"came at {iso(thing.at)}, wanted {word} {iso(moment.instant(start))}"


def _untimely(entry: Expectation, thing: Occurrence, start: int, before: Occurrence | None) -> Iterator[str]:
    """Why a time is wrong, from the start or from what the thing must follow."""
    passed = thing.at - (start if before is None else before.at)
    if before is not None and not _follows(thing, before):
        early = f"came {show(-passed)} before it" if passed < 0 else "came at the same instant, but before it"
        yield f"{early}, wanted after"
    elif entry.within is not None and passed > entry.within:
        since = "the start" if before is None else "it"
        yield f"came {show(passed)} after {since}, wanted within {show(entry.within)}"
    yield from _outside(entry, thing, start)


def _follows(thing: Occurrence, before: Occurrence) -> bool:
    if thing.at != before.at:
        return thing.at > before.at
    one_kind = thing.entry is None and before.entry is None and type(thing.what) is type(before.what)
    if one_kind or (thing.entry is not None and before.entry is not None):
        return place_of(thing) > place_of(before)
    return True


def _state(due: int | None) -> dict[str, Any]:
    """The state of an expectation that does not hold: open until an instant, or failed."""
    return {
        "passed": False,
        "state": FAILED if due is None else OPEN,
        "open_until": None if due is None else iso(due),
    }


def _plural(names: tuple[str, ...]) -> str:
    if len(names) > 1:
        return f"combinations of {' and '.join(names)}"
    return f"{names[0][:-1]}ies" if names[0].endswith("y") and names[0] != "key" else f"{names[0]}s"


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _plain(value: Any) -> Any:
    """A value as JSON has it, None for what has no text."""
    return value if _is_plain(value) else None


def _word(value: Any) -> str:
    return "that of the thing before" if not _is_plain(value) else quoted(value)
