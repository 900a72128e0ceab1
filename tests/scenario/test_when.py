"""What all lists of rules share in `when`: counters, hours, conditions turned round, lists; each played.

It is long because each condition is played in each list.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest

from sendbox.engine.durations import DAY
from sendbox.engine.faults.calls import Call
from sendbox.engine.plan import Option
from sendbox.engine.rules.conditions import Case
from sendbox.engine.rules.rule import differences
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.language import LANGUAGE
from sendbox.scenario.model import ScenarioError
from sendbox.scenario.shape import schema
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt
from sendbox.services.messaging.rules.rules import Path
from sendbox.services.partner.partner import Partner
from sendbox.services.templates.templates import TemplateUse
from sendbox.services.verify.verify import Verify
from tests.core.clients import connect, form, sign_up
from tests.core.worlds import HOOK, HOUR, START, advance, journaled, send_one, step
from tests.scenarios import check, compile_rule, load

ONE: Final = "420777000101"
OTHER: Final = "420777000102"
MINUTE: Final = 60_000
Outcomes = Callable[..., list[str]]


def opened(**scenario: Any) -> World:
    """A world of a scenario, on a Sunday morning."""
    return World("test-w", load({"sendbox": 1, **scenario}), start=START, services=PARTS)


def sent(*phones: str, each: int = 0, **rule: Any) -> list[str]:
    """The results of messages that come one after the other."""
    world = opened(attempts=[{"then": "failed", **rule}])
    messages = []
    for phone in phones:
        messages.append(send_one(world, phone))
        advance(world, each)
    advance(world, HOUR)
    return [message.result for message in messages]


def called(*phones: str, **rule: Any) -> list[str]:
    """What becomes of calls."""
    world = opened(api=[{"fault": "disconnect", **rule}])
    results = []
    for phone in phones:
        fields = {"operation": "sendMessage", "key": "test-w", "phone": phone, "headers": ()}
        applied, _ = world.api.strike(Call(fields, lambda phone=phone: phone, bytes, START))  # type: ignore[misc]
        results.append("delivered" if applied is None else "failed")
    return results


def reported(*phones: str, **rule: Any) -> list[str]:
    """Whether the events of messages come to the client."""
    world = opened(webhooks=[{"fault": "drop", **rule}], account={"default_callback_url": HOOK})
    results = []
    for phone in phones:
        before = len(journaled(world, "webhook_fault"))
        send_one(world, phone, callback=HOOK)
        advance(world, HOUR)
        results.append("delivered" if before == len(journaled(world, "webhook_fault")) else "failed")
    return results


def coded(*phones: str, **rule: Any) -> list[str]:
    """The results of codes."""
    world = opened(verify={"rules": [{"then": {"sms": "failed", "limits": "off"}, **rule}]})
    key = Account.of(world).keys[world.id]
    sessions = [Verify.of(world).create(phone, {}, key, b"", "") for phone in phones]
    advance(world, HOUR)
    return [session.message.result for session in sessions]


LISTS: Final[dict[str, Outcomes]] = {"attempts": sent, "api": called, "webhooks": reported, "verify": coded}
#: Rules of the webhooks look at one event of each message.
ABOUT: Final[dict[str, dict[str, Any]]] = {"webhooks": {"result": "sending"}}
COMMON: list[tuple[str, dict[str, Any], str]] = [
    ("nth", {"nth": 2}, "-x----"),
    ("several nth", {"nth": [1, 3]}, "x-x---"),
    ("every", {"every": 3}, "--x--x"),
    ("the second of each phone", {"nth": 2, "per": "phone"}, "--xx--"),
    ("every second of each key", {"every": 2, "per": "key"}, "-x-x-x"),
    ("of the world", {"nth": 2, "per": "world"}, "-x----"),
    ("several phones", {"phone": ["4207770001?1", "1*"]}, "x-x-x-"),
    ("turned round", {"not": {"phone": ONE}}, "-x-x-x"),
    ("none of two", {"not": [{"phone": ONE}, {"phone": OTHER}]}, "------"),
    ("all of two", {"not": {"phone": ONE, "country": "SK"}}, "xxxxxx"),
    ("turned round and counted", {"not": {"phone": ONE}, "nth": 2}, "---x--"),
    ("a window", {"from": "1d"}, "------"),
    ("hours", {"hours": {"days": "sunday"}}, "xxxxxx"),
    ("other hours", {"hours": [{"days": ["monday", "tuesday"]}, {"start": "22:00", "end": "06:00"}]}, "------"),
    ("hours of a zone", {"hours": {"start": "10:00", "end": "17:00", "tz": "Europe/Prague"}}, "xxxxxx"),
    ("all of a share", {"share": "100%"}, "xxxxxx"),
]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("where", "when", "expected"),
    [
        pytest.param(where, when, expected, id=f"{where}-{name}")
        for where in LISTS
        for name, when, expected in COMMON
        if where != "webhooks" or when.get("per") != "key"  # events have no key
    ],
)
@pytest.mark.sample(3)
def test_one_form_in_every_list(where: str, when: dict[str, Any], expected: str) -> None:
    """The same conditions and counters mean the same, whatever the rules are about."""
    outcomes = LISTS[where](*[ONE, OTHER] * 3, when={**ABOUT.get(where, {}), **when})
    assert "".join("x" if outcome == "failed" else "-" for outcome in outcomes) == expected


@pytest.mark.unmeasured
@pytest.mark.parametrize("where", LISTS)
def test_times_of_each_phone(where: str) -> None:
    """`per` is also whose `times` are counted."""
    outcomes = LISTS[where](ONE, OTHER, ONE, OTHER, when={**ABOUT.get(where, {}), "per": "phone"}, times=1)
    assert outcomes == ["failed", "failed", "delivered", "delivered"]


@pytest.mark.parametrize("where", ["attempts", "webhooks"])
def test_operators(where: str) -> None:
    """The operator of a phone is that of its events; a list means one of them."""
    phones = ["420777000101", "420777000104"]
    when = {**ABOUT.get(where, {}), "country": "CZ"}
    assert LISTS[where](*phones, when={**when, "operator": 2}) == ["failed", "delivered"]
    assert LISTS[where](*phones, when={**when, "operator": [1, 3]}) == ["delivered", "failed"]


def test_templates() -> None:
    """The name of the template that a step uses; a step without one has none."""
    world = opened(attempts=[{"when": {"template": ["order_*", "otp"]}, "then": "failed"}])
    uses = [step("chatapp_template", None, template=TemplateUse(name, "en")) for name in ("order_sent", "promo", "otp")]
    messages = [send_one(world, steps=[each]) for each in (*uses, step("chatapp_text"))]
    cases = [Messaging.of(world).simulator.case(Attempt(message), 0) for message in messages]
    (rule,) = Messaging.of(world).attempts.rules
    assert [differences(rule, case) for case in cases] == [
        [],
        ['template: "promo" does not match "order_*" or "otp"'],
        [],
        ['template: there is no template, wanted "order_*" or "otp"'],
    ]


def test_headers_of_calls() -> None:
    """Names have no upper and lower case; each header must be there, and like one of its values."""
    rule = compile_rule(
        "api", {"when": {"headers": {"X-Tenant": ["a*", "b"], "x-id": "*"}, "content_type": "*json*"}, "fault": "reset"}
    )
    assert rule.key == (
        '{"fault":{"kind":"reset"},"processed":null,'
        '"when":{"headers":{"content-type":"*json*","x-id":"*","x-tenant":["a*","b"]}}}'
    )
    came = (b"x-tenant", b"acme"), (b"content-type", b"application/json"), (b"x-id", b"")
    assert differences(rule, Case("call", "", fields={"headers": came})) == []
    assert differences(rule, Case("call", "", fields={"headers": came[1:2]})) == [
        'headers: x-id is not there, wanted "*"; x-tenant is not there, wanted "a*" or "b"'
    ]
    wrong = (b"content-type", b"text/plain"), *came[::2]
    assert differences(rule, Case("call", "", fields={"headers": wrong})) == [
        'headers: content-type is "text/plain", wanted "*json*"'
    ]


def test_hours_come_again() -> None:
    """From 9 to 10 on every day, and not between."""
    when = {"hours": {"start": "09:00", "end": "10:00"}}
    assert sent(*[ONE] * 5, each=DAY // 2, when=when) == ["failed", "delivered", "failed", "delivered", "failed"]


def test_a_sequence_for_one_phone() -> None:
    """Each rule counts all messages that its other conditions fit, so that 1, 2 and 3 follow each other; with
    `per: phone` for every phone. A rule in front that asks for less does not move them."""
    ways = ["undelivered", "rejected", "failed"]
    rules = [{"when": {"nth": at, "per": "phone"}, "then": way} for at, way in enumerate(ways, 1)]
    world = opened(attempts=[{"when": {"tag": "none"}, "then": "sending"}, *rules])
    messages = [send_one(world, phone) for phone in [ONE, OTHER] * 4]
    advance(world, HOUR)
    for phone in (ONE, OTHER):
        assert [each.result for each in messages if each.phone == phone] == [*ways, "delivered"]


def test_the_message_before_turned_round() -> None:
    """Of two messages of one instant either could be the one before: what `not` decides about them is marked."""
    world = opened(attempts=[{"when": {"not": {"after": {"message": "failed"}}}, "then": "failed"}])
    messages = [send_one(world, ONE, body=body) for body in ("a", "b")]
    advance(world, HOUR)
    messages.append(send_one(world, ONE))
    advance(world, HOUR)
    assert [message.result for message in messages] == ["failed", "failed", "delivered"]
    marked = [
        message.last.decision is not None and message.last.decision.order_sensitive
        for message in messages
        if message.last
    ]
    assert marked == [False, True, False]


def test_rejected_once_then_approved() -> None:
    """Each template is refused at its first review; edited, it is accepted. The journal marks what counts."""
    world = opened(partner={"template_review": [{"when": {"nth": 1, "per": "template"}, "result": "REJECTED"}]})
    account, _ = connect(world)
    templates = Partner.of(world).templates
    for name in ("one", "two"):
        templates.create(account, form(name))
    advance(world, HOUR)
    assert [record["status"] for record in templates.of(account)] == ["REJECTED", "REJECTED"]
    edited = templates.of(account)[0]
    templates.edit(account, templates.id_of(edited), {"category": "MARKETING"})
    advance(world, HOUR)
    assert {record["name"]: record["status"] for record in templates.of(account)} == {
        "one": "APPROVED",
        "two": "REJECTED",
    }


@pytest.mark.parametrize(
    ("rule", "marked"), [({"nth": 1}, True), ({"mode": "manual"}, False)], ids=["counted", "plain"]
)
def test_what_counts_signups_and_reviews_is_marked(rule: dict[str, Any], marked: bool) -> None:
    """A signup and a review that a counter decides depend on the order of arrival."""
    reviews = {"nth": 1} if marked else {"template": "*"}
    world = opened(
        partner={
            "signup": [{"when": rule, "result": "failed"}],
            "template_review": [{"when": reviews, "result": "REJECTED"}],
            "accounts": [{"waba_id": "102030405060708"}],
        }
    )
    partner = Partner.of(world)
    partner.complete(sign_up(world), "420777000555")
    partner.templates.create(partner.accounts["102030405060708"], form())
    advance(world, HOUR)
    journal = world.journal
    states = {
        "signup": [what.fields["status"] for _, what in journaled(world, "signup")][-1],
        "template": [what["status"] for _, what in journaled(world, "template")][-1],
    }
    assert states == {"signup": "failed", "template": "REJECTED"}
    for kind in states:
        last = [*journal.numbers(frozenset({kind}))][-1]
        assert (last in journal.order_sensitive) is marked


def test_times_of_signups() -> None:
    """The first signup of each client fails."""
    world = opened(partner={"signup": [{"when": {"per": "client"}, "times": 1, "result": "failed"}]})
    signups = [sign_up(world, client=client, name=str(at)) for at, client in enumerate(("a", "b", "a"))]
    for at, signup in enumerate(signups):
        Partner.of(world).complete(signup, f"42077700055{at}")
    assert [signup.state for signup in signups] == ["failed", "failed", "completed"]


@pytest.mark.unmeasured
def test_a_mix_of_whole_ways() -> None:
    """A tenth of the receipts is late, and of the phones about a third answers; a way has its own replies or the
    rule's, and what no way says is left to other rules."""
    late = [{"weight": 9, "then": "delivered"}, {"weight": 1, "then": ["sending", "sent", {"delivered": "10m"}]}]
    answers = [
        {"weight": 2, "replies": [{"body": "YES"}]},
        {"weight": 1, "click": {"after": "1m"}, "replies": [{"after": "1m", "body": "NO"}]},
        {"weight": 6},
    ]
    rules = [{"name": "late", "mix": late}, {"name": "answers", "mix": answers}]
    world = opened(attempts=rules)
    messages = [send_one(world, f"420777{number:06}") for number in range(300)]
    advance(world, MINUTE)
    arrived = sum(message.result == "delivered" for message in messages)
    assert 250 < arrived < 290
    advance(world, HOUR)
    assert {message.result for message in messages} == {"delivered"}
    bodies = [inbound.body for inbound in Messaging.of(world).phones.inbound]
    assert 45 < bodies.count("YES") < 90
    assert 15 < bodies.count("NO") < 55
    rule = world.rulebooks["attempts"].rules[1]
    assert rule.decides == {"replies", "click"}
    assert compile_rule("attempts", {"mix": late}).key == (
        '{"mix":[{"then":"delivered","weight":9},{"then":["sending","sent",["delivered",600000,600000,null]],"weight":1}],'
        '"when":{}}'
    )


