"""What happened, as rows that people read: who did what, when, and about which message.

Each kind of the journal's entries has a function here; one that is not known is shown with what is in it. Messages are
called m1, m2, … in the order in which they are met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sendbox.cli.playing.player import Asked, Played
from sendbox.engine.durations import instant
from sendbox.engine.journal import KINDS
from sendbox.services.messaging.outages import named

#: Who acts, where it is no phone.
CLIENT: Final = "client"
WORLD: Final = "sendbox"
RECEIVER: Final = "receiver"
#: How much of a text is shown, and how many events of one webhook.
SHOWN: Final = 60
EVENTS: Final = 4

#: So many recipients an object of a call may have (§8).
_RECIPIENTS: Final = 10
#: Entries that say nothing by themselves: a delivery is told by its tries, control by what it does.
_SILENT: Final = frozenset({"delivery", "opened", "control", "reset", "restored"})
#: What every entry has, and ids that say nothing to people.
_HEAD: Final = frozenset({"n", "at", "kind", "order_sensitive", "template_id", "phone_number_id", "id"})
_BAD: Final = frozenset({"undelivered", "rejected", "failed"})
_GOOD: Final = frozenset({"delivered", "seen"})


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


class Names:
    """What messages are called."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, message_id: str | None) -> str:
        """The short name of a message."""
        if message_id is None:
            return "a message"
        return self._names.setdefault(message_id, f"m{len(self._names) + 1}")

    @property
    def ids(self) -> list[str]:
        """All that were met, in order."""
        return list(self._names)


def rows(played: Played) -> tuple[list[Row], Names]:
    """The timeline, and the names of the messages in it."""
    names = Names()
    teller = _Teller(played, names)
    found: list[Row] = []
    journaled = {each.number for each in played.asked if each.number is not None}
    by_number = {entry["n"]: entry for entry in played.entries}
    waiting = list(played.asked)
    for entry in played.entries:
        while waiting and _begun(waiting[0], entry):
            found.append(teller.asked(waiting.pop(0), by_number))
        if entry["n"] not in journaled and entry["kind"] not in _SILENT:
            found.append(teller.row(entry))
    found += [teller.asked(each, by_number) for each in waiting]
    return found, names


def _begun(asked: Asked, entry: Mapping[str, Any]) -> bool:
    """Whether a request stands before an entry. It is journaled when it is over, and told before what it did."""
    number = asked.number if asked.before is None else asked.before
    return asked.at < instant(entry["at"]) if number is None else bool(number <= entry["n"])


