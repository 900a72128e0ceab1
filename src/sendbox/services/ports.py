"""Ports: the interfaces between services. A service reaches another one through these, and imports none.

Each port is what one service offers, and a function that finds it in a world.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from sendbox.engine.answer import Answer, Instant, JsonObject, Payload
from sendbox.engine.remarks import Finding
from sendbox.services.templates.templates import Template, TemplateUse

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


# -- keys, account and credit


class Billing(Protocol):
    """A balance in millionths of `currency`, and the lists that go with it: a number to the instant it counts from.

    From `complete_at` on every entry counts.
    """

    optout: dict[str, int]
    blacklist: dict[str, int]

    subid: str
    currency: str
    balance: int
    complete_at: int

    def charge(self, price: tuple[int, ...]) -> bool:
        """Takes the price in this currency if it can be paid whole."""

    def opted_out(self, number: str, now: int) -> bool:
        """True if the number is on the opt-out list, in force."""

    def blacklisted(self, number: str, now: int) -> bool:
        """True if the number is on the blacklist, in force."""


class Key(Protocol):
    """An API key and its settings."""

    id: str
    default_callback_url: str | None
    default_callback_secret: str | None
    default_sender: str | None
    scope: str

    @property
    def changes_settings(self) -> bool: ...

    disabled: bool

    @property
    def billing(self) -> Billing | None: ...


class ConnectedNumber(Protocol):
    """A number of a business account, as a sender."""

    @property
    def account_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def sends(self) -> bool: ...


#: What the senders of a channel are: names that are registered, Phone Number IDs, or ids of agents.
SenderForm = Literal["name", "number", "agent"]


class Channel(Protocol):
    """A channel, as far as its senders go: they are Phone Number IDs if `numeric`, and may be numbers if `numbers`."""

    @property
    def family(self) -> str: ...
    @property
    def numeric(self) -> bool: ...
    @property
    def numbers(self) -> bool: ...


class Account(Billing, Protocol):
    """The things that the keys of a world share. `business` has the numbers that can send, by Phone Number ID."""

    business: Mapping[str, ConnectedNumber]

    country: str
    senders: Any
    numbers: frozenset[str]
    stop_words: frozenset[str]
    verification_secret: str | None
    domains: frozenset[str]
    templates: tuple[JsonObject, ...]

    @property
    def keys(self) -> Mapping[str, Key]: ...
    @property
    def top(self) -> Key:
        """The key that all others are sub-keys of."""

    def billing_of(self, key: Key) -> Billing:
        """The balance and lists that a key uses."""

    def subaccount(self, key: Key, subid: str | None) -> Billing | None:
        """The balance that a key means by a `subid`; None if the key may not use it."""

    def template(self, name: str, language: str, sender: str | None = None) -> Template | None:
        """The template of that name and language that a sender may use."""

    def set_templates(self, templates: tuple[JsonObject, ...]) -> None:
        """Replaces all templates."""

    def registered(self, channel: Channel, sender: str) -> bool:
        """True if a sender is registered for the family of a channel."""


def account_of(world: World) -> Account:
    """The account of a world."""
    part: Any = world.parts["account"]
    account: Account = part
    return account


# -- sending messages


class SentMessage(Protocol):
    """A message that was sent, as other services see it."""

    id: str
    phone: str

    @property
    def ordinal(self) -> int: ...
    @property
    def result(self) -> str: ...
    @property
    def cause(self) -> RequestRecord | None: ...


class SentAttempt(Protocol):
    """One try of a message on one channel. An instant is None if the try did not get that far."""

    @property
    def message(self) -> SentMessage: ...

    number: int
    price: tuple[int, int] | None

    @property
    def template(self) -> TemplateUse | None: ...
    @property
    def sender(self) -> str | None: ...
    @property
    def sent_at(self) -> int | None: ...
    @property
    def arrived_at(self) -> int | None: ...
    @property
    def seen_at(self) -> int | None: ...


class WrittenText(Protocol):
    """A text that a phone wrote."""

    at: int
    body: str

    @property
    def message(self) -> SentMessage | None: ...


class ServiceSending(Protocol):
    """The reason why a service sends a message itself, such as a session: the message is not one of the client.

    `goal` is the result of the message, if that is decided already; `rule` names the rule that decided.
    """

    goal: str | None
    rule: str

    def arrived(self) -> None:
        """The message is on its phone."""


class Code(Answer):
    """A code with its session; `sms` is the result of the message that carries it."""

    token: str
    phone: str
    code: str
    state: str
    sms: str
    message_id: str
    attempts: int
    attempts_remaining: int
    created_at: Instant
    expires_at: Instant
    verified_at: Instant | None
    payload: Payload
    rules: list[str]


class PhoneText(Struct, frozen=True):
    """A text on a phone that is no message of the account: it came by SMS, and has no links."""

    at: int
    sender: str
    body: str


class PhoneContent(Struct, frozen=True):
    """The things that a service shows on a phone besides messages: waiting codes, and its texts in the conversation."""

    codes: Sequence[Code] = ()
    texts: Sequence[PhoneText] = ()


@runtime_checkable
class HasPhoneContent(Protocol):
    """A service that shows something on phones."""

    def phone_content(self, number: str) -> PhoneContent:
        """The part that the service shows on the phone of a number."""

    def phones(self) -> Iterable[str]:
        """The numbers of the phones that it shows something on, whether a message reached them or not."""


class AcceptedMessages(Protocol):
    """The answer to messages that were taken: the id of the request, ids by message and recipient, refusals."""

    @property
    def request_id(self) -> str: ...
    @property
    def messages(self) -> Sequence[Sequence[str | None]]: ...
    @property
    def findings(self) -> Sequence[Finding]: ...


class Sending(Protocol):
    """The service that sends messages, as others use it: they send a message, and ask about messages."""

    def send_own(
        self,
        service_sending: ServiceSending,
        operation: str,
        phone: str,
        text: str,
        *,
        valid: bool,
        sender: str,
        payload: bytes,
        key: Key,
        content: bytes,
        origin: str,
        record: RequestRecord | None,
    ) -> tuple[SentMessage, str]:
        """Sends a text by sms for the service itself, because of a call unless `record` is None; answers the message
        and the id of its request."""

    def is_test(self, phone: str) -> bool:
        """True if it is the test number, to which nothing is handed over (A89)."""

    def tried(self, family: str, senders: Container[str]) -> Iterator[SentAttempt]:
        """Every try that was handed over on `sms`, `richmsg` or `chatapp` under one of the senders, oldest first."""

    def written(self) -> Iterable[WrittenText]:
        """The texts that phones wrote, oldest first."""


def sending_of(world: World) -> Sending:
    """The service of a world that sends messages."""
    part: Any = world.parts["messaging"]
    sending: Sending = part
    return sending
