"""Texts with gaps: what a gap may name, and a text taken apart. `interpolation.py` fills them.

A gap is `{{name}}`. `GAPS` are the names that a message fills, `FAKES` those for which something is invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

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
