"""The verdict: which expectations hold, which are open, which failed; and why, in words."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.durations import iso
from sendbox.engine.expect.expectation import Expectation, conditions_of
from sendbox.engine.expect.explainer import FAILED, OPEN, PASSED
from sendbox.engine.expect.judge import Judge
from sendbox.engine.expect.subjects import REQUESTS, Subject, occurrences_of
from sendbox.engine.texts import Pattern, nearest, shorten

if TYPE_CHECKING:
    from sendbox.engine.rules.rule import Rule
    from sendbox.engine.world import World

#: The rules of warnings: a rule that never decided anything, and a name that the world does not have.
UNUSED: Final = "rule-unused"
UNKNOWN: Final = "name-unknown"
#: So many warnings are listed for people, and so many characters of one; rules looked at between two pauses.
WARNINGS: Final = 20
WARNING: Final = 200
_LOOKED: Final = 256
#: So many names that a world has are listed in a warning.
_LISTED: Final = 10
#: Among so many of them the nearest is looked for.
_NEAR: Final = 100
#: What is expected of every client, unless the scenario expects no calls.
_CALL: Final = Expectation(REQUESTS, name="the client makes a call")
_MARKS: Final = {PASSED: "ok    ", OPEN: "open  ", FAILED: "FAILED"}


def _unused(world: World, usual: Iterable[Rule]) -> Generator[None, None, list[JsonObject]]:
    unused = []
    # in an export or a record the rules of other files have other places
    known = {rule.key: replace(rule, place=None) for rule in usual}
    for path, book in world.all_rulebooks.items():
        for number, rule in enumerate(book.unused, 1):
            if rule.place is not None and known.get(rule.key) != replace(rule, place=None):
                unused.append({"rule": rule.title, "in": path, "place": rule.place})
            if number % _LOOKED == 0:
                yield
    return unused


def expected_in_slices(world: World, subjects: Mapping[str, Subject]) -> Generator[None, None, tuple[Expectation, ...]]:
    """The expectations of a world, with pauses; one more where anything but silence is expected, and no call came."""
    expectations: tuple[Expectation, ...] = tuple(world.expect)
    bare = [replace(expectation, name=None, place=None) for expectation in expectations]
    if not expectations or world.journal.first or Expectation(REQUESTS, low=0, high=0) in bare:
        return expectations
    for call in occurrences_of(world, subjects[REQUESTS]):
        yield
        if call is not None:
            return expectations
    return (*expectations, _CALL)


def _unknown_names(
    world: World, subjects: Mapping[str, Subject], expectations: Iterable[Expectation]
) -> Generator[None, None, list[JsonObject]]:
    """A warning for each name in a condition that the world does not have, so that nothing could meet it."""
    names: dict[Callable[[World], Iterable[str]], list[str]] = {}
    warnings: dict[tuple[str, str | None], None] = {}
    if world.record.cut_by is not None:  # the names of what was forgotten are not known
        return []
    for expectation in expectations:
        if expectation.never:
            continue
        clauses = [*((entry.that, entry.where) for entry in expectation.chain), *expectation.among]
        clauses += [(expectation.that, where) for where in expectation.in_order]
        conditions = [(subjects[that], condition) for that, where in clauses for condition in conditions_of(where)]
        for subject, condition in conditions:
            known = subject.fields[condition.field].known
            if known is None:
                continue
            if known not in names:
                existing: dict[str, None] = {}
                for number, name in enumerate(known(world)):
                    existing[name] = None
                    if number % _LOOKED == 0:
                        yield
                names[known] = list(existing)
            for pattern in condition.expected:
                if isinstance(pattern, Pattern) and pattern.text != "*" and not any(map(pattern.matches, names[known])):
                    warnings[_unknown(condition.field, pattern.text, names[known]), expectation.place] = None
    return [{"rule": UNKNOWN, "message": message, "place": place} for message, place in warnings]


def _unknown(field: str, text: str, names: list[str]) -> str:
    """The sentence about a name that a world does not have."""
    has = f"it has {', '.join(names[:_LISTED])}" if names else "it has none"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    near = nearest(text, names[:_NEAR])
    return f'"{text}" is not a {field} of this world; {has}{more}' + (f'; did you mean "{near}"?' if near else "")


def verdict_in_slices(
    world: World,
    subjects: Mapping[str, Subject],
    expectations: Iterable[Expectation],
    usual: Iterable[Rule] = (),
    *,
    ended: bool = True,
    strict: bool = False,
) -> Generator[None, None, JsonObject]:
    """The verdict, with pauses, so that a loop can do other work; the generator returns it.

    `{passed, state, trusted, lost, next_due, expectations: [{name, passed, state, open_until, that, step, found,
    wanted, why, nearest, place, never, subjects, failed}], unused: [{rule, in, place}], warnings: [{rule, message,
    place}]}`. A `state` is passed, failed
    or open, and `passed` says whether it is the first; with `ended` nothing is open. `step` is 0 for the entry itself
    and n for the nth of its `then`; `never` has the conditions that nothing can meet, each with its rule and a message;
    `subjects` counts those that `each` found, and `failed` names those that failed or are open. `lost` counts forgotten
    journal entries, and where anything was forgotten the verdict is not `trusted`, and has the `bound` that did it;
    `next_due` says that something is still to come; `unused` are the rules that never decided anything, without the
    `usual` ones. `warnings` has these, and names in conditions that the world does not have; with `strict` they fail
    the verdict.
    """
    expectations = list(expectations)
    judged: list[JsonObject] = []
    for expectation in expectations:
        view = yield from Judge(world, subjects, expectation, ended=ended).view()
        judged += [{**view, "why": "the client made no call"} if expectation is _CALL else view]
    unused = yield from _unused(world, usual)
    warnings = [
        {"rule": UNUSED, "message": f"{rule['rule']} of {rule['in']} never decided anything", "place": rule["place"]}
        for rule in unused
    ]
    warnings += yield from _unknown_names(world, subjects, expectations)
    states = {view["state"] for view in judged} | ({FAILED} if strict and warnings else set())
    due = world.timeline.next_due()
    return {
        "passed": states <= {PASSED},
        "state": FAILED if FAILED in states else OPEN if OPEN in states else PASSED,
        "trusted": world.record.cut_by is None,
        "lost": world.journal.first,
        **({} if world.record.cut_by is None else {"bound": world.record.cut_by}),
        "next_due": None if due is None else iso(due),
        "expectations": judged,
        "unused": unused,
        "warnings": warnings,
    }


def proves(verdict: JsonMapping) -> bool:
    """True if a verdict passed, and can be trusted."""
    return bool(verdict["passed"] and verdict["trusted"])


def distrust_reason(verdict: JsonMapping) -> str | None:
    """The reason why a verdict cannot be trusted; None if it can."""
    if verdict["trusted"]:
        return None
    return f"NOT TO BE TRUSTED: {verdict['lost']} entries of the journal were forgotten ({verdict['bound']})"


def lines(verdict: JsonMapping) -> list[str]:
    """A verdict as text that a person reads: a line that sums up, then each expectation, the failed ones explained."""
    judged = verdict["expectations"]
    failed, waiting = ([view for view in judged if view["state"] == state] for state in (FAILED, OPEN))
    if not judged:
        summary = "nothing is expected: the scenario has no expect"
    elif failed or waiting:
        counts = [f"{len(failed)} of {len(judged)} expectations failed"] if failed else []
        counts += [f"{len(waiting)} of {len(judged)} expectations open"] if waiting else []
        summary = ", ".join(counts)
    else:
        summary = f"all {len(judged)} expectations hold" if len(judged) > 1 else "the expectation holds"
    warnings = verdict["warnings"]
    if judged and not failed and verdict["state"] == FAILED:
        summary += f", but {len(warnings)} warning{'s fail' if len(warnings) > 1 else ' fails'} the verdict (strict)"
    text = [f"verdict: {summary}"]
    if (doubt := distrust_reason(verdict)) is not None:
        text.append(f"  {doubt}")
    for view in judged:
        until = f" (open until {view['open_until']})" if view["state"] == OPEN else ""
        text.append(f"  {_MARKS[view['state']]}  {view['name']}{until}")
        if not view["passed"]:
            text += [f"          {line}" for line in reasons(view)]
        messages = [never["message"] for never in view["never"]]
        text += [f"          never: {message}" for message in messages if message not in view["why"]]
    if failed and verdict["next_due"]:
        text.append(f"  something is still to come, next at {verdict['next_due']}: was the clock moved far enough?")
    return text + warning_lines(verdict)


def warning_lines(verdict: JsonMapping) -> list[str]:
    """The warnings as text that a person reads; nothing if there are none."""
    warnings = verdict["warnings"]
    listed = [f"warning: {warned(warning)}" for warning in warnings[:WARNINGS]]
    more = [f"warning: and {len(warnings) - WARNINGS} more"] if len(warnings) > WARNINGS else []
    return [*listed, *more]


def warned(warning: JsonMapping) -> str:
    """A warning, cut where it is long, with its place."""
    place = f" ({_file(warning['place'])})" if warning["place"] else ""
    return f"{shorten(warning['message'], WARNING)}{place}"


def _file(place: str) -> str:
    return place.rpartition("/")[2]


def reasons(failed: JsonMapping) -> list[str]:
    """The reason why an expectation does not hold, and the nearest things, as lines for people."""
    where = f" ({_file(failed['place'])})" if failed["place"] else ""
    step = f"then, {failed['step']}: " if failed["step"] and failed["subjects"] is None else ""
    text = [f"{step}{failed['why']}{where}"]
    for near in failed["nearest"]:
        entry = "" if near["entry"] is None else f", entry {near['entry']}"
        text += [f"nearest: {near['what']} (at {near['at']}{entry})", f"  {near['why_not']}"]
    return text
