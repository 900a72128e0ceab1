"""Rules of `verify:`: the code that a session gets, the result of its SMS, and whether limits hold for its number.

A code is drawn: it is derived from the rule's key, the phone and the ordinal of the session among those of this phone
that drew from the rule, and from nothing that a client varies from run to run.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from sendbox.engine.rules.book import Rulebook
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import Rule as AnyRule

#: The code of a rule whose codes are drawn.
RANDOM: Final = "random"
#: What codes are derived from where no rule names one.
_NO_RULE: Final = "verify"


class VerifyRule(AnyRule, frozen=True, kw_only=True):
    """One entry of `verify: rules`.

    `code` is six digits or `RANDOM`, `sms` the result of its SMS, `limited` False lifts the limits (A53);
    None = the rule does not decide that.
    """

    DECISIONS = ("code", "sms", "limits")
    SUBJECT = "phone"

    code: str | None = None
    sms: str | None = None
    limited: bool | None = None

    def decisions(self) -> frozenset[str]:
        """The names of the things that the rule decides."""
        named = {"code": self.code, "sms": self.sms, "limits": self.limited}
        return frozenset(name for name, value in named.items() if value is not None)


class SessionDecisions(Struct, frozen=True):
    """The decisions about a session: the rules of its code, of its SMS, and of its limits."""

    case: Case
    code: VerifyRule | None
    sms: VerifyRule | None
    limits: VerifyRule | None
    order_sensitive: bool

    @property
    def limited(self) -> bool:
        """True if the limits hold for the session."""
        return self.limits is None or self.limits.limited is True

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that decided code and SMS."""
        return tuple(dict.fromkeys(rule.title for rule in (self.code, self.sms) if rule is not None))


class Codes(Rulebook[VerifyRule]):
    """The rules of `verify`. Its cases are validation sessions about to begin."""

    PREFIX = "v"
    RETURNING = True

    def case(self, phone: str, key: str, now: int, ordinal: int) -> Case:
        """A session of a number, begun with a key; each is a separate request."""
        return Case("session", phone, ordinal, str(ordinal), now, {"phone": phone, "key": key})

    def begin(self, phone: str, key: str, now: int) -> SessionDecisions:
        """The decisions about a new session of a number; no code is drawn yet."""
        self._came += 1
        case = self.case(phone, key, now, self._came)
        decisions, order_sensitive = self.decide(self.rules, case)
        by = {thing: rule for rule, things, _, _ in decisions for thing in things}
        return SessionDecisions(case, by.get("code"), by.get("sms"), by.get("limits"), order_sensitive)

    def code(self, decided: SessionDecisions) -> tuple[str, bool]:
        """The code of a session, and True if it depended on which session came first."""
        rule = decided.code
        if rule is not None and rule.code is not None and rule.code != RANDOM:
            return rule.code, decided.order_sensitive
        drawn = self.draw(_NO_RULE if rule is None else rule.key, decided.case)
        return drawn.draw.digits(0, 999_999, "code"), decided.order_sensitive or drawn.raced
