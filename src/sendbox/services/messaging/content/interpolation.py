"""What phones say: texts with gaps, filled from the message that is answered and with invented names.

A gap is `{{name}}`. `GAPS` are the names that a message fills, `FAKES` those for which something is invented: out of a
pool that was made when the scenario was compiled, so that no world needs the library that invents, and a choice is one
draw. The digest sees a filled text in its canonical form: what differs from world to world (ids, the text with its
short links) and what differs between versions of that library (the invented words) stands in it as the gap, the
invented ones with the number that was drawn.
"""

from __future__ import annotations

import json  # `sendbox --help` reads this module, and need not load more
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.engine.identity import Draw

if TYPE_CHECKING:
    from sendbox.services.messaging.records import Attempt
    from sendbox.services.world import ServiceWorld

#: Gaps that a message fills. `payload` is followed by a dotted path.
GAPS: Final = {
    "body": "the text of the message, as the phone shows it",
    "sender": "the sender that the phone shows",
    "phone": "the number of the phone",
    "channel": "the channel of the step that reached it",
    "attempt": "which attempt of the message that was, from 1",
    "tags": "the tags of the message, with commas",
    "message_id": "the id of the message",
    "request_id": "the id of its request",
    "payload": "what the payload of the request holds at a path, such as payload.order.id; nothing where it has none",
}
#: Gaps for which something is invented, by what follows `fake.`; each is a method of the same name in Faker.
FAKES: Final = {
    "first_name": "a first name",
    "first_name_female": "a woman's first name",
    "first_name_male": "a man's first name",
    "last_name": "a family name",
    "name": "a whole name",
    "user_name": "a login",
    "free_email": "an e-mail address at a free provider",
    "company": "the name of a company",
    "job": "an occupation",
    "city": "a city",
    "street_address": "a street and a number",
    "postcode": "a postal code",
    "country": "a country",
    "color_name": "a colour",
    "word": "a word",
    "sentence": "a sentence",
    "paragraph": "a few sentences",
}
#: How many of a kind are invented, whatever the version of the library, so that equal draws pick equal places.
POOL: Final = 256
#: Gaps whose filling no two worlds share, or that say nothing which the request does not.
_OWN: Final = frozenset({"body", "message_id", "request_id"})


class Gap(NamedTuple):
    """A gap that a message fills; `path` leads into its payload."""

    name: str
    path: tuple[str, ...] = ()


class Fake(NamedTuple):
    """A gap for something invented: its name, the locale, and the pool to draw from."""

    name: str
    locale: str
    pool: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text with gaps. `source` as it was written."""

    source: str
    parts: tuple[str | Gap | Fake, ...]

    @property
    def draws(self) -> bool:
        """Whether something of it is invented."""
        return any(isinstance(part, Fake) for part in self.parts)


class Line(NamedTuple):
    """What a phone will say: a text, and what its invented parts are drawn by."""

    text: Text
    key: bytes
    number: int = 0
    purpose: str = "say"


def fill(line: Line, world: ServiceWorld, phone: str, attempt: Attempt | None = None) -> tuple[str, str]:
    """The text with its gaps filled, and its canonical form; without an attempt only the phone is known."""
    draw = Draw(world.seed, line.key, line.number)
    said, canonical = [], []
    for index, part in enumerate(line.text.parts):
        if isinstance(part, Fake):
            drawn = draw.between(0, len(part.pool) - 1, f"{line.purpose}.{index}")
            said.append(part.pool[drawn])
            canonical.append(f"{{{{fake.{part.name} {part.locale} {drawn}}}}}")
            continue
        value = part if isinstance(part, str) else _value(part, world, phone, attempt)
        said.append(value)
        canonical.append(f"{{{{{part.name}}}}}" if isinstance(part, Gap) and part.name in _OWN else value)
    return "".join(said), "".join(canonical)


def _value(gap: Gap, world: ServiceWorld, phone: str, attempt: Attempt | None) -> str:
    if attempt is None:
        return phone if gap.name == "phone" else ""
    message = attempt.message
    send = message.submission.send
    match gap.name:
        case "body":
            return world.simulator.text(attempt)
        case "sender":
            return world.phones.sender_of(attempt)
        case "phone":
            return phone
        case "channel":
            return attempt.step.channel
        case "attempt":
            return str(attempt.number + 1)
        case "tags":
            return ",".join(send.tags)
        case "message_id":
            return message.id
        case "request_id":
            return message.submission.request_id
    return _inside(json.loads(send.payload), gap.path)


def _inside(value: Any, path: tuple[str, ...]) -> str:
    """What stands at a path, as text; nothing where there is nothing."""
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
