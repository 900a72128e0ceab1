"""Words of conditions: each state and event that a scenario may expect comes in some world; the others are refused."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import pytest

from sendbox.app import SERVED
from sendbox.contract.schemas import inlined, name_of
from sendbox.engine.delivery.batches import Delivery
from sendbox.engine.durations import DAY
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from sendbox.playing import play as play_scenario
from sendbox.scenario.model import ScenarioError
from sendbox.services.account.account import Account
from sendbox.services.account.orders import services
from sendbox.services.advice import ADVICE, OF_CALLS
from sendbox.services.http.numbers import FIELDS
from sendbox.services.messaging.channels import ROWS, WAYS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import CALLS, EMULATED
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import TEMPLATE
from sendbox.services.verify.verify import Verify
from tests.box import CONTRACT
from tests.core.clients import form, partner_world, sign_up
from tests.core.faulty import fault
from tests.core.observed import occurrences, verdict
from tests.core.worlds import HOOK, HOUR, advance, make_world, send, step
from tests.scenarios import check, load

#: The fields of all subjects that are states of things, or what happens to them.
WORDS: Final = {
    (that, name): field.words
    for that, subject in SUBJECTS.items()
    for name, field in subject.fields.items()
    if name in {"state", "status", "event", "result", "sms", "type"} and field.words
}
DOWN: Final = "http://client.example/down"
Met = dict[tuple[str, str], set[Any]]


def look(world: World, met: Met) -> None:
    """Notes the words that a world has now."""
    for that, name in WORDS:
        for thing in occurrences(world, that):
            if thing is not None:
                for reading in SUBJECTS[that].readings(world, thing):
                    value = reading.of(name)
                    met[that, name].update(value if isinstance(value, tuple) else (value,))


def send_to_all(met: Met) -> None:
    """A message of each result, a webhook of each state and each type."""
    rules = [{"when": {"phone": f"42077700010{number}"}, "then": way} for number, way in enumerate(WAYS)]
    late = {"when": {"phone": "420777000109"}, "then": [{"sending": {"after": "2h"}}]}
    account = {"senders": {"richmsg": ["Acme"]}, "numbers": ["420900000001"]}
    blueprint = load({"sendbox": 1, "account": account, "attempts": [*rules, late]})
    world = make_world(webhooks=(fault("drop", result="undelivered"),), **blueprint.compiled)
    numbers = [f"42077700010{number}" for number in (*range(len(WAYS)), 9)]

    def answer(delivery: Delivery) -> tuple[int | None, str | None]:
        look(world, met)
        return (500 if delivery.address == DOWN else 200), None

    delivered = send(world, *numbers, steps=[step("richmsg")], callback=HOOK)[[*WAYS].index("delivered")]
    send(world, numbers[0], callback=DOWN)
    look(world, met)
    advance(world, answer=answer)
    look(world, met)
    advance(world, HOUR, answer=answer)
    phones = Messaging.of(world).phones
    phones.write("sms", "420777000150", "420900000001", "Hello")
    phones.reply(delivered, "Yes")
    send(world, numbers[0], callback=DOWN)
    advance(world, answer=answer)
    held = [delivery for delivery in world.outlets.deliveries if delivery.state == "waiting" and delivery.tries]
    assert all(map(world.outlets.hold, held))
    look(world, met)


def verify_all(met: Met) -> None:
    """A validation of each state, whose message has each result."""
    results = [way for way in WAYS if way in ROWS["sms"].results]
    codes = [
        {"when": {"phone": f"42077700020{number}"}, "then": {"sms": way, "code": "123456"}}
        for number, way in enumerate(results)
    ]
    world = make_world(**load({"sendbox": 1, "verify": {"rules": codes, "limits": "off"}}).compiled)
    verify, key = Verify.of(world), Account.of(world).keys[world.id]
    sessions = [verify.create(f"42077700020{number}", {}, key, b"{}", "") for number in range(len(codes))]
    look(world, met)
    advance(world, 60_000)
    for session, code in ((sessions[0], "123456"), *[(sessions[1], "000000")] * 6):
        verify.submit(session, code)
    look(world, met)
    advance(world, HOUR)
    look(world, met)


def manage_all(met: Met) -> None:
    """A template of each status, a signup and an order of each state."""
    world = partner_world()
    partner = Partner.of(world)
    ends = [sign_up(world, client=name) for name in ("lapses", "fails", "ends")]
    partner.fail(ends[1], "no")
    partner.open(ends[2])
    partner.give_number(ends[2], "420777000555", {})
    partner.confirm(ends[2], ends[2].code or "")
    partner.complete(ends[2])
    assert ends[2].account is not None
    ways: dict[str, list[str]] = {"PENDING": []}
    for status in TEMPLATE:
        for after in TEMPLATE.following(status):
            ways.setdefault(after, [*ways[status], after])
    for name, way in ways.items():
        record = partner.templates.create(ends[2].account, form(name.lower()))
        for status in way:
            record = partner.templates.set_status(record, status, None)
    orders = Account.of(world).orders
    orders.place(services()["sender_richmsg_420_text"], "Acme", "month", Account.of(world), b"{}")
    advance(world, 30 * DAY)
    look(world, met)


def break_down(met: Met) -> None:
    """An outage that begins and ends."""
    timeline = "timeline: [{at: 1h, outage: {channel: sms, for: 10m}}]"
    look(play_scenario(f"sendbox: 1\n{timeline}\n").world, met)


def test_each_state_and_event_comes_in_some_world() -> None:
    """No condition about a state or an event is met by nothing: what never comes is not a word of the field."""
    met: Met = defaultdict(set)
    for play in (send_to_all, verify_all, manage_all, break_down):
        play(met)
    missing = [(*field, word) for field, words in WORDS.items() for word in words if word not in met[field]]
    assert missing == []


#: Words that stand in tables of the product, and that nothing can meet.
NEVER: Final[dict[tuple[str, str], list[str]]] = {
    ("codes", "sms"): ["seen"],
    ("orders", "state"): ["cancelled"],
    ("requests", "advice"): [code for code in ADVICE if code not in OF_CALLS],
}


@pytest.mark.parametrize(
    ("that", "field", "word"), [(*field, word) for field, words in NEVER.items() for word in words]
)
def test_what_never_comes_is_refused(that: str, field: str, word: str) -> None:
    """An expectation of none of it would hold for every client."""
    with pytest.raises(ScenarioError, match=f'"{word}" is not a value of {field}'):
        load({"sendbox": 1, "expect": [{"that": that, "where": {field: word}, "count": 0}]})


@pytest.mark.parametrize("where", [{"event": "validity_passed"}, {"state": "expired"}])
@pytest.mark.parametrize("minutes", [9, 10])
def test_s3_2_a_code_that_expired_is_told(where: dict[str, str], minutes: int) -> None:
    """An expectation that no code expires fails from the instant on at which one did."""
    world = make_world()
    Verify.of(world).create("420777000101", {}, Account.of(world).keys[world.id], b"{}", "")
    advance(world, minutes * 60_000)
    expected = load({"sendbox": 1, "expect": [{"that": "validations", "where": where, "count": 0}]}).expect
    judged = verdict(world, expected)
    assert judged["passed"] == (minutes < 10)
    assert [near["what"] for near in judged["expectations"][0]["nearest"]] == (
        ["validity_passed of 420777000101: expired"] if minutes == 10 else []
    )


def names_in(schema: str | None) -> set[str]:
    """The fields of what a call carries, also of each item of an array."""
    if schema is None:
        return set()
    node = inlined(CONTRACT.definitions, name_of(schema))
    return set(node.get("properties") or node["items"]["properties"])


def test_an_operation_names_a_phone_where_its_call_has_a_field_for_one() -> None:
    """The table of operations agrees with the schemas of what is served, and with the paths that belong to a phone."""
    named = {
        route.operation: bool(route.about or names_in(route.request or route.query).intersection(FIELDS))
        for route in SERVED.routes
    }
    assert named == {name: CALLS[name].phones for name in named}
    assert named.keys() >= {*CALLS} - {"uploadBulk", "openLink"}


LACKING: Final = [
    *(("requests", name, "phone") for name, row in CALLS.items() if not row.phones and name in EMULATED),
    *(("faults", name, "phone") for name, row in CALLS.items() if not row.phones and name in EMULATED),
    *(("requests", name, "body") for name, row in CALLS.items() if row.method == "GET" and name in EMULATED),
]


@pytest.mark.parametrize("turned", [False, True])
def test_a_field_that_a_call_never_has_is_an_error_and_fails_the_verdict(turned: bool) -> None:
    """The error names its place, and the operations that have the field; in a `then` it is found too."""
    fields = [{"that": that, "where": {"operation": name, field: "420*"}, "count": 0} for that, name, field in LACKING]
    entries = [{"that": "requests", "at_least": 0, "then": [entry]} for entry in fields] if turned else fields
    problems = check({"sendbox": 1, "expect": entries})
    places = [f"$.expect[{at}]{'.then[0]' if turned else ''}.where.{each[2]}" for at, each in enumerate(LACKING)]
    assert [(found.path, found.severity, found.rule) for found in problems] == [
        (place, "error", "never-asked") for place in places
    ]
    assert all("; legal beside it: sendMessage, " in found.message for found in problems)
    judged = verdict(make_world(), load({"sendbox": 1, "expect": entries}).expect)
    assert {view["state"] for view in judged["expectations"]} == {"failed"}


@pytest.mark.parametrize("field", ["phone", "body"])
@pytest.mark.parametrize("operation", ["sendMessage", ["showKey", "sendMessage"], "*", "unknown", "verifyCode"])
def test_a_field_that_some_call_has_is_legal(operation: Any, field: str) -> None:
    """One operation that has it is enough, and a call to a path that is not served may have everything."""
    entry = {"that": "requests", "where": {"operation": operation, field: "420*"}, "count": 0}
    assert check({"sendbox": 1, "expect": [entry]}) == []
