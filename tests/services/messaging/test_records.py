"""The records of a world: what they derive from what they keep."""

from __future__ import annotations

import pytest

from sendbox.engine.delivery.batches import Delivery, Outlet, Target, Try
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.messaging.channels import DELIVERED, SEEN, SENDING, SENT, UNDELIVERED
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.phones import Phones
from sendbox.services.messaging.records import Attempt, Course, Inbound, Message, Particulars, pack_transition
from tests.core.asked import asked
from tests.core.worlds import PHONE, START, advance, make_world, path, rule, send, send_one, step

SECOND = 1_000


def attempt_with(*transitions: tuple[int, int], previous: Attempt | None = None) -> Attempt:
    """An attempt that went through these states at these instants."""
    message = previous.message if previous is not None else send_one(make_world())
    attempt = Attempt(message, None if previous is None else Particulars(previous.number + 1, previous))
    for code, at in transitions:
        attempt.course = Course(attempt.history + pack_transition(code, at))
    message.last = attempt
    return attempt


def test_transitions_are_kept_in_nine_bytes_each() -> None:
    """State and instant go in and come out in order."""
    attempt = attempt_with((SENDING, START), (SENT, START + SECOND))
    assert attempt.transitions() == [(SENDING, START), (SENT, START + SECOND)]
    assert len(attempt.history) == 18
    assert attempt.position == 2


def test_when_a_state_was_reached() -> None:
    """The first time it was entered, None when it never was; up to an instant the newest time."""
    attempt = attempt_with((SENT, 1), (DELIVERED, 2), (SENT, 3), (DELIVERED, 4))
    assert (attempt.reached(SENT), attempt.reached(SEEN)) == (1, None)
    assert [attempt.entered(SENT, until) for until in (1, 2, 3, 9)] == [1, 1, 3, 3]


@pytest.mark.parametrize(
    ("transitions", "expected"),
    [
        ([(SENT, 1), (DELIVERED, 2), (SEEN, 3)], 2),
        ([(SENT, 1), (SEEN, 3)], 3),
        ([(SENT, 1)], None),
        ([(SENT, 0), (DELIVERED, 0)], 0),
    ],
    ids=["confirmed", "opened unconfirmed", "not arrived", "at the first of all instants"],
)
def test_when_it_was_on_the_handset(transitions: list[tuple[int, int]], expected: int | None) -> None:
    """When the handset confirmed it, or, without a confirmation, when it was opened."""
    assert attempt_with(*transitions).arrived_at == expected


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ([(SENT, 1)], [(SENDING, 2)], 0),
        ([(SENT, 1)], [(SENT, 2)], 1),
        ([(SENT, 1), (DELIVERED, 9)], [(SENT, 2)], 0),
        ([(UNDELIVERED, 1)], [(SENDING, 2)], 1),
    ],
    ids=["the earlier got further", "as far: the last", "a late receipt", "a bad end is no reach"],
)
def test_a65_the_attempt_that_a_row_shows(
    first: list[tuple[int, int]], second: list[tuple[int, int]], shown: int
) -> None:
    """A65: the last attempt, or an earlier one that got further."""
    attempt = attempt_with(*second, previous=attempt_with(*first))
    message = attempt.message
    assert message.attempts == [attempt.previous, attempt]
    assert message.furthest_attempt is message.attempts[shown]


def test_a_message_that_nobody_tried_is_accepted() -> None:
    """Before its hand-over it has no attempt, and its result is `accepted`."""
    message = send_one(make_world())
    assert (message.attempts, message.furthest_attempt, message.result) == ([], None, "accepted")


def test_ordinals_follow_the_order_of_acceptance() -> None:
    """Each message has its place, whether or not those before it were accepted."""
    world = make_world()
    send(world, PHONE, "420777000101")
    send(world, PHONE)
    assert [message.ordinal for message in Messaging.of(world).messages] == [0, 1, 2]


