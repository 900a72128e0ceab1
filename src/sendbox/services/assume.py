"""The settings of the assumptions: a field each, with its default. A scenario's `assume:` may override them.

Only what is built is here; a setting that is not here is refused by name. Durations and instants in milliseconds.
How a scenario has each setting is in `settings.py`, which a start does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from sendbox.engine.durations import Rate
from sendbox.services.windows import Window

if TYPE_CHECKING:
    from sendbox.engine.world import World


OnFailure = Literal["at_once", "ttl"]
InvalidNumber = Literal["webhook", "response"]
Accepted = Literal["object", "recipient"]
TestNumber = Literal["off", "on"]
MessagesRefusal = Literal["whole", "partial"]
LegacyError = Literal["code", "plain"]
LegacyAnswer = Literal["id", "number"]
Nulls = Literal["refuse", "absent"]
ContentType = Literal["advice", "strict"]
UnknownFields = Literal["advice", "refuse"]
Beyond = Literal["on", "off"]
SenderForm = Literal["refuse", "accept"]
SmsSender = Literal["accept", "strict"]
Hash = Literal["sha1", "sha256", "sha384", "sha512"]
NoSecret = Literal["refuse", "observed"]
Encoding = Literal["hex", "base64", "base64url"]
#: The values of a proof, in the usual order.
PROVED: Final = ("phoneNumber", "token", "code", "timestamp")
#: Results that take the time of the good one in whose place they come.
_BAD_ENDS: Final = {"undelivered": "delivered", "failed": "sent"}


class Timing(msgspec.Struct, frozen=True):
    """Default path, milliseconds after the entry before."""

    sending: int = 0
    sent: int = 1_000
    delivered: int = 2_000
    seen: int = 5_000

    def after(self, result: str) -> int:
        """The milliseconds from the previous result to this one; a bad end takes as long as the result it replaces."""
        return int(getattr(self, _BAD_ENDS.get(result, result), 0))

    @property
    def longest(self) -> int:
        """The time, in milliseconds, that the whole path takes."""
        return self.sending + self.sent + self.delivered + self.seen


class VerifyLimits(msgspec.Struct, frozen=True):
    """The limits on new validation sessions of an account, and of a number, in a span of time; None = no limit."""

    account: Rate | None = Rate(100, 60_000)
    number: Rate | None = Rate(5, 600_000)


class Proof(msgspec.Struct, frozen=True):
    """The way to compute the proof of a validation from its four values."""

    hash: Hash = "sha256"
    encoding: Encoding = "hex"
    order: tuple[str, ...] = PROVED
    separator: str = ":"


class Prices(msgspec.Struct, frozen=True):
    """Price of one segment in millionths, by currency (`EUR`, `CZK`), channel and calling code ("" = any other).

    Channels here are those that have a price (`PRICED`). None in the scenario's place of a channel means the
    built-in table.
    """

    table: dict[tuple[str, str], tuple[int, int]] = {}


class BulkLimits(msgspec.Struct, frozen=True):
    """The longest bulk file, in lines and in bytes unpacked."""

    lines: int = 100_000
    bytes: int = 64 * 1024 * 1024


class PromotionalHours(msgspec.Struct, frozen=True):
    """When promotional messages go out, and which: to these countries (ISO codes), on these channels, as prices call
    them. None means all.
    """

    window: Window
    countries: tuple[str, ...] | None = None
    channels: tuple[str, ...] | None = None


class Assume(msgspec.Struct, frozen=True):
    """Every setting of `assume:` that is built, with its default."""

    rcs: bool = False
    fallback_on_failure: OnFailure = "at_once"
    invalid_number: InvalidNumber = "webhook"
    messages_accepted: Accepted = "object"
    messages_refusal: MessagesRefusal = "whole"
    legacy_error: LegacyError = "code"
    legacy_answer: LegacyAnswer = "id"
    country: str | None = None
    queue: Rate | None = None
    nulls: Nulls = "refuse"
    content_type: ContentType = "advice"
    unknown_fields: UnknownFields = "advice"
    reference: bool = False
    sender_form: SenderForm = "refuse"
    sms_sender: SmsSender = "accept"
    prices: Prices | None = None
    timing: Timing = Timing()
    conversation: int = 86_400_000
    test_number: TestNumber = "off"
    promotional_window: PromotionalHours | None = None
    webhook_retry: tuple[int, ...] = (30_000, 60_000, 120_000, 240_000)
    webhook_timeout: int = 5_000
    bundle: bool = True
    allowed: tuple[str, ...] | None = None
    identical: Rate | None = None
    list_delay: int = 1_000
    no_secret: NoSecret = "refuse"
    proof: Proof = Proof()
    verify_limits: VerifyLimits = VerifyLimits()
    template_review: int = 10_000
    verify_code_required: bool = False
    bulk: BulkLimits = BulkLimits()
    beyond: Beyond = "on"

    @classmethod
    def of(cls, world: World) -> Assume:
        """The settings of a world."""
        settings: Any = world.assume
        assume: Assume = settings
        return assume
