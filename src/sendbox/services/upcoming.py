"""What is still to come in a world: the next steps of its timeline, in words.

Steps that will do nothing any more, a ttl whose condition is met or a path that was dropped, are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.durations import iso
from sendbox.services.messaging.model import CONDITIONS
from sendbox.services.messaging.results import STATES

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery, Outlet
    from sendbox.engine.delivery.detours import Window
    from sendbox.engine.delivery.faults.fault import FaultyDelivery
    from sendbox.engine.world import World
    from sendbox.services.messaging.content.gaps import Line
    from sendbox.services.messaging.outages import Current
    from sendbox.services.messaging.records import Attempt, Message, Submission

#: So many steps are looked at for each that is asked for.
LOOKED_AT: Final = 20


def next_steps(world: World, most: int) -> list[dict[str, Any]]:
    """The next steps, at most so many, soonest first: `at`, `what`, and the phone they are about, if any."""
    found: list[dict[str, Any]] = []
    for looked, (instant, handler, subject) in enumerate(_soonest(world)):
        if len(found) == most or looked >= most * LOOKED_AT:
            break
        describe = _WORDS.get(handler.__name__)
        about = {"what": handler.__name__.strip("_").removesuffix("_due")} if describe is None else describe(subject)
        if about is not None:
            found.append({"at": iso(instant), **about})
    return found


def _soonest(world: World) -> Iterator[tuple[int, Callable[[Any], None], Any]]:
    """The steps in order, by a walk down the heap: it takes as long as steps are asked for, however many there are."""
    steps = world.timeline.steps
    front = [(steps[0], 0)] if steps else []
    while front:
        (instant, _, _, handler, subject), index = heappop(front)
        yield instant, handler, subject
        for child in (2 * index + 1, 2 * index + 2):
            if child < len(steps):
                heappush(front, (steps[child], child))


About = dict[str, Any] | None


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


def _fallback(what: tuple[Attempt, str]) -> About:
    return {"what": f"the flow goes on after {what[0].step.channel} ({what[1]})", "phone": what[0].message.phone}


def _reply(what: tuple[Attempt, str | Line]) -> About:
    attempt, body = what
    text = body if isinstance(body, str) else body.text.source
    return {"what": f'the phone replies "{text}"', "phone": attempt.message.phone}


def _click(what: tuple[Attempt, int | None]) -> About:
    return {"what": "the phone follows a link", "phone": what[0].message.phone}


def _recovery(current: Current) -> About:
    outage = " ".join(str(current.what[name]) for name in ("channel", "country", "operator") if name in current.what)
    return {"what": f"the outage of {outage} ends"}


def _faulty(step: tuple[FaultyDelivery, Any]) -> About:
    faulty, rule = step[0], step[0].rule
    does = rule.fault.upcoming(faulty)
    return None if does is None else {"what": f'{_webhook(faulty)} {does} by the rule "{rule.label}"'}


def _window(window: Window) -> About:
    count, rule = len(window.gathered), window.rule
    return {"what": f'{count} events that were gathered are sent, {rule.fault.text} by the rule "{rule.label}"'}


def _webhook(delivery: Delivery) -> str:
    return f"webhook to {delivery.outlet.target.url or 'hook'}"


def _retry(what: tuple[Delivery, int]) -> About:
    delivery, tries = what
    if delivery.state != "waiting" or len(delivery.tries) != tries:
        return None
    return {"what": f"{_webhook(delivery)}, try {tries + 1}"}


def _free(outlet: Outlet) -> About:
    return {"what": f"{outlet.target.url or 'hook'} takes webhooks again"}


#: What a step's subject means, by the name of its handler; others are called by that name.
_WORDS: Final[dict[str, Callable[[Any], About]]] = {
    "submission_due": _submission,
    "message_due": _message,
    "turn_due": _message,
    "transition_due": _transition,
    "ttl_due": _ttl,
    "fallback_due": _fallback,
    "reply_due": _reply,
    "click_due": _click,
    "retry_due": _retry,
    "free_due": _free,
    "recovery_due": _recovery,
    "webhook_due": _faulty,
    "window_due": _window,
    "line_due": lambda bulk: {"what": f"next line of the file {bulk.bulk_id}"},
    "activation_due": lambda order: {"what": f"the order of {order.service} is active"},
    "finish_due": lambda what: {"what": f"the signup {what[0].id} ends"},
    "code_due": lambda what: {"what": "a code comes to the phone", "phone": what[0]},
    "review_due": lambda what: {"what": f"review of the template {what[0]}"},
    "entry_due": lambda entry: {"what": f"timeline of the scenario: {entry.kind}"},
}
