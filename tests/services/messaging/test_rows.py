"""Message rows and message status: true to what happened, paged by the day."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec, SubKeySpec
from sendbox.services.http.rest import decimal
from sendbox.services.messaging.http.rest import listing
from sendbox.services.messaging.http.rest.listing import PAGE, Filter, Page, cursor, place_of, row, status
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.messaging.records import Message
from tests.core.worlds import PHONE, START, advance, make_world, path, rule, send, send_one, step

DAY = 86_400_000
#: Midnight before the worlds' start.
TODAY = START - START % DAY
EMPTY = dict.fromkeys(("ts_sent", "ts_delivered", "ts_clicked", "ts_seen", "ts_replied", "ts_optout"))
FLAGS = ("sent", "delivered", "seen", "clicked", "replied", "optout", "nondelivered")


def read(world: World, day: int = TODAY, wanted: Filter | None = None, after: int = -1) -> Page:
    """A page, made to its end."""
    work = listing.page(world, day, wanted or Filter(Account.of(world)), after)
    while True:
        try:
            next(work)
        except StopIteration as done:
            found: Page = done.value
            return found


def raised(shown: dict[str, Any]) -> set[str]:
    """The flags of a row that are 1; the others are 0."""
    assert {shown[name] for name in FLAGS} <= {0, 1}
    return {name for name in FLAGS if shown[name]}


def phones(page: Page) -> list[str]:
    """Whose rows they are."""
    return [each["phone_number"] for each in page.rows]


def test_s2_4_every_field_of_a_row() -> None:
    """§2.4: a delivered sms, field by field."""
    world = make_world()
    message = send_one(world, body="Hello", steps=[step(sender="Acme")])
    advance(world, 10_000)
    assert row(world, message) == {
        **EMPTY,
        "message_id": message.id,
        "message_parts": 1,
        "ts_sent": "2026-03-01T09:00:01.000Z",
        "ts_delivered": "2026-03-01T09:00:03.000Z",
        "ts_updated": "2026-03-01T09:00:03.000Z",
        "sent": 1,
        "delivered": 1,
        "seen": 0,
        "clicked": 0,
        "replied": 0,
        "optout": 0,
        "nondelivered": 0,
        "body": "Hello",
        "flow": "sms",
        "sender": "Acme",
        "phone_number": PHONE,
        "price_czk": "0.90",
        "price_eur": "0.036",
    }


def test_s2_4_what_the_phone_does_is_in_the_row() -> None:
    """§2.4: seen, clicked, replied and opted out, each with its own instant; `ts_updated` is the newest."""
    world = make_world()
    message = send_one(world, steps=[step("richmsg", "See https://acme.example/a")], shortening=Shortening())
    advance(world, 10_000)
    for act in (
        lambda: Messaging.of(world).phones.see(message),
        lambda: Messaging.of(world).phones.click(message),
        lambda: Messaging.of(world).phones.reply(message, "Why?"),
        lambda: Messaging.of(world).phones.reply(message, "STOP"),
    ):
        advance(world, 1_000)
        act()
    shown = row(world, message)
    assert raised(shown) == {"sent", "delivered", "seen", "clicked", "replied", "optout"}
    assert [shown[f"ts_{name}"][17:19] for name in ("seen", "clicked", "replied", "optout", "updated")] == [
        "11", "12", "13", "14", "14",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("result", "flags"),
    [
        pytest.param("sending", set(), id="on-its-way"),
        pytest.param("sent", {"sent"}, id="sent"),
        pytest.param("delivered", {"sent", "delivered"}, id="delivered"),
        pytest.param("undelivered", {"sent", "nondelivered"}, id="undelivered"),
        pytest.param("rejected", {"nondelivered"}, id="rejected"),
        pytest.param("failed", {"nondelivered"}, id="failed"),
    ],
)
def test_s2_4_flags_follow_the_result(result: str, flags: set[str]) -> None:
    """§2.4: the flags of each result; a time is there exactly where its flag is."""
    world = make_world(attempts=(rule(result),))
    message = send_one(world)
    advance(world, 10_000)
    shown = row(world, message)
    assert raised(shown) == flags
    assert {name for name in ("sent", "delivered", "seen") if shown[f"ts_{name}"]} == flags - {"nondelivered"}


def test_a65_a_row_shows_the_attempt_that_got_further() -> None:
    """The last attempt, or an earlier one that got further; flags and times are those of all attempts."""
    lost = (rule("undelivered", key="rich", when=_on("richmsg")),)
    world = make_world(attempts=lost)
    message = send_one(world, steps=[step("richmsg", "Rich"), step(body="Plain")])
    advance(world, 60_000)
    shown = row(world, message)
    assert (shown["flow"], shown["body"], shown["price_eur"]) == ("sms", "Plain", "0.036")
    assert raised(shown) == {"sent", "delivered", "nondelivered"}
    assert shown["ts_sent"] == "2026-03-01T09:00:01.000Z"
    late = make_world(
        attempts=(
            rule(path("sending", ("sent", 1), ("delivered", 90_000)), key="r", when=_on("richmsg")),
            rule("failed"),
        )
    )
    message = send_one(late, steps=[step("richmsg", "Rich", ttl=60_000), step(body="Plain")])
    advance(late, 200_000)
    assert row(late, message)["flow"] == "richmsg"


def _on(channel: str) -> Any:
    from sendbox.engine.rules.rule import When

    return When(channel=(channel,))


def test_a71_the_day_is_that_of_the_hand_over() -> None:
    """A scheduled message has its row on the day it goes out; one that waits has none."""
    world = make_world()
    send(world, "420777000101", at=START + DAY)
    send(world, "420777000102")
    advance(world, 1_000)
    assert phones(read(world)) == ["420777000102"]
    advance(world, DAY)
    assert phones(read(world)) == ["420777000102"]
    assert phones(read(world, TODAY + DAY)) == ["420777000101"]
    assert read(world, TODAY - DAY) == Page([], None)


def test_a71_midnight_belongs_to_the_new_day() -> None:
    """The last millisecond of a day and the first of the next."""
    world = make_world(start=TODAY + DAY - 1)
    send(world, "420777000101")
    advance(world, 0)
    advance(world, 1)
    send(world, "420777000102")
    advance(world, 0)
    assert [phones(read(world, day)) for day in (TODAY, TODAY + DAY)] == [["420777000101"], ["420777000102"]]


@pytest.mark.parametrize(("count", "pages"), [(99, [99]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])])
def test_a71_pages_of_a_hundred(count: int, pages: list[int]) -> None:
    """A hundred rows are one page without a next cursor, the next row begins a second one."""
    world = make_world()
    sent = [send_one(world, f"4207770{number:05}") for number in range(count)]
    advance(world, 0)
    found, sizes, after = [], [], -1
    while True:
        page = read(world, after=after)
        sizes.append(len(page.rows))
        found += [each["message_id"] for each in page.rows]
        if page.cursor is None:
            break
        place = place_of(world, TODAY, page.cursor)
        assert place is not None
        after = place
    assert sizes == pages
    assert found == [message.id for message in sent]


def test_s4_4_paging_is_stable_while_messages_arrive() -> None:
    """§4.4: rows that come while somebody pages come at the end, and no row is seen twice or missed."""
    world = make_world()
    for number in range(PAGE + 10):
        send(world, f"4207770{number:05}")
    advance(world, 0)
    first = read(world)
    for number in range(5):
        send(world, f"4207771{number:05}")
    advance(world, 5_000)
    assert phones(read(world)) == phones(first)
    assert first.cursor is not None
    rest = read(world, after=place_of(world, TODAY, first.cursor) or 0)
    assert len(rest.rows) == 15
    assert len({*phones(first), *phones(rest)}) == PAGE + 15


def test_s4_4_cursors_are_this_worlds_and_this_days() -> None:
    """A cursor of another day, another world, or nobody, names nothing."""
    world, other = make_world("test-a"), make_world("test-b")
    made = cursor(world, TODAY, 7)
    assert place_of(world, TODAY, made) == 7
    assert place_of(world, TODAY + DAY, made) is None
    assert place_of(other, TODAY, made) is None
    assert [place_of(world, TODAY, text) for text in ("", "x", "AAAA", "é")] == [None] * 4


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param(("a", "b"), ["420777000101"], id="the-whole-set"),
        pytest.param(("a",), ["420777000102"], id="not-a-part-of-it"),
        pytest.param(("promotional",), ["420777000103"], id="the-default-tag"),
        pytest.param(("a", "b", "c"), [], id="nor-more"),
        pytest.param(None, ["420777000101", "420777000102", "420777000103"], id="no-filter"),
    ],
)
def test_s4_4_tags_are_compared_as_whole_sorted_sets(wanted: tuple[str, ...] | None, expected: list[str]) -> None:
    """§4.4, A60: the order of a message's tags does not count, each of them does."""
    world = make_world()
    send(world, "420777000101", tags=("b", "a"))
    send(world, "420777000102", tags=("a",))
    send(world, "420777000103")
    advance(world, 0)
    assert phones(read(world, wanted=Filter(Account.of(world), wanted))) == expected


