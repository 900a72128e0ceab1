"""The JSON endpoints from bytes to bytes: §4.1, the limits of §8, refusals of §7 and A75, all by the real contract.

Long because all endpoints share the same helpers.
"""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sendbox.contract.validators import Contract
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.account.keys import Key
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange, Refused
from tests.contract.settled import settled_checker
from tests.interfaces.sending.support import ORIGIN, REQUEST_ID, FakeWorld, exchange, findings, message, places, said

CONTRACT = Contract()
PHONE = {"phone_number": "420777000101"}
TEMPLATE = {"template_name": "otp", "language": "en", "sender": "109876543210987"}


def call(body: object, operation: str = "sendMessage", world: FakeWorld | None = None, **options: Any) -> Exchange:
    return exchange(body, operation=operation, world=world, contract=CONTRACT, **options)


def send(body: object, operation: str = "sendMessage", world: FakeWorld | None = None) -> dict[str, Any]:
    """The answer, which keeps to its schema."""
    made = call(body, operation, world)
    answer = made.route.handler(made)
    assert (answer.status, answer.content_type) == (200, b"application/json")
    decoded = orjson.loads(answer.body)
    assert isinstance(decoded, dict)
    assert CONTRACT.checker(made.route.responses[200] or "").findings(decoded) == []
    return decoded


def refused(body: object, operation: str = "sendMessage", world: FakeWorld | None = None) -> Refused:
    """The refusal, whose body keeps to its schema; nothing was accepted."""
    made = call(body, operation, world or FakeWorld())
    with pytest.raises(Refused) as refusal:
        made.route.handler(made)
    answer = made.route.error(refusal.value.status, refusal.value.text)
    assert answer.status == 400
    assert CONTRACT.checker(made.route.responses[400] or "").findings(orjson.loads(answer.body)) == []
    if world is not None:
        assert world.calls == []
    return refusal.value


def advised(body: object, world: FakeWorld | None = None, **options: Any) -> list[Advice]:
    made = call(body, world=world, **options)
    made.route.handler(made)
    return made.advice


# -- what is accepted


def test_s4_1_message_is_accepted() -> None:
    """`POST /message` hands one message to the world and answers an id for each recipient (§4.1, §2.3)."""
    world = FakeWorld()
    answer = send(message(to=[PHONE, {"phone_number": "420777000202"}]), world=world)
    assert answer == {
        "request_id": REQUEST_ID,
        "accepted": [{"key": "0", "message_id": "m0-0"}, {"key": "1", "message_id": "m0-1"}],
        "rejected": [],
    }
    ((operation, sends, key, _, origin),) = world.calls
    assert (operation, len(sends), key, origin) == ("sendMessage", 1, Key("test-world"), ORIGIN)
    assert sends[0].priority is False


def test_s4_1_priority_takes_the_priority_queue() -> None:
    """`POST /message/priority` is the same call by the priority queue (§4.1)."""
    world = FakeWorld()
    assert send(message(), "sendPriorityMessage", world)["accepted"] == [{"key": "0", "message_id": "m0-0"}]
    ((operation, sends, _, _, _),) = world.calls
    assert (operation, sends[0].priority) == ("sendPriorityMessage", True)


def test_s4_1_messages_are_accepted_together() -> None:
    """`POST /messages` hands all its messages over in one call; keys are those of the objects (§4.1, A09, A10)."""
    world = FakeWorld()
    answer = send([message(tag="a"), message(to=[PHONE, PHONE])], "sendMessages", world)
    assert answer["accepted"] == [{"key": "0", "message_id": "m0"}, {"key": "1", "message_id": "m1"}]
    ((operation, sends, _, _, _),) = world.calls
    assert operation == "sendMessages"
    assert [(item.path, item.tags, len(item.recipients)) for item in sends] == [
        ("$[0]", ("a",), 1),
        ("$[1]", ("promotional",), 2),
    ]


