"""The acceptance of a request, which names it, makes its messages, and schedules their hand-over (§1, §2.1, §2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from sendbox.engine.delivery.batches import Target
from sendbox.engine.remarks import Finding
from sendbox.services import limits
from sendbox.services.advice import TEST_NUMBER, advise
from sendbox.services.messaging.events import expected_case
from sendbox.services.messaging.records import (
    LIST_OPERATION,
    Accepted,
    Message,
    Request,
    Submission,
    make_base_id,
    make_id,
)
from sendbox.services.templates import templates

if TYPE_CHECKING:
    from sendbox.engine.commands.requests import RequestRecord
    from sendbox.engine.delivery.batches import Outlet
    from sendbox.engine.world import World
    from sendbox.services.messaging.home import Home
    from sendbox.services.messaging.model import Send
    from sendbox.services.ports import Key


def accept(
    home: Home,
    operation: str,
    sends: list[Send],
    key: Key,
    content: bytes,
    origin: str,
    record: RequestRecord | None,
    kind: type[Request],
) -> Accepted:
    """Makes the messages of one request. Recipients that the response rejects get None for an id (A08)."""
    world = home.world
    now = world.clock.now
    is_list = operation == LIST_OPERATION
    source = content if record is None else record
    request = kind(world.naming, *world.numbered(operation, content))
    names = request.names
    request_id = make_id(names, world.naming, 0)
    base_ids: list[str] = []
    answers: list[list[str | None]] = []
    findings: list[Finding] = []
    # the answer says nothing of a validation session's SMS: the session begins, and stays pending (A73)
    refuse_numbers = home.assume.invalid_number == "response" and operation != "createValidation"
    for send in sends:
        template_findings = _check_templates(home, send)
        findings += template_findings
        base = ""
        if is_list:
            base = make_base_id(names, world.naming, send.index)
        submission = Submission(send, operation, key, request, send.index, home.accepted, source)
        submission.origin = origin
        submission.chooser = world.chooser
        home.accepted += len(send.recipients)
        ids: list[str | None] = []
        messages: list[Message] = []
        for position, recipient in enumerate(send.recipients):
            if template_findings or (refuse_numbers and not recipient.valid):
                if not template_findings:
                    place = f"{send.path}.to[{position}].phone_number"
                    findings.append(number_finding(recipient.number, place, "A08"))
                ids.append(None)
                continue
            message_id = f"{base}-{position}" if is_list else make_id(names, world.naming, position + 1)
            messages.append(Message(submission, position, recipient.number, recipient.valid, now))
            ids.append(message_id)
        base_ids.append(base)
        answers.append(ids)
        if messages:
            submission.messages = tuple(messages)
            if home.assume.test_number == "on":
                _remove_test_number(world, submission)
            submission.outlet = outlet_for(home, key, send.callback)
            home.messages += messages
            if world.outlets.faults.overtakes and submission.outlet is not None and operation != "createValidation":
                _note_overtaking(world, submission)
            if submission.messages:
                world.timeline.at(
                    _first_attempt_at(send, now), submission.ordinal, home.simulator.submission_due, submission
                )
    return Accepted(request, request_id, base_ids, answers, findings)


def _remove_test_number(world: World, submission: Submission) -> None:
    """Removes messages to the test number from those that will be handed over (A89)."""
    for message in submission.messages:
        if message.phone == limits.TEST_NUMBER:
            text = f"{message.phone} is the test number of the service: the message is taken, and nothing is sent"
            world.advise(
                advise(TEST_NUMBER, text, f"{submission.send.path}.to[{message.index}].phone_number"), message.phone
            )
    submission.messages = tuple(message for message in submission.messages if message.phone != limits.TEST_NUMBER)


def _note_overtaking(world: World, submission: Submission) -> None:
    """Registers a request if one of its events may have to leave before its answer (`webhooks:`, `overtake`)."""
    channel, faults = submission.send.steps[0].channel, world.outlets.faults
    if any(faults.may_overtake(expected_case(channel, message)) for message in submission.messages):
        world.outlets.injection.overtaking_requests.append(submission.request_id)


def _first_attempt_at(send: Send, now: int) -> int:
    """The instant at which the first attempt is handed over: `datetime`, then the delivery window (§2.1, A18)."""
    at = send.at if send.at is not None and send.at > now + limits.SOON else now
    return at if send.window is None else send.window.next_open(at)


def outlet_for(home: Home, key: Key, callback: Target | None) -> Outlet | None:
    """The outlet to the callback of a request, the default of its key or account, or the built-in receiver (§6, A68).

    None if the default is "", which means no receiver.
    """
    world, parent = home.world, home.account.top
    secret = key.default_callback_secret or parent.default_callback_secret
    if callback is not None:
        return world.outlets.line(callback if secret is None else replace(callback, secret=secret))
    url = key.default_callback_url
    if url is None:
        url = parent.default_callback_url
    if url == "":
        return None
    return world.outlets.line(Target(url or "", secret=secret))


def _check_templates(home: Home, send: Send) -> list[Finding]:
    findings: list[Finding] = []
    for index, step in enumerate(send.steps):
        use = step.template
        template = home.account.template(use.name, use.language, step.sender) if use is not None else None
        if use is None or template is None:
            continue
        prefix = f"{send.path}.flow[{index}].chatapp_template"
        findings += [
            Finding(f"{prefix}.{problem.path}", problem.rule, problem.message, problem.section, "A08")
            for problem in templates.check(template, use)
        ]
    return findings


def number_finding(number: str, path: str, assumed: str) -> Finding:
    """The finding for a number that the answer refuses (§7.3)."""
    text = f'"{number}" cannot be normalized to international form; legal: 8 to 15 digits with a calling code'
    return Finding(path, "phone-number", f"{text} (§7.3, A14)", "§7.3", assumed)
