"""Rules of `api:`: which calls they apply to, what is drawn, and what depends on the order of arrival."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.draws import Chooser, seed_bytes
from sendbox.engine.durations import Moment, Rate, Span
from sendbox.engine.faults.answers import Answer, BadJson, RateLimit, Status, Twice
from sendbox.engine.faults.calls import MAX_LOST_CALLS, ApiFaults, ApiRule, Applied, Call
from sendbox.engine.faults.connections import Delay, Disconnect, Garbage, Reset, Timeout, Trickle
from sendbox.engine.faults.fault import ApiFault, Piece
from sendbox.engine.faults.table import CALLS
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from tests.core.worlds import START, go_back, make_world
from tests.scenarios import compile_rule

ERROR = Status(status=500)
PHONES = [f"4207770{n:05}" for n in range(40)]


def rule(key: str = "r", when: When | None = None, fault: ApiFault = ERROR, **fields: Any) -> ApiRule:
    return ApiRule(key=key, when=when or When(), fault=fault, **fields)


def call(phone: str = PHONES[0], *, now: int = START, content: bytes = b"{}", **fields: Any) -> Call:
    given = {"operation": "sendMessage", "key": "test-w", "phone": phone, **fields}
    return Call(given, lambda: phone, lambda: content, now)


def faults(*rules: ApiRule, seed: int = 0, start: int = START) -> ApiFaults:
    return ApiFaults(rules, Chooser(seed_bytes(seed)), start)


def names(asked: ApiFaults, *calls: Call) -> list[str | None]:
    """The rule that applies to each call."""
    return [None if found is None else found.rule.key for found, _ in map(asked.strike, calls)]


def applied(fault: ApiFault, **fields: Any) -> Applied:
    found, _ = faults(rule(fault=fault, **fields)).strike(call())
    assert found is not None
    return found


# --- conditions

CONDITIONS: list[tuple[str, When, dict[str, Any], bool]] = [
    ("nothing is asked", When(), {}, True),
    ("operation", When(operation=("getMessage", "sendMessage")), {}, True),
    ("another operation", When(operation=("getMessage",)), {}, False),
    ("key", When(key=Pattern("test-*")), {}, True),
    ("another key", When(key=Pattern("test-w~*")), {}, False),
    ("phone", When(phone=Pattern("4207770*", digits=True)), {}, True),
    ("another phone", When(phone=Pattern("421*", digits=True)), {}, False),
    ("a call that names nobody", When(phone=Pattern("4*", digits=True)), {"phone": ""}, False),
    ("from its instant on", When(begins=Moment(5, relative=True)), {"now": START + 5}, True),
    ("before it", When(begins=Moment(5, relative=True)), {"now": START + 4}, False),
    ("until its instant", When(ends=Moment(START + 5, relative=False)), {"now": START + 4}, True),
    ("at its end", When(ends=Moment(START + 5, relative=False)), {"now": START + 5}, False),
    (
        "counted from an epoch that began elsewhere",
        When(begins=Moment(5, relative=True)),
        {"now": START, "start": START - 5},
        True,
    ),
    ("every call", When(share=1.0), {}, True),
]


@pytest.mark.parametrize(
    ("when", "given", "expected"), [each[1:] for each in CONDITIONS], ids=[each[0] for each in CONDITIONS]
)
def test_all_conditions_must_hold(when: When, given: dict[str, Any], expected: bool) -> None:
    """A rule applies to the calls for which everything holds that it asks."""
    asked = faults(rule(when=when), start=given.pop("start", START))
    assert names(asked, call(**given)) == ["r" if expected else None]


def test_the_first_that_applies_wins() -> None:
    """Rules are asked in order; one whose conditions do not hold leaves the call to the next."""
    rules = (rule("other", When(operation=("getMessage",))), rule("first"), rule("second"))
    assert names(faults(*rules), call()) == ["first"]
    assert names(faults(), call()) == [None]


def test_the_phone_is_asked_only_where_it_counts() -> None:
    """A rule that neither names phones nor draws does not look for one, until it applies."""
    asked = faults(rule(when=When(operation=("getMessage",))))

    def phone() -> str:
        raise AssertionError

    unread = Call({"operation": "sendMessage", "key": "test-w", "phone": phone}, phone, bytes, START)
    assert asked.strike(unread) == (None, False)


# --- counts


def test_call_counts_what_satisfies_the_rest() -> None:
    """The third of the calls for which the other conditions hold, once."""
    asked = faults(rule(when=When(operation=("sendMessage",), nth=3)))
    calls = [
        call(operation=name) for name in ("sendMessage", "getMessage", "sendMessage", "sendMessage", "sendMessage")
    ]
    assert names(asked, *calls) == [None, None, None, "r", None]


def test_every_counts_on() -> None:
    """Every third: the third, the sixth …"""
    found = names(faults(rule(when=When(every=3))), *[call()] * 7)
    assert [at for at, name in enumerate(found, 1) if name] == [3, 6]


def test_a_rule_counts_what_another_one_struck() -> None:
    """The second and the third call are that, whatever became of them: no rule counts or draws by what others did."""
    rules = [rule(str(number), When(nth=number)) for number in (2, 3)]
    assert names(faults(*rules), *[call()] * 4) == [None, "2", "3", None]
    half = rule("half", When(share=0.5))
    alone = names(faults(half), *[call()] * 20)
    behind = names(faults(rule("first", When(nth=1)), half), *[call()] * 20)
    assert behind == ["first", *alone[1:]]


def test_times_counts_what_it_did() -> None:
    """Twice, however often it was asked; the rule after it has the rest."""
    asked = faults(rule("front", When(every=2), times=2), rule("rest"))
    assert names(asked, *[call()] * 8) == ["rest", "front", "rest", "front", *["rest"] * 4]


def test_equal_rules_count_a_call_once() -> None:
    """Two rules of one text know a call as one: the second call is the second for both."""
    when = When(nth=2)
    assert names(faults(rule(when=when, times=0), rule(when=when)), call(), call(), call()) == [None, "r", None]


def test_a_rate_limit_lets_in_and_then_waits() -> None:
    """So many in any such time; a limited call does not count, and hears how long it must wait."""
    asked = faults(rule(fault=RateLimit(rate=Rate(2, 1000))))
    waits = []
    for now in (0, 300, 400, 999, 1000, 1100, 1300):
        found, order_sensitive = asked.strike(call(now=START + now))
        assert order_sensitive == (found is not None)
        waits.append(None if found is None else found.wait)
    assert waits == [None, None, 600, 1, None, 200, None]


@pytest.mark.parametrize(
    ("per", "alone"), [("key", "key"), ("phone", "phone"), ("world", None)], ids=["key", "phone", "world"]
)
def test_whose_limit_it_is(per: str, alone: str | None) -> None:
    """Each key has a limit of its own, or each phone, or all calls share one."""
    asked = faults(rule(fault=RateLimit(rate=Rate(1, 1000), per=per)))
    assert names(asked, call()) == [None]
    assert names(asked, call(key="test-w~shop")) == [None if alone == "key" else "r"]
    assert names(asked, call(phone=PHONES[1])) == [None if alone == "phone" else "r"]


def test_a_limit_that_lets_in_leaves_the_call_to_the_next_rule() -> None:
    """Later rules are asked about whoever is not limited; `times` counts the limited only."""
    limit = rule("limit", fault=RateLimit(rate=Rate(1, 1000)), times=1)
    assert names(faults(limit, rule("rest")), *[call()] * 3) == ["rest", "limit", "rest"]


# --- draws

SHARED = rule(when=When(share=0.3))


@pytest.mark.unmeasured
def test_a_share_is_about_that_share() -> None:
    """Of two thousand phones three in ten, within what chance allows; another seed draws others."""
    phones = [f"42077{n:07}" for n in range(2000)]
    found = [names(faults(SHARED), call(phone)) for phone in phones]
    assert 520 < found.count(["r"]) < 680
    assert found != [names(faults(SHARED, seed=1), call(phone)) for phone in phones]


@given(st.permutations([phone for phone in PHONES[:4] for _ in range(3)]), st.integers(0, 10**6))
def test_a_draw_knows_rule_operation_phone_and_count_only(arrivals: list[str], later: int) -> None:
    """However calls interleave, and whenever they come, each phone's first, second and third has its own lot."""
    expected = {phone: names(faults(SHARED), *[call(phone)] * 3) for phone in PHONES[:4]}
    asked, met = faults(rule("before", When(nth=99)), SHARED), Counter[str]()
    for phone in arrivals:
        found = names(asked, call(phone, now=START + later, key="test-other", content=phone.encode()))
        assert found == [expected[phone][met[phone]]]
        met[phone] += 1


