"""Narration: the view of an entry in words for people, everywhere the same. It also works on answers of HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.kinds.masking import MASK
from sendbox.engine.texts import shorten

Entry = JsonMapping

#: Who acts, if it is not a phone.
CLIENT: Final = "client"
WORLD: Final = "sendbox"
RECEIVER: Final = "receiver"
#: How much of a text is shown, and how many events of one webhook.
SHOWN: Final = 60
EVENTS: Final = 4
_NONE: Final[Mapping[str, str]] = {}
#: The id of a message, as it stands in an answer.
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: What every entry has, and ids that say nothing to people.
_HEAD: Final = frozenset({"n", "at", "kind", "order_sensitive", "template_id", "phone_number_id", "id"})


class Narration(NamedTuple):
    """An entry in words: `who` did `what`, and `answer` came back, where something does.

    `tone` is good, bad, plain or dim; `to` is whom it reaches, for diagrams, None = no one.
    """

    who: str
    what: str
    tone: str = "plain"
    to: str | None = WORLD
    answer: str | None = None

    @property
    def text(self) -> str:
        """The whole text: the event, and the answer if there is one."""
        return self.what if self.answer is None else f"{self.what} → {self.answer}"

    @property
    def line(self) -> str:
        """The same with the phone that it is about."""
        return self.text if self.who in (CLIENT, WORLD, RECEIVER) else f"{self.who}: {self.text}"

    def as_json(self) -> dict[str, str]:
        """The narration as control shows it."""
        return {"who": self.who, "text": self.text, "tone": self.tone}


class Names:
    """The short names of messages: m1, m2, … in the order of first use, unless `known` has a name for a message."""

    def __init__(self, known: Mapping[str, str] = _NONE) -> None:
        self._names = dict(known)

    def of(self, message_id: str | None) -> str:
        """The short name of a message."""
        if message_id is None:
            return "a message"
        return self._names.setdefault(message_id, f"m{len(self._names) + 1}")

    @property
    def ids(self) -> list[str]:
        """All that were met, in order."""
        return list(self._names)


class Narrator:
    """The narrator of the entries of one journal. `places` = the texts have the addresses of webhooks.

    `narrators` is `KindTable.narrators`. With `phone_of`, the phone of a message by its id, None if there is no such
    message, the texts also have the rules that decided results and the messages that calls sent.
    """

    def __init__(
        self,
        narrators: Mapping[str, Narrate | None],
        names: Names,
        entries: Iterable[Entry],
        *,
        places: bool = False,
        phone_of: Callable[[str], str | None] | None = None,
    ) -> None:
        self._narrators = narrators
        self._names = names
        self._events = {entry["delivery"]: entry["events"] for entry in entries if entry["kind"] == "delivery"}
        self.places = places
        self._phone_of = phone_of

    def narrate(self, entry: Entry) -> Narration | None:
        """One entry, masked; None if other entries tell it. An unknown kind is shown with its fields."""
        entry = MASK.view(entry)
        if entry["kind"] in self._narrators:
            narrate = self._narrators[entry["kind"]]
            return None if narrate is None else narrate(self, entry)
        fields = {name: value for name, value in fields_of(entry).items() if name != "phone"}
        if "message_id" in fields:
            fields["message_id"] = self.message(entry)
        phone = entry.get("phone")
        return Narration(phone if isinstance(phone, str) else WORLD, f"{entry['kind']}: {flat(fields)}")

    def message(self, entry: Entry) -> str:
        """The message that an entry, or an event, is about."""
        return self._names.of(entry.get("message_id"))

    def sent(self, answer: str) -> str:
        """The messages whose ids an answer has, the first few of them."""
        if self._phone_of is None:
            return ""
        phones = {name: phone for name in _ID.findall(answer) if (phone := self._phone_of(name)) is not None}
        named = [f"{self._names.of(name)} to {phone} ({name})" for name, phone in islice(phones.items(), EVENTS)]
        more = [f"and {len(phones) - EVENTS} more"] if len(phones) > EVENTS else []
        return f": {', '.join([*named, *more])}" if phones else ""

    def decided(self, entry: Entry) -> str:
        """The rules that decided a result; of one without a name its text."""
        rules = entry.get("rules") if self._phone_of is not None else None
        return f", by {', '.join(f'{chr(34)}{short_line(rule)}{chr(34)}' for rule in rules)}" if rules else ""

    def attempt(self, entry: Entry) -> str:
        """The attempt that an entry is about."""
        return f"{self.message(entry)} {entry['channel']}"

    def carried(self, delivery: str) -> str:
        """The events of a webhook."""
        return self.events(self._events.get(delivery, ()))

    def events(self, events: Sequence[Entry]) -> str:
        """Some events, the first few of them."""
        more = [f"and {len(events) - EVENTS} more"] if len(events) > EVENTS else []
        return ", ".join([*map(self._event, events[:EVENTS]), *more])

    def _event(self, event: Entry) -> str:
        if "result" in event:
            return f"{self.message(event)} {event['result']}"
        if "body" in event:
            return f'{event["event"]} "{short_line(event["body"], SHOWN // 2)}"'
        if "partner_client_id" not in event:
            return f"{event['event']} {flat({name: value for name, value in event.items() if name != 'event'})}"
        client = f" of {short_line(event['partner_client_id'], SHOWN // 2)}" if event["partner_client_id"] else ""
        return f"signup{client} {event['status']}"


#: How a kind is put into words: from the view of an entry; None if other entries tell it.
Narrate = Callable[[Narrator, Entry], Narration]


def short_line(text: object, most: int = SHOWN) -> str:
    """A text on one line, of bounded length."""
    return shorten(" ".join(str(text).split()), most)


def fields_of(entry: Entry) -> JsonObject:
    """The fields of an entry beside those that every entry has."""
    return {name: value for name, value in entry.items() if name not in _HEAD and value not in (None, "", [], {})}


def flat(value: object) -> str:
    """A value without much punctuation."""
    if isinstance(value, Mapping):
        return short_line(", ".join(f"{name} {flat(item)}" for name, item in value.items()), 2 * SHOWN)
    if isinstance(value, list | tuple):
        return short_line(", ".join(map(flat, value)))
    return short_line(_word(value))


def yaml(value: object) -> str:
    """A value as YAML writes it in one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {yaml(item)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(yaml, value))}]"
    return _word(value)


def _word(value: object) -> str:
    """A value that is neither a list nor an object: true, false and null as JSON has them."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def by(entry: Entry) -> str:
    """The rule that made a fault; a rule without a name has only its whole text, which says nothing new."""
    rule = str(entry.get("rule") or "{")
    return "" if rule.startswith("{") else f', by "{short_line(rule)}"'


def time(iso: str) -> str:
    """An instant for people."""
    return iso.replace("T", " ").partition(".")[0]
