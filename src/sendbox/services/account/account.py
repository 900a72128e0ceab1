"""The account of a world: credit, senders, templates, lists. Changed in place; what the blueprint gave is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.services.account.billing import DEFAULT_SUBID, Billing
from sendbox.services.blueprint import AccountSpec
from sendbox.services.messaging.content.templates import Template, compile_template

if TYPE_CHECKING:
    from sendbox.services.partner.records import BusinessNumber


class Account(Billing):
    """What a world's keys share: senders, numbers, templates; with the balance and lists of the top key."""

    __slots__ = (
        "_compiled", "business", "country", "domains", "numbers", "senders", "stop_words", "templates",
        "verification_secret",
    )  # fmt: skip

    def __init__(self, spec: AccountSpec, country: str | None) -> None:
        super().__init__(DEFAULT_SUBID, spec.currency, spec.credit, spec.optout, spec.blacklist)
        self.country = country or spec.country
        self.senders = spec.senders
        self.numbers = spec.numbers
        self.domains = spec.domains
        self.templates: tuple[dict[str, Any], ...] = spec.templates
        self.stop_words = spec.stop_words
        self.verification_secret = spec.verification_secret
        #: numbers of connected business accounts by Phone Number ID (`services/partner/partner.py`)
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

    def change(self, changes: dict[str, Any]) -> None:
        """Sets what is named, by the names of `AccountSpec`; lists are replaced whole, in force at once."""
        for name, value in changes.items():
            if name == "credit":
                self.balance = value
            elif name == "templates":
                self.set_templates(value)
            elif name in ("optout", "blacklist"):
                setattr(self, name, dict.fromkeys(value, 0))
            elif name in ("currency", "country", "senders", "numbers", "domains", "stop_words", "verification_secret"):
                setattr(self, name, value)

    def registered(self, channel: str, sender: str) -> bool:
        """Whether a sender is registered for `sms`, `richmsg` or `chatapp` (A59); a business number, while it sends."""
        number = self.business.get(sender) if channel == "chatapp" and self.business else None
        if number is not None:
            return number.sends
        if self.senders == "any":
            return True
        return sender in self.senders.get(channel, frozenset()) or (channel == "sms" and sender in self.numbers)

    def register(self, family: str, sender: str) -> None:
        """Makes a sender usable on `sms`, `richmsg` or `chatapp`; where any sender is, nothing changes."""
        if self.senders != "any":
            self.senders = {**self.senders, family: self.senders.get(family, frozenset()) | {sender}}

    def add_number(self, number: str) -> None:
        """Makes a virtual number the account's own, which phones can write to."""
        self.numbers = self.numbers | {number}

    def drop(self, family: str, sender: str) -> None:
        """Takes a sender or number away; nothing happens to one that is not there."""
        self.numbers = self.numbers - {sender}
        if self.senders != "any":
            self.senders = {**self.senders, family: self.senders.get(family, frozenset()) - {sender}}
