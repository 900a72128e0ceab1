"""Accepting requests: names, what the response rejects, when the hand-over is due, where events go."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from sendbox.engine.delivery.batches import Target
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Key
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.limits import TEST_NUMBER
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient, Send
from sendbox.services.messaging.records import Accepted
from sendbox.services.templates.templates import TemplateUse
from sendbox.services.windows import Window
from tests.core.worlds import (
    HOUR,
    PHONE,
    START,
    TEN,
    advance,
    command,
    content_of,
    journaled,
    make_world,
    moves,
    results,
    send,
    send_one,
    step,
)

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def accept(world: World, *sends: Send, operation: str = "sendMessages", content: bytes | None = None) -> Accepted:
    """One request of these Message objects."""
    for index, each in enumerate(sends):
        each.index = index
    key = Account.of(world).keys[world.id]
    return Messaging.of(world).accept(operation, list(sends), key, content_of(*sends) if content is None else content)


# --- names


def test_s2_3_ids_have_the_form_of_uuids_and_are_unique() -> None:
    """Request and message ids look like UUIDs of version 4, and no two of a world are equal, for equal requests too."""
    world = make_world()
    ids: list[str | None] = []
    for _ in range(3):
        found = accept(world, command(*TEN), operation="sendMessage")
        ids += [found.request_id, *found.messages[0]]
    assert all(name is not None and UUID.fullmatch(name) for name in ids)
    assert len(set(ids)) == 33


def test_s2_3_ids_of_messages_are_base_and_recipient_index() -> None:
    """By `/messages`, each object has a base id, and its recipients the base id with their index from 0."""
    world = make_world()
    found = accept(world, command(*TEN[:2]), command(*TEN[2:5]))
    assert [UUID.fullmatch(base) is not None for base in found.base_ids] == [True, True]
    assert found.messages == [
        [f"{base}-{index}" for index in range(n)] for base, n in zip(found.base_ids, (2, 3), strict=True)
    ]
    assert [Messaging.of(world).by_id[name].phone for ids in found.messages for name in ids if name] == list(TEN[:5])


def test_s2_3_a_single_message_has_no_base_id() -> None:
    """By `/message`, every recipient has an id of its own, and there is no base id."""
    found = accept(make_world(), command(*TEN[:2]), operation="sendMessage")
    assert found.base_ids == [""]
    assert all(UUID.fullmatch(name or "") for name in found.messages[0])


NAMED: list[Any] = [
    pytest.param({}, {}, True, id="equal requests in equal worlds"),
    pytest.param({"world_id": "test-a", "salt": "s"}, {"world_id": "test-b", "salt": "s"}, True, id="one salt"),
    pytest.param({"seed": 1}, {"seed": 2}, True, id="another seed is for fates only"),
    pytest.param({"start": START}, {"start": START + HOUR}, True, id="another time"),
    pytest.param({"world_id": "test-a"}, {"world_id": "test-b"}, False, id="another world"),
    pytest.param({"salt": "a"}, {"salt": "b"}, False, id="another salt"),
]


@pytest.mark.parametrize(("one", "other", "equal"), NAMED)
def test_names_are_derived_from_content_and_salt(one: dict[str, Any], other: dict[str, Any], equal: bool) -> None:
    """Names depend on the request's content and on the salt, which is the world's id unless one is given."""
    first, second = (accept(make_world(**fields), command(*TEN)) for fields in (one, other))
    assert (first.request_id == second.request_id) is equal
    assert (first.base_ids == second.base_ids) is equal
    assert (first.messages == second.messages) is equal


def test_names_depend_on_operation_and_content() -> None:
    """The same content by another operation, or another content, has other names."""
    world = make_world()
    found = [
        accept(world, command(), operation=operation, content=content).request_id
        for operation, content in [("sendMessage", b"a"), ("sendPriorityMessage", b"a"), ("sendMessage", b"b")]
    ]
    assert len(set(found)) == 3


def test_names_count_equal_requests() -> None:
    """The second of two equal requests is named as a second one, whatever came between and whichever came first."""
    one, other = make_world(), make_world()
    names = [accept(one, command(body=body)).request_id for body in ("a", "a", "b")]
    again = [accept(other, command(body=body)).request_id for body in ("a", "b", "a")]
    assert names == [again[0], again[2], again[1]]


# --- what the response rejects

TEMPLATE: dict[str, Any] = {
    "name": "order",
    "language": "en",
    "category": "UTILITY",
    "status": "APPROVED",
    "components": [{"type": "BODY", "text": "Order {{1}} comes on {{2}}"}],
}


def by_template(*params: str, name: str = "order") -> Send:
    """A Message object of one template step, to two recipients."""
    use = TemplateUse(name, "en", params=list(params))
    return command(*TEN[:2], steps=[step("chatapp_template", None, template=use)])


def test_s2_2_a_template_with_wrong_variables_is_rejected_in_the_response() -> None:
    """A missing value rejects every recipient of its object in the response (A08); the other objects are accepted."""
    world = make_world(account=AccountSpec(templates=(TEMPLATE,)))
    wrong, right = by_template("A-17"), by_template("A-17", "Friday")
    wrong.path, right.path = "$[0]", "$[1]"
    found = accept(world, wrong, right)
    assert found.messages[0] == [None, None]
    assert found.messages[1] == [f"{found.base_ids[1]}-0", f"{found.base_ids[1]}-1"]
    (finding,) = found.findings
    assert (finding.path, finding.section, finding.assumed) == ("$[0].flow[0].chatapp_template.params", "§2.2", "A08")
    advance(world, HOUR)
    assert [message.submission.index for message in Messaging.of(world).messages] == [1, 1]


def test_a08_an_unknown_template_is_no_matter_of_the_response() -> None:
    """What the account does not have cannot be checked: the webhook tells, not the response."""
    world = make_world(account=AccountSpec(templates=(TEMPLATE,)))
    found = accept(world, by_template(name="nothing"))
    assert found.findings == []
    advance(world)
    assert [message.result for message in Messaging.of(world).messages] == ["rejected", "rejected"]


def test_a08_an_invalid_number_is_rejected_by_webhook() -> None:
    """An invalid number is accepted and rejected afterwards, with [302], while the others are sent."""
    world = make_world()
    bad, good = send(world, "nonsense", PHONE)
    advance(world, HOUR)
    assert results(bad) == [(1, "rejected")]
    assert bad.last is not None
    assert bad.last.info(6) == "[302] Invalid phone number format"
    assert good.result == "delivered"


def test_a08_an_invalid_number_may_be_rejected_in_the_response() -> None:
    """With `invalid_number: response` it has no id and no message; the indexes of the others stay."""
    world = make_world(assume=Assume(invalid_number="response"))
    found = accept(world, command("nonsense", PHONE))
    assert found.messages == [[None, f"{found.base_ids[0]}-1"]]
    (finding,) = found.findings
    assert finding.message == (
        '"nonsense" cannot be normalized to international form; legal: 8 to 15 digits with a calling code (§7.3, A14)'
    )
    assert (finding.path, finding.assumed) == ("$.to[0].phone_number", "A08")
    (message,) = Messaging.of(world).messages
    assert (message.ordinal, message.index) == (1, 1)
    advance(world, HOUR)
    assert message.result == "delivered"


@pytest.mark.parametrize("number", ["", "  "])
def test_a08_an_empty_number_is_rejected_in_the_response(number: str) -> None:
    """§6: no event could name it, so there is none, and the others are sent."""
    world = make_world()
    result = accept(world, command(number, PHONE))
    assert result.messages == [[None, f"{result.base_ids[0]}-1"]]
    assert [(finding.path, finding.assumed) for finding in result.findings] == [("$.to[0].phone_number", "A08")]
    assert [message.phone for message in Messaging.of(world).messages] == [PHONE]


def test_a09_an_object_of_which_nothing_is_accepted_leaves_nothing() -> None:
    """Where the response rejects all recipients, no message is made, no step scheduled, and ordinals go on."""
    world = make_world(assume=Assume(invalid_number="response"))
    found = accept(world, command("nonsense", "more of it"))
    assert found.messages == [[None, None]]
    assert (Messaging.of(world).messages, dict(Messaging.of(world).by_id), world.timeline.steps) == ([], {}, [])
    assert send_one(world).ordinal == 2


# --- when

AT_ONCE = {"sending": 0, "sent": 1_000, "delivered": 3_000}


@pytest.mark.parametrize(
    ("ahead", "handed_over"),
    [
        pytest.param(None, 0, id="absent"),
        pytest.param(-HOUR, 0, id="past"),
        pytest.param(0, 0, id="now"),
        pytest.param(59_999, 0, id="just under a minute"),
        pytest.param(60_000, 0, id="exactly a minute (A58)"),
        pytest.param(60_001, 60_001, id="more than a minute"),
        pytest.param(24 * HOUR, 24 * HOUR, id="tomorrow"),
    ],
)
def test_s2_1_datetime_more_than_a_minute_ahead_is_scheduled(ahead: int | None, handed_over: int) -> None:
    """A `datetime` over 60,000 ms ahead is waited for; nearer ones, and those in the past, are sent at once."""
    world = make_world()
    message = send_one(world, at=None if ahead is None else START + ahead)
    advance(world, 48 * HOUR)
    assert moves(message) == [(handed_over + after, 1, result) for result, after in AT_ONCE.items()]


@pytest.mark.parametrize(
    ("window", "ahead", "handed_over"),
    [
        pytest.param(Window(start=10 * 60), None, HOUR, id="opens later today"),
        pytest.param(Window(start=8 * 60), None, 0, id="open"),
        pytest.param(Window(start=8 * 60, end=9 * 60), None, 23 * HOUR, id="end is exclusive, so tomorrow"),
        pytest.param(Window(days=frozenset({0})), None, 15 * HOUR, id="Monday begins at midnight"),
        pytest.param(Window(start=10 * 60), 30 * 60_000, HOUR, id="scheduled before it opens"),
        pytest.param(Window(start=10 * 60), 2 * HOUR, 2 * HOUR, id="scheduled while it is open"),
        pytest.param(Window(start=8 * 60, end=10 * 60), 2 * HOUR, 23 * HOUR, id="scheduled after it closed"),
    ],
)
def test_s2_1_the_window_moves_the_current_or_scheduled_time(
    window: Window, ahead: int | None, handed_over: int
) -> None:
    """`datetime` first, then the delivery window: the nearest valid time from there (A18)."""
    world = make_world()
    message = send_one(world, window=window, at=None if ahead is None else START + ahead)
    advance(world, 48 * HOUR)
    assert moves(message)[0] == (handed_over, 1, "sending")


def test_a18_later_steps_do_not_look_at_the_window() -> None:
    """A further step of a flow begins when its turn comes, also outside the window."""
    world = make_world()
    flow = [step("richmsg", ttl=2 * HOUR, condition="seen"), step()]
    message = send_one(world, steps=flow, window=Window(start=8 * 60, end=10 * 60))
    advance(world, 3 * HOUR)
    assert moves(message)[3] == (2 * HOUR, 2, "sending")


def test_effects_of_a_request_wait_for_the_clock() -> None:
    """Nothing happens while the request is answered; what is due at once happens when the clock is next moved."""
    world = make_world()
    message = send_one(world)
    assert (message.result, world.outlets.ready, world.idle) == ("accepted", False, False)
    advance(world)
    assert message.result == "sending"


# --- where to

BUILT_IN = ""


def target_of(world: World, key: Key, callback: Target | None = None) -> Target | None:
    """Where the events of a request by this key go."""
    (message,) = send(world, key=key, callback=callback)
    outlet = message.submission.outlet
    return None if outlet is None else outlet.target


@pytest.mark.parametrize(
    ("parent", "child", "callback", "expected"),
    [
        pytest.param(None, None, None, BUILT_IN, id="nothing is set: the built-in receiver"),
        pytest.param("http://p", None, None, "http://p", id="the parent's"),
        pytest.param("http://p", "http://c", None, "http://c", id="the sub-key's own"),
        pytest.param("http://p", "http://c", "http://m", "http://m", id="the message's own"),
        pytest.param("", None, None, None, id="the parent has cleared it"),
        pytest.param("http://p", "", None, None, id="the sub-key has cleared it"),
        pytest.param("", None, "http://m", "http://m", id="cleared, but the message has one"),
    ],
)
def test_s6_the_callback_of_the_message_overrides_the_keys(
    parent: str | None, child: str | None, callback: str | None, expected: str | None
) -> None:
    """Per-message callback, else the key's default, else its parent's (A68), else the built-in receiver."""
    world = make_world(account=AccountSpec(default_callback_url=parent))
    target = target_of(world, Key("test-w~1", default_callback_url=child), Target(callback) if callback else None)
    assert (target and target.url) == expected


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        pytest.param(None, None, None, id="none"),
        pytest.param("p", None, "p", id="the parent's"),
        pytest.param("p", "c", "c", id="the sub-key's"),
    ],
)
def test_a21_the_secret_of_the_key_signs_every_target(
    parent: str | None, child: str | None, expected: str | None
) -> None:
    """The secret goes with the key, for the default target and for a message's callback alike; the rest of it stays."""
    world = make_world(account=AccountSpec(default_callback_secret=parent))
    key = Key("test-w~1", default_callback_secret=child)
    given = Target("http://m", method="PUT", batch_size=7)
    assert target_of(world, key, given) == replace(given, secret=expected)
    assert target_of(world, key) == Target("", secret=expected)


