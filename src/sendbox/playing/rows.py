"""The timeline as rows for people: who did what, when, and about which message.

Entries are narrated by their kinds; requests of the traffic also with facts that the journal does not have. Messages
are called m1, m2, … in order of their first row.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sendbox.engine.answer import JsonMapping
from sendbox.engine.durations import instant
from sendbox.engine.kinds.narration import CLIENT, EVENTS, SHOWN, WORLD, Names, Narration, Narrator, short_line
from sendbox.playing.play_result import Asked, Played
from sendbox.services import limits


class Row(msgspec.Struct, frozen=True):
    """One line of the timeline: its instant, and what is said about it; `marked` where the order of arrival decided."""

    at: int
    narration: Narration
    marked: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return f"{self.narration.text} [order-sensitive]" if self.marked else self.narration.text


def rows(played: Played) -> tuple[list[Row], Names]:
    """The timeline, and the names of the messages in it."""
    names, kinds = Names(), played.served.kinds
    # what a tester does has entries of its own
    by_tester = {kind.name for kind in kinds.by_code.values() if kind.canonical_lines is None}
    narrator = Narrator(kinds.narrators, names, played.entries)
    caller = _Caller(played, names)
    lines: list[Row] = []
    journaled = {request.number for request in played.asked if request.number is not None}
    by_number = {entry["n"]: entry for entry in played.entries}
    waiting = list(played.asked)
    for entry in played.entries:
        while waiting and _comes_before(waiting[0], entry):
            lines.append(caller.row(waiting.pop(0), by_number))
        narration = None if entry["n"] in journaled or entry["kind"] in by_tester else narrator.narrate(entry)
        if narration is not None:
            lines.append(Row(instant(entry["at"]), narration, bool(entry.get("order_sensitive"))))
    lines += [caller.row(request, by_number) for request in waiting]
    return lines, names


def _comes_before(request: Asked, entry: JsonMapping) -> bool:
    """True if a request comes before an entry. It is journaled at its end, and shown before its effects."""
    number = request.number if request.before is None else request.before
    return request.at < instant(entry["at"]) if number is None else bool(number <= entry["n"])


class _Caller:
    """Narrates requests of the traffic."""

    def __init__(self, played: Played, names: Names) -> None:
        self._names = names
        self._by_id = played.by_id

    def row(self, request: Asked, entries: Mapping[int, JsonMapping]) -> Row:
        """A request of the traffic. The journal may not have it: no key, no connection, or not sent."""
        entry = {} if request.number is None else entries[request.number]
        traffic = request.traffic
        title = f' "{short_line(traffic.name)}"' if traffic.name else ""
        action = f"{traffic.operation}{title}{_recipients(traffic.value)}"
        outcome = [request.error or ""] if request.status is None else [str(request.status)]
        outcome.append(self._named(_accepted(request.answer)))
        rejected = request.answer.get("rejected") if isinstance(request.answer, Mapping) else None
        outcome += [f"{len(rejected)} rejected"] if isinstance(rejected, list) and rejected else []
        if request.status is not None and request.status >= 400:
            findings = entry.get("findings") or ()
            outcome.append(short_line(findings[0]["message"], 2 * SHOWN) if findings else "")
        if request.garbled:
            outcome.append("with a body that is not JSON")
        if not request.ok:
            outcome.append(f"(expected {traffic.expected})" if traffic.expected else "")
            outcome += [f"({text})" for text in request.differences]
        bad = not request.ok or request.garbled or request.status is None or request.status >= 400
        tone = "bad" if bad else "plain"
        marked = bool(entry.get("order_sensitive"))
        to = WORLD if request.sent else None
        return Row(request.at, Narration(CLIENT, action, tone, to, " ".join(filter(None, outcome))), marked)

    def _messages(self, named: str) -> list[str]:
        """The ids that an answer's id stands for: of /messages the base of one for each recipient (§2.3)."""
        if named in self._by_id:
            return [named]
        ids = (f"{named}-{index}" for index in range(limits.RECIPIENTS))
        return [message_id for message_id in ids if message_id in self._by_id]

    def _named(self, accepted: list[str]) -> str:
        """The messages that were accepted. An id may be the beginning of those of several recipients (A09)."""
        ids = [message_id for one in accepted for message_id in self._messages(one)]
        names = [self._names.of(message_id) for message_id in ids]
        return " ".join(names) if len(names) <= EVENTS else f"{names[0]} to {names[-1]}"


def _recipients(value: object) -> str:
    """The recipients of a request, and its channels."""
    if isinstance(value, list):
        others = len(value) - 1
        more = f", and {others} more message{'s' if others > 1 else ''}" if others > 0 else ""
        return "".join(_recipients(item) for item in value[:1]) + more
    if not isinstance(value, Mapping):
        return ""
    to = value.get("to")
    numbers = [item.get("phone_number") for item in to if isinstance(item, Mapping)] if isinstance(to, list) else []
    if not numbers:
        one = (value.get(name) for name in ("phoneNumber", "phone_number", "number", "to"))
        numbers = [next((item for item in one if isinstance(item, str) and any(map(str.isdigit, item))), None)]
    recipients = [str(number) for number in numbers if number is not None]
    if not recipients:
        return ""
    more = f" and {len(recipients) - 2} more" if len(recipients) > 2 else ""
    flow = value.get("flow")
    steps = [next(iter(step), "") for step in flow if isinstance(step, Mapping)] if isinstance(flow, list) else []
    by = f" by {', '.join(map(str, steps))}" if steps else ""
    return f" to {short_line(', '.join(recipients[:2]))}{more}{by}"


def _accepted(answer: object) -> list[str]:
    """The ids of the messages in an answer."""
    if not isinstance(answer, Mapping):
        return [message_id for item in answer for message_id in _accepted(item)] if isinstance(answer, list) else []
    accepted = answer.get("accepted")
    named = [answer] if accepted is True else accepted if isinstance(accepted, list) else []
    return [item["message_id"] for item in named if "message_id" in item]