def test_a09_messages_by_recipient() -> None:
    """With `messages_accepted: recipient` the answer has full ids of the form `<base_id>-<recipient_index>` (§2.3)."""
    world = FakeWorld(Assume(messages_accepted="recipient"))
    answer = send([message(to=[PHONE, PHONE])], "sendMessages", world)
    assert answer["accepted"] == [{"key": "0-0", "message_id": "m0-0"}, {"key": "0-1", "message_id": "m0-1"}]


PARTIAL = Assume(messages_refusal="partial")
BAD = [{"body": "x"}, message(flow=[{"richmsg": {}}]), message(to=[PHONE] * 11), message(body="")]


@pytest.mark.parametrize("bad", BAD, ids=["schema", "decode", "recipients", "body"])
def test_a88_legal_objects_are_accepted_alone(bad: dict[str, Any]) -> None:
    """With `messages_refusal: partial` a bad object is in `rejected` with its index, and says why in the journal."""
    world = FakeWorld(PARTIAL)
    made = call([message(tag="a"), bad, message(tag="b")], "sendMessages", world)
    answer = orjson.loads(made.route.handler(made).body)
    assert answer["accepted"] == [{"key": "0", "message_id": "m0"}, {"key": "2", "message_id": "m2"}]
    assert answer["rejected"] == [{"key": "1"}]
    assert made.findings
    assert all(finding.path.startswith("$[1]") for finding in made.findings)
    ((_, sends, _, content, _),) = world.calls
    assert [(send.index, send.path) for send in sends] == [(0, "$[0]"), (2, "$[2]")]
    assert len(orjson.loads(content)) == 3


def test_a88_by_recipient() -> None:
    """Each recipient of a bad object is rejected; one that has none is rejected under its index."""
    world = FakeWorld(Assume(messages_refusal="partial", messages_accepted="recipient"))
    made = call(
        [message(to=[PHONE, PHONE], body=""), {}, message(to=[]), {"to": "x"}, message()], "sendMessages", world
    )
    answer = orjson.loads(made.route.handler(made).body)
    assert [each["key"] for each in answer["rejected"]] == ["0-0", "0-1", "1", "2", "3"]
    assert answer["accepted"] == [{"key": "4-0", "message_id": "m4-0"}]


@pytest.mark.parametrize(
    "body",
    [[], {}, "x", [message()] * 10 + [{}], [message(), 5], [{}, message(body="")], [{}], [message(body="")]],
    ids=["empty", "object", "text", "eleven", "no-object", "none-legal", "one", "one-without-body"],
)
def test_a88_what_is_a_400_all_the_same(body: Any) -> None:
    """Where none is legal, an element is not an object, or the array itself is bad."""
    assert refused(body, "sendMessages", FakeWorld(PARTIAL)).status == 400


def test_s2_3_rejected_recipients_and_why() -> None:
    """Recipients that the world rejects are in `rejected`, and the findings wait for the journal (§2.3, A08)."""
    world = FakeWorld()
    world.rejected = {(0, 0)}
    world.findings = [Finding("$.flow[0].chatapp_template.params", "count", "x", "§2.2", "A08")]
    made = call(message(), world=world)
    answer = orjson.loads(made.route.handler(made).body)
    assert (answer["accepted"], answer["rejected"]) == ([], [{"key": "0"}])
    assert made.findings == world.findings


def test_content_is_canonical_and_without_callback() -> None:
    """What names are derived from has no `callback` and no order of fields, which change from run to run."""
    contents = []
    for body in (
        b'{"to":[{"phone_number":"420777000101"}],"body":"Hello","callback":"http://127.0.0.1:49152/hook"}',
        b'{"callback":{"url":"http://127.0.0.1:50000/"},"body":"Hello","to":[{"phone_number":"420777000101"}]}',
        b'{ "body": "Hello", "to": [ {"phone_number": "420777000101"} ] }',
    ):
        world = FakeWorld()
        send(body, world=world)
        contents.append(world.calls[0][3])
    assert set(contents) == {b'{"body":"Hello","to":[{"phone_number":"420777000101"}]}'}
    world = FakeWorld()
    send([message(callback="http://127.0.0.1/"), message()], "sendMessages", world)
    assert orjson.loads(world.calls[0][3]) == [message(), message()]