def test_s4_4_filters_of_phone_and_subaccount() -> None:
    """§4.4, A70: rows of one phone; rows of the sub-account, and of no other."""
    world = make_world(
        account=AccountSpec(subkeys=(SubKeySpec("own", credit=10**9), SubKeySpec("shared", shared=True)))
    )
    own = Account.of(world).keys["test-w~own"]
    assert own.billing is not None
    send(world, "420777000101", "420777000102")
    send(world, "420777000103", key=own)
    send(world, "420777000104", key=Account.of(world).keys["test-w~shared"])
    advance(world, 0)
    assert phones(read(world)) == ["420777000101", "420777000102", "420777000104"]
    assert phones(read(world, wanted=Filter(Account.of(world), phone="420777000102"))) == ["420777000102"]
    assert phones(read(world, wanted=Filter(own.billing))) == ["420777000103"]


def test_long_days_are_read_in_slices() -> None:
    """Five hundred messages are looked at between two pauses, sixteen rows made."""
    world = make_world()
    for number in range(110):
        send(world, *(f"42077{number:04}{index:03}" for index in range(10)))
    advance(world, 0)
    pauses = listing.page(world, TODAY, Filter(Account.of(world), phone="1"))
    assert sum(1 for _ in pauses) == 2
    assert sum(1 for _ in listing.page(world, TODAY, Filter(Account.of(world)))) == 6


