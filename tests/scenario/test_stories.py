"""The library's stories, played: each scenario does what its comments promise."""

from __future__ import annotations

from typing import Final

import pytest

from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.scenario import library
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.templates.templates import TemplateUse
from tests.core.worlds import HOUR, PHONE, START, advance, results, send, send_one, step
from tests.scenarios import load

MINUTE: Final = 60_000


def play(name: str) -> World:
    """A world of a library scenario."""
    blueprint = load(name)
    return World("test-w", blueprint, start=START if blueprint.start is None else blueprint.start, services=PARTS)


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("00", ["sending", "sent", "delivered"]),
        ("01", ["sending", "sent", "delivered"]),
        ("02", ["sending", "sent", "undelivered"]),
        ("03", ["rejected"]),
        ("04", ["sending", "failed"]),
        ("05", ["sending", "sent"]),
        ("06", ["sending", "sent", "delivered", "seen"]),
        ("07", ["sending", "sent", "delivered"]),
        ("08", ["sending", "sent", "delivered"]),
        ("09", ["sending", "sent", "delivered"]),
        ("10", ["rejected"]),
        ("11", ["sending", "sent", "delivered"]),
        ("12", ["sending", "sent", "delivered"]),
        ("77", ["sending", "sent", "delivered"]),
    ],
)
def test_fates_of_the_magic_numbers(suffix: str, expected: list[str]) -> None:
    """A rich message to 420777 + four free digits + the digits of fate ends as the default scenario says."""
    world = play("default")
    message = send_one(world, f"4207771234{suffix}", steps=[step("richmsg")])
    advance(world, HOUR)
    assert [result for _, result in results(message)] == expected


def test_magic_numbers_that_answer() -> None:
    """07 replies YES, 09 opts out, five seconds after it was delivered; nobody else answers."""
    world = play("default")
    examples = {suffix: example for suffix, example, _ in library.magic()}
    send(world, examples["00"], examples["07"], examples["09"])
    advance(world, 9_000)
    assert [(each.at - START, each.sender, each.body) for each in Messaging.of(world).phones.inbound] == [
        (8_000, examples["07"], "YES"),
        (8_000, examples["09"], "STOP"),
    ]
    assert set(Account.of(world).optout) == {examples["09"]}


def test_the_magic_receipt_takes_ten_minutes() -> None:
    """08 is delivered ten minutes after it was sent."""
    world = play("default")
    message = send_one(world, "420777000108")
    advance(world, 10 * MINUTE)
    assert message.result == "sent"
    advance(world, 1_000)
    assert message.result == "delivered"


@pytest.mark.parametrize(("suffix", "expected"), [("00", "rejected"), ("11", "rejected"), ("12", "delivered")])
def test_magic_numbers_and_free_text(suffix: str, expected: str) -> None:
    """12 has an open conversation, the others have none, and 11 has not even the app."""
    world = play("default")
    message = send_one(world, f"4207770001{suffix}", steps=[step("chatapp_text")])
    advance(world, HOUR)
    assert message.result == expected


def test_the_default_templates_can_be_used() -> None:
    """The three templates take the parameters that their comments show."""
    world = play("default")
    uses = [
        TemplateUse("otp", "en", ["1234"]),
        TemplateUse("order_update", "en", ["A-17", "Friday"]),
        TemplateUse(
            "welcome",
            "en",
            [{"first_name": "Jana"}, {"shop": "Acme"}],
            header=["https://acme.example/hello.png"],
            buttons=["jana-17"],
        ),
    ]
    for use in uses:
        message = send_one(world, steps=[step("chatapp_template", None, template=use)])
        advance(world, HOUR)
        assert message.result == "delivered"


def test_otp_fallback() -> None:
    """The rich message ends undelivered after 32 seconds, and the SMS goes out at that instant and arrives."""
    world = play("otp-fallback")
    message = send_one(world, steps=[step("richmsg"), step("sms")])
    advance(world, 2 * MINUTE)
    assert results(message) == [
        (1, "sending"),
        (1, "sent"),
        (1, "undelivered"),
        (2, "sending"),
        (2, "sent"),
        (2, "delivered"),
    ]
    assert message.attempts[1].transitions()[0][1] == world.start + 32_000


