"""The settings under which fewer calls of a recording differ, each with its evidence, and a scenario that has them.

A round tries each value alone, and takes every value that brings other calls nearer than those before it. What only
shows under the values of one round is seen by the next. The settings of the assumptions that the answers touch come
first, then all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from sendbox.app import SERVED
from sendbox.comparing.comparison import ComparedCall, Differences, Trial, candidates, compared_calls, open_session
from sendbox.comparing.differences import STATUS, Difference, mask_text
from sendbox.comparing.recording import RecordedCall
from sendbox.comparing.report import differing as count_differing
from sendbox.comparing.report import path_of
from sendbox.control.replicas.leaning import Alternative, alternatives, with_setting
from sendbox.engine.blueprint import Blueprint
from sendbox.scenario.write import dump
from sendbox.server.loop import new_loop
from sendbox.services.assumptions import registry
from sendbox.services.settings import SETTINGS

#: A difference of statuses hides all others, so it counts for more; a call without an answer for more still.
_STATUS: Final = 1_000
_UNANSWERED: Final = 2 * _STATUS
#: Every assumption that has a setting.
_ALL: Final = frozenset(row.assumption for row in SETTINGS.values())
#: The greatest number of differences that are named as evidence of one setting.
_MAX_EVIDENCE: Final = 3


class Evidence(NamedTuple):
    """A difference that is gone under a setting, and what each value of the setting answers there, in words."""

    call: ComparedCall
    difference: Difference
    answers: tuple[tuple[Alternative, str], ...]


class Agreement(NamedTuple):
    """A value of a setting under which fewer calls differ; `others` are of other settings, and do the same alone."""

    chosen: Alternative
    evidence: tuple[Evidence, ...]
    others: tuple[Alternative, ...]


class Agreed(NamedTuple):
    """Every call with its differences, the settings that agree, and the number of calls that differ under them."""

    compared: list[ComparedCall]
    agreements: tuple[Agreement, ...]
    left: int

    @property
    def answered(self) -> int:
        """The number of calls that were compared."""
        return sum(one.made.answer is not None for one in self.compared)

    @property
    def summary(self) -> str:
        """The number of settings that agree, and of calls that differ under them."""
        one = len(self.agreements) == 1
        settings = "1 setting" if one else f"{len(self.agreements)} settings"
        return f"{settings}; {self.left} of {self.answered} calls differ under {'it' if one else 'them'}"


def agree(calls: Sequence[RecordedCall], blueprint: Blueprint, *, values: bool = False) -> Agreed:
    """The comparison with the settings that agree. Raises `Conflict` if the recorded times cannot be reached."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_agree(calls, blueprint, values=values))


async def _agree(calls: Sequence[RecordedCall], blueprint: Blueprint, *, values: bool) -> Agreed:
    agreements: dict[str, Agreement] = {}
    async with open_session(calls, blueprint, values=values) as session:
        outcomes, differing = await session.differences(blueprint)
        trials = await session.trials(blueprint, candidates(outcomes, differing, blueprint.assume))
        compared = compared_calls(calls, outcomes, differing, trials)
        every = False
        while any(differing.values()):
            if chosen := _choose(differing, trials):
                changed = _with_settings(blueprint, chosen)
                outcomes, left = await session.differences(changed)
                if _cost(left, differing) >= _cost(differing, differing):  # together they do not agree
                    chosen = chosen[:1]
                    changed = _with_settings(blueprint, chosen)
                    outcomes, left = await session.differences(changed)
                for trial in chosen:
                    current = SETTINGS[trial.other.setting].written(getattr(blueprint.assume, trial.other.setting))
                    agreements[trial.other.setting] = _agreement(trial, current, compared, differing, trials)
                blueprint, differing = changed, left
            elif every:
                break
            else:  # an answer may also depend on what no call of its own touched
                every = True
            settings = blueprint.assume
            others = alternatives(settings, _ALL) if every else candidates(outcomes, differing, settings)
            trials = await session.trials(blueprint, others)
    in_order = sorted(agreements.values(), key=lambda agreement: agreement.evidence[0].call.call.number)
    return Agreed(_with_agreements(compared, in_order), tuple(in_order), sum(map(bool, differing.values())))


def _with_agreements(compared: Iterable[ComparedCall], agreements: Iterable[Agreement]) -> list[ComparedCall]:
    """The calls, with the settings that agree where none of those did that the answer touches."""
    agreeing = {
        (evidence.call.call.number, evidence.difference.sign): agreement.chosen
        for agreement in agreements
        for evidence in agreement.evidence
    }
    return [
        one._replace(
            named=tuple(
                named
                if named.agreeing or other is None
                else named._replace(assumptions=(other.assumption,), agreeing=(other,))
                for named in one.named
                for other in [agreeing.get((one.call.number, named.difference.sign))]
            )
        )
        for one in compared
    ]


