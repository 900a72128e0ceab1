"""The clients of the zoo that have one bug each. The docstring says the bug, `family` what shows it, `test` where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, Final

import httpx

from tests.explore.zoo.shop import ARRIVED, Notice, Shop


class Bug(Shop):
    """A shop with a bug."""

    family: ClassVar[str] = "delivery"
    test: ClassVar[str] = "test_a_notice_arrives"


class NotIdempotent(Bug):
    """It takes a delivery that comes again for another one."""

    test = "test_each_reply_is_thanked_for_once"

    def is_new(self, delivery: str) -> bool:
        return True


class LastWins(Bug):
    """The last webhook wins, whatever it says."""

    def record(self, notice: Notice, channel: str, result: str) -> None:
        notice.results[channel] = result


class SentIsDelivered(Bug):
    """It takes `sent` for delivered."""

    family = "results"

    def has_it(self, result: str) -> bool:
        return result in ("sent", *ARRIVED)


class Resends(Bug):
    """It sends again at once what got no answer, without a look whether it was taken."""

    family = "calls"

    def unanswered(self, notice: Notice) -> None:
        again = self.submit(notice)
        notice.state = "taken" if again is not None and self.was_taken(again) else "queued"


class EarlyReplyIsLost(Bug):
    """A reply that comes before the receipt is lost."""

    family = "people"
    test = "test_each_reply_is_thanked_for_once"

    def wrote(self, phone: str, notice: Notice | None, text: str) -> None:
        if notice is None or self.channels(notice.order):
            super().wrote(phone, notice, text)


class IgnoresStop(Bug):
    """It goes on with offers after STOP."""

    family = "people"
    test = "test_offers_go_only_to_who_wants_them"

    def wants_no_more(self, text: str) -> bool:
        return False


class FirstOfBatch(Bug):
    """It reads only the first event of a delivery."""

    def events(self, body: bytes) -> Iterable[Mapping[str, Any]]:
        return list(super().events(body))[:1]


class FallbackOverwrites(Bug):
    """The receipt of one channel overwrites that of another."""

    family = "results"
    test = "test_a_notice_falls_back"

    def record(self, notice: Notice, channel: str, result: str) -> None:
        if channel not in notice.results:
            notice.results.clear()
        super().record(notice, channel, result)


class NoPause(Bug):
    """It repeats a call at once after a 429, three times, and gives up."""

    family = "calls"

    def too_many(self, notice: Notice, answer: httpx.Response) -> None:
        notice.state = "refused"
        for _ in range(3):
            again = self.submit(notice)
            if again is not None and self.was_taken(again):
                notice.state = "taken"
                return


class CreditIsSuccess(Bug):
    """It takes an answer of 200 for success, also where the credit has ended."""

    family = "account"
    test = "test_a_reminder_that_the_page_shows_was_taken"

    def was_taken(self, answer: httpx.Response) -> bool:
        return answer.is_success


class ExpiryOffByOne(Bug):
    """It asks for a code at the very instant at which it expires."""

    family = "time"
    test = "test_the_page_asks_for_a_code_as_long_as_it_is_valid"

    def is_open(self, expires: datetime) -> bool:
        return self.now() <= expires


class FixedOffset(Bug):
    """Its local time keeps the offset from UTC that it had when the shop was started."""

    family = "time"
    test = "test_offers_come_by_day"

    def __init__(self, http: httpx.Client, now: Callable[[], datetime]) -> None:
        super().__init__(http, now)
        offset = super().local(now()).utcoffset()
        self._zone = timezone(offset or timedelta())

    def local(self, instant: datetime) -> datetime:
        return instant.astimezone(self._zone)


#: The correct client, by its name in a test's id.
CORRECT: Final = "correct"
#: Every bug, in the order of the issue.
BUGS: Final[tuple[type[Bug], ...]] = (
    NotIdempotent,
    LastWins,
    SentIsDelivered,
    Resends,
    EarlyReplyIsLost,
    IgnoresStop,
    FirstOfBatch,
    FallbackOverwrites,
    NoPause,
    CreditIsSuccess,
    ExpiryOffByOne,
    FixedOffset,
)
