"""Fates: what they are drawn from, and what depends on the order of arrival."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.draws import seed_bytes
from sendbox.engine.durations import Span
from sendbox.engine.rules.book import DRAWN, USED
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.services.messaging.rules.rules import Click, Decision, Path, PathEntry, Reply, Rule
from tests.core.asking import DELIVERED, FAILED, PHONES, RULES, SPANNED, ask, book, decision_of, rule

# --- what is drawn


def test_mix_goes_by_weight() -> None:
    """Of a thousand phones 95, 4 and 1 in a hundred, within what chance allows."""
    rules = [rule(mix=((DELIVERED, 95), (Path(goal="undelivered"), 4), (FAILED, 1)))]
    found = Counter(decision_of(rules, phone=f"4207771{n:05}").goal for n in range(2000))
    assert 1860 < found["delivered"] < 1940
    assert 50 < found["undelivered"] < 112
    assert 5 < found["failed"] < 40


def test_mix_of_paths() -> None:
    """A mix may choose among paths of entries, whose spans are drawn then."""
    decision = decision_of([rule(mix=((SPANNED, 1),))])
    assert decision.goal is None
    assert decision.entries is not None
    assert [entry[0] for entry in decision.entries] == ["sending", "sent", "delivered"]


def test_spans_are_drawn_apart() -> None:
    """Each entry, reply and click has a draw of its own, inside its span."""
    span = Span(1_000, 10**9)
    decision = decision_of(
        [
            rule(
                path=Path((PathEntry("sending", span), PathEntry("sent", span))),
                replies=(Reply(span, "a"), Reply(span, "b")),
                click=(Click(span), Click(span, 2)),
            )
        ]
    )
    assert decision.entries is not None
    assert decision.replies is not None
    assert decision.click is not None
    drawn = (
        [entry[1] for entry in decision.entries]
        + [reply[0] for reply in decision.replies]
        + [click[0] for click in decision.click]
    )
    assert len(set(drawn)) == 6
    assert all(span.low <= value <= span.high for value in drawn)


def test_attempts_of_a_message_draw_apart() -> None:
    """The second attempt of a message does not repeat the first one's draw, and does not count as another message."""
    attempts, rules = book(), [rule(path=SPANNED)]
    first, second = decision_of(rules, attempts), decision_of(rules, attempts, attempt=2)
    assert first != second
    assert decision_of(rules, attempts) == first
    assert decision_of(rules, attempts, ordinal=1) != first
    assert len(attempts.memory.series(DRAWN, "r", "420777000100")) == 2


def test_decisions_are_keyed_by_rule_phone_and_count() -> None:
    """The rule's key, the phone and how-manieth message to it asked; the count of one phone is not another's."""
    base = decision_of([rule(path=SPANNED)])
    assert decision_of([rule("other", path=SPANNED)]) != base
    assert decision_of([rule(path=SPANNED)], phone="420777000101") != base
    attempts = book()
    decision_of([rule(path=SPANNED)], attempts, phone="420777000101", ordinal=5)
    assert decision_of([rule(path=SPANNED)], attempts, ordinal=6) == base
    assert decision_of([rule(path=SPANNED)], attempts, ordinal=7) != base


def test_only_messages_that_drew_are_counted() -> None:
    """A message for which nothing was drawn leaves the next one's decision alone."""
    attempts = book()
    rules = [rule("r", When(channel=("richmsg",)), path=FAILED), rule("r", path=SPANNED)]
    decision_of(rules, attempts, channel="richmsg", ordinal=1)
    assert decision_of(rules, attempts, ordinal=2) == decision_of([rule(path=SPANNED)])


def other_seed() -> Decision:
    found = book(seed_bytes(1)).decision([rule(path=SPANNED)], ask())
    assert found is not None
    return found


def test_another_seed_is_another_fate() -> None:
    """Fates follow the world's seed."""
    assert other_seed() != decision_of([rule(path=SPANNED)])


