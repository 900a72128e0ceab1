"""Judges an expectation: whether it holds, and for which subjects not; `explaining` puts that into words.

An expectation counts the things (rows of `subjects`) for which all its conditions hold, for each subject if it says
so. Its `then` is a chain: after the first thing that counted, in time, the next must follow. Where none had to count
and none did, nothing has to follow. Times count from the world's start, in a chain from the thing before. What follows
a thing came to be with a later entry of the journal than it, or than all that its call brought about with it (`row`).

Each kind of thing is read once for each entry, into rows by what the things belong to (`row`), in which what follows a
thing is found without reading on. So a verdict takes as long as the journal is, however many subjects there are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from sendbox.engine.durations import iso, show
from sendbox.engine.expect.conditions import holds
from sendbox.engine.expect.expectation import RULE_UNKNOWN, Share
from sendbox.engine.expect.explaining import (
    FAILED,
    NAMED,
    NEAREST,
    PASSED,
    Explainer,
    Key,
    Miss,
    Missed,
    outside,
    plural,
    state,
    untimely,
)
from sendbox.engine.expect.row import Row, place_of
from sendbox.engine.expect.subjects import occurrences_of

if TYPE_CHECKING:
    from sendbox.engine.expect.conditions import Where
    from sendbox.engine.expect.expectation import Expectation
    from sendbox.engine.expect.subjects import Occurrence, Subject
    from sendbox.engine.world import World

_ALL: Final = Share("all", Fraction(1))
Rows = dict[Key, Row]


class Judge:
    """One expectation over a world. With `ended` nothing more can come."""

    def __init__(self, world: World, subjects: Mapping[str, Subject], expectation: Expectation, *, ended: bool) -> None:
        self._world = world
        self._subjects = subjects
        self._expectation = expectation
        self._chain = expectation.chain
        self._explainer = Explainer(world, subjects, expectation)
        self._ended = ended
        #: the things that count for each entry of the chain, by what they belong to
        self._rows: list[Rows] = []

    def view(self) -> Generator[None, None, dict[str, Any]]:
        """The view of it in the verdict; one with a condition that nothing can meet has failed."""
        view = yield from self._judged()
        if view["never"] and view["state"] != FAILED:
            why = f"a condition that nothing can meet: {view['never'][0]['message']}"
            view |= {**state(None), "why": why, "nearest": [], "failed": []}
        return view

    def _judged(self) -> Generator[None, None, dict[str, Any]]:
        """The view of it, as if all its conditions could be met."""
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
        return view if miss is None else view | (yield from self._explainer.shown(miss))

    # --- reading

    def _gathered(self, step: int) -> Generator[None, None, Rows]:
        """The things that count for an entry, by what they belong to; what must follow something is not yet timed."""
        world, entry = self._world, self._chain[step]
        subject = self._subjects[entry.that]
        belongs = subject.belonging(self._expectation.names(step))
        rows: Rows = {}
        for thing in occurrences_of(world, subject):
            yield  # each time: a delivery with a thousand events takes long
            if thing is None or not self._holds(entry.where, subject, thing):
                continue
            wrong = outside(entry, thing, None) if step else untimely(entry, thing, world.start, None)
            if not any(wrong):
                for key in belongs(world, thing.what):
                    rows.setdefault(key, Row()).things.append(thing)
        for row in rows.values():
            yield from row.sort()
        return rows

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
        return not where or holds(where, subject.readings(self._world, thing))

    def _row(self, step: int, keys: Iterable[Key]) -> Row:
        rows = [row for key in keys if (row := self._rows[step].get(key)) is not None]
        if len(rows) == 1:
            return rows[0]
        several = Row()  # of a thing that belongs to several, such as a request with several recipients
        several.things = list({place_of(thing): thing for row in rows for thing in row.things}.values())
        for _ in several.sort():
            pass
        return several

    # --- judging

    def _missed(self, key: Key, low: int | None) -> Generator[None, None, Miss | None]:
        """The miss of the chain for a subject; None if the chain holds."""
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
                span = row.follow(before, alike=kind == entry.that, after=entry.soonest, until=entry.latest)
            miss = self._miss(step, row, span, before, keys, entry.low if step else low)
            if miss is not None:
                miss = miss._replace(alike=kind == entry.that)
                if not miss.holds:
                    return miss
            open_ = open_ or miss
            if span:
                before, kind = row.things[span.start], entry.that
            if before is None:
                break  # nothing that anything could follow, and that was legal
        return open_

    def _agreeing(self, kind: str, same: tuple[str, ...], before: Occurrence, key: Key) -> list[Key]:
        """The keys of a thing for these names; if a name of `each` has several values, only that of the subject."""
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
        """The miss of an entry, judged by the things that count for it; None if the entry holds."""
        entry, number = self._chain[step], len(span)

        def missed(why: str, surplus: list[Occurrence], due: int | None = None, wrong: str = "makes too many") -> Miss:
            return Miss(step, before, number, why, surplus, due, keys, wrong)

        if entry.high is not None and number > entry.high:
            many = row.things[span.start + entry.high : span.stop]
            return missed(self._explainer.counted(entry, number, before), many[:NEAREST])
        if entry.rate is not None and (crowd := row.crowd(entry.rate, span)) is not None:
            first, *_, last = [row.things[place] for place in crowd]
            took = f"from {iso(first.at)} to {iso(last.at)}"
            return missed(f"{len(crowd)} {entry.text} {took}, wanted {entry.wanted}", [last])
        if entry.pauses and (hurry := row.hurry(entry.pauses, span, before)) is not None:
            thing, pause, minimum = hurry
            after = f"came {show(pause)} after the one before, wanted a pause of at least {show(minimum)}"
            return missed(f"one of {number} {entry.text} {after}", [thing], wrong="came too soon")
        if low is not None and number < low:
            due, ended = self._late(entry, before)
            return missed(self._explainer.counted(entry, number, before) + ended, [], due)
        if not self._ended and (entry.high is not None or entry.rate is not None or entry.pauses):
            due, _ = self._late(entry, before)
            if due is not None:  # what must not come has time until then
                return missed(self._explainer.counted(entry, number, before), [], due)._replace(holds=True)
        return None

    def _late(self, entry: Expectation, before: Occurrence | None) -> tuple[int | None, str]:
        """The instant until which more may come, None if it is too late or the time has no bound; and a text.

        The text says that the world ended before that instant, else it is empty.
        """
        start, now = self._world.start if before is None else before.at, self._world.now
        ends = [] if entry.within is None else [start + entry.within]
        ends += [] if entry.before is None else [entry.before.instant(start)]
        due = min(ends, default=now)
        if due <= now:
            return None, ""
        return (None, f"; the world ended before that, at {iso(now)}") if self._ended else (due, "")

    def _of_each(self) -> Generator[None, None, dict[str, Any]]:
        """The fields of the view that differ for an expectation that is judged for each subject."""
        expectation = self._expectation
        own = self._rows[0]
        known: Iterable[Key] = own if expectation.then else (yield from self._known(expectation.among))
        total, missed = 0, []
        for key in known:
            total += 1
            miss = yield from self._missed(key, expectation.low)
            if miss is not None:
                missed.append(Missed(key, own[key].things[0] if key in own else None, miss))
        late = [subject for subject in missed if subject.miss.due is None]
        open_ = [subject for subject in missed if subject.miss.due is not None]
        held = total - len(missed)
        who = plural(expectation.each)
        expected = f"{expectation.share or 'each'} of {total} {who}"
        view = {
            "found": held,
            "wanted": expected if expectation.then else f"{expectation.wanted} for {expected}",
            "subjects": {"found": total, "passed": held, "failed": len(late), "open": len(open_)},
            "failed": [self._explainer.named(subject) for subject in (*late, *open_)[:NAMED]],
        }
        low = expectation.share_low or (None if expectation.share_high else _ALL)
        high = expectation.share_high
        if not expectation.subjects.has(total):
            few = f"{total or 'no'} {who} of {expectation.text}, wanted {expectation.subjects.text}"
            due, ended = self._late(expectation, None) if total < (expectation.subjects.low or 0) else (None, "")
            return view | state(due) | {"why": few + ended}
        if high is not None and held > high.of * total:
            return view | state(None) | {"why": f"{held} of {total} {who}, wanted {expectation.share}"}
        if high is not None and held + len(open_) > high.of * total:
            due = max(subject.miss.due or 0 for subject in open_)
            return view | state(due) | {"why": f"{held} of {total} {who} so far, wanted {expectation.share}"}
        if low is None or held >= low.of * total:
            return view
        first = (late or missed)[0]
        details = {
            key: value
            for key, value in (yield from self._explainer.shown(first.miss)).items()
            if key in ("step", "nearest")
        }
        if held + len(open_) >= low.of * total:
            due = max(subject.miss.due or 0 for subject in open_)
            return view | details | state(due) | {"why": self._explainer.why(missed, total, who)}
        return view | details | state(None) | {"why": self._explainer.why(late, total, who)}

    def _of_things(self) -> Generator[None, None, dict[str, Any]]:
        """The fields of the view that differ for an expectation that must hold for a share of the things."""
        expectation = self._expectation
        things = self._row(0, [()]).things
        total, counted = 0, {place_of(thing) for thing in things}
        others: list[Occurrence] = []
        for kind, where in expectation.among:
            subject = self._subjects[kind]
            for thing in occurrences_of(self._world, subject):
                yield
                if thing is not None and self._holds(where, subject, thing):
                    total += 1
                    if len(others) < NEAREST and place_of(thing) not in counted:
                        others.append(thing)
        number = len(things)
        expected = f"{expectation.share} of {total} {expectation.that}"
        view = {"found": number, "wanted": expected}
        low, high = expectation.share_low, expectation.share_high
        few = not total or (low is not None and number < low.of * total)
        if few or (high is not None and number > high.of * total):
            due, ended = self._late(expectation, None) if few else (None, "")
            why = f"{number or 'no'} {expectation.text}, wanted {expected}{ended}"
            if not total:
                where = next((where for _, where in expectation.among), ())
                population = replace(expectation, where=where).text
                why = f"nothing was among it: no {population}, wanted {expectation.share} of them{ended}"
            examples = others if few else things[:NEAREST]
            wrong = Miss(0, None, number, why, examples, due, [()], "is one of too many")
            return view | (yield from self._explainer.shown(wrong)) | view
        miss = yield from self._missed((), expectation.low)
        if miss is not None:
            return view | (yield from self._explainer.shown(miss))
        due, _ = self._late(expectation, None)
        if high is None or due is None or self._ended:
            return view
        return view | state(due) | {"why": f"{number or 'no'} {expectation.text} so far, wanted {expected}"}