def test_a_way_without_replies_has_those_of_the_rule() -> None:
    """And a rule may have a path beside a mix of what phones do."""
    mix = [{"weight": 1, "replies": [{"body": "own"}]}, {"weight": 1}]
    rule = {"name": "r", "then": "seen", "replies": [{"body": "all"}], "mix": mix}
    world = opened(attempts=[rule])
    messages = [send_one(world, f"420777{number:06}") for number in range(20)]
    advance(world, HOUR)
    assert {inbound.body for inbound in Messaging.of(world).phones.inbound} == {"own", "all"}
    assert len(Messaging.of(world).phones.inbound) == len(messages)


def test_a_way_is_planned_by_its_number_or_its_end() -> None:
    """A way without results has a number only."""
    mix = [{"weight": 1, "then": "delivered"}, {"weight": 1, "then": ["sending", "failed"]}]
    entry = {"rule": "r", "subject": ONE, "purpose": "mix1"}
    for value, result in ((1, "delivered"), ("failed", "failed")):
        world = opened(attempts=[{"name": "r", "mix": mix}], plan=[{**entry, "value": value}])
        message = send_one(world, ONE)
        advance(world, HOUR)
        assert message.result == result
    silent = Option([Path(), Path(goal="delivered")])
    assert silent.legal == "a whole number from 1 to 2, or one of delivered"


