"""The definitions of a scenario for partner management (`partner:`), and their use by a world.

Times are drawn by the rule's key, the reviewed template and the number of its earlier reviews, never by the position of
the rule.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.draws import Draw
from sendbox.engine.durations import Span
from sendbox.engine.rules.book import Rulebook
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import Rule as AnyRule


class ReviewRule(AnyRule, frozen=True, kw_only=True):
    """A rule for the review of a template (A43). `after` None means the usual delay."""

    SUBJECT = "template"

    after: Span | None = None
    result: Literal["APPROVED", "REJECTED"] = "APPROVED"
    reason: str | None = None


class SignupRule(AnyRule, frozen=True, kw_only=True):
    """A rule for the end of a signup once the client has finished (A46): the time, and whether it fails."""

    SUBJECT = "client"

    after: Span | None = None
    result: Literal["completed", "failed"] = "completed"
    reason: str | None = None


#: What holds where no rule of the scenario applies.
_REVIEW: Final = ReviewRule(key="review")
_SIGNUP: Final = SignupRule(key="signup")


class Reviews(Rulebook[ReviewRule]):
    """The rules of `template_review`. Its cases are templates, a new case for each review."""

    def whose(self, case: Case) -> str:
        """The same name in another language is another template."""
        return f"{case.subject}\0{case.fields['language']}"

    def review(self, record: JsonObject, usual: int, now: int) -> tuple[ReviewRule, int, bool]:
        """The rule for the review of a template, its duration, and True if that depended on which review came first.

        The duration is in milliseconds, `usual` if no rule gives one. Times are keyed by the number of earlier
        reviews of the template, by any rule.
        """
        fields = {"template": record["name"], "language": record["language"], "category": record["category"]}
        case = Case("template", record["name"], instant=now, fields=fields)
        decisions, order_sensitive = self.decide(self.rules, case)
        rule = decisions[0][0] if decisions else _REVIEW
        whose = self.whose(case)
        number = self.memory.series("review", whose).place(case.ordinal).number
        after = Span(usual, usual) if rule.after is None else rule.after
        return rule, _time(after, self._chooser.draw(rule.key, whose, number)), order_sensitive


class Signups(Rulebook[SignupRule]):
    """The rules of `signup`. Its cases are signups, each may be asked about several times until it has ended."""

    RETURNING = True

    def of(self, ordinal: int, client_id: str | None, mode: str, now: int) -> tuple[SignupRule, bool]:
        """The rule of a signup, and True if that depended on which signup came first."""
        client = client_id or ""
        case = Case("signup", client, ordinal, instant=now, fields={"client": client, "mode": mode})
        decisions, order_sensitive = self.decide(self.rules, case)
        return (decisions[0][0] if decisions else _SIGNUP), order_sensitive

    def after(self, rule: SignupRule, client_id: str | None) -> int:
        """The milliseconds that the provider takes for a signup; they are the same for all signups of a client."""
        return 0 if rule.after is None else _time(rule.after, self._chooser.draw(rule.key, client_id or "", 0))


def _time(span: Span, drawn: Draw) -> int:
    """Milliseconds of a span: drawn only if the span has a width."""
    return span.low if span.low == span.high else drawn.interval(span.low, span.high, "after")


class NumberSpec(msgspec.Struct, frozen=True):
    """A number of a business account that is there from the start."""

    phone_number: str
    id: str | None = None
    name: str | None = None
    status: str = "CONNECTED"
    quality: str = "GREEN"


class BusinessSpec(msgspec.Struct, frozen=True):
    """A business account that is connected from the start."""

    id: str
    name: str = "Client"
    client_id: str | None = None
    numbers: tuple[NumberSpec, ...] = ()


class PartnerSpec(msgspec.Struct, frozen=True):
    """All of `partner:`. `library` holds templates of the provider's library, beside the built-in ones (§4.3)."""

    accounts: tuple[BusinessSpec, ...] = ()
    reviews: tuple[ReviewRule, ...] = ()
    signups: tuple[SignupRule, ...] = ()
    library: tuple[JsonObject, ...] = ()