def test_late_receipt() -> None:
    """The second step is delivered before the first one's receipt comes, which is reported all the same."""
    world = play("late-receipt")
    message = send_one(world, steps=[step("richmsg", ttl=MINUTE), step("sms")])
    advance(world, 5 * MINUTE)
    assert results(message) == [(1, "sending"), (1, "sent"), (2, "sending"), (2, "sent"), (2, "delivered")]
    advance(world, HOUR)
    assert (1, "delivered") in results(message)
    late = message.attempts[0].transitions()[-1][1] - world.start
    assert 14 * MINUTE <= late - 1_000 <= 16 * MINUTE


def test_credit_runs_dry() -> None:
    """Three segments are paid for, the fourth is rejected with [307], and one that is too long costs nothing."""
    world = play("credit-runs-dry")
    long = send_one(world, body="x" * 300)
    short = send(world, "420777000101", "420777000201")
    advance(world, HOUR)
    assert [message.result for message in (long, *short)] == ["delivered", "delivered", "rejected"]
    attempt = short[1].last
    assert attempt is not None
    assert attempt.extra is not None
    assert attempt.extra["why"] == "credit"
    assert Account.of(world).balance == 0


def test_midnight_window() -> None:
    """A newsletter waits for eight in the morning, a transactional message goes at once."""
    world = play("midnight-window")
    newsletter = send_one(world)
    code = send_one(world, tags=("transactional",))
    advance(world, HOUR)
    assert (newsletter.result, code.result) == ("accepted", "delivered")
    advance(world, 8 * HOUR)
    assert newsletter.result == "delivered"
    assert newsletter.attempts[0].transitions()[0][1] == world.start + 8 * HOUR + 30 * MINUTE


def test_replies_and_clicks() -> None:
    """Offers are answered twice, questions once, and a phone that nobody wrote to writes after five minutes."""
    world = play("replies-and-clicks")
    send(world, PHONE, tags=("offer",), body="Take it")
    send(world, "420777000200", body="Shall we come?")
    advance(world, 2 * HOUR)
    found = [(each.sender, each.body, each.message is not None) for each in Messaging.of(world).phones.inbound]
    assert found == [
        ("420777000200", "YES", True),
        (PHONE, "Nice, thank you", True),
        ("420777000012", "Hello, are you open today?", False),
        (PHONE, "Is it still there?", True),
    ]


def test_lossy_campaign() -> None:
    """The shares are about those of the mix, every seed loses, and two runs lose the same phones."""
    runs = []
    for _ in range(2):
        world = play("lossy-campaign")
        messages = [send_one(world, f"42077{number:07}") for number in range(1_000)]
        advance(world, HOUR)
        runs.append([message.result for message in messages])
    shares = {result: runs[0].count(result) for result in ("delivered", "undelivered", "sent", "failed")}
    assert sum(shares.values()) == 1_000
    assert 890 <= shares["delivered"] <= 950
    assert all(shares.values())
    assert runs[0] == runs[1]


def test_a_bulk_campaign_runs_dry() -> None:
    """Rejected numbers cost nothing; the sixth message that is sent cannot be paid for."""
    world = play("bulk-campaign")
    numbers_ = [f"420777000{hundred}01" for hundred in range(10)]
    sent = send(world, *numbers_)
    advance(world, HOUR)
    ends = [message.result for message in sent]
    refused = [None if message.last is None else (message.last.extra or {}).get("why") for message in sent]
    assert ends.count("delivered") == 5
    assert refused[1:5] == [None, "optout", "optout", "blacklist"]
    assert refused[8:] == ["credit", "credit"]
    assert Account.of(world).balance == 0


def test_a_sub_key_runs_out() -> None:
    """Two segments are paid for, the third is not; the parent and the key that shares go on."""
    world = play("sub-key-runs-out")
    shop, desk, robot = (Account.of(world).keys[f"test-w~{name}"] for name in ("shop", "desk", "robot"))
    sent = [send_one(world, key=key) for key in (shop, shop, shop, desk, robot, Account.of(world).keys["test-w"])]
    advance(world, HOUR)
    assert [message.result for message in sent] == ["delivered"] * 2 + ["rejected"] + ["delivered"] * 3
    assert (robot.scope, Account.of(world).balance) == ("api", 9_700_000)