def test_entries_of_the_timeline_that_happen_again() -> None:
    """Each time before the end, with values of their own, alike in every run; a date and time as the end too."""
    entry = {"at": "1h", "every": "30m", "inbound": {"channel": "sms", "from": ONE, "body": "I am {{fake.name}}"}}
    bodies = []
    for until in ("2h30m", "2026-03-01T11:30:00Z"):
        world = opened(timeline=[{**entry, "until": until}], account={"numbers": ["420900000001"]})
        advance(world, 10 * HOUR)
        assert [at // MINUTE for at, _ in journaled(world, "timeline")] == [60, 90, 120]
        bodies.append([inbound.body for inbound in Messaging.of(world).phones.inbound])
    assert bodies[0] == bodies[1]
    assert len(set(bodies[0])) == 3


CANONICAL: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "attempts",
        "then",
        {"phone": ["4207*"], "payload": {"a": [1, None]}, "not": {"tag": "x"}},
        '{"then":"failed","when":{"not":{"tag":"x"},"payload":{"a":[1,null]},"phone":"4207*"}}',
    ),
    (
        "attempts",
        "then",
        {"hours": {"days": "monday", "start": "09:00"}, "per": "phone"},
        '{"then":"failed","when":{"hours":{"days":["monday"],"end":"24:00","start":"09:00","tz":"UTC"},"per":"phone"}}',
    ),
    (
        "attempts",
        "then",
        {"nth": 2, "per": "world", "after": {"info": ["a", "b"]}},
        '{"then":"failed","when":{"after":{"channel":null,"info":["a","b"],"message":null,"result":null},"nth":2}}',
    ),
]


