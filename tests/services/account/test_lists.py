"""Blacklist and opt-out list, as a client adds to them."""

from __future__ import annotations

import pytest

from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.http import MAX_WRONG_LINES, ListChange, ListName, enter_numbers
from tests.core.worlds import START, advance, journaled, make_world, send_one


def listed(world: World, text: str, name: ListName = "blacklist") -> ListChange:
    """Enters a text to its end."""
    work = enter_numbers(world, name, Account.of(world), text)
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: ListChange = done.value
            return result


@pytest.mark.parametrize(
    ("text", "expected", "numbers"),
    [
        pytest.param("420777000101", ListChange(1, []), ["420777000101"], id="international"),
        pytest.param("777000101", ListChange(1, []), ["420777000101"], id="czech-mobile-gets-420"),
        pytest.param("+420 777 000 101", ListChange(1, []), ["420777000101"], id="plus-and-spaces"),
        pytest.param("00420777000101", ListChange(1, []), ["420777000101"], id="two-zeros"),
        pytest.param(
            "420777000101\n420777000102", ListChange(2, []), ["420777000101", "420777000102"], id="line-feeds"
        ),
        pytest.param("420777000101\r\n420777000102\r", ListChange(2, []), ["420777000101", "420777000102"], id="crlf"),
        pytest.param("\n \n420777000101\n\n", ListChange(1, []), ["420777000101"], id="blank-lines-count-for-nothing"),
        pytest.param("777000101\n420777000101", ListChange(2, []), ["420777000101"], id="one-number-twice"),
        pytest.param(
            "abc\n420777000101\n 12 ", ListChange(1, ["abc", "12"]), ["420777000101"], id="lines-that-are-none"
        ),
        pytest.param("420777000101,420777000102", ListChange(0, ["420777000101,420777000102"]), [], id="no-commas"),
        pytest.param("", ListChange(0, []), [], id="nothing"),
    ],
)
def test_s2_5_numbers_are_normalized_on_entry(text: str, expected: ListChange, numbers: list[str]) -> None:
    """§2.5: normalized; `accepted` counts the lines that are numbers, `invalid` holds the others as they came."""
    world = make_world()
    assert listed(world, text)[:2] == expected[:2]
    assert list(Account.of(world).blacklist) == numbers
    assert journaled(world, "listed") == ([(0, ("blacklist", "default", tuple(numbers)))] if numbers else [])


def test_s4_4_entries_act_a_second_later() -> None:
    """§4.4, A81: what is handed over before the delay has passed goes out, what comes after is refused."""
    world = make_world()
    listed(world, "420777000101")
    early = send_one(world, "420777000101")
    advance(world, 999)
    later = send_one(world, "420777000101")
    advance(world, 0)
    advance(world, 1)
    refused = send_one(world, "420777000101")
    advance(world, 10_000)
    assert [message.result for message in (early, later, refused)] == ["delivered", "delivered", "rejected"]


def test_s2_1_the_optout_list_concerns_promotional_messages() -> None:
    """§2.1: a number that opted out still gets what is not promotional."""
    world = make_world()
    listed(world, "420777000101", "optout")
    advance(world, 1_000)
    sent = [send_one(world, "420777000101", tags=tags) for tags in (("promotional",), ("transactional",))]
    advance(world, 10_000)
    assert [message.result for message in sent] == ["rejected", "delivered"]


def test_an_entry_in_force_stays_in_force() -> None:
    """A number that is listed already is not put off by another call."""
    world = make_world()
    listed(world, "420777000101")
    advance(world, 500)
    listed(world, "420777000101")
    assert Account.of(world).blacklist == {"420777000101": START + 1_000}
    assert len(journaled(world, "listed")) == 1


def test_long_lists_are_read_in_slices() -> None:
    """Two hundred lines are read between two pauses, so that a long list holds nobody up."""
    world = make_world()
    work = enter_numbers(
        world, "optout", Account.of(world), "\n".join(f"4207770{number:05}" for number in range(1_000))
    )
    assert sum(1 for _ in work) == 5
    assert len(Account.of(world).optout) == 1_000


def test_lines_in_another_form_are_named() -> None:
    """Each of the first ten with the number that it became, so that a misread one is seen."""
    lines = [
        "420777000101",
        "+420 777 123 xyz",
        *(f"00420 777 000 2{number:02}" for number in range(MAX_WRONG_LINES + 1)),
    ]
    converted = listed(make_world(), "\n".join(lines)).converted
    assert converted[:2] == (("+420 777 123 xyz", "420777123"), ("00420 777 000 200", "420777000200"))
    assert len(converted) == MAX_WRONG_LINES
