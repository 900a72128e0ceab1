"""The suite that the authors of the shop would write. It holds whatever the service is allowed to do."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest

from sendbox.fixture import Sandbox
from sendbox.services.messaging.answers import Message
from tests.explore.zoo.shop import Shop

pytestmark = pytest.mark.sendbox(clock={"start": "2026-03-02T09:00:00Z"})

JANA = "420777000101"
PETR = "420777000201"


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
    code = sendbox.codes(phone=JANA)[0].code
    assert _entered(shop, passes, "0" + code[:5] if code[0] != "0" else "1" + code[:5]) == "wrong"
    assert _entered(shop, passes, code) == "welcome"


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
    for number in range(8):
        shop.offer(f"O-{number}", f"42077700{number}101")
        passes("3h")
    ends()
    for message in sendbox.messages():
        assert 8 <= message.accepted_at.astimezone(ZoneInfo("Europe/Prague")).hour < 22
