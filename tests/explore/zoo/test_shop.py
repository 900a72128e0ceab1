"""The suite that the authors of the shop would write. It holds whatever the service is allowed to do."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest

from sendbox.fixture import Sandbox
from sendbox.services.messaging.answers import Message
from tests.explore.zoo.shop import SECRET, Shop

pytestmark = pytest.mark.sendbox(clock={"start": "2026-03-02T09:00:00Z"})

JANA = "420777000101"
PETR = "420777000201"
WRONG = "12"


def named(sendbox: Sandbox, order: str) -> list[Message]:
    """What the service took about an order."""
    return [message for message in sendbox.messages() if order in message.body]


def channels(message: Message) -> set[str]:
    """The channels by which it really arrived."""
    return {
        attempt.channel
        for attempt in message.attempts
        if any(reached.result in ("delivered", "seen") for reached in attempt.timeline)
    }


def test_a_notice_arrives(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """A notice is sent once, and the page shows what became of it."""
    shop.notify("A-1", JANA)
    passes("5m")
    ends()
    (message,) = named(sendbox, "A-1")
    assert shop.channels("A-1") == channels(message)
    assert (shop.state("A-1") == "arrived") == bool(channels(message))


@pytest.mark.sendbox(
    scenario={"sendbox": 1, "extends": "default", "attempts": [{"when": {"channel": "richmsg"}, "then": "sent"}]}
)
def test_a_notice_falls_back(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """Where the app confirms nothing, an SMS goes out; what arrived by either is shown so."""
    shop.notify("A-1", JANA)
    passes("5m")
    ends()
    (message,) = named(sendbox, "A-1")
    assert (shop.state("A-1") == "arrived") == bool(channels(message))


def test_notices_of_several_customers(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """What happens to one customer's notice is not shown for another's."""
    shop.notify("A-1", JANA)
    passes("1m")
    shop.notify("A-2", PETR)
    ends()
    for order in ("A-1", "A-2"):
        (message,) = named(sendbox, order)
        assert shop.channels(order) == channels(message)


def test_each_reply_is_thanked_for_once(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """The shop keeps each reply of a customer, and thanks for each answer."""
    shop.ask("A-1", JANA)
    passes("1m")
    if sendbox.phone(JANA).inbox:
        sendbox.phone(JANA).reply("YES")
    ends()
    (question,) = named(sendbox, "A-1")
    written = [text for text in sendbox.phone(JANA).state.conversation if text.direction == "out"]
    answers = [
        text for text in written if text.message_id == question.message_id and text.body.upper() in ("YES", "NO")
    ]
    assert sorted(shop.said.get(JANA, [])) == sorted(text.body for text in written)
    assert len(named(sendbox, "Thank you")) == len(answers)


def test_offers_go_only_to_who_wants_them(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """Who wrote STOP gets no more offers."""
    for order in ("O-1", "O-2"):
        shop.offer(order, JANA)
        passes("1m")
    ends()
    assert (JANA in shop.stopped) == sendbox.phone(JANA).state.opted_out


def test_a_reminder_that_the_page_shows_was_taken(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """A reminder that the service did not take is shown as lost."""
    passes("1m")
    shop.remind("A-1", JANA)
    ends()
    assert len(named(sendbox, "A-1")) == (shop.notices["A-1"].state == "taken")


def test_a_customer_logs_in(
    shop: Shop, sendbox: Sandbox, ends: Callable[[], None], passes: Callable[[str], None]
) -> None:
    """The right code is taken, a wrong one is not."""
    shop.log_in(JANA)
    while shop.due is not None:
        passes("1m")
    token = shop.logins[JANA].token
    code = next(session.code for session in sendbox.codes(phone=JANA) if session.token == token)
    assert _entered(shop, passes, "0" + code[:5] if code[0] != "0" else "1" + code[:5]) == "wrong"
    assert _entered(shop, passes, code) == "welcome"


def test_each_order_has_a_code_of_its_own(
    shop: Shop, sendbox: Sandbox, ends: Callable[[], None], passes: Callable[[str], None]
) -> None:
    """A customer who orders twice is asked for two codes."""
    welcomed = 0
    for _ in range(2):
        shop.log_in(JANA)
        passes("1m")
        code = sendbox.codes(phone=JANA)[-1].code if sendbox.codes(phone=JANA) else "000000"
        welcomed += _entered(shop, passes, code) == "welcome"
        passes("1m")
    assert welcomed <= sum(code.state == "verified" for code in sendbox.codes(phone=JANA))


def _entered(shop: Shop, passes: Callable[[str], None], code: str) -> str:
    """What the page says in the end."""
    for _ in range(10):
        answer = shop.enter(JANA, code)
        if answer != "later":
            break
        passes("2s")
    return answer


def test_the_page_asks_for_a_code_as_long_as_it_is_valid(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None]
) -> None:
    """The page asks for a code until it expires, and not at all from then on."""
    shop.log_in(JANA)
    for time in ("5m", "4m", "2m"):
        passes(time)
        codes = sendbox.codes(phone=JANA)
        if codes and shop.due is None:
            assert shop.code_is_valid(JANA) == (codes[0].state in ("pending", "code_sent"))


def test_offers_come_by_day(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """No offer leaves between ten in the evening and eight in the morning, by the customers' clock."""
    for number in range(4):
        shop.offer(f"O-{number}", f"42077700{number}101")
        passes("3h")
    ends()
    for message in sendbox.messages():
        assert 8 <= message.accepted_at.astimezone(ZoneInfo("Europe/Prague")).hour < 22


def test_offers_keep_the_night(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """None leaves at night, whenever the day of the shop began."""
    for number in range(5):
        shop.offer(f"O-{number}", f"42077700{number}101")
        passes("7h")
    ends()
    for message in sendbox.messages():
        assert 8 <= message.accepted_at.astimezone(ZoneInfo("Europe/Prague")).hour < 22


def test_an_offer_that_waited_is_still_wanted(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """Who wrote STOP in the evening gets no offer in the morning."""
    shop.ask("A-1", JANA)
    passes("12h")
    shop.ask("A-2", JANA)
    shop.offer("O-1", JANA)
    passes("1h")
    wanted = not sendbox.phone(JANA).state.opted_out or bool(named(sendbox, "O-1"))
    ends()
    assert bool(named(sendbox, "O-1")) <= wanted


@pytest.mark.sendbox(scenario={"sendbox": 1, "extends": "default", "assume": {"bundle": False}})
def test_an_announcement_says_whom_it_cannot_reach(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """The page names the customers without a right number."""
    shop.announce("A-1", [JANA, WRONG, PETR])
    passes("1m")
    ends()
    reached = {message.phone for message in named(sendbox, "A-1") if channels(message)}
    assert WRONG in shop.missed("A-1")
    assert reached.isdisjoint(shop.missed("A-1"))


def test_receipts_are_counted(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """The shop pays by the receipt."""
    shop.notify("A-1", JANA)
    passes("5m")
    ends()
    (message,) = named(sendbox, "A-1")
    assert shop.receipts["A-1"] == sum(len(attempt.timeline) for attempt in message.attempts)


@pytest.mark.sendbox(scenario={"sendbox": 1, "extends": "default", "account": {"default_callback_secret": SECRET}})
def test_signed_receipts_are_taken(
    shop: Shop, sendbox: Sandbox, passes: Callable[[str], None], ends: Callable[[], None]
) -> None:
    """The page shows what the service says, and nobody else."""
    shop.signed = True
    shop.notify("A-1", JANA)
    passes("5m")
    ends()
    (message,) = named(sendbox, "A-1")
    assert shop.channels("A-1") == channels(message)