class _Teller:
    """Tells entries."""

    def __init__(self, played: Played, names: Names) -> None:
        self._names = names
        self._world = played.world
        self._events = {entry["delivery"]: entry["events"] for entry in played.entries if entry["kind"] == "delivery"}

    def row(self, entry: Mapping[str, Any]) -> Row:
        """One entry."""
        kind = entry["kind"]
        who, what, more = _TOLD.get(kind, _Teller.unknown)(self, entry)
        marked = bool(entry.get("order_sensitive"))
        return Row(instant(entry["at"]), who, what, marked=marked, **more)

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
        if self._world.message(named) is not None:
            return [named]
        return [each for each in (f"{named}-{index}" for index in range(_RECIPIENTS)) if self._world.message(each)]

    # -- a function a kind: who, what, and what else is to be said of the row

    def request(self, entry: Mapping[str, Any]) -> Told:
        """A call that nobody here made."""
        return CLIENT, entry["operation"], {"answer": str(entry["status"])}

    def transition(self, entry: Mapping[str, Any]) -> Told:
        """A result reached."""
        result = entry["result"]
        info = f" {entry['info']}" if result in _BAD and entry.get("info") else ""
        tone = "bad" if result in _BAD else "good" if result in _GOOD else "plain"
        return entry["phone"], f"{self._attempt(entry)} {result}{info}", {"tone": tone, "to": entry["phone"]}

    def refusal(self, entry: Mapping[str, Any]) -> Told:
        """A hand-over refused."""
        return entry["phone"], f"{self._attempt(entry)} is refused: {entry['why']}", {"to": None, "tone": "bad"}

    def fallback(self, entry: Mapping[str, Any]) -> Told:
        """The flow goes on."""
        return (
            entry["phone"],
            f"{self._attempt(entry)} is given up ({entry['why']}), the next step goes out",
            {"to": None},
        )

    def postponed(self, entry: Mapping[str, Any]) -> Told:
        """A message held back."""
        return entry["phone"], f"{self._message(entry)} waits until {_time(entry['until'])}", {"to": None}

    def illegal(self, entry: Mapping[str, Any]) -> Told:
        """A result that could not be."""
        return entry["phone"], f"{self._attempt(entry)} cannot become {entry['wanted']}", {"to": None, "tone": "dim"}

    def tried(self, entry: Mapping[str, Any]) -> Told:
        """A try of a webhook."""
        number = f" (try {entry['number']})" if entry["number"] > 1 else ""
        what = f"webhook{number}: {self._listed(self._events.get(entry['delivery'], ()))}"
        bad = entry["status"] != 200
        answer = str(entry["status"] or entry["error"] or "no answer")
        return RECEIVER, what, {"tone": "bad" if bad else "dim", "to": RECEIVER, "answer": answer}

    def no_target(self, entry: Mapping[str, Any]) -> Told:
        """An event that nobody asked for."""
        return RECEIVER, f"{self._message(entry)}: nobody asked for this event", {"tone": "dim"}

    def inbound(self, entry: Mapping[str, Any]) -> Told:
        """A phone wrote."""
        about = f" to {self._message(entry)}" if entry.get("message_id") else f" to {entry['to']}"
        word = "replies" if entry.get("message_id") else "writes"
        return entry["from"], f'{word} "{cut(entry["body"])}"{about} by {entry["channel"]}', {}

    def click(self, entry: Mapping[str, Any]) -> Told:
        """A short link was followed."""
        return entry["phone"], f"opens the link of {self._message(entry)}", {}

    def phone(self, entry: Mapping[str, Any]) -> Told:
        """The owner of a phone did something."""
        return entry["phone"], str(entry["act"]), {}

    def opt_out(self, entry: Mapping[str, Any]) -> Told:
        """A phone opted out."""
        return entry["phone"], "opts out", {}

    def timeline(self, entry: Mapping[str, Any]) -> Told:
        """An entry of the scenario's timeline."""
        what = {name: value for name, value in entry["entry"].items() if name != "kind"}
        return WORLD, f"the timeline says: {entry['entry'].get('kind')} {_flat(what)}", {}

    def lapse(self, entry: Mapping[str, Any]) -> Told:
        """Something stopped being true."""
        return entry.get("phone") or WORLD, f"{entry['what']} is over", {"to": None, "tone": "dim"}

    def advice(self, entry: Mapping[str, Any]) -> Told:
        """A remark that belongs to no request."""
        return WORLD, f"advice: {cut(entry['advice']['message'], 2 * SHOWN)}", {"tone": "dim"}

    def validation(self, entry: Mapping[str, Any]) -> Told:
        """Something happened to a session."""
        return entry["phone"], f"session: {entry['event']}, {entry['state']}", {"to": None}

    def limited(self, entry: Mapping[str, Any]) -> Told:
        """A session that was one too many."""
        return entry["phone"], f"one session too many for the {entry['limit']}", {"to": None, "tone": "bad"}

    def signup(self, entry: Mapping[str, Any]) -> Told:
        """A signup entered a state."""
        reason = f": {entry['reason']}" if entry.get("reason") else ""
        return WORLD, f"signup of {entry.get('partner_client_id') or entry['mode']} {entry.get('status')}{reason}", {}

    def template(self, entry: Mapping[str, Any]) -> Told:
        """Something became of a template."""
        return WORLD, f"template {_flat(_told(entry))}", {}

    def number(self, entry: Mapping[str, Any]) -> Told:
        """Something became of a number."""
        return WORLD, f"number {_flat(_told(entry))}", {}

    def notice(self, entry: Mapping[str, Any]) -> Told:
        """A text that is no message of the account came to a phone."""
        return entry["phone"], f'gets "{cut(entry["body"])}"', {"to": entry["phone"]}

    def key(self, entry: Mapping[str, Any]) -> Told:
        """A key was added or changed."""
        return WORLD, f"key {entry['key']} {entry['what']}", {}

    def listed(self, entry: Mapping[str, Any]) -> Told:
        """Numbers were put on a list."""
        return WORLD, f"{entry['list']}: {cut(', '.join(entry['phones']))}", {}

    def order(self, entry: Mapping[str, Any]) -> Told:
        """An order reached a state."""
        fee = f", {entry['fee']:g} {entry['currency']}" if "fee" in entry else ""
        return WORLD, f"order of {entry.get('service')} for {entry.get('subject')} {entry.get('state')}{fee}", {}

    def bulk(self, entry: Mapping[str, Any]) -> Told:
        """A bulk file was stored, or read to its end."""
        counts = f", {entry['accepted']} taken, {entry['skipped']} skipped" if "accepted" in entry else ""
        return WORLD, f"bulk file {entry['bulk_id']} {entry['what']}: {entry['lines']} lines{counts}", {}

    def bulk_line(self, entry: Mapping[str, Any]) -> Told:
        """A line of a bulk file was taken or skipped."""
        findings = entry["findings"]
        what = f"skipped: {cut(findings[0]['message'])}" if findings else "taken"
        tone = "bad" if entry["request_id"] is None else "plain"
        return WORLD, f"bulk file {entry['bulk_id']}, line {entry['line']}: {what}", {"tone": tone}

    def fault(self, entry: Mapping[str, Any]) -> Told:
        """A fault of the interfaces was applied."""
        fault = _flat(entry.get("fault"))
        told = "" if fault.startswith(("delay", "trickle")) else ", and the call had its effect"
        told = told if entry.get("processed") else ", and the call had no effect"
        return WORLD, f"fault at {entry.get('operation')}: {fault}{told}{_by(entry)}", {"tone": "bad"}

    def webhook_fault(self, entry: Mapping[str, Any]) -> Told:
        """A fault of a webhook was applied."""
        events = self._listed(entry.get("events") or ())
        about = f" with {events}" if events else ""
        note = f", {entry['note']}" if entry.get("note") else ""
        what = f"fault of a webhook{about}: {_flat(entry.get('fault'))}{_by(entry)}{note}"
        return RECEIVER, what, {"tone": "bad"}

    def outage(self, entry: Mapping[str, Any]) -> Told:
        """An outage began, or ended."""
        what = f"outage of {named(entry)} {entry['state']}"
        tone = "bad" if entry["state"] == "began" else "good"
        return WORLD, what, {"tone": tone}

    def unknown(self, entry: Mapping[str, Any]) -> Told:
        """A kind that has no function of its own."""
        told = _told(entry)
        told.pop("phone", None)
        if "message_id" in told:
            told["message_id"] = self._names.of(told["message_id"])
        phone = entry.get("phone")
        return phone if isinstance(phone, str) else WORLD, f"{entry['kind']}: {_flat(told)}", {}

    def _named(self, accepted: list[str]) -> str:
        """The messages that were accepted. An id may be the beginning of those of several recipients (A09)."""
        ids = [each for one in accepted for each in self._messages(one)]
        names = [self._names.of(each) for each in ids]
        return " ".join(names) if len(names) <= EVENTS else f"{names[0]} to {names[-1]}"

    def _message(self, entry: Mapping[str, Any]) -> str:
        return self._names.of(entry.get("message_id"))

    def _attempt(self, entry: Mapping[str, Any]) -> str:
        return f"{self._message(entry)} {entry['channel']}"

    def _listed(self, events: Sequence[Mapping[str, Any]]) -> str:
        """The events of a webhook, the first few of them."""
        more = [f"and {len(events) - EVENTS} more"] if len(events) > EVENTS else []
        return ", ".join([*map(self._event, events[:EVENTS]), *more])

    def _event(self, event: Mapping[str, Any]) -> str:
        if "result" in event:
            return f"{self._names.of(event['message_id'])} {event['result']}"
        if "body" in event:
            return f'{event["event"]} "{cut(event["body"], SHOWN // 2)}"'
        client = f" of {cut(event['partner_client_id'], SHOWN // 2)}" if event["partner_client_id"] else ""
        return f"signup{client} {event['status']}"