@given(
    st.lists(st.sampled_from(PHONES), min_size=1, max_size=20),
    st.permutations(RULES),
    st.text(max_size=5),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
    st.integers(0, 10**6),
)
def test_nothing_a_client_varies_enters_a_fate(
    phones: list[str], permuted: list[Rule], body: str, payload: dict[str, int], later: int
) -> None:
    """Another body, payload, tag, sender, key, instant, request or position of the rule changes no decision."""
    first, second = book(), book()
    for n, phone in enumerate(phones):
        plain = first.decision(RULES, ask(phone=phone, ordinal=n))
        varied = second.decision(
            permuted,
            ask(
                phone=phone,
                ordinal=n * 7 + 3,
                body=body,
                payload=lambda: payload,
                tag=(body,),
                sender=body,
                key=body,
                now=later + n,
                accepted_at=later + n,
            ),
        )
        assert plain == varied
        assert plain is not None
        assert not plain.order_sensitive


@given(st.permutations([(phone, n) for phone in PHONES for n in range(3)]))
def test_messages_to_other_phones_change_no_fate(arrivals: list[tuple[str, int]]) -> None:
    """However the messages to several phones interleave, each phone's first, second and third has its own decision."""
    counted: Counter[str] = Counter()
    attempts = book()
    for ordinal, (phone, _) in enumerate(arrivals):
        alone = book()
        for n in range(counted[phone] + 1):
            expected = alone.decision(RULES, ask(phone=phone, ordinal=n))
        counted[phone] += 1
        assert attempts.decision(RULES, ask(phone=phone, ordinal=ordinal)) == expected


# --- what depends on the order of arrival


def test_nth_decides_one_message() -> None:
    """The third message that satisfies the other conditions; the others go on to the next rule."""
    attempts = book()
    rules = [rule("third", When(channel=("sms",), nth=3), path=FAILED), rule("rest", path=DELIVERED)]
    channels = ["sms", "richmsg", "sms", "sms", "sms"]
    goals = [decision_of(rules, attempts, ordinal=n, channel=channel).goal for n, channel in enumerate(channels)]
    assert goals == ["delivered", "delivered", "delivered", "failed", "delivered"]


def test_nth_of_several_rules_is_a_sequence() -> None:
    """A rule counts what fits it whether an earlier rule took it or not: three rules with `nth` are a sequence."""
    attempts = book()
    rules = [
        rule("first", When(nth=1), path=FAILED),
        rule("second", When(nth=2), path=Path(goal="undelivered")),
        rule("third", When(nth=3), path=Path(goal="sent")),
        rule("rest", path=DELIVERED),
    ]
    goals = [decision_of(rules, attempts, ordinal=ordinal).goal for ordinal in range(4)]
    assert goals == ["failed", "undelivered", "sent", "delivered"]


def test_nth_counts_what_an_earlier_rule_took() -> None:
    """Where an earlier rule decided all that the rule decides, its turn passes without effect, and is not marked."""
    attempts = book()
    rules = [rule("all", path=DELIVERED), rule("first", When(nth=1), path=FAILED)]
    decisions = [decision_of(rules, attempts, ordinal=ordinal) for ordinal in range(2)]
    assert [(decision.goal, decision.rules, decision.order_sensitive) for decision in decisions] == [
        ("delivered", ("all",), False)
    ] * 2


def test_nth_counts_messages_not_attempts() -> None:
    """A second attempt of the first message is still of the first message."""
    attempts = book()
    rules = [rule(when=When(nth=2), path=FAILED)]
    found = [
        decision_of(rules, attempts, ordinal=o, attempt=a).goal for o, a in [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1)]
    ]
    assert found == [None, None, "failed", "failed", None]


def test_times_limits_the_messages_decided() -> None:
    """Two messages with all their attempts, then the rule is spent."""
    attempts = book()
    rules = [rule("front", times=2, path=FAILED, id="r1"), rule("rest", path=DELIVERED)]
    order = [(0, 1), (1, 1), (0, 2), (2, 1), (1, 2)]
    goals = [decision_of(rules, attempts, ordinal=o, attempt=a).goal for o, a in order]
    assert goals == ["failed", "failed", "failed", "delivered", "failed"]


