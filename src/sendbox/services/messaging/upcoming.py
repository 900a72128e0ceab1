"""The steps that are still to come for messages, in words, by the names of their handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from sendbox.services.messaging.model import CONDITIONS
from sendbox.services.messaging.results import STATES

if TYPE_CHECKING:
    from sendbox.engine.kinds.upcoming import About
    from sendbox.services.messaging.content.gaps import Line
    from sendbox.services.messaging.outages import Current
    from sendbox.services.messaging.records import Attempt, Message, Submission


def _submission(submission: Submission) -> About:
    phones = [message.phone for message in submission.messages]
    return {"what": f"hand-over of {submission.operation} to {len(phones)} phones", "phone": phones[0]}


def _message(message: Message) -> About:
    return {"what": f"hand-over by {message.submission.send.steps[0].channel}", "phone": message.phone}


def _transition(attempt: Attempt) -> About:
    plan = attempt.plan
    if plan is None or attempt.position >= len(plan):
        return None
    return {"what": f"{attempt.step.channel} {STATES[plan[attempt.position][0]]}", "phone": attempt.message.phone}


def _ttl(attempt: Attempt) -> About:
    step = attempt.step
    good = CONDITIONS[CONDITIONS.index(step.condition) :]
    if attempt is not attempt.message.last or any(STATES[code] in good for code, _ in attempt.transitions()):
        return None
    text = f'ttl of {step.channel} ends; if it is not "{step.condition}" by then the flow goes on'
    return {"what": text, "phone": attempt.message.phone}


def _fallback(subject: tuple[Attempt, str]) -> About:
    return {
        "what": f"the flow goes on after {subject[0].step.channel} ({subject[1]})",
        "phone": subject[0].message.phone,
    }


def _reply(subject: tuple[Attempt, str | Line]) -> About:
    attempt, body = subject
    text = body if isinstance(body, str) else body.text.source
    return {"what": f'the phone replies "{text}"', "phone": attempt.message.phone}


def _click(subject: tuple[Attempt, int | None]) -> About:
    return {"what": "the phone follows a link", "phone": subject[0].message.phone}


def _recovery(current: Current) -> About:
    outage = " ".join(str(current.what[name]) for name in ("channel", "country", "operator") if name in current.what)
    return {"what": f"the outage of {outage} ends"}


STEPS: Final[Mapping[str, Callable[[Any], About]]] = {
    "submission_due": _submission,
    "message_due": _message,
    "turn_due": _message,
    "transition_due": _transition,
    "ttl_due": _ttl,
    "fallback_due": _fallback,
    "reply_due": _reply,
    "click_due": _click,
    "recovery_due": _recovery,
    "line_due": lambda bulk: {"what": f"next line of the file {bulk.bulk_id}"},
}