def test_a73_a_code_has_no_row() -> None:
    """The SMS of a validation session is no message of the account's."""
    world = make_world()
    send(world, operation="createValidation")
    advance(world, 0)
    assert read(world).rows == []


# One message


def known(world: World, message: Message) -> tuple[Any, ...]:
    """What a status says of how far it got."""
    shown = status(world, message)
    codes = {name: shown[name] for name in ("status_code", "delivery_code")}
    assert shown["flow_status"] == {"0": codes}
    return *codes.values(), shown["status_info"]


@pytest.mark.parametrize(
    ("result", "channel", "expected"),
    [
        pytest.param("sending", "sms", (None, None, None), id="sending"),
        pytest.param("sent", "sms", ("200", None, "Sent"), id="sent"),
        pytest.param("delivered", "sms", ("200", "201", "Delivered"), id="delivered"),
        pytest.param("seen", "richmsg", ("200", "202", None), id="seen"),
        pytest.param("undelivered", "sms", ("200", "1", "Undelivered"), id="undelivered"),
        pytest.param("rejected", "sms", ("2", None, "Rejected"), id="rejected"),
        pytest.param("failed", "sms", ("3", None, "Failed"), id="failed"),
        pytest.param(path(("failed", 0, "[368]")), "sms", ("368", None, None), id="a-code-only"),
        pytest.param(
            path(("failed", 0, "Unauthorized error")),
            "sms",
            ("3", None, "Unauthorized error"),
            id="text-only",
        ),
    ],
)
def test_a30_codes(result: Any, channel: str, expected: tuple[Any, ...]) -> None:
    """Strings or null: the sending, the delivery, and the text of `result_info` without its code (§7.3, A29)."""
    world = make_world(attempts=(rule(result),))
    message = send_one(world, steps=[step(channel)])
    advance(world, 60_000)
    assert known(world, message) == expected


@pytest.mark.parametrize(
    ("numbers", "fields", "code"),
    [
        pytest.param(("abc",), {}, "302", id="number"),
        pytest.param((PHONE,), {"blacklist": frozenset({PHONE})}, "304", id="blacklist"),
        pytest.param((PHONE,), {"optout": frozenset({PHONE})}, "304", id="optout"),
        pytest.param((PHONE,), {"credit": 0}, "307", id="credit"),
    ],
)
def test_a30_a_refusal_carries_the_code_of_its_info(numbers: tuple[str], fields: dict[str, Any], code: str) -> None:
    """§7.3: the number in brackets."""
    world = make_world(account=AccountSpec(**fields))
    message = send_one(world, *numbers)
    advance(world, 0)
    assert known(world, message)[:2] == (code, None)


def test_a29_a_message_that_waits() -> None:
    """Before the hand-over everything about the attempt is null."""
    world = make_world()
    message = send_one(world, steps=[step("richmsg", "Rich"), step()], at=START + DAY, tags=("a", "b"))
    advance(world, 0)
    shown = status(world, message)
    del shown["flow"]  # the request's own, which these worlds are not given
    assert shown == {
        "status_code": None,
        "delivery_code": None,
        "status_info": None,
        "tag": "a,b",
        "body": "Rich",
        "to": {"phone_number": PHONE},
        "request_id": message.submission.request_id,
        "ts_created": "2026-03-01T09:00:00.000Z",
        **{f"ts_{name}": None for name in ("sent", "delivered", "seen", "clicked", "updated")},
        "flow_index": None,
        "flow_status": {},
        "price": None,
    }


def test_a29_the_step_and_the_price_that_are_shown() -> None:
    """`flow_index` counts from 0, `flow_status` has every step that was tried; the price is in the key's currency."""
    world = make_world(
        account=AccountSpec(subkeys=(SubKeySpec("own", currency="CZK", credit=10**9),)),
        attempts=(rule("failed", key="rich", when=_on("richmsg")),),
    )
    both = [step("richmsg", "Rich"), step()]
    messages = [send_one(world, steps=both), send_one(world, steps=both, key=Account.of(world).keys["test-w~own"])]
    advance(world, 60_000)
    shown = [status(world, message) for message in messages]
    assert [(each["flow_index"], each["price"]) for each in shown] == [("1", 0.036), ("1", 0.9)]
    failed = {"status_code": "3", "delivery_code": None}
    assert shown[0]["flow_status"] == {"0": failed, "1": {"status_code": "200", "delivery_code": "201"}}


@pytest.mark.parametrize(
    ("millionths", "text"),
    [(0, "0.00"), (900_000, "0.90"), (36_000, "0.036"), (12_345_678, "12.345678"), (10**6, "1.00")],
)
def test_s2_4_prices_are_decimal_strings(millionths: int, text: str) -> None:
    """§2.4: a decimal number in a string, never in powers of ten."""
    assert decimal(millionths) == text