def test_operations_draw_apart() -> None:
    """The lot of a phone's first call of one operation is not that of another's."""
    by_operation = {
        operation: [names(faults(SHARED), call(phone, operation=operation)) for phone in PHONES]
        for operation in ("sendMessage", "getMessage")
    }
    assert by_operation["sendMessage"] != by_operation["getMessage"]


def test_a_time_is_drawn_from_its_span() -> None:
    """A span gives each call a time of its own inside it, a duration is itself."""
    asked = faults(rule(fault=Delay(time=Span(1000, 10**9))))
    times = [found.time for found, _ in (asked.strike(call(phone)) for phone in PHONES) if found is not None]
    assert len(set(times)) == len(PHONES)
    assert all(1000 <= time <= 10**9 for time in times)
    assert applied(Delay(time=Span(7, 7))).time == 7


MARKS: list[tuple[str, ApiRule, list[dict[str, Any]], list[bool]]] = [
    ("nothing counts", rule(), [{}, {}], [False, False]),
    ("call", rule(when=When(nth=2)), [{}, {}, {}], [True] * 3),
    ("call of another operation", rule(when=When(nth=2, operation=("x",))), [{}], [False]),
    ("every", rule(when=When(every=2)), [{}, {}], [True, True]),
    ("times", rule(times=1), [{}, {}], [True, True]),
    ("a share, one phone, equal calls", SHARED, [{}, {}], [False, False]),
    (
        "a share, one phone, two calls of one instant",
        SHARED,
        [{"content": b"a"}, {"content": b"b"}, {"content": b"b"}],
        [False, True, True],
    ),
    (
        "a share, two phones",
        SHARED,
        [{"content": b"a"}, {"content": b"b", "phone": PHONES[1]}],
        [False, False],
    ),
    (
        "a share, two instants",
        SHARED,
        [{"content": b"a"}, {"content": b"b", "now": START + 1}],
        [False, False],
    ),
]