def _with_settings(blueprint: Blueprint, chosen: Iterable[Trial]) -> Blueprint:
    for trial in chosen:
        blueprint = with_setting(SERVED.language, blueprint, trial.other)
    return blueprint


def _choose(differing: Differences, trials: Sequence[Trial]) -> list[Trial]:
    """The best value first, and others that bring calls nearer which none before them did; each setting once."""
    chosen: list[Trial] = []
    nearer: set[int] = set()
    for trial in sorted(trials, key=lambda trial: _cost(trial.left, differing)):
        if _cost(trial.left, differing) >= _cost(differing, differing):
            break
        new = _nearer(trial, differing) - nearer
        # a scenario that is joined over others cannot take a setting away
        if new and trial.other.value is not None and trial.other.setting not in {one.other.setting for one in chosen}:
            chosen.append(trial)
            nearer |= new
    return chosen


def _nearer(trial: Trial, differing: Differences) -> set[int]:
    """The calls whose answers differ less under a value."""
    return {place for place in differing if _cost(trial.left, (place,)) < _cost(differing, (place,))}


def _cost(differences: Differences, places: Iterable[int]) -> int:
    """The distance of the answers to some calls from the recorded ones."""
    return sum(
        _UNANSWERED
        if place not in differences
        else _STATUS
        if STATUS in differences[place]
        else len(differences[place])
        for place in places
    )


def _agreement(
    trial: Trial, current: object, compared: Sequence[ComparedCall], differing: Differences, trials: Sequence[Trial]
) -> Agreement:
    """A value with its evidence; `current` is the value under which the calls differed."""
    other, nearer = trial.other, _nearer(trial, differing)
    usual = Trial(other._replace(value=current), differing)
    of_setting = [usual, *(one for one in trials if one.other.setting == other.setting)]
    return Agreement(
        other,
        tuple(
            Evidence(
                compared[place], difference, tuple((one.other, _words(one, place, difference)) for one in of_setting)
            )
            for place in sorted(nearer)
            for sign, difference in differing[place].items()
            if sign not in trial.left[place]
        ),
        tuple(
            one.other
            for one in trials
            if one.other.setting != other.setting
            and _nearer(one, differing) >= nearer
            and _cost(one.left, differing) <= _cost(trial.left, differing)
        ),
    )


def _words(trial: Trial, place: int, difference: Difference) -> str:
    """The answer under a value, in words and without values."""
    if place not in trial.left:
        return "no answer"
    left = trial.left[place]
    if STATUS in left and difference.sign != STATUS:
        return f"the status {left[STATUS].here}"
    return left[difference.sign].here or "another value" if difference.sign in left else "as recorded"


# -- the scenario


def scenario_text(agreed: Agreed, recording: str, extends: str | None, assume: Mapping[str, str]) -> str:
    """A scenario with the settings, and the evidence of each in comments; `assume` are those of the command line."""
    before = count_differing(agreed.compared)
    lines = [
        f"# Settings under which sendbox compare agrees with {recording}.",
        f"# {before} of {agreed.answered} calls differed before, {agreed.left} of {agreed.answered} differ with them.",
        "sendbox: 1",
        *([] if extends is None else [f"extends: {extends}"]),
        "assume:" if agreed.agreements or assume else "assume: {}",
    ]
    chosen = {agreement.chosen.setting for agreement in agreed.agreements}
    for name, text in assume.items():
        if name not in chosen:
            lines += ["  # set when it was compared", f"  {name}: {text}"]
    for agreement in agreed.agreements:
        lines += [f"  # {line}" for line in _comment(agreement)]
        lines += [f"  {line}" for line in dump({agreement.chosen.setting: agreement.chosen.value}).splitlines()]
    return "\n".join(lines) + "\n"


def _comment(agreement: Agreement) -> Iterable[str]:
    """The evidence of a setting, line by line."""
    row = next(row for row in registry() if row.id == agreement.chosen.assumption)
    yield f"{row.id} ({row.confidence}) {row.title}"
    for call, difference, answers in agreement.evidence[:_MAX_EVIDENCE]:
        place = "" if difference.sign == STATUS else f", at {mask_text(difference.path)}"
        status = "the status " if difference.sign == STATUS else ""
        name = f"call {call.call.number}, {call.call.method} {path_of(call)}"
        yield f"{name}{place}: recorded {status}{difference.recorded}"
        for other, words in answers:
            yield f"  {other.text} answers {words if words == 'as recorded' else status + words}"
    if len(agreement.evidence) > _MAX_EVIDENCE:
        yield f"and {len(agreement.evidence) - _MAX_EVIDENCE} differences more"
    for other in agreement.others:
        yield f"as well, alone: {other.text}"