def test_the_operator_took_only_what_was_handed_over() -> None:
    """A67, A82: the operator is the phone's, and 0 for what never reached one."""
    world = make_world()
    taken, refused = send(world, PHONE, "nonsense")
    advance(world)
    assert taken.attempts[0].mnc > 0
    assert refused.attempts[0].mnc == 0


def test_rare_things_cost_nothing_until_they_are_needed() -> None:
    """An attempt without infos has no place for them; afterwards it has one for all."""
    attempt = attempt_with((SENT, 1))
    assert (attempt.extra, attempt.info(SENT)) == (None, None)
    attempt.note("info2", "text")
    attempt.note("why", "credit")
    assert attempt.info(SENT) == "text"
    assert attempt.extra == {"info2": "text", "why": "credit"}


def test_a_delivery_gives_back_its_events() -> None:
    """Attempts with their states and messages from phones, in the order in which they were put in."""
    attempt = attempt_with((SENT, 1))
    inbound = Inbound(1, "sms", PHONE, "Acme", "YES", None, 0)
    events = ((attempt, SENT), inbound, (attempt, DELIVERED))
    delivery = Delivery(0, "", Outlet(Target(""), True), events, 1)
    assert tuple(delivery.events) == events


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [(None, None, True), (200, None, False), (None, "timeout", False)],
    ids=["no outcome yet", "answered", "no answer"],
)
def test_a_delivery_is_under_way_until_its_last_try_has_an_outcome(
    status: int | None, error: str | None, expected: bool
) -> None:
    """An HTTP status or a word ends a try."""
    delivery = Delivery(0, "", Outlet(Target(""), True), (), 1)
    assert not delivery.under_way
    last = Try(1)
    last.status, last.error = status, error
    delivery.tries.append(last)
    assert delivery.under_way is expected


def test_a_request_has_no_remarks_of_its_own() -> None:
    """Remarks are put there by who answers; until then there are none."""
    record = asked()
    assert (list(record.findings), list(record.advice), record.canonical) == ([], [], None)


def test_remarks_as_json() -> None:
    """A finding and an advice show all their fields, under their names."""
    assert Finding("$.to", "minItems", "[] is too short", "§2.1", "A56").as_json() == {
        "path": "$.to",
        "value": None,
        "rule": "minItems",
        "message": "[] is too short",
        "section": "§2.1",
        "assumed": "A56",
    }
    assert Advice("unknown-field", '"x" is not a field', "$.x", "§2").as_json() == {
        "code": "unknown-field",
        "message": '"x" is not a field',
        "path": "$.x",
        "section": "§2",
        "assumed": None,
        "note": False,
        "docs": "docs/advice/unknown-field.md",
    }


def test_a_message_keeps_its_marks() -> None:
    """What a phone did is on the message: the first click, the first reply, the opt-out."""
    world = make_world(attempts=(rule(path("sending", "sent", "delivered")),))
    message: Message = send_one(world, steps=[step(sender="Acme")])
    advance(world)
    phones: Phones = Messaging.of(world).phones
    phones.reply(message, "STOP")
    assert (message.reactions.clicked_at, message.reactions.replied_at, message.reactions.optout_at) == (
        None,
        START,
        START,
    )


def test_the_result_at_an_instant_that_has_been() -> None:
    """Before anything happened it is `accepted`; a later attempt that got less far does not hide an earlier one."""
    first = attempt_with((SENDING, START), (DELIVERED, START + SECOND))
    second = attempt_with((SENDING, START + 2 * SECOND), (UNDELIVERED, START + 3 * SECOND), previous=first)
    message = second.message
    assert [message.result_at(START + seconds * SECOND) for seconds in (-1, 0, 1, 2, 3)] == [
        "accepted", "sending", "delivered", "delivered", "delivered",
    ]  # fmt: skip
    assert message.result_at(START + 3 * SECOND) == message.result
