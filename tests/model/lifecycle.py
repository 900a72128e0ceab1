"""The way of an attempt: states in their order (§3.1, A25), usual times (A63), and what a scenario's rules say."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

#: How far a state is; one that is not here is a bad end.
RANKS: Final = {"sending": 1, "sent": 2, "delivered": 3, "seen": 4}
BAD: Final = ("undelivered", "rejected", "failed")
INFOS: Final = {
    "sent": "Sent",
    "delivered": "[0] Delivered",
    "undelivered": "[1] Undelivered",
    "rejected": "[2] Rejected",
    "failed": "[3] Failed",
}
#: What a refusal says (A23), and whether it ends the message or only the step (A62).
REFUSALS: Final = {
    "number": ("[302] Invalid phone number format", True),
    "not allowed": ("[303] Phone number is not in allowed list", True),
    "listed": ("[304] Phone number is blacklisted or opted-out", True),
    "credit": ("[307] Insufficient credit", True),
    "sender": (INFOS["rejected"], False),
    "template": (INFOS["rejected"], False),
    "conversation": (INFOS["rejected"], False),
    "no app": (INFOS["rejected"], False),
}
USUAL: Final = {"sending": 0, "sent": 1000, "delivered": 2000, "seen": 5000}


class Move(NamedTuple):
    """One state of the way, so many milliseconds after the one before."""

    state: str
    after: int
    info: str | None


def duration(text: str) -> int:
    """Milliseconds; the drawn worlds write all durations in them."""
    return int(text.removesuffix("ms"))


def usual_time(state: str, timing: Mapping[str, int]) -> int:
    """A bad end takes the time of the state in whose place it comes."""
    return {**timing, "undelivered": timing["delivered"], "failed": timing["sent"], "rejected": 0}[state]


def usual_way(end: str, channel: str) -> list[str]:
    """The states that lead to an end; an sms is never seen (§3.1)."""
    if end == "seen" and channel == "sms":
        end = "delivered"
    ways = {
        "undelivered": ["sending", "sent", "undelivered"],
        "rejected": ["rejected"],
        "failed": ["sending", "failed"],
    }
    return ways.get(end) or [state for state, rank in RANKS.items() if rank <= RANKS[end]]


def fits(when: Mapping[str, Any], phone: str, channel: str, attempt: int, tags: list[str]) -> bool:
    """Whether all conditions of a rule hold."""
    return (
        fnmatchcase(phone, when.get("phone", "*"))
        and when.get("channel", channel) == channel
        and when.get("attempt", attempt) == attempt
        and when.get("tag", tags[0]) in tags
    )


def way(then: Any, channel: str, timing: Mapping[str, int]) -> list[Move]:
    """The way that `then` of a rule names: a state, or a list of states with their times."""
    entries = usual_way(then, channel) if isinstance(then, str) else then
    moves = []
    for entry in entries:
        state, how = (entry, {}) if isinstance(entry, str) else next(iter(entry.items()))
        after = duration(how["after"]) if "after" in how else usual_time(state, timing)
        moves.append(Move(state, after, how.get("info", INFOS.get(state))))
    return moves
