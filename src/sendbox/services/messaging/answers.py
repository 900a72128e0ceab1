"""The answers of operations on messages and phones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, UnsetType

from sendbox.engine.answer import Answer, Instant, JsonObject, Payload, enum, keywords, reference
from sendbox.engine.kinds.answers import Cursor, Event, RequestEntry, Value, WebhookHead, WebhookTry
from sendbox.services.messaging.channels import CHANNELS, FAMILIES, STATES
from sendbox.services.messaging.rules.explained import explanation_lines
from sendbox.services.ports import Code

Result = Annotated[str, enum(STATES)]
Channel = Annotated[str, enum(CHANNELS)]
Family = Annotated[str, enum(FAMILIES)]
ChannelOrFamily = Annotated[str, enum(dict.fromkeys((*CHANNELS, *FAMILIES)))]


#: What a client gave beside the text of a rich message.
Content = Annotated[
    Any,
    keywords(
        type="object",
        additionalProperties=True,
        description="Cards, buttons or raw content, as the request had them.",
    ),
]


class Reached(Answer):
    """A result that an attempt reached."""

    at: Instant
    result: Result
    info: str | None


class ReachedBy(Answer):
    """A result that a message reached, and the channel of the attempt."""

    at: Instant
    channel: Channel
    result: Result


class Details(Answer):
    """Route and price of an attempt: mobile country and network code of the recipient, prices, segments charged."""

    sender: str | None
    country: int
    operator: int
    price_czk: float
    price_eur: float
    count: int
    gateway: str | None = None


class Attempt(Answer):
    """An attempt: `planned` is still to come, `rules` decided about it, `refused` is the check that did."""

    number: int
    channel: Channel
    result: Result
    timeline: list[Reached]
    planned: list[str]
    details: Details
    rules: list[str]
    refused: str | None = None


class Link(Answer):
    """A short link, and the instants at which it was followed."""

    url: str
    target: str
    expires_at: Instant
    clicks: list[Instant]
    message_id: str


class MessageHead(Answer):
    """The fields that are always shown of a message to one recipient."""

    message_id: str
    phone: str
    result: Result
    channel: Channel
    sender: str | None
    body: str
    tags: list[str]
    accepted_at: Instant
    operation: str

    @property
    def tag(self) -> list[str]:
        """The same as `tags`, by the name that it has in requests, rules, filters and searches."""
        return self.tags

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__("tags" if name == "tag" else name)


class WholeMessage(MessageHead):
    """The fields of a message beside its attempts."""

    request_id: str
    payload: Payload
    priority: bool
    clicked_at: Instant | None
    replied_at: Instant | None
    optout_at: Instant | None
    links: list[Link]
    timeline: list[ReachedBy]


class Message(WholeMessage):
    """A message to one recipient, with its attempts."""

    attempts: list[Attempt]


class ShortMessage(MessageHead):
    """A message as a list shows it: how many attempts there were; `unsettled` if something may still happen to it."""

    attempts: int
    unsettled: bool


class Messages(Cursor):
    """Messages."""

    messages: list[Annotated[Any, reference("ListedMessage", Message, ShortMessage)]]
    total: int | None = None


class Text(Answer):
    """A text on a phone: what arrived (`direction` is `in`), or what its owner wrote (`out`, or without a direction).

    It has no `message_id` where another service sent it; of what its owner wrote that is the message that it answers.
    """

    at: Instant
    direction: Literal["in", "out"] | None = None
    channel: ChannelOrFamily
    message_id: str | None
    from_: str | None
    to_: str | UnsetType | None = UNSET
    body: str
    content: Content | None = None
    links: Sequence[Link] = None  # type: ignore[assignment]  # only what arrived has links, and was seen or not
    seen: bool = None  # type: ignore[assignment]

    @property
    def to(self) -> str | None:
        """The recipient of what its owner wrote, None where no sender was named."""
        return self.to_ or None


class HandsetHead(Answer):
    """The fields of a handset."""

    number: str
    channels: list[Family]
    online: bool
    conversation_open: bool
    opted_out: bool
    messages: list[str]
    codes: list[Code]


class Handset(HandsetHead):
    """A handset, and its conversation, oldest first."""

    conversation: list[Text]


class NumberedLink(Link):
    """A short link, and its place among those of the message, from 1."""

    number: int


class HeaderShown(Answer):
    """A header: its kind, and its text, its link, or what its value says."""

    EXTRA_FIELDS_TYPE = Any

    kind: str
    text: str | None = None
    link: str | None = None


#: A header, with what its value says.
Header = Annotated[JsonObject, reference("HeaderShown", HeaderShown)]


class ButtonShown(Answer):
    """A button, and where it leads; `press` is the position by which a quick reply is pressed."""

    type: str
    text: str
    url: str | None = None
    phone_number: str | None = None
    code: str | None = None
    press: int | None = None
    value: Value | None = None


class CardShown(Answer):
    """A card; a part that there is not is left out."""

    header: Header | None = None
    title: str | None = None
    description: str | None = None
    buttons: list[ButtonShown] | None = None


class Known(Text):
    """A message on a phone, or on its way there, with what is known of it; `refused` says why it was.

    An `offer` ends at that Unix time in milliseconds. `truncated`: the text was longer, and the service sent its
    beginning.
    """

    links: Sequence[NumberedLink]
    attempt: int
    result: Result
    info: str | None
    refused: str | None
    planned: list[str]
    acts: list[str]
    header: Header | None = None
    footer: str | None = None
    buttons: list[ButtonShown] | None = None
    cards: list[CardShown] | None = None
    offer: int | None = None
    raw: Content | None = None
    truncated: Literal[True] | None = None


class NewestHandset(HandsetHead):
    """The newest of a handset; `earlier` says that there is more."""

    conversation: list[Annotated[Any, reference("TextOrKnown", Known, Text)]]
    not_arrived: list[Known]
    earlier: bool


class LastText(Answer):
    """The last text of a conversation."""

    at: Instant
    direction: Literal["in", "out"]
    channel: str
    body: str


class AbsentText(Answer):
    """The newest message to a phone, where it is not on it, since when; `unsettled` if something may still happen."""

    at: Instant
    channel: str
    result: Result
    body: str
    unsettled: bool


class ShortHandset(Answer):
    """A handset as a list shows it: how many texts it received and sent, and how many `messages` were sent to it.

    `absent` is a message that is not on it.
    """

    number: str
    online: bool
    opted_out: bool
    conversation_open: bool
    received: int
    sent: int
    messages: int
    last: LastText | None
    absent: AbsentText | None = None


class PhoneList(Cursor):
    """Phones."""

    phones: list[Annotated[Any, reference("ListedHandset", Handset, ShortHandset)]]
    total: int | None = None


class CheckAsked(Answer):
    """A check, and why it did not pass."""

    check: str
    passed: bool
    why: str | None


class TriedRule(Answer):
    """A rule that was tried: what became of it, what it decides, and why it did not match."""

    rule: str
    place: str | None
    outcome: Literal["decided", "differs", "not its turn", "too late"]
    decides: list[str]
    why_not: list[str]
    seen: Literal["then", "today"]


class ExplainedAttempt(Answer):
    """An attempt with its checks and rules; `undecided` says why no rule decided."""

    number: int
    channel: Channel
    result: Result
    refused: str | None
    why: str | None
    checks: list[CheckAsked] | None = None
    rules: list[TriedRule]
    decided_by: list[str]
    undecided: str | None
    outage: str | None
    order_sensitive: bool
    timeline: list[Reached]
    planned: list[str]


class Explanation(Answer):
    """Why a message has its result; `not_tried` are the steps for which there was no attempt."""

    message_id: str
    phone: str
    operation: str
    accepted_at: Instant
    result: Result
    steps: list[str]
    attempts: list[ExplainedAttempt]
    not_tried: list[str]

    def __repr__(self) -> str:
        return "\n".join(explanation_lines(self.json))


class ToldAttempt(Attempt):
    """An attempt, and what the phone shows of it, or would show; `truncated`: the beginning of a longer text.

    `due` has the instants of what is `planned`.
    """

    due: list[Instant]
    from_: str | None
    body: str
    content: Content | None = None
    header: Header | None = None
    footer: str | None = None
    buttons: list[ButtonShown] | None = None
    cards: list[CardShown] | None = None
    offer: int | None = None
    raw: Content | None = None
    truncated: Literal[True] | None = None


class ToldMessage(WholeMessage):
    """A message; `legal` are the results to which it can be moved now."""

    attempts: list[ToldAttempt]
    legal: list[Result]


class WhoSays(Answer):
    """An entry in words."""

    who: str
    text: str
    tone: str


class RestsOn(Answer):
    """An assumption that an entry rests on."""

    id: str
    section: str
    title: str
    default: str


class StoryEntry(Answer):
    """An entry of the journal, in words too."""

    EXTRA_FIELDS_TYPE = Any

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


class Story(Answer):
    """All about one message; `whole` is false where the journal goes on behind what was read."""

    message: ToldMessage
    request: RequestEntry | None
    entries: list[Annotated[JsonObject, reference("StoryEntry", StoryEntry)]]
    deliveries: list[StoryDelivery]
    inbound: list[Text]
    explain: Explanation | None
    whole: bool


class OutageView(Answer):
    """An outage that has begun (`current`) or is to come, as it was written; it lasts until an instant."""

    id: str
    state: Literal["current", "upcoming"]
    from_: Instant
    until: Instant
    outage: Annotated[JsonObject, keywords(type="object", additionalProperties=True, description="As in a timeline.")]
