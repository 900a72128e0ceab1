"""What happened before: the condition `after` of a rule, about earlier attempts and the message before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sendbox.engine.patterns import Pattern
from sendbox.services.messaging.results import STATES

if TYPE_CHECKING:
    from sendbox.services.messaging.rules.rules import Ask


@dataclass(frozen=True, slots=True)
class After:
    """What must have happened before; None = not asked.

    An earlier attempt of the message stands at one of `result`, went over one of `channel`, and its `result_info` is
    like `info`: one attempt, all that is given. The message before this one to the phone stands at one of `message`.
    """

    result: tuple[str, ...] | None = None
    channel: tuple[str, ...] | None = None
    info: Pattern | None = None
    message: tuple[str, ...] | None = None


def holds(after: After, ask: Ask) -> bool:
    """Whether it happened; what `ask` leaves out did not."""
    if after.message is not None:
        earlier = None if ask.earlier is None else ask.earlier(ask.phone, ask.ordinal)
        if earlier is None or earlier.result_at(ask.now) not in after.message:
            return False
    if after.result is None and after.channel is None and after.info is None:
        return True
    from sendbox.services.messaging.events import info_of  # `sendbox --help` reads this module, and need not read JSON

    attempt = ask.before
    while attempt is not None:
        state = attempt.state_at(ask.now)  # an explanation asks once more, later
        if (
            (after.result is None or STATES[state] in after.result)
            and (after.channel is None or attempt.step.channel in after.channel)
            and (after.info is None or after.info.matches(info_of(attempt, state) or ""))
        ):
            return True
        attempt = attempt.previous
    return False


def raced(after: After, ask: Ask) -> bool:
    """Whether the message before this one to the phone could as well have come after it."""
    if after.message is None or ask.earlier is None:
        return False
    earlier = ask.earlier(ask.phone, ask.ordinal)
    return (
        earlier is not None and earlier.accepted_at == ask.accepted_at and earlier.submission.request_id != ask.request
    )