# -- what is refused


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"", "an empty body is not JSON"), (b"{", "line 1, column 2"), (b'{"a":NaN}', "NaN"), (b"\xff", "byte 0xff")],
    ids=["empty", "cut", "nan", "not-utf-8"],
)
def test_a75_malformed_json_is_400(body: bytes, words: str) -> None:
    """A body that is no JSON is 400 with `Message`, which says where (§7.1, A75)."""
    refusal = refused(body, world=FakeWorld())
    assert words in refusal.text
    (finding,) = refusal.findings
    assert (finding.path, finding.rule, finding.assumed) == ("$", "json", "A75")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], "$"),
        ({"body": "x"}, "$.to"),
        (message(to=[]), "$.to"),
        (message(to=[PHONE] * 11), "$.to"),
        (message(to=[{}]), "$.to[0].phone_number"),
        (message(to=[{"phone_number": 420777000101}]), "$.to[0].phone_number"),
        (message(body=5), "$.body"),
        (message(payload=[]), "$.payload"),
        (message(tag=["a"]), "$.tag"),
        (message(callback=5), "$.callback"),
        (message(callback={}), "$.callback.url"),
        (message(callback={"url": "https://a.example", "method": "DELETE"}), "$.callback.method"),
        (message(callback={"url": "https://a.example", "batch_size": 501}), "$.callback.batch_size"),
        (message(callback={"url": "https://a.example", "timeout_ms": 999}), "$.callback.timeout_ms"),
        (message(params={"_url": {"type": "some"}}), "$.params._url.type"),
        (message(params={"_url": {"expires_at": "x"}}), "$.params._url.expires_at"),
        (message(params={"_url": {"get_enhance": "name"}}), "$.params._url.get_enhance"),
        (message(datetime=5), "$.datetime"),
        (message(delivery_time={"days": ["Monday"]}), "$.delivery_time.days[0]"),
        (message(delivery_time={"start": "9:00"}), "$.delivery_time.start"),
        (message(flow=[]), "$.flow"),
        (message(flow=[{}]), "$.flow[0]"),
        (message(flow=[{"sms": {}, "richmsg": {}}]), "$.flow[0]"),
        (message(flow=[{"smss": {}}]), "$.flow[0]"),
        (message(flow=[{"sms": {"ttl": 0.4}}]), "$.flow[0].sms.ttl"),
        (message(flow=[{"sms": {"ttl": "1"}}]), "$.flow[0].sms.ttl"),
        (message(flow=[{"sms": {"gateway": "low"}}]), "$.flow[0].sms.gateway"),
        (message(flow=[{"sms": {"type": "gsm"}}]), "$.flow[0].sms.type"),
        (message(flow=[{"sms": {"ttl_condition": "read"}}]), "$.flow[0].sms.ttl_condition"),
        (
            message(flow=[{"richmsg": {"sender": "A", "buttons": [{"title": "a", "url": "https://a.example"}] * 2}}]),
            "$.flow[0].richmsg.buttons",
        ),
        (
            message(flow=[{"richmsg": {"sender": "A", "buttons": [{"title": "a"}]}}]),
            "$.flow[0].richmsg.buttons[0].url",
        ),
        (
            message(flow=[{"chatapp_template": TEMPLATE | {"template_name": "x" * 101}}]),
            "$.flow[0].chatapp_template.template_name",
        ),
        (
            message(flow=[{"chatapp_template": TEMPLATE | {"params_header": ["a", "b"]}}]),
            "$.flow[0].chatapp_template.params_header",
        ),
    ],
)
def test_s7_1_invalid_or_missing_parameters_are_400(body: object, path: str) -> None:
    """Wrong types, limits and enumerations of §2.1, §2.2 and §8 are 400, and the line ends in the path (A11)."""
    refusal = refused(body, world=FakeWorld())
    assert refusal.findings[0].path == path
    assert refusal.text.endswith(f" at {path}")


