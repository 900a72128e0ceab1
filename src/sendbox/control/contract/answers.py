"""Types of answers that several operations share. What one operation answers alone stands beside it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from sendbox.control.contract.types import Component, Keywords, further
from sendbox.engine.kinds.shapes import ShortEvent

#: An instant, as `2026-03-01T09:00:00.000Z`.
Instant = Annotated[str, Keywords(format="date-time")]
#: An entry of the journal: `n`, `at`, `kind`, and what its kind shows.
Entry = Annotated[dict[str, Any], Component("Entry")]
#: The entry of a call of an emulated interface.
RequestEntry = Annotated[dict[str, Any], Component("RequestEntry")]
#: A header of a request or an answer: name and value.
Header = Annotated[list[str], Keywords(minItems=2, maxItems=2)]
#: An event as a webhook carries it, whole: one of those that the contract of the service has.
WebhookEvent = Annotated[dict[str, Any], Component("WebhookEvent")]
#: What a webhook carries, in short.
Event = ShortEvent
further(ShortEvent)
#: Any object that a client of the service wrote.
Payload = Annotated[dict[str, Any], Keywords(description="Any JSON object, as the request had it.")]
#: A value whose type depends on the place that it is from.
Value = Annotated[Any, Keywords(description="Any JSON value, of the type that this place has.")]


class Clock(TypedDict):
    """The clock of a world: `rate` in seconds of the world a real second, `pending` steps, the next of them due."""

    now: Instant
    mode: Literal["manual", "real", "auto"]
    rate: float
    next_due: Instant | None
    pending: int


class Cursor(TypedDict, total=False):
    """How to ask for what follows; null where nothing does. There is none unless a `limit` was given."""

    next_cursor: str | None


class WebhookTry(TypedDict):
    """One try of a webhook; a `rule` answered in the place of the receiver."""

    at: Instant
    status: int | None
    error: str | None
    rule: NotRequired[str]


class WebhookHead(TypedDict):
    """What is always shown of a webhook; `rule` and `fault` where a rule changed it."""

    id: str
    target: str
    method: str
    at: Instant
    state: Literal["waiting", "sending", "delivered", "failed", "held", "dropped"]
    rule: NotRequired[str]
    fault: NotRequired[str]


class Webhook(WebhookHead):
    """A webhook with its tries; `rule` and `fault` where a rule changed it."""

    events: list[Event]
    tries: list[WebhookTry]


class ShortWebhook(WebhookHead):
    """A webhook as a list shows it: the first of its events, how many it carries, how many tries there were."""

    events: list[Event]
    carries: int
    tries: int


class Code(TypedDict):
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


class CanonicalEntry(TypedDict):
    """An entry in canonical form: beside these fields, what counts of its kind; `at` in ms since the world began."""

    n: int
    at: int
    kind: str


further(CanonicalEntry)


class Problem(TypedDict):
    """Why a scenario cannot be used, or what in it is probably not intended (`warning`)."""

    file: str
    line: int | None
    column: int | None
    path: str
    value: Value
    rule: str
    message: str
    nearest: str | None
    severity: Literal["error", "warning"]


class Proof(TypedDict):
    """A digest, and how far it can be trusted: `bound` says why something is `lost`."""

    digest: str
    engine: int
    order_sensitive: bool
    trusted: bool
    lost: int
    bound: NotRequired[str]


class Checkpoint(TypedDict):
    """A checkpoint, and the instant of the world at which it was taken."""

    name: str
    at: Instant


class Addresses(TypedDict):
    """The base addresses of the interfaces."""

    base_url: str
    rest_url: str
    verify_url: str
    http_api_url: str


class Bound(TypedDict):
    """How much of a bounded list is kept, the most, and how much was forgotten."""

    kept: int
    most: int
    forgotten: int


class World(TypedDict):
    """A world; each service adds how many things it has there. `before` says why the world before it ended."""

    id: str
    api_key: str
    scenario: str
    seed: int | str
    salt: str
    tag: str
    epoch: int
    started: Instant
    clock: Clock
    entries: int
    deliveries: Literal["push", "pull"]
    callback_url: str
    addresses: Addresses
    closed: NotRequired[Literal[True]]
    before: NotRequired[str]
    bounds: NotRequired[dict[str, Bound]]


further(World, int)
