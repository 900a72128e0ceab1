"""A blueprint: a compiled scenario, immutable and shared by every world that is opened from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sendbox.engine.clock import Mode
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.faults.calls import ApiRule
from sendbox.engine.happenings import TimelineEntry
from sendbox.engine.patterns import Pattern
from sendbox.engine.traffic import Traffic
from sendbox.services.assume import Assume
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.partner.rules import PartnerSpec
from sendbox.services.verify.rules import VerifyRule

if TYPE_CHECKING:
    from sendbox.engine.expect.expectation import Expectation


@dataclass(frozen=True, slots=True)
class PhoneSpec:
    """An entry of `phones`: handsets whose number matches. `channels` None = every channel; the first match wins."""

    number: Pattern
    channels: frozenset[str] | None = None
    conversation: bool = False
    offline: bool = False


@dataclass(frozen=True, slots=True)
class SubKeySpec:
    """A sub-key `<world>~<name>` that is there from the start (§2.5, A32). `credit` in millionths, of its own balance.

    None leaves what a key that exists already has, or the default.
    """

    name: str
    note: str | None = None
    shared: bool = False
    currency: Literal["EUR", "CZK"] | None = None
    credit: int | None = None
    scope: str | None = None
    default_callback_url: str | None = None


@dataclass(frozen=True, slots=True)
class AccountSpec:
    """The account a world starts with. Money in millionths of the currency's unit (1 EUR = 1_000_000).

    `senders` maps `sms`, `richmsg`, `chatapp` to registered senders, or is "any". `templates` are records as §2.5
    (`name, language, category, status, components`). Lists hold normalized numbers.
    """

    credit: int = 10_000_000_000
    currency: Literal["EUR", "CZK"] = "EUR"
    country: str = "420"
    default_callback_url: str | None = None
    default_callback_secret: str | None = None
    verification_secret: str | None = None
    senders: dict[str, frozenset[str]] | Literal["any"] = "any"
    numbers: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    templates: tuple[dict[str, Any], ...] = ()
    optout: frozenset[str] = frozenset()
    blacklist: frozenset[str] = frozenset()
    stop_words: frozenset[str] = frozenset({"STOP"})
    subkeys: tuple[SubKeySpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Blueprint:
    """All that a scenario settles. `start` in virtual milliseconds, None = the present second when a world opens."""

    name: str = "empty"
    seed: int | str = 0
    mode: Mode | None = None
    start: int | None = None
    rate: float = 1.0
    account: AccountSpec = field(default_factory=AccountSpec)
    phones: tuple[PhoneSpec, ...] = ()
    attempts: tuple[Rule, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    assume: Assume = field(default_factory=Assume)
    digest_ignore: tuple[str, ...] = ()
    verify: tuple[VerifyRule, ...] = ()
    partner: PartnerSpec = field(default_factory=PartnerSpec)
    expect: tuple[Expectation, ...] = ()
    #: what a sample client sends; only `play` and tests look at it
    traffic: tuple[Traffic, ...] = ()
    api: tuple[ApiRule, ...] = ()
    webhooks: tuple[WebhookRule, ...] = ()
    #: the scenario as it stands in files, merged with all that it builds on; None where it never was one
    source: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    def shared(self) -> tuple[Any, ...]:
        """What worlds refer to as it is; a checkpoint does not copy it."""
        account = self.account
        parts = (self, self.assume, *self.attempts, *self.timeline, *self.verify, *self.api, *self.webhooks)
        parts = (*parts, *self.partner.reviews, *self.partner.signups)
        lists = (account.senders, account.templates, *account.templates)
        return (*parts, *lists, account.numbers, account.domains, account.stop_words)
