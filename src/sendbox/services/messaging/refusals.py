"""Why a hand-over was refused (A61, A62), in words: for log, journal, page and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.services.messaging.checks import BY_WORD

if TYPE_CHECKING:
    from sendbox.services.messaging.records import Attempt


def refusal_line(attempt: Attempt, why: str) -> str:
    """One line about a refused hand-over, beginning with the number."""
    check = BY_WORD[why]
    step = attempt.step
    template = f' "{step.template.name}"' if step.template is not None else ""
    return f"{attempt.message.phone}: {step.channel}{template} rejected, {check.says} ({check.source})"