@pytest.mark.parametrize(("asked", "calls", "expected"), [each[1:] for each in MARKS], ids=[each[0] for each in MARKS])
def test_order_sensitive_is_what_depended_on_arrival(
    asked: ApiRule, calls: list[dict[str, Any]], expected: list[bool]
) -> None:
    """A decision is marked when another order of arrival would have made another one, and not otherwise."""
    rules = faults(asked)
    assert [rules.strike(call(**given))[1] for given in calls] == expected


# --- rules that come and go


def test_rules_of_control_stand_in_front() -> None:
    """They are asked first, count apart from their equals, and stay when the scenario's rules change."""
    asked = faults(rule("scenario"))
    first, second = asked.put_rule(rule("mine", times=1)), asked.put_rule(rule("mine", times=1))
    assert (first, second) == ("a1", "a2")
    asked.set_rules((rule("new"),))
    assert [each.key for each in asked.from_scenario] == ["new"]
    assert names(asked, *[call()] * 3) == ["mine", "mine", "new"]
    assert asked.drop_rule(first)
    assert not asked.drop_rule(first)
    assert [each.id for each in asked.rules] == ["a2", None]


def test_a_restore_has_the_same_future() -> None:
    """Counts, lots and limits go on where they stood."""
    rules = (
        rule("nth", When(every=3)),
        rule("limit", When(key=Pattern("k")), RateLimit(rate=Rate(1, 50))),
        SHARED,
    )
    calls = [call(PHONES[n % 3], key="k" if n % 2 else "w", now=START + n) for n in range(40)]
    world, restored = make_world(api=rules), make_world(api=rules)
    for each in calls[:20]:
        assert world.api.strike(each) == restored.api.strike(each)
    go_back(restored)
    assert restored.api.rules[0] is rules[0]
    assert names(restored.api, *calls[20:]) == names(world.api, *calls[20:])