@pytest.mark.parametrize(("key", "does", "when", "text"), CANONICAL, ids=["lists", "hours", "after"])
def test_the_text_of_a_rule(key: str, does: str, when: dict[str, Any], text: str) -> None:
    """Equal rules have equal texts: a list of one is its value, the counter of the world is the usual one."""
    assert compile_rule(key, {does: "failed", "when": when, "times": 1}).key == text


def test_call_is_another_name_of_nth() -> None:
    """Both are one condition, and a rule has one text."""
    one, other = (compile_rule("api", {"when": {word: 3}, "fault": "reset"}) for word in ("nth", "call"))
    assert (one, one.key) == (other, '{"fault":{"kind":"reset"},"processed":null,"when":{"call":3}}')


SHADOWS: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("a list covers a number", {"phone": ["4207*", "421*"]}, {"phone": "421905000001"}, True),
    ("a pattern covers a list", {"phone": "4207*"}, {"phone": ["42071*", "42072*"]}, True),
    ("a pattern covers half a list", {"phone": "4207*"}, {"phone": ["42071*", "42172*"]}, False),
    ("a list covers half a list", {"tag": ["a", "b*"]}, {"tag": ["bc", "c"]}, False),
    ("hours do not cover", {"hours": {"days": "monday"}}, {"phone": "4207*"}, False),
    ("what is turned round does not cover", {"not": {"tag": "x"}}, {"phone": "4207*"}, False),
    ("a list of values", {"payload": {"a": [1, 2]}}, {"payload": {"a": 2}}, True),
]


