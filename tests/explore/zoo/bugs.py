"""The clients of the zoo that have one bug each.

The docstring says the bug, `test` the test of the suite that shows it, `kind` a kind of misfortune without which it is
not shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, ClassVar, Final

import httpx

from sendbox.exploring.families.table import FAMILIES
from tests.explore.zoo.shop import ARRIVED, Login, Notice, Shop


class Bug(Shop):
    """A shop with a bug."""

    test: ClassVar[str] = "test_a_notice_arrives"
    kind: ClassVar[str] = ""


class NotIdempotent(Bug):
    """It takes a delivery that comes again for another one."""

    test = "test_each_reply_is_thanked_for_once"

    def is_new(self, delivery: str) -> bool:
        return True

    def is_new_event(self, event: Mapping[str, Any]) -> bool:
        return True


class LastWins(Bug):
    """The last webhook wins, whatever it says."""

    def record(self, notice: Notice, channel: str, result: str) -> None:
        notice.results[channel] = result


class SentIsDelivered(Bug):
    """It takes `sent` for delivered."""

    def has_it(self, result: str) -> bool:
        return result in ("sent", *ARRIVED)


class Resends(Bug):
    """It sends again at once what got no answer, without a look whether it was taken."""

    def unanswered(self, notice: Notice, answer: httpx.Response | None) -> None:
        if answer is not None:
            super().unanswered(notice, answer)
            return
        again = self.submit(notice)
        notice.state = "taken" if again is not None and self.was_taken(again) else "queued"


class EarlyReplyIsLost(Bug):
    """A reply that comes before the receipt is lost."""

    test = "test_each_reply_is_thanked_for_once"

    def wrote(self, phone: str, notice: Notice | None, text: str) -> None:
        if notice is None or self.channels(notice.order):
            super().wrote(phone, notice, text)


class IgnoresStop(Bug):
    """It goes on with offers after STOP."""

    test = "test_offers_go_only_to_who_wants_them"

    def wants_no_more(self, text: str) -> bool:
        return False


class FirstOfBatch(Bug):
    """It reads only the first event of a delivery."""

    def events(self, body: bytes) -> Iterable[Mapping[str, Any]]:
        return list(super().events(body))[:1]


class FallbackOverwrites(Bug):
    """The receipt of one channel overwrites that of another."""

    test = "test_a_notice_falls_back"

    def record(self, notice: Notice, channel: str, result: str) -> None:
        if notice.kind == "notice" and channel not in notice.results:
            notice.results.clear()
        super().record(notice, channel, result)


class NoPause(Bug):
    """It repeats a call at once after a 429, three times, and gives up."""

    def too_many(self, notice: Notice, answer: httpx.Response) -> None:
        notice.state = "refused"
        for _ in range(3):
            again = self.submit(notice)
            if again is not None and self.was_taken(again):
                notice.state = "taken"
                return


class CreditIsSuccess(Bug):
    """It takes an answer of 200 for success, also where the credit has ended."""

    test = "test_a_reminder_that_the_page_shows_was_taken"

    def was_taken(self, answer: httpx.Response) -> bool:
        return answer.is_success


class ExpiryOffByOne(Bug):
    """It asks for a code at the very instant at which it expires."""

    test = "test_the_page_asks_for_a_code_as_long_as_it_is_valid"

    def is_open(self, expires: datetime) -> bool:
        return self.now() <= expires


class FixedOffset(Bug):
    """Its local time keeps the offset from UTC that it had when the shop was started."""

    test = "test_offers_come_by_day"

    def __init__(self, http: httpx.Client, now: Callable[[], datetime]) -> None:
        super().__init__(http, now)
        offset = super().local(now()).utcoffset()
        self._zone = timezone(offset or timedelta())

    def local(self, instant: datetime) -> datetime:
        return instant.astimezone(self._zone)


class OverwritesReceipts(Bug):
    """It stores the row of a message anew when its call is answered, over what a webhook has written meanwhile."""

    kind = "before answer"

    def taken(self, notice: Notice, answer: httpx.Response) -> None:
        notice.results.clear()
        super().taken(notice, answer)


class UnknownMessage(Bug):
    """It looks a webhook up by a message id that it stores when its call is answered, and crashes without one."""

    def __init__(self, http: httpx.Client, now: Callable[[], datetime]) -> None:
        super().__init__(http, now)
        self._orders: dict[str, Notice] = {}

    def taken(self, notice: Notice, answer: httpx.Response) -> None:
        if notice.kind != "reminder":
            self._orders.update((entry["message_id"], notice) for entry in answer.json()["accepted"])
        super().taken(notice, answer)

    def notice_of(self, event: Mapping[str, Any]) -> Notice | None:
        reminder = super().notice_of(event)
        return reminder if reminder and reminder.kind == "reminder" else self._orders[event["message_id"]]


class ErrorIsRefusal(Bug):
    """It takes an error of the server for a call that had no effect, and makes it again until it is taken."""

    def unanswered(self, notice: Notice, answer: httpx.Response | None) -> None:
        while answer is not None and not answer.is_success:
            answer = self.submit(notice)
        if answer is None:
            super().unanswered(notice, answer)
        else:
            notice.state = "taken"


class CodeReused(Bug):
    """It keeps the last session of a phone until it has a new one, so that one code verifies two orders."""

    test = "test_each_order_has_a_code_of_its_own"

    def login(self, phone: str) -> Login:
        login = super().login(phone)
        if phone in self.logins:
            login.token = self.logins[phone].token
            self._ask_for_code(login)
        return login


class QueuedOffer(Bug):
    """It looks at STOP when an offer is made, and not when one that has waited is sent."""

    test = "test_an_offer_that_waited_is_still_wanted"

    def is_wanted(self, notice: Notice) -> bool:
        return True


class ServerZone(Bug):
    """It keeps the night of its server, which is in UTC, and not that of its customers."""

    test = "test_offers_keep_the_night"

    def local(self, instant: datetime) -> datetime:
        return instant.astimezone(UTC)


class AllAccepted(Bug):
    """It takes an answer of 200 for all recipients, also where it refuses some."""

    test = "test_an_announcement_says_whom_it_cannot_reach"
    kind = "invalid_number"

    def refuse(self, notice: Notice, answer: httpx.Response) -> None:
        return


class CountsDeliveries(Bug):
    """It counts deliveries, and not the events in them."""

    test = "test_receipts_are_counted"

    def count(self, orders: Iterable[str]) -> None:
        self.receipts.update(set(orders))


class KnowsDeliveries(Bug):
    """It knows a delivery that comes again, and not an event that comes again in another delivery."""

    test = "test_receipts_are_counted"
    kind = "in two batches"

    def is_new_event(self, event: Mapping[str, Any]) -> bool:
        return True


class SignsAnew(Bug):
    """It checks the signature over the JSON that it has read and written again, and not over the bytes."""

    test = "test_signed_receipts_are_taken"
    kind = "other bytes"

    def is_genuine(self, body: bytes, signature: str) -> bool:
        text = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False)
        return super().is_genuine(text.encode(), signature)


class WholeSeconds(Bug):
    """It rounds the time to whole seconds, and no longer asks for a code in its last half second."""

    test = "test_the_page_asks_for_a_code_as_long_as_it_is_valid"

    def is_open(self, expires: datetime) -> bool:
        return (self.now() + timedelta(milliseconds=500)).replace(microsecond=0) < expires


class LatestNotice(Bug):
    """It takes each receipt for one of the notice that it sent last."""

    test = "test_notices_of_several_customers"

    def notice_of(self, event: Mapping[str, Any]) -> Notice | None:
        return list(self.notices.values())[-1]


#: The correct client, by its name in a test's id.
CORRECT: Final = "correct"
#: The names of all kinds of misfortune.
_KINDS: Final = {kind.name for kinds in FAMILIES.values() for kind in kinds}
#: Every bug, in the order in which they are documented, and those that a kind of misfortune shows.
ALL: Final[tuple[type[Bug], ...]] = tuple(Bug.__subclasses__())
BUGS: Final[tuple[type[Bug], ...]] = tuple(bug for bug in ALL if not bug.kind or bug.kind in _KINDS)