# --- how it is told

SHOWN: list[tuple[ApiFault, Any, bool, bool]] = [
    (ERROR, {"status": 500}, False, False),
    (Answer(status=307), {"answer": 307}, False, False),
    (RateLimit(rate=Rate(1, 60_000)), {"rate_limit": "1/1m"}, False, False),
    (Delay(time=Span(1500, 1500)), {"delay": "1s500ms"}, True, False),
    (Trickle(time=Span(2000, 2000)), {"trickle": "2s"}, True, False),
    (Disconnect(), {"disconnect": "before"}, False, True),
    (Disconnect(middle=True), {"disconnect": "middle"}, True, False),
    (Reset(), "reset", False, True),
    (Garbage(), "garbage", True, True),
    (BadJson(), "bad_json", True, False),
    (Timeout(), "timeout", False, True),
    (Twice(), {"twice": "last"}, True, False),
    (Twice(doubled="first"), {"twice": "first"}, True, False),
]


@pytest.mark.parametrize(("fault", "shown", "effective", "silent"), SHOWN, ids=[str(each[1]) for each in SHOWN])
def test_faults_and_what_they_leave_of_a_call(fault: ApiFault, shown: Any, effective: bool, silent: bool) -> None:
    """Each is shown as a scenario writes it, says whether its call has its effect, and whether a status comes."""
    asked = faults(rule(fault=fault))
    found = next(found for found, _ in (asked.strike(call()) for _ in range(2)) if found is not None)
    assert found.as_written == shown
    assert (found.rule.has_effect, found.silent) == (effective, silent)
    assert rule(fault=fault, processed=not effective).has_effect is not effective


def test_every_fault_is_shown_by_its_word() -> None:
    """In each form in which it may be written, it is shown as its word, or as a mapping of it alone; and it replaces
    the answer, acts on the connection, or has the call twice."""
    wrong = []
    for kind, form in ((kind, form) for kind, fault in CALLS.items() for form in fault.examples):
        asked = faults(compile_rule("api", {"fault": yaml.safe_load(form)}))
        strikes = (asked.strike(call())[0] for _ in range(1_000))
        applied = next(each for each in strikes if each is not None)  # a rate lets pass what is within it
        fault, shown = applied.rule.fault, applied.as_written
        acts = fault.replacement(b"{}", applied.wait) is not None or fault.acts(2, 0) != (Piece(0, 2),)
        if (shown != kind and list(shown) != [kind]) or not (acts or fault.doubled):
            wrong.append((form, shown))
    assert wrong == []


LINES = [
    ({"name": "flaky"}, 'fault status 500 on sendMessage by the api rule "flaky"; the call had no effect'),
    ({"id": "a1"}, "fault status 500 on sendMessage by the api rule a1; the call had no effect"),
    ({"place": "a.yaml:3"}, "fault status 500 on sendMessage by the api rule a.yaml:3; the call had no effect"),
    ({"processed": True}, "fault status 500 on sendMessage by the api rule r; the call had its effect"),
]


@pytest.mark.parametrize(("fields", "expected"), LINES, ids=["name", "id", "place", "key"])
def test_the_line_of_a_fault(fields: dict[str, Any], expected: str) -> None:
    """It says what happened, on what, by which rule, and whether the call had its effect."""
    assert applied(ERROR, **fields).line == expected
    assert applied(Garbage()).line.startswith("fault garbage on sendMessage")


def test_of_many_lost_answers_only_the_newest_are_remembered() -> None:
    asked = faults()
    for number in range(MAX_LOST_CALLS + 1):
        asked.note_unanswered(b"%d" % number, number)
    assert len(asked.unanswered) == MAX_LOST_CALLS
    assert (b"0" in asked.unanswered, asked.unanswered[b"%d" % MAX_LOST_CALLS]) == (False, MAX_LOST_CALLS)
