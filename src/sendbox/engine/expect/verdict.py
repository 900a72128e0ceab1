"""The verdict: which expectations hold, which are open, which failed; and why, in words."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.durations import iso
from sendbox.engine.expect.explaining import FAILED, OPEN, PASSED
from sendbox.engine.expect.judging import Judge

if TYPE_CHECKING:
    from sendbox.engine.expect.expectation import Expectation
    from sendbox.engine.expect.subjects import Subject
    from sendbox.engine.rules.rule import Rule
    from sendbox.engine.world import World

#: So many unused rules are listed for people, and so many characters of a name; rules looked at between two pauses.
UNUSED: Final = 20
NAME: Final = 80
_LOOKED: Final = 256
#: The mark of an expectation that holds, and cannot fail.
_DOUBT: Final = "DOUBT "
_MARKS: Final = {PASSED: "ok    ", OPEN: "open  ", FAILED: "FAILED"}


def _unused(world: World, usual: Iterable[Rule]) -> Generator[None, None, list[dict[str, Any]]]:
    unused = []
    # in an export or a record the rules of other files have other places
    known = {rule.key: replace(rule, place=None) for rule in usual}
    for path, book in world.lists.items():
        for number, rule in enumerate(book.unused, 1):
            if rule.place is not None and known.get(rule.key) != replace(rule, place=None):
                unused.append({"rule": rule.title, "in": path, "place": rule.place})
            if number % _LOOKED == 0:
                yield
    return unused


def verdict_in_slices(
    world: World,
    subjects: Mapping[str, Subject],
    expectations: Iterable[Expectation],
    usual: Iterable[Rule] = (),
    *,
    ended: bool = True,
) -> Generator[None, None, dict[str, Any]]:
    """The verdict, with pauses, so that a loop can do other work; the generator returns it.

    `{passed, state, trusted, lost, next_due, expectations: [{name, passed, state, open_until, that, step, found,
    wanted, why, nearest, place, never, subjects, failed}], unused: [{rule, in, place}]}`. A `state` is passed, failed
    or open, and `passed` says whether it is the first; with `ended` nothing is open. `step` is 0 for the entry itself
    and n for the nth of its `then`; `never` has the conditions that nothing can meet, each with its rule and a message;
    `subjects` counts those that `each` found, and `failed` names those that failed or are open. `lost` counts forgotten
    journal entries, and where anything was forgotten the verdict is not `trusted`, and has the `bound` that did it;
    `next_due` says that something is still to come; `unused` are the rules that never decided anything, without the
    `usual` ones.
    """
    judged: list[dict[str, Any]] = []
    for expectation in expectations:
        view = yield from Judge(world, subjects, expectation, ended=ended).view()
        judged += [view]
    states = {view["state"] for view in judged}
    due = world.timeline.next_due()
    return {
        "passed": states <= {PASSED},
        "state": FAILED if FAILED in states else OPEN if OPEN in states else PASSED,
        "trusted": world.record.cut is None,
        "lost": world.journal.first,
        **({} if world.record.cut is None else {"bound": world.record.cut}),
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
    return f"NOT TO BE TRUSTED: {verdict['lost']} entries of the journal were forgotten ({verdict['bound']})"


def lines(verdict: dict[str, Any]) -> list[str]:
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
    if doubted := sum(bool(view["never"]) for view in judged):
        summary += f"; {doubted} with a condition that nothing can meet"
    text = [f"verdict: {summary}"]
    if (doubt := untrusted(verdict)) is not None:
        text.append(f"  {doubt}")
    for view in judged:
        until = f" (open until {view['open_until']})" if view["state"] == OPEN else ""
        mark = _DOUBT if view["passed"] and view["never"] else _MARKS[view["state"]]
        text.append(f"  {mark}  {view['name']}{until}")
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
    step = f"then, {failed['step']}: " if failed["step"] and failed["subjects"] is None else ""
    text = [f"{step}{failed['why']}{where}"]
    for near in failed["nearest"]:
        entry = "" if near["entry"] is None else f", entry {near['entry']}"
        text += [f"nearest: {near['what']} (at {near['at']}{entry})", f"  {near['why_not']}"]
    return text