def test_times_is_counted_for_each_rule_put_there() -> None:
    """Two equal rules that control put in front count apart by their ids; one without an id by its key."""
    attempts = book()
    one, two = rule(times=1, path=FAILED, id="r1"), rule(times=1, path=FAILED, id="r2")
    goals = [decision_of([two, one, rule("rest", path=DELIVERED)], attempts, ordinal=n).goal for n in range(3)]
    assert goals == ["failed", "failed", "delivered"]
    assert decision_of([rule(times=1, path=FAILED)], attempts, ordinal=3).goal == "failed"
    assert [len(attempts.memory.series(USED, name)) for name in ("r1", "r2", "r")] == [1, 1, 1]


def test_times_and_nth_together() -> None:
    """A message that is not the nth does not use up the rule."""
    attempts = book()
    rules = [rule(when=When(nth=2), times=1, path=FAILED)]
    assert [decision_of(rules, attempts, ordinal=n).goal for n in range(3)] == [None, "failed", None]


Arrivals = list[dict[str, Any]]
MARKS: list[tuple[str, list[Rule], Arrivals, list[bool]]] = [
    ("nothing drawn", [rule(path=DELIVERED)], [{"ordinal": 0}, {"ordinal": 1}], [False, False]),
    ("nth", [rule(when=When(nth=1), path=FAILED)], [{"ordinal": 0}, {"ordinal": 1}], [True, True]),
    (
        "nth that is not asked",
        [rule(when=When(nth=1, attempt=2), path=FAILED), RULES[0]],
        [{"phone": PHONES[0]}],
        [False],
    ),
    (
        "times, also once spent",
        [rule(times=1, path=FAILED), rule("rest", path=DELIVERED)],
        [{}, {"ordinal": 1}],
        [True] * 2,
    ),
    (
        "one phone, two requests of one instant",
        [rule(path=SPANNED)],
        [{"ordinal": n, "accepted_at": 5, "now": 5} for n in range(3)],
        [False, True, True],
    ),
    (
        "one phone, one request",
        [rule(path=SPANNED)],
        [{"ordinal": n, "accepted_at": 5, "now": 5, "request": "r"} for n in range(2)],
        [False, False],
    ),
    (
        "other phones",
        [rule(path=SPANNED)],
        [{"ordinal": n, "accepted_at": 5, "now": 5, "phone": phone} for n, phone in enumerate(PHONES)],
        [False] * 4,
    ),
    (
        "accepted at one instant, handed over at two",
        [rule(path=SPANNED)],
        [{"ordinal": n, "accepted_at": 5, "now": 5 + n} for n in range(2)],
        [False, False],
    ),
    (
        "accepted at two instants, handed over at one",
        [rule(path=SPANNED)],
        [{"ordinal": n, "accepted_at": n, "now": 5} for n in range(2)],
        [False, False],
    ),
    (
        "the second attempt of the message that came second",
        [rule(path=SPANNED)],
        [{"ordinal": n, "accepted_at": 5, "now": 5, "attempt": a} for n, a in [(0, 1), (1, 1), (1, 2)]],
        [False, True, True],
    ),
]


@pytest.mark.parametrize(
    ("rules", "arrivals", "expected"), [each[1:] for each in MARKS], ids=[each[0] for each in MARKS]
)
def test_order_sensitive_is_what_depended_on_arrival(
    rules: list[Rule], arrivals: Arrivals, expected: list[bool]
) -> None:
    """A decision is marked when another order of arrival would have made another one, and not otherwise."""
    attempts = book()
    assert [decision_of(rules, attempts, **fields).order_sensitive for fields in arrivals] == expected


def test_a_rule_put_in_front_changes_no_other_fate() -> None:
    """A spent rule, or one for another phone, leaves the draws of those after it as they were."""
    alone = [decision_of([rule(path=SPANNED)], attempts, ordinal=n) for attempts in [book()] for n in range(3)]
    front = rule("front", When(phone=Pattern("421*", digits=True)), path=FAILED, id="r1", times=1)
    attempts = book()
    assert [decision_of([front, rule(path=SPANNED)], attempts, ordinal=n) for n in range(3)] == alone
