"""The judge of expectations, which finds the subjects that fail; `explainer` makes the texts.

An expectation counts the things (rows of `subjects`) for which all its conditions hold, separately for each subject if
it has `each`. Its `then` is a chain: after the first thing that counted, in time, the next must follow. If none had to
count and none did, nothing has to follow. Times count from the start of the world, in a chain from the thing before. A
thing follows another one if its journal entry is later than that of the other, and later than all entries that the
call of the other caused (`row`).

Each kind of thing is read once for each entry of the chain, into rows by subject (`row`), in which the things that
follow are found by a binary search. So the time of a verdict depends on the length of the journal, not on the number of
subjects.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import iso, show
from sendbox.engine.expect.expectation import RULE_UNKNOWN, Expectation, Share, Where, describe, holds
from sendbox.engine.expect.explainer import (
    FAILED,
    NAMED,
    NEAREST,
    PASSED,
    Explainer,
    Key,
    Miss,
    SubjectMiss,
    limit_problems,
    plural,
    state_view,
    time_problems,
)
from sendbox.engine.expect.row import Row, place_of
from sendbox.engine.expect.subjects import Occurrence, Subject, occurrences_of

if TYPE_CHECKING:
    from sendbox.engine.world import World

_ALL: Final = Share("all", Fraction(1))
Rows = dict[Key, Row]


class Judge:
    """The judge of one expectation about a world; `ended` says that nothing more can happen in it."""

    def __init__(self, world: World, subjects: Mapping[str, Subject], expectation: Expectation, *, ended: bool) -> None:
        self._world = world
        self._subjects = subjects
        self._expectation = expectation
        self._chain = expectation.chain
        self._explainer = Explainer(world, subjects, expectation)
        self._ended = ended
        #: for each entry of the chain, the things that count for it, by subject
        self._rows: list[Rows] = []

    def view(self) -> Generator[None, None, JsonObject]:
        """The view of the expectation in the verdict; one with a condition that nothing can meet has failed."""
        view = yield from self._evaluate()
        for row in [row for rows in self._rows for row in rows.values()]:
            yield from row.clear()
        if view["never"] and view["state"] != FAILED:
            why = f"a condition that nothing can meet: {view['never'][0]['message']}"
            view |= {**state_view(None), "why": why, "nearest": [], "failed": []}
        return view

    def _evaluate(self) -> Generator[None, None, JsonObject]:
        """The view of the expectation, as if all its conditions could be met."""
        expectation = self._expectation
        for step in range(len(self._chain)):
            self._rows.append((yield from self._gather(step)))
        view: JsonObject = {
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
            "wanted": expectation.expected_count,
            "why": None,
            "nearest": [],
            "subjects": None,
            "failed": [],
        }
        if expectation.each:
            return view | (yield from self._judge_subjects())
        if expectation.share:
            return view | (yield from self._judge_share())
        view["found"] = len(self._merge_rows(0, [()]).things)
        miss = yield from self._find_miss((), expectation.low)
        return view if miss is None else view | (yield from self._explainer.miss_view(miss))

    # --- reading

    def _gather(self, step: int) -> Generator[None, None, Rows]:
        """The things that count for an entry of the chain, by subject; only the first entry checks times here."""
        world, entry = self._world, self._chain[step]
        subject = self._subjects[entry.that]
        belongs = subject.belonging(self._expectation.names(step), entry.ignoring)
        rows: Rows = {}
        for thing in occurrences_of(world, subject):
            yield  # each time: a delivery with a thousand events takes long
            if thing is None or not self._matches(entry.where, subject, thing):
                continue
            problems = limit_problems(entry, thing, None) if step else time_problems(entry, thing, world.start, None)
            if not any(problems):
                for key in belongs(world, thing.record):
                    rows.setdefault(key, Row()).things.append(thing)
        for row in rows.values():
            yield from row.sort()
        return rows

    def _subject_keys(self, among: Iterable[tuple[str, tuple[Where, ...]]]) -> Generator[None, None, dict[Key, None]]:
        """The keys of all subjects that have a thing of one of these kinds that meets its conditions."""
        world = self._world
        known: dict[Key, None] = {}
        for kind, where in among:
            subject = self._subjects[kind]
            belongs = subject.belonging(self._expectation.each, self._expectation.ignoring)
            for thing in occurrences_of(world, subject):
                yield
                if thing is not None and self._matches(where, subject, thing):
                    known |= dict.fromkeys(belongs(world, thing.record))
        return known

    def _matches(self, where: tuple[Where, ...], subject: Subject, thing: Occurrence) -> bool:
        return not where or holds(where, subject.readings(self._world, thing))

    def _merge_rows(self, step: int, keys: Iterable[Key]) -> Row:
        rows = [row for key in keys if (row := self._rows[step].get(key)) is not None]
        if len(rows) == 1:
            return rows[0]
        several = Row()  # of a thing that belongs to several, such as a request with several recipients
        several.things = list({place_of(thing): thing for row in rows for thing in row.things}.values())
        for _ in several.sort():
            pass
        return several

    # --- judging

    def _find_miss(self, key: Key, low: int | None) -> Generator[None, None, Miss | None]:
        """The miss of the chain for a subject; None if the chain holds."""
        before: Occurrence | None = None
        kind = ""
        open_miss: Miss | None = None
        for step, entry in enumerate(self._chain):
            yield
            keys = [key]
            alike = (entry.same, entry.ignoring) == (self._expectation.each, self._expectation.ignoring)
            if before is not None and not alike:
                keys = self._matching_keys(kind, entry, before, key)
            row = self._merge_rows(step, keys)
            span = range(len(row.things))
            if entry.in_order and (early := (yield from self._find_early(entry, row, keys))) is not None:
                return early
            if before is not None:
                span = row.follow(before, alike=kind == entry.that, after=entry.soonest, until=entry.latest)
            miss = self._entry_miss(step, row, span, before, keys, entry.low if step else low)
            if miss is not None:
                miss = miss._replace(alike=kind == entry.that)
                if not miss.holds:
                    return miss
            open_miss = open_miss or miss
            if span:
                before, kind = row.things[span.start], entry.that
            if before is None:
                break  # no thing had to count and none did, so nothing has to follow
        return open_miss

    def _find_early(self, entry: Expectation, row: Row, keys: list[Key]) -> Generator[None, None, Miss | None]:
        """The miss of the first thing that comes before anything that meets the conditions before its own; None if all
        come in order."""
        subject = self._subjects[entry.that]
        met: set[int] = set()
        for thing in row.things:
            yield
            own = [number for number, where in enumerate(entry.in_order) if self._matches(where, subject, thing)]
            for number in own:
                if number and number - 1 not in met:
                    early, missing = (describe(entry.that, entry.in_order[at]) for at in (number, number - 1))
                    why = f"{early} came at {iso(thing.at)}, before any {missing}"
                    return Miss(0, None, len(row.things), why, [thing], None, keys, "comes too early")
            met.update(own)
        return None

    def _matching_keys(self, kind: str, entry: Expectation, before: Occurrence, key: Key) -> list[Key]:
        """The keys of a thing for the names of an entry that follows it.

        If a name of `each` has several values, only the value of the subject.
        """
        subject = dict(zip(self._expectation.each, key, strict=True))
        keys = self._subjects[kind].belonging(entry.same, entry.ignoring)(self._world, before.record)
        own_rows = [
            values
            for values in keys
            if all(subject.get(name, value) == value for name, value in zip(entry.same, values, strict=True))
        ]
        return own_rows or keys

    def _entry_miss(
        self, step: int, row: Row, span: range, before: Occurrence | None, keys: list[Key], low: int | None
    ) -> Miss | None:
        """The miss of an entry, judged by the things that count for it; None if the entry holds."""
        entry, number = self._chain[step], len(span)

        def missed(why: str, surplus: list[Occurrence], due: int | None = None, wrong: str = "makes too many") -> Miss:
            return Miss(step, before, number, why, surplus, due, keys, wrong)

        if entry.high is not None and number > entry.high:
            surplus_things = row.things[span.start + entry.high : span.stop]
            return missed(self._explainer.count_text(entry, number, before), surplus_things[:NEAREST])
        if entry.rate is not None and (crowd := row.find_crowd(entry.rate, span)) is not None:
            first, *_, last = [row.things[place] for place in crowd]
            took = f"from {iso(first.at)} to {iso(last.at)}"
            return missed(f"{len(crowd)} {entry.text} {took}, wanted {entry.expected_count}", [last])
        if entry.pauses and (hurry := row.find_short_pause(entry.pauses, span, before)) is not None:
            thing, pause, minimum = hurry
            after = f"came {show(pause)} after the one before, wanted a pause of at least {show(minimum)}"
            return missed(f"one of {number} {entry.text} {after}", [thing], wrong="came too soon")
        if entry.not_before is not None and before is not None and span:
            first = row.things[span.start]
            if first.at - before.at < entry.not_before:
                after = f"came {show(first.at - before.at)} after it, wanted not before {show(entry.not_before)}"
                return missed(f"the first of {number} {entry.text} {after}", [first], wrong="came too soon")
        if low is not None and number < low:
            due, ended = self._open_until(entry, before)
            return missed(self._explainer.count_text(entry, number, before) + ended, [], due)
        if not self._ended and (entry.high is not None or entry.rate is not None or entry.pauses):
            due, _ = self._open_until(entry, before)
            if due is not None:  # what must not come has time until then
                return missed(self._explainer.count_text(entry, number, before), [], due)._replace(holds=True)
        return None

    def _open_until(self, entry: Expectation, before: Occurrence | None) -> tuple[int | None, str]:
        """The instant until which more things may come, None if it has passed or there is none; and a text.

        The text says that the world ended before that instant; else it is empty.
        """
        start, now = self._world.start if before is None else before.at, self._world.now
        ends = [] if entry.within is None else [start + entry.within]
        ends += [] if entry.before is None else [entry.before.instant(start)]
        due = min(ends, default=now)
        if due <= now:
            return None, ""
        return (None, f"; the world ended before that, at {iso(now)}") if self._ended else (due, "")

    def _judge_subjects(self) -> Generator[None, None, JsonObject]:
        """The view of an expectation that is judged for each subject, without the fields that all views share."""
        expectation = self._expectation
        own_rows = self._rows[0]
        known: Iterable[Key] = own_rows if expectation.then else (yield from self._subject_keys(expectation.among))
        total, missed = 0, []
        for key in known:
            total += 1
            miss = yield from self._find_miss(key, expectation.low)
            if miss is not None:
                missed.append(SubjectMiss(key, own_rows[key].things[0] if key in own_rows else None, miss))
        late = [subject for subject in missed if subject.miss.due is None]
        open_miss = [subject for subject in missed if subject.miss.due is not None]
        held = total - len(missed)
        who = plural(expectation.each)
        expected = f"{expectation.share or 'each'} of {total} {who}"
        view = {
            "found": held,
            "wanted": expected if expectation.then else f"{expectation.expected_count} for {expected}",
            "subjects": {"found": total, "passed": held, "failed": len(late), "open": len(open_miss)},
            "failed": [self._explainer.subject_view(subject) for subject in (*late, *open_miss)[:NAMED]],
        }
        low = expectation.share_low or (None if expectation.share_high else _ALL)
        high = expectation.share_high
        if not expectation.subjects.has(total):
            too_few = f"{total or 'no'} {who} of {expectation.text}, wanted {expectation.subjects.text}"
            due, ended = self._open_until(expectation, None) if total < (expectation.subjects.low or 0) else (None, "")
            return view | state_view(due) | {"why": too_few + ended}
        if high is not None and held > high.of * total:
            return view | state_view(None) | {"why": f"{held} of {total} {who}, wanted {expectation.share}"}
        if high is not None and held + len(open_miss) > high.of * total:
            due = max(subject.miss.due or 0 for subject in open_miss)
            return view | state_view(due) | {"why": f"{held} of {total} {who} so far, wanted {expectation.share}"}
        if low is None or held >= low.of * total:
            return view
        first = (late or missed)[0]
        details = {
            key: value
            for key, value in (yield from self._explainer.miss_view(first.miss)).items()
            if key in ("step", "nearest")
        }
        if held + len(open_miss) >= low.of * total:
            due = max(subject.miss.due or 0 for subject in open_miss)
            return view | details | state_view(due) | {"why": self._explainer.why(missed, total, who)}
        return view | details | state_view(None) | {"why": self._explainer.why(late, total, who)}

    def _judge_share(self) -> Generator[None, None, JsonObject]:
        """The view of an expectation about a share of the things, without the fields that all views share."""
        expectation = self._expectation
        things = self._merge_rows(0, [()]).things
        total, counted = 0, {place_of(thing) for thing in things}
        others: list[Occurrence] = []
        for kind, where in expectation.among:
            subject = self._subjects[kind]
            for thing in occurrences_of(self._world, subject):
                yield
                if thing is not None and self._matches(where, subject, thing):
                    total += 1
                    if len(others) < NEAREST and place_of(thing) not in counted:
                        others.append(thing)
        number = len(things)
        expected = f"{expectation.share} of {total} {expectation.that}"
        view = {"found": number, "wanted": expected}
        low, high = expectation.share_low, expectation.share_high
        too_few = not total or (low is not None and number < low.of * total)
        if too_few or (high is not None and number > high.of * total):
            due, ended = self._open_until(expectation, None) if too_few else (None, "")
            why = f"{number or 'no'} {expectation.text}, wanted {expected}{ended}"
            if not total:
                where = next((where for _, where in expectation.among), ())
                population = describe(expectation.that, where)
                why = f"nothing was among it: no {population}, wanted {expectation.share} of them{ended}"
            examples = others if too_few else things[:NEAREST]
            wrong = Miss(0, None, number, why, examples, due, [()], "is one of too many")
            return view | (yield from self._explainer.miss_view(wrong)) | view
        miss = yield from self._find_miss((), expectation.low)
        if miss is not None:
            return view | (yield from self._explainer.miss_view(miss))
        due, _ = self._open_until(expectation, None)
        if high is None or due is None or self._ended:
            return view
        return view | state_view(due) | {"why": f"{number or 'no'} {expectation.text} so far, wanted {expected}"}
