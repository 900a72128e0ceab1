"""Outages: a channel, or the network of an operator, takes nothing and reports nothing for a while.

Checks, charges, TTLs and the flow go on, so that a message falls back as it would in the service. What an attempt has
ahead of it is looked at when it falls due during the outage: where it waits it is put off to the end, so that nothing
has to be collected when an outage begins or released when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.durations import iso
from sendbox.engine.journal import CODE
from sendbox.services.messaging.channels import LEGAL
from sendbox.services.messaging.records import operator
from sendbox.services.messaging.results import (
    ACCEPTED,
    DELIVERED,
    FAILED,
    REJECTED,
    SEEN,
    SENDING,
    SENT,
    STATES,
    UNDELIVERED,
)
from sendbox.services.numbers.countries import country

if TYPE_CHECKING:
    from sendbox.services.messaging.home import Home
    from sendbox.services.messaging.records import Attempt, Plan

#: What may become of messages on their way, and of those handed over meanwhile.
IN_FLIGHT: Final = ("wait", "undelivered", "failed")
NEW: Final = ("wait", "undelivered", "rejected", "failed")
#: Results that need an operator who takes the message.
_TAKEN: Final = frozenset({SENT, DELIVERED, SEEN})

#: Noted on an attempt whose plan is an outage's.
_CUT_OFF: Final = "cut_off"


def named(entry: Mapping[str, Any]) -> str:
    """What is out, in words, from an entry of the journal."""
    channels = entry.get("channel") or []
    where = [channels if isinstance(channels, str) else ", ".join(channels)]
    if entry.get("operator") is not None:
        where.append(f"operator {entry['operator']}")
    if entry.get("country") is not None:
        where.append(f"in {entry['country']}")
    return " ".join(filter(None, where)) or "everything"


@dataclass(frozen=True, slots=True)
class Outage:
    """An outage as a scenario describes it; `lasts` in milliseconds.

    `channels` None = all of them. `countries` are ISO codes and None = everywhere; `network` is an MNC in them, None =
    every one. `info` is the `result_info` of the bad ends it makes (None = the default, A23).
    """

    lasts: int
    channels: tuple[str, ...] | None = None
    countries: frozenset[str] | None = None
    network: int | None = None
    in_flight: str = "wait"
    new: str = "wait"
    info: str | None = None

    def hits(self, attempt: Attempt) -> bool:
        """Whether an attempt goes over what is out."""
        if self.channels is not None and attempt.step.channel not in self.channels:
            return False
        if self.countries is None:
            return True
        phone = attempt.message.phone
        place = country(phone)
        if place is None or place.iso not in self.countries:
            return False
        return self.network is None or operator(phone, attempt.message.submission.chooser) == self.network


@dataclass(slots=True, eq=False)
class Current:
    """An outage that has begun. `what` is how the journal shows it."""

    outage: Outage
    began: int
    until: int
    what: dict[str, Any]

    def word(self, attempt: Attempt) -> str:
        """What becomes of an attempt: it was handed over before the outage, or since."""
        under_way = attempt.history and attempt.transitions()[0][1] < self.began
        return self.outage.in_flight if under_way else self.outage.new


class Outages:
    """The outages of one world that have begun and not ended, oldest first."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._world = home.world
        self.current: list[Current] = []

    def begin(self, outage: Outage, shown: dict[str, Any]) -> None:
        """From this instant on it is out."""
        world = self._world
        now = world.clock.now
        current = Current(outage, now, now + outage.lasts, shown)
        self.current.append(current)
        world.journal.add(now, CODE["outage"], (current, "began"))
        world.timeline.at(current.until, -1, self.recovery_due, current)

    def says(self, attempt: Attempt) -> str | None:
        """What an outage makes of an attempt, or made of it; None = nothing."""
        if attempt.extra is not None and _CUT_OFF in attempt.extra:
            return f"an outage ends it: {attempt.extra[_CUT_OFF]}"
        current = self.over(attempt) if attempt.plan else None
        if current is None or current.word(attempt) != "wait":
            return None
        return f"an outage of {named(current.what)} holds it until {iso(current.until)}"

    def recovery_due(self, current: Current) -> None:
        """An outage ends; what it put off is due at this instant, after this."""
        self.current.remove(current)
        self._world.journal.add(self._world.clock.now, CODE["outage"], (current, "ended"))

    def over(self, attempt: Attempt) -> Current | None:
        """The outage that decides about an attempt: one in which it waits, the longest; else the oldest that hits."""
        hitting = [current for current in self.current if current.outage.hits(attempt)]
        waiting = [current for current in hitting if current.word(attempt) == "wait"]
        if waiting:
            return max(waiting, key=lambda current: current.until)
        return hitting[0] if hitting else None

    def cut_off(self, attempt: Attempt, plan: Plan) -> Plan:
        """The plan of an attempt that begins while what it goes over is out.

        Its rules were asked nevertheless, so that no count depends on an outage; what they reject stays rejected.
        """
        current = self.over(attempt)
        if current is None or current.word(attempt) == "wait" or not plan or plan[0][0] == REJECTED:
            return plan
        attempt.note(_CUT_OFF, current.outage.new)
        *way, (code, after, _) = self._home.simulator.goal_plan(attempt.step.channel, current.outage.new)
        return (*way, (code, after, current.outage.info))

    def hold(self, attempt: Attempt, plan: Plan, code: int) -> bool:
        """Whether what is due for an attempt is put off, or ends it.

        The hand-over goes through, as `sending`: a TTL counts from it (A64).
        """
        world = self._world
        current = self.over(attempt)
        if current is None:
            return False
        word = current.word(attempt)
        if attempt.state == ACCEPTED:
            if word == "wait" and code in _TAKEN:
                attempt.plan = ((SENDING, 0, None), *plan)
            return False
        simulator = self._home.simulator
        if word == "wait":
            world.timeline.at(current.until, attempt.message.ordinal, simulator.transition_due, attempt)
            return True
        if attempt.extra is not None and _CUT_OFF in attempt.extra:
            return False  # it is on the way to its bad end
        attempt.plan = None
        end = FAILED if word == "failed" or attempt.state == SENDING else UNDELIVERED
        if LEGAL[attempt.step.channel][attempt.state][end]:  # else it has arrived, and only the receipt is lost
            attempt.note(_CUT_OFF, STATES[end])
            simulator.enter(attempt, end, current.outage.info)
        return True
