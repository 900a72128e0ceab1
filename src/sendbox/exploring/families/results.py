"""`results`: an attempt comes to another end, is never confirmed, or is confirmed after its flow has gone on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.exploring.census import Census, ObservedAttempt, ObservedMessage, Session
from sendbox.exploring.misfortune import (
    Kind,
    Spot,
    Value,
    about_message,
    about_session,
    attempt_words,
    duration_text,
    message_when,
    ordinal,
    spread_out,
)
from sendbox.services.messaging.channels import ACCEPTED, CODES, LEGAL, REACH, STATES, USUAL, WAYS, legal_next

#: How long a result takes that the run did not have, where there is so much time.
_STEP: Final = 1_000
#: The SMS of a code is late by minutes of its life, by at most so many values.
_MINUTE: Final = 60_000
_MINUTES: Final = 15
#: How long after the flow has gone on a late receipt comes: behind the results of the next step, and among them.
_LATE: Final = ((4_000, "behind the results of the next step"), (500, "before the next step is confirmed"))
_STAYS: Final = "stays {}: nothing more is heard of it"
_SILENT: Final = ("sent", _STAYS.format("sent"))
#: Results that come at once unless a time is given.
_AT_ONCE: Final = ("sending", "rejected")
#: Results with their instants.
Path = Sequence[tuple[str, int]]


def _reach(result: str) -> int:
    return REACH[CODES[result]]


def _legal(channel: str, results: Sequence[str]) -> bool:
    """True if an attempt may have these results in this order."""
    return all(LEGAL[channel][CODES[one]][CODES[other]] for one, other in pairwise((STATES[ACCEPTED], *results)))


def _ends(channel: str) -> list[str]:
    """The results at which an attempt may end, bad ones first."""
    over = (goal for goal in WAYS if not legal_next(channel, goal) or _reach(goal) >= _reach("delivered"))
    return sorted((goal for goal in over if _legal(channel, WAYS[goal])), key=_reach)


def _words(end: str) -> str:
    return "fails" if end == "failed" else f"is {end}"


def _timed(attempt: ObservedAttempt, results: Sequence[str], until: int) -> list[tuple[str, int]] | None:
    """A way with instants: those of the run as far as it goes, then up to `until`. None where there is no time."""
    path = []
    at = attempt.at
    for place, result in enumerate(results):
        if place < len(attempt.results):
            at = attempt.results[place][1]
        elif at < until:
            at = min(at + _STEP, until)
        else:
            return None
        path.append((result, at))
    return path


def _part(message: ObservedMessage, number: int, path: Path) -> JsonObject:
    """A rule that sends an attempt this way."""
    before = message.attempts[number - 1].at
    then: list[object] = []
    for result, at in path:
        then.append(
            result if at == before and not then and result in _AT_ONCE else {result: duration_text(at - before)}
        )
        before = at
    goal = then[0] if len(then) == 1 and isinstance(then[0], str) else then
    return {"attempts": [{"when": message_when(message, number), "then": goal}]}


def _attempts(world: Census) -> Iterator[tuple[ObservedMessage, int, ObservedAttempt]]:
    """The attempts about which rules were asked, with their numbers, from 1."""
    for message in world.messages:
        for number, attempt in enumerate(message.attempts, 1):
            if attempt.nth and attempt.results:
                yield message, number, attempt


def _spot(kind: Kind, world: Census, message: ObservedMessage, number: int, values: Iterable[Value]) -> Iterator[Spot]:
    """A spot at an attempt, if anything may go wrong there."""
    like = f"{message.attempts[number - 1].channel} {number}"
    place = attempt_words(message, number)
    return kind.at(world, place, about_message(message), values, like=like, phone=message.phone)


def _other_ends(kind: Kind, world: Census, *, moves_on: bool) -> Iterator[Spot]:
    """Ends that an attempt did not come to, those by which the flow moves on or the others."""
    for message, number, attempt in _attempts(world):
        goes_on = number < len(message.channels)
        values = []
        for end in _ends(attempt.channel):
            if attempt.reached(end) is not None or (goes_on and _leaves(attempt, WAYS[end])) != moves_on:
                continue
            path = _timed(attempt, WAYS[end], message.until)
            if path is not None:
                says = _words(end) + (", so that the next step is tried" if moves_on else "")
                values.append(Value(says, _part(message, number, path)))
        yield from _spot(kind, world, message, number, values)


def _leaves(attempt: ObservedAttempt, results: Sequence[str]) -> bool:
    """True if a way ends badly before the condition of its step is met."""
    return not _reach(results[-1]) and not any(_reach(result) >= _reach(attempt.condition) for result in results)


def _unconfirmed(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, number, attempt in _attempts(world):
        values = [
            Value(_STAYS.format(result), _part(message, number, attempt.results[:place]))
            for place, (result, _) in enumerate(attempt.results[:-1], 1)
            if _reach(result)
        ]
        yield from _spot(kind, world, message, number, values)


def _left_out(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, number, attempt in _attempts(world):
        values = []
        for place, (result, _) in enumerate(attempt.results[:-1]):
            path = (*attempt.results[:place], *attempt.results[place + 1 :])
            if _legal(attempt.channel, [state for state, _ in path]):
                values.append(Value(f"is never {result}, {path[place][0]} follows", _part(message, number, path)))
        yield from _spot(kind, world, message, number, values)


def _late(kind: Kind, world: Census) -> Iterator[Spot]:
    for message, number, attempt in _attempts(world):
        if attempt.ttl is None or number == len(message.channels):
            continue
        left = attempt.at + attempt.ttl
        last = world.last if world.moves else message.until
        values: dict[int, Value] = {}
        for after, when in _LATE:
            at = min(left + after, last)
            if at > left:
                says = f"is confirmed {duration_text(at - left)} after the flow has gone on, {when}"
                values.setdefault(at, Value(says, _part(message, number, _missing(attempt, at))))
        yield from _spot(kind, world, message, number, values.values())


def _missing(attempt: ObservedAttempt, at: int) -> Path:
    """A way whose condition is first met at an instant after the ttl."""
    until_seen = attempt.condition == "seen" and _legal(attempt.channel, WAYS["seen"])
    results = WAYS["seen" if until_seen else "delivered"]
    first = next(
        (place for place, state in enumerate(results) if _reach(state) >= _reach(attempt.condition)), len(results) - 1
    )
    return [(result, at if place >= first else attempt.at + place * _STEP) for place, result in enumerate(results)]


def _codes(kind: Kind, world: Census) -> Iterator[Spot]:
    for session in world.sessions:
        if not session.sms or legal_next(USUAL, session.sms):  # it was refused, or is on its way when the run ends
            continue
        when = {"phone": session.phone, "nth": session.ordinal}
        values = [
            Value(says, {"verify": {"rules": [{"when": when, "then": {"sms": end}}]}})
            for end, says in (*((end, _words(end)) for end in _ends(USUAL) if not _reach(end)), _SILENT)
            if end != session.sms
        ]
        yield from _code(kind, world, session, values)


def _late_codes(kind: Kind, world: Census) -> Iterator[Spot]:
    """By each minute of the life of a code, as far as the clock goes, and a second beyond it."""
    for session in world.sessions:
        life = session.expires - session.at
        minutes = spread_out(range(_MINUTE, life, _MINUTE), _MINUTES)
        values = [
            Value(f"comes {duration_text(late)} late", _arrives(session, late))
            for late in (*minutes, life + 1_000)
            if session.sms and (world.runs or session.at + late <= world.last)
        ]
        yield from _code(kind, world, session, values)


def _arrives(session: Session, late: int) -> JsonObject:
    """A rule that delivers the SMS of a code so late."""
    when = {"phone": session.phone, "operation": "createValidation", "nth": session.nth}
    then = ["sending", {"sent": duration_text(_STEP)}, {"delivered": duration_text(late - _STEP)}]
    return {"attempts": [{"when": when, "then": then}]}


def _code(kind: Kind, world: Census, session: Session, values: Iterable[Value]) -> Iterator[Spot]:
    """A spot at the SMS of a code, if anything may go wrong there."""
    place = f"the SMS of the {ordinal(session.ordinal)} code of {session.phone}"
    return kind.at(world, place, about_session(session), values, phone=session.phone)


_of_results = partial(Kind, "results")
KINDS: Final = (
    _of_results(
        "other end",
        ("§3.1", "A25"),
        "An attempt ends as its lifecycle allows, and what ended stays so.",
        partial(_other_ends, moves_on=False),
    ),
    _of_results(
        "not confirmed",
        ("§3.1",),
        "A message of which nothing more is heard may have arrived or not; nothing untrue is reported about it.",
        _unconfirmed,
    ),
    _of_results(
        "left out",
        ("§6", "A25"),
        "A later result includes those before it: what is seen was delivered, what is delivered was sent.",
        _left_out,
    ),
    _of_results(
        "fallback",
        ("§2.2", "A04"),
        "The next step is tried only if the condition of the step before was not met, and has a gateway of its own.",
        partial(_other_ends, moves_on=True),
    ),
    _of_results(
        "late receipt",
        ("§2.2", "A05", "A64"),
        "A receipt has the gateway of the step that it is about; a message may arrive by more than one step.",
        _late,
    ),
    _of_results(
        "code lost",
        ("§3.2", "A72", "A73"),
        "A code holds from its creation until it expires, whatever is heard of its SMS.",
        _codes,
    ),
    _of_results(
        "code late",
        ("§3.2", "A72", "A73"),
        "A code can be entered from its creation until it expires, whenever its SMS comes.",
        _late_codes,
    ),
)
