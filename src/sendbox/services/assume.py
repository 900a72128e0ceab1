"""Settings of the assumptions: what a scenario's `assume:` may override, typed, with the defaults.

Each field is the setting of one row of the assumption registry (see `services/assumptions.py`, which names them). Only
what is built is here; a setting that is not here is refused by name. Durations and instants in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from sendbox.engine.durations import Rate

if TYPE_CHECKING:
    from sendbox.engine.world import World


@dataclass(frozen=True, slots=True)
class Timing:
    """A63: default path, milliseconds after the entry before."""

    sending: int = 0
    sent: int = 1_000
    delivered: int = 2_000
    seen: int = 5_000

    @property
    def longest(self) -> int:
        """How long the whole way takes."""
        return self.sending + self.sent + self.delivered + self.seen


#: A53: new validation sessions of an account, and of a number.
PER_ACCOUNT: Final = Rate(100, 60_000)
PER_NUMBER: Final = Rate(5, 600_000)


@dataclass(frozen=True, slots=True)
class VerifyLimits:
    """A53: how many new validation sessions in how much time; None = no limit."""

    account: Rate | None = PER_ACCOUNT
    number: Rate | None = PER_NUMBER


@dataclass(frozen=True, slots=True)
class Proof:
    """A52: how the proof of a validation is made of its four values."""

    hash: Literal["sha1", "sha256", "sha384", "sha512"] = "sha256"
    encoding: Literal["hex", "base64", "base64url"] = "hex"
    order: tuple[str, ...] = ("phoneNumber", "token", "code", "timestamp")
    separator: str = ":"


@dataclass(frozen=True, slots=True)
class Prices:
    """A61: price of one segment in millionths, by currency (`EUR`, `CZK`), channel and calling code ("" = any other).

    Channels here are `sms`, `richmsg`, `chatapp`. None in the scenario's place of a channel means the built-in table.
    """

    table: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """A35: the longest bulk file, in lines and in bytes unpacked."""

    lines: int = 100_000
    bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Assume:
    """Every setting of `assume:` that is built, by its name in `not-shown`'s column `setting`."""

    rcs: bool = False  # A02
    fallback_on_failure: Literal["at_once", "ttl"] = "at_once"  # A04
    invalid_number: Literal["webhook", "response"] = "webhook"  # A08
    messages_accepted: Literal["object", "recipient"] = "object"  # A09
    legacy_error: Literal["code", "plain"] = "code"  # A13
    country: str | None = None  # A14: overrides the account's prefix
    queue: Rate | None = None  # A18: limit of the normal queue
    nulls: Literal["refuse", "absent"] = "refuse"  # A56
    sender_form: Literal["refuse", "accept"] = "refuse"  # A59
    sms_sender: Literal["accept", "strict"] = "accept"  # A59
    prices: Prices | None = None  # A61
    timing: Timing = field(default_factory=Timing)  # A63
    conversation: int = 86_400_000  # A66
    promotional_window: tuple[int, int] | None = None  # A84: minutes of the day, UTC
    webhook_retry: tuple[int, ...] = (30_000, 60_000, 120_000, 240_000)  # A20
    webhook_timeout: int = 5_000  # A20
    bundle: bool = True  # A22
    allowed: tuple[str, ...] | None = None  # A83: phone patterns
    identical: Rate | None = None  # A83
    list_delay: int = 1_000  # A81
    proof: Proof = field(default_factory=Proof)  # A52
    verify_limits: VerifyLimits = field(default_factory=VerifyLimits)  # A53
    template_review: int = 10_000  # A43
    verify_code_required: bool = False  # A41
    bulk: BulkLimits = field(default_factory=BulkLimits)  # A35

    @classmethod
    def of(cls, world: World) -> Assume:
        """The settings of a world."""
        settings: Any = world.assume
        assume: Assume = settings
        return assume
