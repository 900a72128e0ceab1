"""The commands that the interfaces give to messaging, after decoding: what a client asked to be sent.

Everything here is already legal, normalized and resolved: bodies truncated, aliases replaced, defaults filled,
durations in milliseconds. Records are slotted and unfrozen because they are made on the hot path.

Each field of a message has a row in `FIELDS`. Of the rows are made the conditions of `when`, the fields of `expect`,
what rules ask of an attempt, and the texts of the client's own that events and rows show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec
import orjson
from msgspec import Struct

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.batches import Target
from sendbox.engine.texts import Pattern
from sendbox.services import limits
from sendbox.services.messaging.content.tags import DEFAULT
from sendbox.services.templates.templates import TemplateUse
from sendbox.services.windows import Window

#: A longer part of a body is kept as its place there: a byte of a request then takes 1.0 bytes of memory, and not 2.1
#: (`memory-bytes` of the benchmark). A shorter one takes little more than a place; and a short payload seldom stands
#: there without blanks, as it is kept.
_LONG_PAYLOAD: Final = 128
_LONG_TEXT: Final = 32
#: Of a body that is more than so many times as long as the part, no place is kept: the body could not be put away.
_MANY: Final = 256
#: A place and a length are one number, of which so many bits are the length.
_LENGTH_BITS: Final = 32
_LENGTH_MASK: Final = (1 << _LENGTH_BITS) - 1
#: Ladder of delivery results that a `ttl_condition` compares (§2.2, A64).
CONDITIONS: Final = ("sent", "delivered", "seen")


class Step(msgspec.Struct, gc=False):
    """One flow step (§2.2), its sender resolved against the root's. `ttl` in milliseconds, None = no TTL.

    It may belong to many messages, and never changes. `Send.text` is its text: with `inherits` that of the root.
    """

    channel: str
    body: str | None
    sender: str | None = None
    ttl: int | None = None
    condition: str = "sent"
    gateway: str = "high"
    type: str = "utf"
    template: TemplateUse | None = None
    #: buttons; and buttons, card, carousel and raw of a channel that has them, as they came in (A02): JSON takes least
    buttons_json: bytes = b"[]"
    content_json: bytes | None = None
    #: whether its text is that of the root, and whether its sender is its own
    inherits: bool = False
    own_sender: bool = False

    @property
    def buttons(self) -> list[JsonObject]:
        """Its buttons."""
        buttons: list[JsonObject] = orjson.loads(self.buttons_json)
        return buttons

    @property
    def content(self) -> JsonObject | None:
        """Its buttons, card, carousel and raw content, None in a channel that has no such content."""
        content: JsonObject | None = None if self.content_json is None else orjson.loads(self.content_json)
        return content

    @property
    def suggestions(self) -> list[JsonObject]:
        """The replies that the step suggests, in the order in which they stand."""
        content = self.content or {}
        holders = [content, content.get("card", {}), *content.get("carousel", ())]
        return [button for part in holders for button in part.get("buttons", ()) if button["type"] == "reply"]


class Shortening(msgspec.Struct, frozen=True):
    """`params._url` (§2.1). `expires_at` in Unix seconds, None = 7 days after sending."""

    type: Literal["full", "all"] = "full"
    domain: str | None = None
    enhance: bool = False
    name: str = "_"
    expires_at: int | None = None


class Recipient(msgspec.Struct, gc=False):
    """One item of `to`: `number` as normalized (digits), or the raw text with `valid` False (A14)."""

    number: str
    valid: bool = True


def _part(raw: bytes, place: int) -> bytes:
    """The part of a body at a place."""
    first = place >> _LENGTH_BITS
    return raw[first : first + (place & _LENGTH_MASK)]


class Send(msgspec.Struct, gc=False):
    """One Message object (§2.1) as messaging takes it. `at` is virtual milliseconds from `datetime`, None = now."""

    #: none once the messages are made
    recipients: Sequence[Recipient]
    steps: Sequence[Step]
    tags: tuple[str, ...] = DEFAULT
    #: JSON, or where it stands in `raw`
    kept_payload: bytes | int = b"{}"
    callback: Target | None = None
    at: int | None = None
    window: Window | None = None
    shortening: Shortening | None = None
    #: when a try that is not delivered by then ends, in virtual milliseconds (A13)
    expires: int | None = None
    priority: bool = False
    #: limits of sending do not apply, as to a line of a bulk file (A79)
    unlimited: bool = False
    path: str = "$"
    #: where it stands among the messages of its request
    index: int = 0
    #: texts of the client's own, which events and rows show, by the names of their fields
    labels: dict[str, str] | None = None
    #: the text of the root, for the steps that inherit it, or where it stands in `raw`
    kept_body: str | int | None = None
    #: the body of the call
    raw: bytes = b""

    @property
    def payload(self) -> bytes:
        """The payload as JSON."""
        payload = self.kept_payload
        return _part(self.raw, payload) if isinstance(payload, int) else payload

    @property
    def body(self) -> str | None:
        """The text of the root."""
        body = self.kept_body
        return _part(self.raw, body).decode() if isinstance(body, int) else body

    def share(self, raw: bytes) -> None:
        """Keeps payload and text as the places where they stand in the body of the call, as far as that takes less."""
        payload, body = self.kept_payload, self.kept_body
        if isinstance(payload, bytes) and _LONG_PAYLOAD < len(payload) >= len(raw) // _MANY:
            first = raw.find(payload)
            if first >= 0:
                self.raw, self.kept_payload = raw, first << _LENGTH_BITS | len(payload)
        if isinstance(body, str) and _LONG_TEXT < len(body) >= len(raw) // _MANY:
            text = body.encode()
            first = raw.find(text)
            if first >= 0:
                self.raw, self.kept_body = raw, first << _LENGTH_BITS | len(text)

    def text(self, step: Step) -> str | None:
        """The text of a step as the request gave it, None where it has none."""
        return self.body if step.inherits else step.body


class PhoneSpec(msgspec.Struct, frozen=True):
    """An entry of `phones`: handsets whose number matches. `channels` None = every channel; the first match wins."""

    number: Pattern
    channels: frozenset[str] | None = None
    conversation: bool = False
    offline: bool = False


class MessageField(Struct, frozen=True):
    """A field of a message, or with `of_step` of the step that an attempt tries; `of` reads it of that.

    `says` is its meaning, "" if rules and expectations do not ask for it. Rules of `webhooks` do only if it is
    `posted`; where it is None, rules see what is `unset`. A label is a text of the client's own that comes back as it
    is: it has 1 to `longest` characters, and with a `setting` only worlds with the setting have it.
    """

    name: str
    says: str
    of: Callable[[Any], object]
    of_step: bool = False
    posted: bool = False
    unset: str | None = None
    longest: int = 0
    setting: str = ""


def label(name: str, says: str = "", *, longest: int, setting: str = "") -> MessageField:
    """The row of a text of the client's own."""

    def of(message: Any) -> str | None:
        return (message.submission.send.labels or {}).get(name)

    return MessageField(name, says, of, posted=bool(says), longest=longest, setting=setting)


