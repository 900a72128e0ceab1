"""Why a hand-over was refused (A61, A62), or a delivery went wrong, in words: for log, journal, page and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.services.events import EVENTS
from sendbox.services.messaging.checks import BY_WORD

if TYPE_CHECKING:
    from sendbox.engine.delivery.faults import Detoured
    from sendbox.services.messaging.records import Attempt


def refusal_line(attempt: Attempt, why: str) -> str:
    """One line about a refused hand-over, beginning with the number."""
    check = BY_WORD[why]
    step = attempt.step
    template = f' "{step.template.name}"' if step.template is not None else ""
    return f"{attempt.message.phone}: {step.channel}{template} rejected, {check.says} ({check.source})"


def applied_line(applied: Detoured) -> str:
    """One line about a fault of a delivery: the number, what was to be told, and whose rule it was."""
    first = EVENTS[type(applied.events[0])].case(applied.events[0])
    more = f" and {len(applied.events) - 1} more" if len(applied.events) > 1 else ""
    note = "" if applied.note is None else f", {applied.note}"
    what = f"{first.subject or 'a signup'}: {' '.join(first.words('result')) or first.kind}{more}"
    return f'{what}: {applied.rule.fault.text}, by the rule "{applied.rule.label}" of webhooks{note}'
