"""Texts with gaps: what fills them, and what the digest sees of that."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.durations import Span
from sendbox.engine.rules.book import DRAWN
from sendbox.engine.texts import FAKES, POOL, Fake, Gap, Text
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.messaging.content.text import GAPS, fill
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.rules.rules import Line, Reply, Rule
from tests.core.observed import digest
from tests.core.worlds import HOUR, PHONE, TEN, advance, delivered, go_back, make_world, rule, send_one, step

NAMES: Final = tuple(f"Name {number}" for number in range(POOL))
PAYLOAD: Final = {"order": {"id": 7, "paid": True, "note": None, "items": ["tea", "milk"]}, "who": "Jana"}


def filled(*parts: str | Gap | Fake, **fields: Any) -> tuple[str, str]:
    """A text of these parts, filled from a message."""
    world = make_world()
    message = delivered(world, **{"payload": PAYLOAD, "tags": ("a", "b"), **fields})
    return fill(Line(Text("", parts), "key", PHONE), world.chooser, Account.of(world), PHONE, message.last)


GAP_CASES: Final = [
    pytest.param(Gap("body"), "Hello", id="body"),
    pytest.param(Gap("sender"), "InfoSMS", id="sender"),
    pytest.param(Gap("phone"), PHONE, id="phone"),
    pytest.param(Gap("channel"), "sms", id="channel"),
    pytest.param(Gap("attempt"), "1", id="attempt"),
    pytest.param(Gap("tag"), "a,b", id="tag"),
    pytest.param(Gap("tags"), "a,b", id="tags"),
    pytest.param(Gap("payload", ("who",)), "Jana", id="payload"),
    pytest.param(Gap("payload", ("order", "id")), "7", id="a number"),
    pytest.param(Gap("payload", ("order", "paid")), "true", id="a truth"),
    pytest.param(Gap("payload", ("order", "note")), "", id="null"),
    pytest.param(Gap("payload", ("order", "items", "1")), "milk", id="of a list"),
    pytest.param(Gap("payload", ("order", "items", "2")), "", id="beyond a list"),
    pytest.param(Gap("payload", ("order", "items")), '["tea","milk"]', id="a list"),
    pytest.param(Gap("payload", ("nobody",)), "", id="not there"),
    pytest.param(Gap("payload", ("who", "name")), "", id="into a text"),
]


@pytest.mark.parametrize(("gap", "expected"), GAP_CASES)
def test_gaps_are_filled(gap: Gap, expected: str) -> None:
    """Each gap with what its message has there, a payload without such a path with nothing."""
    assert filled("<", gap, ">")[0] == f"<{expected}>"


def test_ids_are_filled() -> None:
    """The ids of the message and of its request, which the canonical form leaves out as it does the body."""
    world = make_world()
    message = delivered(world)
    text = Text("", (Gap("message_id"), " ", Gap("request_id"), " ", Gap("body")))
    said, canonical = fill(Line(text, "", ""), world.chooser, Account.of(world), PHONE, message.last)
    assert said == f"{message.id} {message.submission.request_id} Hello"
    assert canonical == "{{message_id}} {{request_id}} {{body}}"


def test_every_gap_is_known() -> None:
    """The names and what they mean are a table; each of them is filled here."""
    assert set(GAPS) == {case.values[0].name for case in GAP_CASES} | {"message_id", "request_id"}  # type: ignore[union-attr]
    assert all(meaning for meaning in (*GAPS.values(), *FAKES.values()))


def test_what_is_invented_is_drawn() -> None:
    """By the seed, the key, how-manieth and the place in the text; two gaps of a kind are drawn apart."""
    world = make_world()
    text = Text("", (Fake("name", "en_US", NAMES), ", ", Fake("name", "en_US", NAMES)))
    lines = [Line(text, "a", "x"), Line(text, "b", "x"), Line(text, "a", "x", 1), Line(text, "a", "x", 0, "other")]
    said = [fill(line, world.chooser, Account.of(world), PHONE)[0] for line in lines]
    assert said == [fill(line, world.chooser, Account.of(world), PHONE)[0] for line in lines]
    assert len(set(said)) == 4
    first, second = said[0].split(", ")
    assert first != second
    other = make_world(seed=1)
    assert fill(lines[0], other.chooser, Account.of(other), PHONE)[0] != said[0]


# --- in rules


def answering(*parts: str | Gap | Fake, **fields: Any) -> Rule:
    """A rule whose reply has gaps."""
    return rule("delivered", replies=(Reply(Span(1_000, 1_000), "…", Text("…", parts)),), **fields)


def answered(world: World) -> list[str]:
    """What phones answered, by number."""
    return [each.body for each in sorted(Messaging.of(world).phones.inbound, key=lambda each: each.sender)]


INVENTING: Final = answering("I am ", Fake("name", "cs_CZ", NAMES))


def told(numbers: tuple[str, ...], *rules: Rule, world_id: str = "test-w") -> World:
    """A world in which these phones got a message and answered."""
    world = make_world(world_id, attempts=rules)
    for number in numbers:
        send_one(world, number)
    advance(world, HOUR)
    return world


def test_replies_invent_as_fates_are_drawn() -> None:
    """Equal for equal inputs, in whatever order they come; different from phone to phone and message to message."""
    straight, backwards = told(TEN, INVENTING), told(TEN[::-1], INVENTING)
    assert answered(straight) == answered(backwards)
    assert len(set(answered(straight))) > 5
    assert digest(straight) == digest(backwards)
    twice = told((PHONE, PHONE), INVENTING)
    assert len(set(answered(twice))) == 2


def test_a_rule_that_invents_nothing_counts_nobody() -> None:
    """A text without invention draws nothing, and one decision serves all."""
    world = told(TEN, answering("Hello, ", Gap("sender")))
    assert answered(world) == ["Hello, InfoSMS"] * 10
    attempts = Messaging.of(world).attempts
    (key,) = (rule.key for rule in attempts.rules)
    assert [attempts.memory.known(DRAWN, key, phone) for phone in TEN] == [None] * len(TEN)
    decisions = {id(message.last.decision) for message in Messaging.of(world).messages if message.last is not None}
    assert len(decisions) == 1


def test_the_digest_knows_no_version_of_the_library() -> None:
    """Other words for the same draws, as another version of Faker has them, leave the digest alone."""
    other = answering("I am ", Fake("name", "cs_CZ", tuple(name.upper() for name in NAMES)))
    one, two = told(TEN, INVENTING), told(TEN, other)
    assert answered(one) != answered(two)
    assert digest(one) == digest(two)
    assert digest(told(TEN, answering("I am ", Fake("city", "cs_CZ", NAMES)))) != digest(one)


def test_a_quoted_text_with_links_is_the_same_in_every_world() -> None:
    """Ids and short links belong to a world; a reply that quotes them does not change the digest."""
    digests, said = set(), set()
    for world_id in ("test-w", "test-other"):
        world = make_world(world_id, attempts=(answering(Gap("body"), " ", Gap("message_id")),))
        send_one(world, body="See https://a.example", shortening=Shortening())
        advance(world, HOUR)
        digests.add(digest(world))
        said |= set(answered(world))
    assert (len(digests), len(said)) == (1, 2)


def test_a_reply_survives_a_restore() -> None:
    """What a phone was going to say it says after a restore."""
    world, restored = make_world(attempts=(INVENTING,)), make_world(attempts=(INVENTING,))
    for each in (world, restored):
        send_one(each, steps=[step()])
        advance(each, 3_000)
    go_back(restored)
    for each in (world, restored):
        advance(each, HOUR)
    assert answered(world) == answered(restored) != []
