"""What operations on messages and phones answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from sendbox.control.contract.answers import (
    Code,
    Cursor,
    Event,
    Instant,
    Payload,
    RequestEntry,
    Value,
    WebhookHead,
    WebhookTry,
)
from sendbox.control.contract.types import Keywords, enum, further
from sendbox.services.messaging.channels import CHANNELS, FAMILIES
from sendbox.services.messaging.results import STATES

Result = Annotated[str, enum(STATES)]
Channel = Annotated[str, enum(CHANNELS)]
Family = Annotated[str, enum(FAMILIES)]


#: What a client gave beside the text of a rich message.
Content = Annotated[dict[str, Any], Keywords(description="Cards, buttons or raw content, as the request had them.")]


class Reached(TypedDict):
    """A result that an attempt reached."""

    at: Instant
    result: Result
    info: str | None


class ReachedBy(TypedDict):
    """A result that a message reached, and the channel of the attempt."""

    at: Instant
    channel: Channel
    result: Result


class Billed(TypedDict):
    """Route and price of an attempt: mobile country and network code of the recipient, prices, segments charged."""

    gateway: NotRequired[str]
    sender: str | None
    country: int
    operator: int
    price_czk: float
    price_eur: float
    count: int


class AttemptShown(TypedDict):
    """An attempt: `planned` is still to come, `rules` decided about it, `refused` is the check that did."""

    number: int
    channel: Channel
    result: Result
    timeline: list[Reached]
    planned: list[str]
    details: Billed
    rules: list[str]
    refused: NotRequired[str]


class LinkShown(TypedDict):
    """A short link, and the instants at which it was followed."""

    url: str
    target: str
    expires_at: Instant
    clicks: list[Instant]
    message_id: str


class MessageHead(TypedDict):
    """What is always shown of a message to one recipient."""

    message_id: str
    phone: str
    result: Result
    channel: Channel
    sender: str | None
    body: str
    tags: list[str]
    accepted_at: Instant
    operation: str


class WholeMessage(MessageHead):
    """What is shown of a message beside its attempts."""

    request_id: str
    payload: Payload
    priority: bool
    clicked_at: Instant | None
    replied_at: Instant | None
    optout_at: Instant | None
    links: list[LinkShown]
    timeline: list[ReachedBy]


class MessageShown(WholeMessage):
    """A message to one recipient, with its attempts."""

    attempts: list[AttemptShown]


class ShortMessage(MessageHead):
    """A message as a list shows it: how many attempts there were; `unsettled` if something may still happen to it."""

    attempts: int
    unsettled: bool


class Messages(Cursor):
    """Messages."""

    messages: list[MessageShown] | list[ShortMessage]


#: What the phone shows as the sender, and the phone that wrote.
_From = TypedDict("_From", {"from": str | None})
_Sender = TypedDict("_Sender", {"from": str})


class InboundShown(_Sender):
    """A message from a phone; `message_id` is the one that it answers."""

    at: Instant
    channel: Family
    to: str | None
    body: str
    message_id: str | None


class Written(InboundShown):
    """A message that a phone wrote, in its conversation."""

    direction: Literal["out"]


class Arrived(_From):
    """A message on a phone; it has no `message_id` where another service sent it."""

    at: Instant
    direction: Literal["in"]
    channel: Channel
    message_id: str | None
    body: str
    content: NotRequired[Content]
    links: list[LinkShown]
    seen: bool


class HandsetHead(TypedDict):
    """What a handset is."""

    number: str
    channels: list[Family]
    online: bool
    conversation_open: bool
    opted_out: bool
    messages: list[str]
    codes: list[Code]


class Handset(HandsetHead):
    """A handset, and its conversation, oldest first."""

    conversation: list[Arrived | Written]


class NumberedLink(LinkShown):
    """A short link, and its place among those of the message, from 1."""

    number: int


class HeaderShown(TypedDict):
    """A header: its kind, and its text, its link, or what its value says."""

    kind: str
    text: NotRequired[str]
    link: NotRequired[str]


further(HeaderShown)


class ButtonShown(TypedDict):
    """A button, and where it leads; `press` is the position by which a quick reply is pressed."""

    type: str
    text: str
    url: NotRequired[str]
    phone_number: NotRequired[str]
    code: NotRequired[str]
    press: NotRequired[int]
    value: NotRequired[Value]


class CardShown(TypedDict, total=False):
    """A card; a part that there is not is left out."""

    header: HeaderShown
    title: str
    description: str
    buttons: list[ButtonShown]


class PartsShown(TypedDict, total=False):
    """What the phone shows beside the text; an `offer` ends at that Unix time in milliseconds."""

    content: Content
    header: HeaderShown
    footer: str
    buttons: list[ButtonShown]
    cards: list[CardShown]
    offer: int
    raw: Content


class Known(_From, PartsShown):
    """A message on a phone, or on its way there, with what is known of it; `refused` says why it was."""

    at: Instant
    direction: Literal["in"]
    channel: Channel
    message_id: str | None
    body: str
    links: list[NumberedLink]
    seen: bool
    attempt: int
    result: Result
    info: str | None
    refused: str | None
    planned: list[str]
    acts: list[str]


class NewestHandset(HandsetHead):
    """The newest of a handset; `earlier` says that there is more."""

    conversation: list[Known | Arrived | Written]
    not_arrived: list[Known]
    earlier: bool


class LastText(TypedDict):
    """The last text of a conversation."""

    at: Instant
    direction: Literal["in", "out"]
    channel: str
    body: str


class ShortHandset(TypedDict):
    """A handset as a list shows it: how many texts it received and sent."""

    number: str
    online: bool
    opted_out: bool
    conversation_open: bool
    received: int
    sent: int
    last: LastText | None


class PhoneList(Cursor):
    """Phones."""

    phones: list[Handset] | list[ShortHandset]


class CheckAsked(TypedDict):
    """A check, and why it did not pass."""

    check: str
    passed: bool
    why: str | None


class TriedRule(TypedDict):
    """A rule that was tried: what became of it, what it decides, and why it did not match."""

    rule: str
    place: str | None
    outcome: Literal["decided", "differs", "not its turn", "too late"]
    decides: list[str]
    why_not: list[str]
    seen: Literal["then", "today"]


class ExplainedAttempt(TypedDict):
    """An attempt with its checks and rules; `undecided` says why no rule decided."""

    number: int
    channel: Channel
    result: Result
    refused: str | None
    why: str | None
    checks: NotRequired[list[CheckAsked]]
    rules: list[TriedRule]
    decided_by: list[str]
    undecided: str | None
    outage: str | None
    order_sensitive: bool
    timeline: list[Reached]
    planned: list[str]


class Explanation(TypedDict):
    """Why a message has its result; `not_tried` are the steps for which there was no attempt."""

    message_id: str
    phone: str
    operation: str
    accepted_at: Instant
    result: Result
    steps: list[str]
    attempts: list[ExplainedAttempt]
    not_tried: list[str]


class ToldAttempt(AttemptShown, _From, PartsShown):
    """An attempt, and what the phone shows of it, or would show."""

    body: str


class ToldMessage(WholeMessage):
    """A message; `legal` are the results to which it can be moved now."""

    attempts: list[ToldAttempt]
    legal: list[Result]


class WhoSays(TypedDict):
    """An entry in words."""

    who: str
    text: str
    tone: str


class RestsOn(TypedDict):
    """An assumption that an entry rests on."""

    id: str
    section: str
    title: str
    default: str


class StoryEntry(TypedDict):
    """An entry of the journal, in words too."""

    n: int
    at: Instant
    kind: str
    told: WhoSays | None
    section: str
    assumed: list[RestsOn]


class StoryDelivery(WebhookHead):
    """A webhook with its events about a message; `others` counts the rest."""

    events: list[Event]
    tries: list[WebhookTry]
    others: int


class Story(TypedDict):
    """All about one message; `whole` is false where the journal goes on behind what was read."""

    message: ToldMessage
    request: RequestEntry | None
    entries: list[StoryEntry]
    deliveries: list[StoryDelivery]
    inbound: list[InboundShown]
    explain: Explanation | None
    whole: bool


further(StoryEntry)
