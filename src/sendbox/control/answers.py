"""Types of answers that several operations share. What one operation answers alone stands beside it."""

from __future__ import annotations

from typing import Any, Literal

from sendbox.engine.answer import Answer, Instant
from sendbox.engine.kinds.answers import Value
from sendbox.engine.timeline import Mode


class Clock(Answer):
    """The clock of a world: `rate` in seconds of the world a real second, `pending` steps, the next of them due.

    `webhooks` are under way, or leave without a step as soon as the clock moves; it is left out where there are none.
    """

    now: Instant
    mode: Mode
    rate: float
    next_due: Instant | None
    pending: int
    webhooks: int | None = None


class Warned(Answer):
    """A remark on what was done: `code` is a stable word, or that of an advice."""

    code: str
    message: str


class CanonicalEntry(Answer):
    """An entry in canonical form: beside these fields, what counts of its kind; `at` in ms since the world began."""

    EXTRA_FIELDS_TYPE = Any

    n: int
    at: int
    kind: str


class Problem(Answer):
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


class Proof(Answer):
    """A digest, and how far it can be trusted: `bound` says why something is `lost`."""

    digest: str
    engine: int
    order_sensitive: bool
    trusted: bool
    lost: int
    bound: str | None = None


class Checkpoint(Answer):
    """A checkpoint, and the instant of the world at which it was taken."""

    name: str
    at: Instant


class Addresses(Answer):
    """The base addresses of the interfaces, with `/v2` and `/v1` for those whose paths do not have it themselves."""

    base_url: str
    rest_url: str
    verify_url: str
    http_api_url: str


def addresses(origin: str) -> Addresses:
    """The base addresses under an origin."""
    return Addresses(base_url=f"{origin}/v2", rest_url=f"{origin}/v1", verify_url=origin, http_api_url=origin)


class Bound(Answer):
    """The number of entries of a bounded list that are kept, the most, and the number of those that were forgotten."""

    kept: int
    most: int
    forgotten: int


class World(Answer):
    """A world; each service adds how many things it has there. `before` says why the world before it ended."""

    EXTRA_FIELDS_TYPE = int

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
    closed: Literal[True] | None = None
    before: str | None = None
    bounds: dict[str, Bound] | None = None
