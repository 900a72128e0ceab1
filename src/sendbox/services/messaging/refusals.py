"""Why a hand-over was refused (A61, A62), or a delivery went wrong, in words: for log, journal, page and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.services.events import EVENTS

if TYPE_CHECKING:
    from sendbox.engine.delivery.faults import Detoured
    from sendbox.services.messaging.records import Attempt

#: The journal's word, what it means, and where it is written.
WHY: Final[dict[str, tuple[str, str]]] = {
    "number": ("the number cannot be normalized to international form", "§7.3"),
    "allowed": ("the number is not among those that the scenario allows", "A83"),
    "blacklist": ("the number is on the account's blacklist", "§1"),
    "optout": ("the recipient opted out, and the message carries the tag promotional", "§2.1"),
    "identical": ("the same text went to this number too often", "A83"),
    "credit": ("the account's credit does not cover the price", "§3.1"),
    "sender": ("the sender is not registered for this channel", "A59"),
    "channel": ("the phone cannot receive on this channel", "A62"),
    "conversation": ("no conversation is open: the recipient has not written in the last 24 hours", "§2.2"),
    "template-unknown": ("the account has no template of this name and language", "§2.2"),
    "template-not-approved": ("the template is not approved", "§2.2"),
}


def refusal_line(attempt: Attempt, why: str) -> str:
    """One line about a refused hand-over, beginning with the number."""
    text, section = WHY[why]
    step = attempt.step
    template = f' "{step.template.name}"' if step.template is not None else ""
    return f"{attempt.message.phone}: {step.channel}{template} rejected, {text} ({section})"


def applied_line(applied: Detoured) -> str:
    """One line about a fault of a delivery: the number, what was to be told, and whose rule it was."""
    first = EVENTS[type(applied.events[0])].case(applied.events[0])
    more = f" and {len(applied.events) - 1} more" if len(applied.events) > 1 else ""
    note = "" if applied.note is None else f", {applied.note}"
    what = f"{first.subject or 'a signup'}: {' '.join(first.words('result')) or first.kind}{more}"
    return f'{what}: {applied.rule.fault.text}, by the rule "{applied.rule.label}" of webhooks{note}'