Told = tuple[str, str, dict[str, Any]]
_TOLD: Final[dict[str, Callable[[_Teller, Mapping[str, Any]], Told]]] = {
    "try": _Teller.tried,
    **{kind: getattr(_Teller, kind) for kind in (*KINDS, "transition", "fault", "webhook_fault", "outage")
       if kind != "row" and kind in _Teller.__dict__},
}  # fmt: skip


def cut(text: object, most: int = SHOWN) -> str:
    """A text on one line, of bounded length."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _told(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What an entry says beside what every one has."""
    return {name: value for name, value in entry.items() if name not in _HEAD and value not in (None, [], {})}


def _flat(value: Any) -> str:
    """A value without much punctuation."""
    if isinstance(value, Mapping):
        return cut(", ".join(f"{name} {_flat(item)}" for name, item in value.items()), 2 * SHOWN)
    if isinstance(value, list | tuple):
        return cut(", ".join(map(_flat, value)))
    return cut(value)


def _by(entry: Mapping[str, Any]) -> str:
    """Whose doing a fault is; a rule without a name is known by its whole text, which says nothing new."""
    rule = str(entry.get("rule") or "{")
    return "" if rule.startswith("{") else f', by "{cut(rule)}"'


def _time(iso: str) -> str:
    return iso.replace("T", " ").partition(".")[0]


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
