"""What happened, as rows that people read: who did what, when, and about which message.

Entries are told as their kinds say; requests of the traffic with what the journal does not know of them. Messages are
called m1, m2, … in the order in which they are met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sendbox.engine.durations import instant
from sendbox.engine.kinds.narration import CLIENT, EVENTS, SHOWN, WORLD, Names, Teller, cut
from sendbox.playing.player import Asked, Played
from sendbox.services import limits


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the timeline: `who` did `what`, and `answer` came back, where something does.

    `tone` is good, bad, plain or dim; `to` is whom it reaches, for diagrams, None = nobody.
    """

    at: int
    who: str
    what: str
    tone: str = "plain"
    to: str | None = WORLD
    answer: str | None = None
    marked: bool = False

    @property
    def text(self) -> str:
        """What happened, whole."""
        text = self.what if self.answer is None else f"{self.what} → {self.answer}"
        return f"{text} [order-sensitive]" if self.marked else text


def rows(played: Played) -> tuple[list[Row], Names]:
    """The timeline, and the names of the messages in it."""
    names, kinds = Names(), played.served.kinds
    # what a tester does has entries of its own
    by_tester = {kind.name for kind in kinds.by_code.values() if kind.lines is None}
    teller = Teller(kinds.told, names, played.entries)
    caller = _Caller(played, names)
    found: list[Row] = []
    journaled = {each.number for each in played.asked if each.number is not None}
    by_number = {entry["n"]: entry for entry in played.entries}
    waiting = list(played.asked)
    for entry in played.entries:
        while waiting and _begun(waiting[0], entry):
            found.append(caller.asked(waiting.pop(0), by_number))
        told = None if entry["n"] in journaled or entry["kind"] in by_tester else teller.tell(entry)
        if told is not None:
            found.append(Row(instant(entry["at"]), *told, bool(entry.get("order_sensitive"))))
    found += [caller.asked(each, by_number) for each in waiting]
    return found, names


def _begun(asked: Asked, entry: Mapping[str, Any]) -> bool:
    """Whether a request stands before an entry. It is journaled when it is over, and told before what it did."""
    number = asked.number if asked.before is None else asked.before
    return asked.at < instant(entry["at"]) if number is None else bool(number <= entry["n"])


class _Caller:
    """Tells requests of the traffic."""

    def __init__(self, played: Played, names: Names) -> None:
        self._names = names
        self._by_id = played.by_id

    def asked(self, asked: Asked, entries: Mapping[int, Mapping[str, Any]]) -> Row:
        """A request of the traffic. The journal may not know it: no key, no connection, or nothing to send."""
        entry = {} if asked.number is None else entries[asked.number]
        traffic = asked.traffic
        title = f' "{cut(traffic.name)}"' if traffic.name else ""
        what = f"{traffic.operation}{title}{_about(traffic.value)}"
        said = [asked.error or ""] if asked.status is None else [str(asked.status)]
        said.append(self._named(_accepted(asked.answer)))
        said += [f"{len(lines)} rejected" for lines in (_rejected(asked.answer),) if lines]
        if asked.status is not None and asked.status >= 400:
            findings = entry.get("findings") or ()
            said.append(cut(findings[0]["message"], 2 * SHOWN) if findings else "")
        if asked.garbled:
            said.append("with a body that is no JSON")
        if not asked.ok:
            said.append(f"(expected {traffic.status or 'no answer'})" if traffic.status is not None else "")
        bad = not asked.ok or asked.garbled or asked.status is None or asked.status >= 400
        tone = "bad" if bad else "plain"
        marked = bool(entry.get("order_sensitive"))
        to = WORLD if asked.sent else None
        return Row(asked.at, CLIENT, what, tone, to, " ".join(filter(None, said)), marked)

    def _messages(self, named: str) -> list[str]:
        """The ids that an answer's id stands for: of /messages the base of one for each recipient (§2.3)."""
        if named in self._by_id:
            return [named]
        return [each for index in range(limits.RECIPIENTS) if (each := f"{named}-{index}") in self._by_id]

    def _named(self, accepted: list[str]) -> str:
        """The messages that were accepted. An id may be the beginning of those of several recipients (A09)."""
        ids = [each for one in accepted for each in self._messages(one)]
        names = [self._names.of(each) for each in ids]
        return " ".join(names) if len(names) <= EVENTS else f"{names[0]} to {names[-1]}"


def _about(value: Any) -> str:
    """To whom a request goes, and by which channels."""
    if isinstance(value, list):
        others = len(value) - 1
        more = f", and {others} more message{'s' if others > 1 else ''}" if others > 0 else ""
        return "".join(_about(item) for item in value[:1]) + more
    if not isinstance(value, Mapping):
        return ""
    to = value.get("to")
    numbers = [each.get("phone_number") for each in to if isinstance(each, Mapping)] if isinstance(to, list) else []
    if not numbers:
        one = (value.get(name) for name in ("phoneNumber", "phone_number", "number", "to"))
        numbers = [next((each for each in one if isinstance(each, str) and any(map(str.isdigit, each))), None)]
    shown = [str(number) for number in numbers if number is not None]
    if not shown:
        return ""
    more = f" and {len(shown) - 2} more" if len(shown) > 2 else ""
    flow = value.get("flow")
    steps = [next(iter(step), "") for step in flow if isinstance(step, Mapping)] if isinstance(flow, list) else []
    by = f" by {', '.join(map(str, steps))}" if steps else ""
    return f" to {cut(', '.join(shown[:2]))}{more}{by}"


def _accepted(answer: Any) -> list[str]:
    """The messages that an answer names."""
    if not isinstance(answer, Mapping):
        return [found for each in answer for found in _accepted(each)] if isinstance(answer, list) else []
    accepted = answer.get("accepted")
    named = [answer] if accepted is True else accepted if isinstance(accepted, list) else []
    return [each["message_id"] for each in named if "message_id" in each]


def _rejected(answer: Any) -> list[Any]:
    rejected = answer.get("rejected") if isinstance(answer, Mapping) else None
    return rejected if isinstance(rejected, list) else []