def test_a22_equal_targets_share_a_line() -> None:
    """The line of a target is the same for every request that names it."""
    world = make_world()
    lines = [send_one(world, callback=url).submission.outlet for url in ("http://a", "http://b", "http://a")]
    assert lines[0] is lines[2]
    assert lines[0] is not lines[1]


def test_nothing_but_requests_is_postponed_by_acceptance() -> None:
    """A scheduled message waits in silence: no journal entry says it was postponed."""
    world = make_world()
    send_one(world, at=START + HOUR)
    advance(world, 2 * HOUR)
    assert journaled(world, "postponed") == []


# --- the test number


@pytest.mark.parametrize("setting", ["off", "on"])
def test_a89_the_test_number_of_the_service(setting: Any) -> None:
    """With `test_number: on` a message to it is taken and named, and nothing follows; the others of its call go out."""
    world = make_world(assume=Assume(test_number=setting))
    several = Send([Recipient(phone) for phone in ("420777000101", TEST_NUMBER, "420777000102")], [step()])
    assert all(accept(world, several, operation="sendMessage").messages[0])
    alone = Send([Recipient(TEST_NUMBER)], [step()])
    assert accept(world, alone, operation="sendMessage").messages[0] != [None]
    before = Account.of(world).balance
    advance(world, HOUR)
    sent = setting == "off"
    assert [message.result for message in Messaging.of(world).messages] == [
        "delivered", "delivered" if sent else "accepted", "delivered", "delivered" if sent else "accepted",
    ]  # fmt: skip
    assert Messaging.of(world).is_test(TEST_NUMBER) is not sent
    assert (before - Account.of(world).balance) == (4 if sent else 2) * 36_000
    remarks = [remark for _, remark in journaled(world, "advice")]
    assert len(remarks) == (0 if sent else 2)