@pytest.mark.parametrize(
    ("first", "second", "shadowed"), [each[1:] for each in SHADOWS], ids=[each[0] for each in SHADOWS]
)
def test_lists_in_shadows(first: dict[str, Any], second: dict[str, Any], shadowed: bool) -> None:
    """A rule whose every value an earlier one covers never decides."""
    rules = [{"when": when, "then": "failed"} for when in (first, second)]
    warned = [problem.rule for problem in check({"sendbox": 1, "attempts": rules})]
    assert warned == (["shadowed"] if shadowed else [])


#: Rules of each list, by the definition of their conditions.
COUNTED: Final = {
    "when": {"attempts": [{"then": "failed"}]},
    "apiWhen": {"api": [{"fault": "disconnect"}]},
    "webhookWhen": {"webhooks": [{"fault": "drop"}]},
    "verifyWhen": {"verify": {"rules": [{"then": {"sms": "failed"}}]}},
    "reviewWhen": {"partner": {"template_review": [{"result": "REJECTED"}]}},
    "signupWhen": {"partner": {"signup": [{"result": "failed"}]}},
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", COUNTED)
def test_a_counter_is_of_what_the_table_has(name: str) -> None:
    """Each word of the list in the schema, which the documentation and editors show, is legal there, and no other."""
    parts = schema()["$defs"]
    shown = parts[name]["properties"]["per"]["enum"]
    legal = []
    for word in parts["per"]["enum"]:
        rules: Any = json.loads(json.dumps(COUNTED[name]))
        node = rules
        while isinstance(node, dict):
            node = next(iter(node.values()))
        node[0]["when"] = {"nth": 1, "per": word}
        with suppress(ScenarioError):
            LANGUAGE.load({"sendbox": 1, **rules})
            legal.append(word)
    assert sorted(legal) == sorted(shown)