@pytest.mark.parametrize(
    "body",
    [
        message(to=[PHONE] * 10),
        message(flow=[{"sms": {"ttl": 0.5}}, {"sms": {}}]),
        message(flow=[{"richmsg": {"sender": "A", "buttons": [{"title": "a", "url": "https://a.example"}]}}]),
        message(flow=[{"chatapp_template": TEMPLATE | {"template_name": "x" * 100}}]),
        message(payload={}),
    ],
    ids=["recipients", "ttl", "buttons", "template_name", "payload"],
)
def test_s8_limits_are_inclusive(body: dict[str, Any]) -> None:
    """A value at its limit is legal (§8)."""
    assert send(body)["rejected"] == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (message(), "$"),
        ([], "$"),
        ([message()] * 11, "$"),
        ([message(), message(to=[PHONE] * 11)], "$[1].to"),
    ],
    ids=["object", "none", "eleven", "recipients"],
)
def test_s8_messages_are_one_to_ten(body: object, path: str) -> None:
    """`/messages` takes an array of 1 to 10 Messages of at most 10 recipients each (§4.1, §8, A10)."""
    assert refused(body, "sendMessages", FakeWorld()).findings[0].path == path


def test_s8_messages_take_a_hundred_recipients() -> None:
    """Ten messages of ten recipients go out in one call (§8)."""
    assert len(send([message(to=[PHONE] * 10)] * 10, "sendMessages")["accepted"]) == 10


def test_messages_are_refused_as_a_whole_with_all_findings() -> None:
    """One bad message refuses the call, and every finding of every message is kept (A10, A11)."""
    body = [message(body=None), message(), message(sender="TwelveLetter", datetime="2026-02-30T09:00:00Z")]
    refusal = refused(body, "sendMessages", FakeWorld())
    assert places(refusal.findings) == [
        ("body", "$[0].body"),
        ("sender", "$[2].sender"),
        ("date-time", "$[2].datetime"),
    ]


def test_a02_rcs_is_refused_by_its_own_rule() -> None:
    """A step named `rcs` is told apart from a misspelled channel, in one message and in several (A02)."""
    body = message(flow=[{"sms": {}}, {"rcs": {"buttons": 5}}, 5], tag=5)
    found = places(refused(body, world=FakeWorld()).findings)
    assert found[0] == ("channel", "$.flow[1]")
    assert ("type", "$.tag") in found
    assert [path for _, path in found if path.startswith("$.flow[1]")] == ["$.flow[1]"]
    several = refused([message(), message(flow=[{"rcs": {}}]), 5], "sendMessages", FakeWorld())
    assert places(several.findings)[0] == ("channel", "$[1].flow[0]")
    on = places(refused(body, world=FakeWorld(Assume(rcs=True))).findings)
    assert ("type", "$.flow[1].rcs.buttons") in on


def test_a56_null_is_refused_by_name() -> None:
    """A null field is 400 that names the field; with `nulls: absent` it is as left out (A56)."""
    body = {"to": [PHONE], "body": "Hello", "sender": None, "flow": [{"sms": {"ttl": None}}]}
    refusal = refused(body, world=FakeWorld())
    assert [(finding.path, finding.assumed) for finding in refusal.findings] == [
        ("$.sender", "A56"),
        ("$.flow[0].sms.ttl", "A56"),
    ]
    world = FakeWorld(Assume(nulls="absent"))
    assert send(body, world=world)["rejected"] == []
    assert world.calls[0][3] == b'{"body":"Hello","flow":[{"sms":{}}],"to":[{"phone_number":"420777000101"}]}'


def test_s2_2_legal_nulls_are_kept() -> None:
    """`null` holds the place of a static button, and of a form without data, whatever the setting (§2.2, A56)."""
    flow = [{"chatapp_template": TEMPLATE | {"params_buttons": [None, {"flow": None}]}}]
    for assume in (Assume(), Assume(nulls="absent")):
        world = FakeWorld(assume)
        send(message(flow=flow), world=world)
        template = world.calls[0][1][0].steps[0].template
        assert template is not None
        assert template.buttons == [None, {"flow": None}]


