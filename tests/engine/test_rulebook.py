"""Lists of rules, and what is counted for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sendbox.engine.durations import Moment
from sendbox.engine.rules.book import Memory, Rulebook, Series
from sendbox.engine.rules.conditions import Case, Not
from sendbox.engine.rules.rule import When, difference, differences
from sendbox.engine.texts import Pattern
from sendbox.services.verify.rules import VerifyRule
from sendbox.services.windows import Window


class Book(Rulebook[VerifyRule]):
    PREFIX = "b"


def test_rules_of_control_stand_in_front() -> None:
    """The newest first, each with an id of its own, before those of the scenario, whatever comes of these."""
    book = Book([VerifyRule("one")])
    assert [book.put_rule(VerifyRule("mine")) for _ in range(2)] == ["b1", "b2"]
    book.set_rules([VerifyRule("two"), VerifyRule("three")])
    assert [(rule.id, rule.key) for rule in book.rules] == [
        ("b2", "mine"),
        ("b1", "mine"),
        (None, "two"),
        (None, "three"),
    ]
    assert [rule.key for rule in book.from_scenario] == ["two", "three"]
    assert [book.drop_rule(rule) for rule in ("b1", "b1", "two")] == [True, False, False]
    assert book.put_rule(VerifyRule("mine")) == "b3"


def test_equal_ones_of_an_instant_do_not_race() -> None:
    """Who could have come before another is raced, and so is all that follows at the instant; keys are apart."""
    memory = Memory(returning=False)
    asked = [("a", 0, "x"), ("a", 0, "x"), ("a", 0, "y"), ("a", 0, "y"), ("b", 0, "y"), ("a", 1, "x")]
    places = [memory.series(key).place(ordinal, at, request) for ordinal, (key, at, request) in enumerate(asked)]
    assert [(place.number, place.raced) for place in places] == [
        (0, False),
        (1, False),
        (2, True),
        (3, True),
        (0, False),
        (4, False),
    ]


@pytest.mark.parametrize(("returning", "again"), [(True, 0), (False, 2)], ids=["returning", "once"])
def test_a_case_that_comes_again(returning: bool, again: int) -> None:
    """It has the place that it had, in lists that are asked about a case more than once; the latest has it in all."""
    series = Series(returning=returning)
    assert [series.place(ordinal).number for ordinal in (7, 8, 8, 7)] == [0, 1, 1, again]
    assert series.find(9) is None


def taken(rules: Sequence[VerifyRule], *phones: str, now: Sequence[int] = (0,) * 1000) -> list[list[str]]:
    """The rules that decide about each session, in the order in which they come."""
    book = Book(rules, start=100)
    cases = [
        Case("session", phone, instant=at, fields={"phone": phone}) for phone, at in zip(phones, now, strict=False)
    ]
    return [[rule.key for rule, _, _, _ in book.decide(rules, case)[0]] for case in cases]


def coded(key: str, **given: Any) -> VerifyRule:
    """A rule for a code."""
    times = given.pop("times", None)
    return VerifyRule(key, When(**given), code="123456", times=times)


COUNTING: list[tuple[str, list[VerifyRule], list[list[str]]]] = [
    ("nth", [coded("r", nth=2)], [[], ["r"], [], []]),
    ("several nth", [coded("r", nth=(1, 3))], [["r"], [], ["r"], []]),
    ("every", [coded("r", every=2)], [[], ["r"], [], ["r"]]),
    ("times", [coded("r", times=2)], [["r"], ["r"], [], []]),
    ("every and times", [coded("r", every=2, times=1)], [[], ["r"], [], []]),
    ("a sequence", [coded("a", nth=1), coded("b", nth=2), coded("c")], [["a"], ["b"], ["c"], ["c"]]),
    ("behind another", [coded("a"), coded("b", nth=2)], [["a"]] * 4),
    ("equal rules", [coded("r", nth=2), coded("r", nth=2)], [[], ["r"], [], []]),
    ("all of a share", [coded("r", share=1.0)], [["r"]] * 4),
    ("none of a share is counted", [coded("a", share=0.0, nth=1), coded("b")], [["b"]] * 4),
    (
        "things apart",
        [coded("a"), VerifyRule("b", When(nth=2), code="1", sms="sent")],
        [["a"], ["a", "b"], ["a"], ["a"]],
    ),
]


@pytest.mark.parametrize(("rules", "expected"), [each[1:] for each in COUNTING], ids=[each[0] for each in COUNTING])
def test_what_rules_count(rules: list[VerifyRule], expected: list[list[str]]) -> None:
    """Cases for which all before holds, whether another rule took them or not; `times` counts what was decided."""
    assert taken(rules, *["420777000101"] * 4) == expected


COUNTED_APART: list[tuple[str, VerifyRule, str]] = [
    ("nth", coded("r", nth=2, per="phone"), "--rr-"),
    ("every", coded("r", every=2, per="phone"), "--rr-"),
    ("times", coded("r", times=1, per="phone"), "rr---"),
    ("times of a turn", coded("r", every=1, times=2, per="phone"), "rrrr-"),
    ("without the field", coded("r", nth=2, per="key"), "-r---"),
]


@pytest.mark.parametrize(
    ("rule", "expected"), [each[1:] for each in COUNTED_APART], ids=[each[0] for each in COUNTED_APART]
)
def test_counters_of_their_own(rule: VerifyRule, expected: str) -> None:
    """With `per` every phone has counters of its own; cases without the field share one."""
    assert ["r" if rules else "-" for rules in taken([rule], "1", "2", "1", "2", "1")] == [*expected]


@pytest.mark.parametrize(
    "rule", [coded("r", nth=2, per="phone"), coded("r", times=2, per="phone")], ids=["nth", "times"]
)
def test_what_one_phone_does_has_an_order(rule: VerifyRule) -> None:
    """Only what comes at once from different requests could have come in another order."""
    book = Book([rule])
    asked = [("1", 0, "a"), ("2", 0, "b"), ("1", 0, "a"), ("1", 5, "c"), ("1", 5, "d")]
    cases = [
        Case("session", phone, request=request, instant=at, fields={"phone": phone}) for phone, at, request in asked
    ]
    assert [book.decide([rule], case)[1] for case in cases] == [False, False, False, False, True]


def test_the_first_of_several_cases() -> None:
    """A rule looks at the first that it is about; all of them are one to its counters."""
    one, other = (Case("session", phone, fields={"phone": phone}) for phone in ("1", "2"))
    rules = [coded("none", phone=Pattern("3")), coded("other", phone=Pattern("2"), nth=1)]
    ((rule, _, taken, _),), order_sensitive = Book(rules).decide(rules, one, other)
    assert (rule.key, taken, order_sensitive) == ("other", other, True)


def test_a_share_is_a_fate_of_the_subject() -> None:
    """Whoever comes when, and whichever rule stands before: of a thousand about half, and the same half."""
    half, phones = coded("half", share=0.5), [f"420777{number:06}" for number in range(1000)]
    alone = dict(zip(phones, taken([half], *phones), strict=True))
    assert 420 < sum(map(bool, alone.values())) < 580
    behind = taken([coded("front", phone=Pattern("42077700000*")), half], *phones[::-1])
    assert behind[:900] == [alone[phone] for phone in phones[::-1]][:900]


def test_counts_begin_where_the_window_does() -> None:
    """Cases outside it are not counted."""
    rule = coded("r", begins=Moment(5, relative=True), ends=Moment(9, relative=True), nth=2)
    assert taken([rule], *["1"] * 5, now=[104, 105, 106, 107, 109]) == [[], [], ["r"], [], []]


NOT_ITS_TURN: list[tuple[str, VerifyRule, str | None]] = [
    ("window", coded("r", ends=Moment(0, relative=False)), "window: it is not open"),
    ("hours", coded("r", hours=Window(start=60)), "hours: 1970-01-01T00:00:00.005Z is not in them"),
    ("one of several hours", coded("r", hours=(Window(start=60), Window(end=60))), None),
    (
        "per phone",
        coded("r", nth=(2, 4), per="phone"),
        "nth: this is session 1 of this phone that asked, wanted session 2 or 4",
    ),
    ("share", coded("r", share=0.0), "share: this session is not in the share of 0.0"),
    ("all of a share", coded("r", share=1.0), None),
    ("nth", coded("r", nth=2), "nth: this is session 1 that asked, wanted session 2"),
    ("every", coded("r", every=2), "every: this is session 1 that asked, wanted one in 2"),
    ("its turn", coded("r", nth=1, times=1), None),
    ("plain", coded("r"), None),
]


@pytest.mark.parametrize(
    ("rule", "expected"), [each[1:] for each in NOT_ITS_TURN], ids=[each[0] for each in NOT_ITS_TURN]
)
def test_why_it_was_not_the_turn_of_a_rule(rule: VerifyRule, expected: str | None) -> None:
    """The first of window, share, counters and uses that kept it from a case; nothing where none did."""
    book = Book([rule])
    case = Case("session", "420777000101", instant=5)
    book.decide([rule], case)
    assert book.not_its_turn(rule, case) == expected


def test_why_a_rule_that_was_never_asked_did_not_take_a_case() -> None:
    """It has drawn, counted and decided nothing."""
    case = Case("session", "420777000101")
    assert Book([]).not_its_turn(coded("r", share=1.0), case) == "share: this session is not in the share of 1.0"
    assert Book([]).not_its_turn(coded("r", nth=1), case) == "nth: was never counted, wanted session 1"
    assert (
        Book([]).not_its_turn(coded("r", times=1), case) == "times: it decided 1 sessions already, which is all it may"
    )


@pytest.mark.parametrize(
    ("begins", "ends", "expected"),
    [
        (None, None, (True, True, True)),
        (Moment(5, relative=True), None, (False, True, True)),
        (None, Moment(105, relative=False), (True, False, False)),
        (Moment(105, relative=False), Moment(6, relative=True), (False, True, False)),
    ],
    ids=["always", "from", "until", "between"],
)
def test_windows(begins: Moment | None, ends: Moment | None, expected: tuple[bool, ...]) -> None:
    """From its beginning on, and not at its end any more."""
    when = When(begins=begins, ends=ends)
    assert tuple(when.closed(now, 100) is None for now in (104, 105, 106)) == expected


def test_conditions_have_a_value() -> None:
    """Equal conditions are equal, however they are spelled; what is not asked is not there."""
    one, other = When(phone=Pattern("1"), nth=2), When(nth=2, tag=None, phone=Pattern("1"))
    assert (one, hash(one), repr(one)) == (other, hash(other), "When(phone=Pattern('1', digits=False), nth=2)")
    assert one != When(phone=Pattern("1"))
    assert one != "When(phone=Pattern('1', digits=False), nth=2)"
    assert one.without("phone") == When(nth=2)
    assert (one.pattern("phone"), one.words("phone"), one.pattern("tag")) == (Pattern("1"), None, None)
    several = When(phone=(Pattern("1"), Pattern("2")))
    assert (several.pattern("phone"), [pattern.text for pattern in several.patterns("phone")]) == (None, ["1", "2"])


def test_conditions_turned_round() -> None:
    """They must not all hold, of several groups none may; what is about a field can be left out."""
    never = Not({"phone": Pattern("1*"), "tag": "promo"}, {"phone": Pattern("2")})
    rule = coded("r", **{"not": never})
    cases = [
        Case("message", phone, fields={"phone": phone, "tag": tags})
        for phone, tags in (("1", ("promo",)), ("1", ("otp",)), ("2", ()), ("3", ("promo",)))
    ]
    assert [differences(rule, case) for case in cases] == [
        ["not: phone and tag must not hold, and does"],
        [],
        ["not: phone must not hold, and does"],
        [],
    ]
    assert [bool(difference(rule, case)) for case in cases] == [True, False, True, False]
    assert rule.when.without("tag").asked == {"not": Not({"phone": Pattern("2")})}
    assert rule.when.without("phone") == When()
    assert (never == Not(*never.groups), never == 1, hash(never) == hash(Not(*never.groups))) == (True, False, True)
    assert repr(Not({"tag": "promo"})) == "Not({'tag': 'promo'})"
    assert (rule.when.looks_back, Not({"tag": "x"}).written) == ((), {"tag": "x"})
    assert never.written == never.groups


FIELDS = {"text": "a", "texts": ("a", "b"), "number": 2, "nothing": None, "late": lambda: "a"}
CONDITIONS: list[tuple[str, Any, str | None]] = [
    ("text", Pattern("a"), None),
    ("text", Pattern("b"), 'text: "a" does not match "b"'),
    ("texts", Pattern("b"), None),
    ("texts", Pattern("c"), 'texts: none of "a", "b" matches "c"'),
    ("late", Pattern("a"), None),
    ("late", Pattern("b"), 'late: "a" does not match "b"'),
    ("text", (Pattern("b"), Pattern("a*")), None),
    ("texts", (Pattern("c"), Pattern("d")), 'texts: none of "a", "b" matches "c" or "d"'),
    ("number", (1, 2), None),
    ("number", (1, 3), "number: this is number 2, wanted number 1 or 3"),
    ("nothing", Pattern("*"), 'nothing: there is no nothing, wanted "*"'),
    ("absent", Pattern("*"), 'absent: there is no absent, wanted "*"'),
    ("text", ("b", "a"), None),
    ("text", "a", None),
    ("text", ("b", "c"), "text: a is not b or c"),
    ("texts", ("b", "c"), None),
    ("absent", ("b",), "absent: nothing is not b"),
    ("number", 2, None),
    ("number", 3, "number: this is number 2, wanted number 3"),
]


@pytest.mark.parametrize(
    ("name", "wanted", "expected"), CONDITIONS, ids=[f"{name}-{wanted}" for name, wanted, _ in CONDITIONS]
)
def test_conditions(name: str, wanted: Any, expected: str | None) -> None:
    """A field, or one of its texts, is like a pattern, one of some words, or a number; else it is said what it is."""
    rule, case = VerifyRule("r", When(**{name: wanted})), Case("session", "", fields=FIELDS)
    assert differences(rule, case) == ([] if expected is None else [expected])
    assert difference(rule, case) is (expected is not None)
