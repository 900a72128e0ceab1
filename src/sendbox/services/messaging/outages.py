"""Outages: a channel, or the network of an operator, takes nothing and reports nothing for a while.

Checks, charges, TTLs and the flow go on, so that a message falls back as it would in the service. What an attempt has
ahead of it is looked at when it falls due during the outage: where it waits it is put off to the end, so that nothing
has to be collected when an outage begins or released when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.durations import iso
from sendbox.engine.journal import CODE
from sendbox.engine.texts import Pattern
from sendbox.services.messaging.channels import (
    ACCEPTED,
    DELIVERED,
    FAILED,
    LEGAL,
    REJECTED,
    SEEN,
    SENDING,
    SENT,
    STATES,
    UNDELIVERED,
)
from sendbox.services.messaging.records import Attempt, Plan
from sendbox.services.numbers.countries import country, operator

if TYPE_CHECKING:
    from sendbox.engine.blueprint import TimelineEntry
    from sendbox.services.messaging.home import Home, Movements


#: What may become of messages on their way, and of those handed over meanwhile.
IN_FLIGHT: Final = ("wait", "undelivered", "failed")
NEW: Final = ("wait", "undelivered", "rejected", "failed")
#: Results that need an operator who takes the message.
_TAKEN: Final = frozenset({SENT, DELIVERED, SEEN})

#: Noted on an attempt whose plan is an outage's.
_CUT_OFF: Final = "cut_off"


def named(entry: JsonMapping) -> str:
    """The description of an outage in words, from an entry of the journal."""
    channels = entry.get("channel") or []
    where = [channels if isinstance(channels, str) else ", ".join(channels)]
    if entry.get("operator") is not None:
        where.append(f"operator {entry['operator']}")
    if entry.get("country") is not None:
        where.append(f"in {entry['country']}")
    if (phones := entry.get("phone")) is not None:
        where.append(f"phones {phones if isinstance(phones, str | int) else ', '.join(map(str, phones))}")
    if entry.get("share") is not None:
        where.append(f"for a share of {entry['share']}")
    return " ".join(filter(None, where)) or "everything"


class Outage(msgspec.Struct, frozen=True):
    """An outage as a scenario describes it; `lasts` in milliseconds.

    `channels` None = all of them. `countries` are ISO codes and None = everywhere; `network` is an MNC in them, None =
    every one. `phones` None = all of them; `share` None = all phones, else drawn for each phone by `key`. `info` is the
    `result_info` of the bad ends it makes (None = the default, A23).
    """

    lasts: int
    channels: tuple[str, ...] | None = None
    countries: frozenset[str] | None = None
    network: int | None = None
    in_flight: str = "wait"
    new: str = "wait"
    info: str | None = None
    phones: tuple[Pattern, ...] | None = None
    share: float | None = None
    key: str = ""

    def hits(self, attempt: Attempt) -> bool:
        """True if the outage hits an attempt: its channel, phone, country, network and share all match."""
        if self.channels is not None and attempt.step.channel not in self.channels:
            return False
        phone, chooser = attempt.message.phone, attempt.message.submission.chooser
        if self.phones is not None and not any(pattern.matches(phone) for pattern in self.phones):
            return False
        if self.countries is not None:
            place = country(phone)
            if place is None or place.iso not in self.countries:
                return False
            if self.network is not None and operator(phone, chooser) != self.network:
                return False
        return self.share is None or chooser.draw(self.key, phone, 0).below(self.share, "share")


class ActiveOutage(msgspec.Struct, eq=False):
    """An outage that has begun, by the entry of the timeline that lets it happen."""

    outage: Outage
    began: int
    until: int
    entry: TimelineEntry
    simulator: Movements

    @property
    def scope(self) -> JsonObject:
        """The outage as it was written, and as the journal shows it."""
        return self.entry.what

    def meets_new(self, attempt: Attempt) -> bool:
        """True if an attempt was not handed over before the outage."""
        return not attempt.history or attempt.transitions()[0][1] >= self.began

    def word(self, attempt: Attempt) -> str:
        """The effect on an attempt: it depends on whether the attempt was handed over before the outage, or since."""
        return self.outage.new if self.meets_new(attempt) else self.outage.in_flight

    def transition_due(self, attempts: Sequence[Attempt], first: int, last: int) -> int:
        """The outage is over for attempts that waited for its end: the next entry of their plans has come."""
        return self.simulator.transition_due(attempts, first, last)


class Outages:
    """The outages of one world that have begun and not ended, oldest first."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._world = home.world
        self.current: list[ActiveOutage] = []

    def begin(self, entry: TimelineEntry) -> None:
        """Begins the outage of an entry of the timeline at this instant."""
        world = self._world
        now, outage = world.clock.now, entry.means
        current = ActiveOutage(outage, now, now + outage.lasts, entry, self._home.simulator)
        self.current.append(current)
        world.journal.add(now, CODE["outage"], (current, "began"))
        world.timeline.at(current.until, -1, self.recovery_due, current)

    def is_upcoming(self, handler: object, subject: Any) -> bool:
        """True for a step with which an outage begins."""
        return handler == self._world.entry_due and subject.kind == "outage"

    def end(self, outage: str | None) -> list[str]:
        """Ends the outages with an id, or all of them, at this instant; those that are to come do not begin.

        What waited for the end of one is due now. Returns the ids of those that ended.
        """
        world = self._world
        now = world.clock.now
        ending = [current for current in self.current if outage in (None, current.entry.id)]
        waiting = {current.transition_due for current in ending}
        ended = {current.entry.id: None for current in ending}

        def instant_of(instant: int, handler: object, subject: Any) -> int | None:
            if handler in waiting:
                return now
            if handler == self.recovery_due and subject in ending:
                return None
            if self.is_upcoming(handler, subject) and outage in (None, subject.id):
                ended[subject.id] = None
                return None
            return instant

        world.timeline.reschedule(instant_of)
        for current in ending:
            self.current.remove(current)
            world.journal.add(now, CODE["outage"], (replace(current, until=now), "ended"))
        return [*ended]

    def says(self, attempt: Attempt) -> str | None:
        """The effect of an outage on an attempt, now or in the past, in words; None = no effect."""
        if attempt.extra is not None and _CUT_OFF in attempt.extra:
            return f"an outage ends it: {attempt.extra[_CUT_OFF]}"
        current = self.over(attempt) if attempt.plan else None
        if current is None or current.word(attempt) != "wait":
            return None
        return f"an outage of {named(current.scope)} holds it until {iso(current.until)}"

    def recovery_due(self, current: ActiveOutage) -> None:
        """An outage ends; what it put off is due at this instant, after this."""
        self.current.remove(current)
        self._world.journal.add(self._world.clock.now, CODE["outage"], (current, "ended"))

    def over(self, attempt: Attempt) -> ActiveOutage | None:
        """The outage that decides about an attempt: of those that hit it the one that began last, while it lasts."""
        return next((current for current in reversed(self.current) if current.outage.hits(attempt)), None)

    def cut_off(self, attempt: Attempt, plan: Plan) -> Plan:
        """The plan of an attempt that begins while what it goes over is out.

        Its rules were asked nevertheless, so that no count depends on an outage; what they reject stays rejected.
        """
        current = self.over(attempt)
        if current is None or current.word(attempt) == "wait" or not plan or plan[0][0] == REJECTED:
            return plan
        return self._failing_plan(attempt, current.outage)

    def _failing_plan(self, attempt: Attempt, outage: Outage) -> Plan:
        """The usual plan of a new message that fails."""
        attempt.note(_CUT_OFF, outage.new)
        *earlier, (code, after, _) = self._home.simulator.goal_plan(attempt.step.channel, outage.new)
        return (*earlier, (code, after, outage.info))

    def hold(self, attempt: Attempt, plan: Plan, code: int) -> bool:
        """True if the entry of the plan that is due is postponed, or if the outage ends the attempt instead.

        The hand-over goes through, as `sending`: a TTL counts from it (A64).
        """
        world = self._world
        current = self.over(attempt)
        if current is None:
            return False
        word = current.word(attempt)
        if attempt.state == ACCEPTED:
            if word == "wait" and code in _TAKEN:
                attempt.replan(((SENDING, 0, None), *plan))
            return False
        simulator = self._home.simulator
        if word == "wait":
            world.timeline.together(current.until, attempt.message.ordinal, current.transition_due, (attempt,))
            return True
        if attempt.extra is not None and _CUT_OFF in attempt.extra:
            return False  # it is on the way to its bad end
        if attempt.state == SENDING and word == "undelivered" and current.meets_new(attempt):
            attempt.replan(self._failing_plan(attempt, current.outage))  # it waited for another outage, and goes on
            return False
        attempt.replan(None)
        end = FAILED if word == "failed" or attempt.state == SENDING else UNDELIVERED
        if LEGAL[attempt.step.channel][attempt.state][end]:  # else it has arrived, and only the receipt is lost
            attempt.note(_CUT_OFF, STATES[end])
            simulator.enter((attempt,), end, current.outage.info)
        return True
