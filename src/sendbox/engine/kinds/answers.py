"""The types of the answers about the engine: remarks on requests, webhooks, and entries of the journal.

An entry also has `n`, `at` and `kind`, which are not listed here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, UnsetType

from sendbox.engine.answer import Answer, Instant, JsonObject, keywords, reference

#: An entry of the journal: `n`, `at`, `kind`, and the fields of its kind.
Entry = Annotated[Any, reference("Entry")]
#: The entry of a call of an emulated interface.
RequestEntry = Annotated[Any, reference("RequestEntry")]
#: A header of a request or an answer: name and value.
Header = Annotated[list[str], keywords(minItems=2, maxItems=2)]
#: An event as a webhook carries it, whole: one of those that the contract of the service has.
WebhookEvent = Annotated[JsonObject, reference("WebhookEvent")]
#: A value whose type depends on the place that it is from.
Value = Annotated[Any, keywords(description="Any JSON value, of the type that this place has.")]
#: A fault of a call.
Fault = Annotated[
    str | JsonObject, keywords(description="The fault as a scenario writes it: a word, or an object with one key.")
]
#: The subject of a remark that belongs to no request.
About = Annotated[Any, keywords(description="Any JSON value that the remark is about, null where there is none.")]


class Cursor(Answer):
    """The cursor of the next page, null if there is none. It is left out unless a `limit` was given."""

    next_cursor: str | UnsetType | None = UNSET


class Finding(Answer):
    """Why a request is illegal."""

    path: str
    value: str | None
    rule: str
    message: str
    section: str
    assumed: str | None


class Advice(Answer):
    """A remark on a legal request, or on the answer of a receiver; `docs` is its page in the documentation."""

    code: str
    message: str
    path: str
    section: str
    assumed: str | None
    note: bool
    docs: str


class ShortEvent(Answer):
    """An event of a webhook in short: the kind of the event, and what it is about. A service may add fields."""

    EXTRA_FIELDS_TYPE = Any

    event: str
    message_id: str | UnsetType | None = UNSET
    phone: str | None = None
    result: str | None = None
    body: str | None = None
    from_: str | None = None


#: A short form of an event of a webhook.
Event = Annotated[JsonObject, reference("ShortEvent", ShortEvent)]


class WebhookTry(Answer):
    """One try of a webhook: an HTTP status, or a word for why there was none.

    A `rule` answered in the place of the receiver.
    """

    at: Instant
    status: int | None
    error: str | None
    rule: str | None = None


class WebhookHead(Answer):
    """The fields that are always shown of a webhook; `rule` and `fault` if a rule changed it."""

    id: str
    target: str
    method: str
    at: Instant
    state: Literal["waiting", "sending", "delivered", "failed", "held", "dropped"]
    rule: str | None = None
    fault: str | None = None


class Webhook(WebhookHead):
    """A webhook with its tries; `rule` and `fault` where a rule changed it."""

    events: list[Event]
    tries: list[WebhookTry]


class ShortWebhook(WebhookHead):
    """A webhook as a list shows it: the first of its events, how many it carries, how many tries there were.

    `last_try` is the newest of them, and `next_try` the instant of the one that is due.
    """

    events: list[Event]
    carries: int
    tries: int
    last_try: WebhookTry | None = None
    next_try: Instant | None = None


class RequestShown(Answer):
    """A call of an emulated interface; with a `fault`, `processed` says whether it had its effect.

    `traceparent` is the trace context with which it came.
    """

    operation: str
    method: str
    path: str
    key: str | None
    status: int
    body: str
    answer: str
    findings: list[Finding]
    advice: list[Advice]
    fault: Fault | None = None
    processed: bool | None = None
    traceparent: str | None = None


class DeliveryShown(Answer):
    """A webhook was made."""

    delivery: str
    target: str
    events: list[Event]


class TryShown(Answer):
    """A webhook was tried."""

    delivery: str
    target: str
    number: int
    status: int | None
    error: str | None


class AdviceShown(Answer):
    """A remark on what a receiver did."""

    advice: Advice
    about: About


class FaultShown(Answer):
    """A fault of a call, as a rule wanted it."""

    operation: str
    key: str | None
    phone: str | None
    fault: Fault
    rule: str
    processed: bool
    message: str


class WebhookFaultShown(Answer):
    """A fault of a webhook, as a rule wanted it."""

    rule: str
    fault: str
    delivery: str | None
    events: list[Event]
    note: str | None = None