#: Every field, in the order in which rules are asked for it.
FIELDS: Final = (
    MessageField("channel", "the channel", lambda attempt: attempt.step.channel, of_step=True),
    MessageField("phone", "the recipient", lambda message: message.phone),
    MessageField("tag", "one of the message's tags", lambda message: message.submission.send.tags, posted=True),
    MessageField("body", "the text as the step gave it", lambda attempt: attempt.body, of_step=True, unset=""),
    MessageField("sender", "the sender of the step", lambda attempt: attempt.sender, of_step=True, unset=""),
    MessageField(
        "template", "the name of its template", lambda attempt: attempt.template_name, of_step=True, posted=True
    ),
    MessageField("params", "a parameter of its template", lambda attempt: attempt.template_params, of_step=True),
    MessageField("operation", "the operation that sent it", lambda message: message.submission.operation),
    MessageField("attempt", "which attempt of the message, from 1", lambda attempt: attempt.number + 1, of_step=True),
    MessageField("key", "the API key that sent it", lambda message: message.submission.key.id),
    MessageField(
        "payload",
        "dotted paths inside the request's payload",
        lambda message: orjson.loads(message.submission.send.payload),
    ),
    label("reference", longest=limits.REFERENCE, setting="reference"),
)
LABELS: Final = tuple(row for row in FIELDS if row.longest)
#: The fields that rules of `attempts` ask for, by name; the texts that rules of `webhooks` do.
ASKED: Final = {row.name: row for row in FIELDS if row.says}
POSTED: Final = tuple(row for row in FIELDS if row.posted)


class AttemptFields(dict[str, object]):
    """The values that rules ask of an attempt, by name; each is read when it is asked for the first time."""

    __slots__ = ("attempt",)

    def __init__(self, attempt: Any, **others: object) -> None:
        super().__init__(others)
        self.attempt = attempt

    def __missing__(self, name: str) -> object:
        row = ASKED[name]
        value = row.of(self.attempt if row.of_step else self.attempt.message)
        self[name] = value = row.unset if value is None else value
        return value