def test_json_too_deep_is_refused() -> None:
    """What is nested too deep is 400 also where it is a field that nobody knows."""
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"a": deep}
    body = (
        b'{"to":[{"phone_number":"420777000101"}],"body":"x","deep":' + b'{"a":' * 100 + orjson.dumps(deep) + b"}" * 101
    )
    (finding,) = refused(body, world=FakeWorld()).findings
    assert (finding.path, finding.rule) == ("$.deep", "depth")


# -- remarks


@pytest.mark.parametrize(
    ("content_type", "codes"),
    [
        (b"application/json", []),
        (b"application/json; charset=utf-8", []),
        (b"Application/JSON", []),
        (b"application/vnd.acme+json", []),
        (None, ["content-type-missing"]),
        (b"text/plain", ["content-type-not-json"]),
        (b"application/x-www-form-urlencoded", ["content-type-not-json"]),
    ],
)
def test_a75_content_type_is_not_asked_for(content_type: bytes | None, codes: list[str]) -> None:
    """JSON endpoints take any content type; another than JSON, or none, is worth advice (A75)."""
    headers = [(b"host", b"x")] + ([(b"content-type", content_type)] if content_type is not None else [])
    assert said(advised(message(), headers=headers)) == [(code, "header content-type") for code in codes]


@pytest.mark.parametrize("operation", ["sendMessage", "sendMessages"])
def test_a75_content_type_may_be_asked_for(operation: str) -> None:
    """With `content_type: strict` another one, or none, is 415; a charset is legal."""
    body = [message()] if operation == "sendMessages" else message()
    for content_type, legal in (
        (b"application/json; charset=utf-8", True),
        (b"application/vnd.acme+json", True),
        (b"text/plain", False),
        (None, False),
    ):
        headers = [(b"host", b"x")] + ([(b"content-type", content_type)] if content_type is not None else [])
        made = call(body, operation, FakeWorld(Assume(content_type="strict")), headers=headers)
        if legal:
            assert made.route.handler(made).status == 200
            continue
        with pytest.raises(Refused) as refusal:
            made.route.handler(made)
        (finding,) = refusal.value.findings
        assert (refusal.value.status, finding.path, finding.assumed) == (415, "header content-type", "A75")
        assert "legal: application/json (§7, A75)" in refusal.value.text
        assert made.advice == []


def test_clean_call_says_nothing() -> None:
    """A call in its best form gives no advice at all."""
    body = message(
        to=[PHONE, {"phone_number": "420777000202"}],
        tag="otp",
        callback="https://client.example/hook",
        payload={"order": 7},
        flow=[{"richmsg": {"sender": "Acme", "ttl": 5}}, {"sms": {"sender": "Acme"}}],
    )
    assert advised(body) == []


# -- the schema and the code say the same


@pytest.mark.parametrize(
    "sender",
    ["", "A", "ElevenChars", "TwelveLetter", "4209", "420900000000000000", "+4209", "+Acme", "Ac me", "Ac\tme", "\x7f",
     "Čokoláda", "٤٢٠٩", "٤٢٠٩٠٠٠٠٠٠٠٠", "Acme\n", "12\n", "\u2028"],
)  # fmt: skip
def test_a59_schema_documents_the_rule_of_senders(sender: str) -> None:
    """`Sender` and `PhoneNumberId` in the contract, which settings relax, refuse exactly what the code refuses."""
    body = message(sender=sender)
    legal = settled_checker(CONTRACT, "sending.json#/$defs/Message").is_valid(body)
    assert CONTRACT.checker("sending.json#/$defs/Message").is_valid(body)
    assert not legal if _refuses(body) else legal
    body = message(flow=[{"chatapp_text": {"sender": sender}}])
    legal = settled_checker(CONTRACT, "sending.json#/$defs/Message").is_valid(body)
    assert not legal if _refuses(body) else legal


def _refuses(body: dict[str, Any]) -> bool:
    try:
        findings(body)
    except AssertionError:
        return False
    return True
