"""What a scenario settles about partner management (`partner:`), and how a world asks it.

A rule decides for the first thing it is met by, like the rules of attempts: first match wins. Times are drawn by the
rule's key, what is reviewed and how-manieth time, never by the position of the rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sendbox.engine.durations import Span
from sendbox.engine.identity import Draw
from sendbox.engine.patterns import Pattern


@dataclass(frozen=True, slots=True)
class ReviewRule:
    """How a template's review goes (A43); conditions that are None are not asked.

    `key` is the rule's name or canonical text. `after` None means the usual delay.
    """

    key: str
    name: Pattern | None = None
    language: Pattern | None = None
    category: str | None = None
    after: Span | None = None
    result: Literal["APPROVED", "REJECTED"] = "APPROVED"
    reason: str | None = None

    def fits(self, record: dict[str, Any]) -> bool:
        """Whether the rule is about this template."""
        return (
            (self.name is None or self.name.matches(record["name"]))
            and (self.language is None or self.language.matches(record["language"]))
            and (self.category is None or self.category == record["category"])
        )


@dataclass(frozen=True, slots=True)
class SignupRule:
    """How a signup ends once the client has finished (A46): after a while, or not well."""

    key: str
    client: Pattern | None = None
    mode: str | None = None
    after: Span | None = None
    result: Literal["completed", "failed"] = "completed"
    reason: str | None = None

    def fits(self, client_id: str | None, mode: str) -> bool:
        """Whether the rule is about this signup."""
        if self.mode not in (None, mode):
            return False
        return self.client is None or self.client.matches(client_id or "")


@dataclass(frozen=True, slots=True)
class NumberSpec:
    """A number of a business account that is there from the start."""

    phone_number: str
    id: str | None = None
    name: str | None = None
    status: str = "CONNECTED"
    quality: str = "GREEN"


@dataclass(frozen=True, slots=True)
class BusinessSpec:
    """A business account that is connected from the start."""

    id: str
    name: str = "Client"
    client_id: str | None = None
    numbers: tuple[NumberSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class PartnerSpec:
    """All of `partner:`. `library` holds templates of the provider's library, beside the built-in ones (§4.3)."""

    accounts: tuple[BusinessSpec, ...] = ()
    reviews: tuple[ReviewRule, ...] = ()
    signups: tuple[SignupRule, ...] = ()
    library: tuple[dict[str, Any], ...] = ()


def drawn(span: Span | None, seed: bytes, key: str, subject: str, n: int) -> int:
    """Milliseconds of a span, none for no span: drawn only when there is something to draw."""
    if span is None:
        return 0
    if span.low == span.high:
        return span.low
    return Draw(seed, f"{key}\0{subject}".encode(), n).between(span.low, span.high, "after")
