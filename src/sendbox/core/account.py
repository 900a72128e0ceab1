"""The account of a world: credit, senders, templates, lists. Changed in place; what the blueprint gave is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.core.blueprint import AccountSpec
from sendbox.core.templates import Template, compile_template

if TYPE_CHECKING:
    from sendbox.core.partner_records import BusinessNumber


class Account:
    """Money in millionths of `currency`. Lists map a number to the instant from which it is in force (A81)."""

    __slots__ = (
        "_compiled", "balance", "blacklist", "business", "country", "currency", "domains", "numbers", "optout",
        "senders", "spent", "stop_words", "templates", "verification_secret",
    )  # fmt: skip

    def __init__(self, spec: AccountSpec, country: str | None) -> None:
        self.currency = spec.currency
        self.country = country or spec.country
        self.balance = spec.credit
        self.spent = 0
        self.senders = spec.senders
        self.numbers = spec.numbers
        self.domains = spec.domains
        self.templates: tuple[dict[str, Any], ...] = spec.templates
        self.stop_words = spec.stop_words
        self.verification_secret = spec.verification_secret
        self.optout: dict[str, int] = dict.fromkeys(spec.optout, 0)
        self.blacklist: dict[str, int] = dict.fromkeys(spec.blacklist, 0)
        #: numbers of connected business accounts by Phone Number ID (`core/partner.py`)
        self.business: dict[str, BusinessNumber] = {}
        #: by name and language, then by the business account that it belongs to ("" = to the whole account)
        self._compiled: dict[tuple[str, str], dict[str, Template]] | None = None

    def template(self, name: str, language: str, sender: str | None = None) -> Template | None:
        """The template of that name and language that `sender` may use, None when there is none.

        A number of a business account uses that account's templates and those of no business account; any other
        sender uses whichever there is.
        """
        if self._compiled is None:
            self._compiled = {}
            for record in self.templates:
                named = self._compiled.setdefault((str(record["name"]), str(record["language"])), {})
                named[record.get("waba_id") or ""] = compile_template(record)
        owners = self._compiled.get((name, language))
        if owners is None:
            return None
        number = self.business.get(sender) if sender is not None and self.business else None
        if number is not None:
            return owners.get(number.account_id) or owners.get("")
        return owners.get("") or next(iter(owners.values()))

    def set_templates(self, templates: tuple[dict[str, Any], ...]) -> None:
        """Replaces all templates."""
        self.templates = templates
        self._compiled = None

    def registered(self, channel: str, sender: str) -> bool:
        """Whether a sender is registered for `sms`, `richmsg` or `chatapp` (A59); a business number, while it sends."""
        number = self.business.get(sender) if channel == "chatapp" and self.business else None
        if number is not None:
            return number.sends
        if self.senders == "any":
            return True
        return sender in self.senders.get(channel, frozenset()) or (channel == "sms" and sender in self.numbers)

    def charge(self, eur: int, czk: int) -> bool:
        """Takes the price in the account's currency if it can be paid whole; never goes below zero."""
        cost = eur if self.currency == "EUR" else czk
        if cost > self.balance:
            return False
        self.balance -= cost
        self.spent += cost
        return True

    def opted_out(self, number: str, now: int) -> bool:
        """Whether the number is on the opt-out list, in force."""
        since = self.optout.get(number)
        return since is not None and since <= now

    def blacklisted(self, number: str, now: int) -> bool:
        """Whether the number is on the blacklist, in force."""
        since = self.blacklist.get(number)
        return since is not None and since <= now
