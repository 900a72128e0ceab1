"""The text of a step: conversion, short links, segments (§2.1, §2.2; A61, A78)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.messaging.content.text import prepare, text_of, text_shown
from sendbox.services.messaging.model import Send, Shortening
from sendbox.services.messaging.records import Attempt, Message, Request, Submission
from sendbox.services.templates.templates import TemplateUse
from tests.core.worlds import PHONE, advance, command, make_world, send, send_one, step

URL = "https://acme.example/a"


def submission_of(world: World, one: Send, operation: str = "sendMessage") -> Submission:
    """A submission that no world has accepted."""
    return Submission(one, operation, Account.of(world).keys[world.id], Request(world.naming, b"", 0), 0, 0, b"")


def count(one: Send, operation: str = "sendMessage") -> int:
    """The segments of the first step of a Message object."""
    world = make_world()
    return prepare(submission_of(world, one, operation), 0, one.steps[0], Account.of(world)).count


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        pytest.param("", 1, id="empty"),
        pytest.param("a" * 160, 1, id="160 of GSM-7"),
        pytest.param("a" * 161, 2, id="161 of GSM-7"),
        pytest.param("€" * 80, 1, id="each of these counts twice"),
        pytest.param("ž" * 70, 1, id="70 of UCS-2"),
        pytest.param("a" * 70 + "ž", 2, id="one letter makes it UCS-2"),
    ],
)
def test_s6_count_is_the_number_of_billed_segments(text: str, segments: int) -> None:
    """An sms counts 160 or 153 septets a segment, or 70 or 67 units where a letter is not of the alphabet."""
    assert count(command(body=text)) == segments


@pytest.mark.parametrize("channel", ["richmsg", "chatapp_text"])
def test_other_channels_count_once(channel: str) -> None:
    """Only sms has segments."""
    assert count(command(steps=[step(channel, "ž" * 1000)])) == 1


@pytest.mark.parametrize(
    ("kind", "text", "expected", "segments"),
    [
        pytest.param("utf", "ž" * 71, "ž" * 71, 2, id="utf keeps"),
        pytest.param("sms", "ž" * 71, "z" * 71, 1, id="sms converts"),
        pytest.param("sms", "Ahoj 😀!", "Ahoj !", 1, id="sms removes"),
    ],
)
def test_s2_2_type_sms_converts_or_removes_unicode(kind: str, text: str, expected: str, segments: int) -> None:
    """`utf` keeps unicode characters; `sms` converts or removes them to keep the capacity of the sms."""
    world = make_world()
    message = send_one(world, steps=[step(body=text, type=kind)])
    advance(world)
    assert message.last is not None
    assert (text_shown(message.last, Account.of(world)), message.last.count) == (expected, segments)


def test_a_body_may_be_missing() -> None:
    """A step without a body, which no legal request makes, counts as an empty one."""
    assert count(command(steps=[step(body=None)])) == 1


# --- short links


@pytest.mark.parametrize("kind", ["utf", "sms"])
def test_s2_1_links_are_replaced_by_short_ones(kind: str) -> None:
    """Each link of the body becomes a short one of its own; the rest of the text stays, or is converted."""
    world = make_world()
    text = f"Žena: {URL} a {URL}?x=1!"
    message = send_one(world, steps=[step(body=text, type=kind)], shortening=Shortening())
    advance(world)
    first, second = message.reactions.links[0]
    woman = "Zena" if kind == "sms" else "Žena"
    assert message.last is not None
    assert text_shown(message.last, Account.of(world)) == f"{woman}: {first.url} a {second.url}!"
    assert (first.target, second.target) == (URL, f"{URL}?x=1")
    assert first.url != second.url


def test_s2_1_type_all_shortens_domains_too() -> None:
    """`full` leaves a bare domain alone, `all` replaces it by a link to its http address."""
    world = make_world()
    for kind, links in [("full", []), ("all", ["http://acme.com"])]:
        message = send_one(world, body="See acme.com", shortening=Shortening(type=kind))  # type: ignore[arg-type]
        advance(world)
        assert [link.target for link in message.reactions.links.get(0, [])] == links


def test_links_are_left_alone_without_url_parameters() -> None:
    """Without `params._url` the text goes out as it is, private-use characters included."""
    world = make_world()
    text = f"\ue000 {URL}"
    message = send_one(world, body=text)
    advance(world)
    assert message.last is not None
    assert text_shown(message.last, Account.of(world)) == text
    assert message.reactions.links == {}


def test_a_mark_in_the_body_is_no_link() -> None:
    """The character that stands for a link inside is dropped from a body whose links are shortened."""
    world = make_world()
    message = send_one(world, body=f"\ue000 {URL}", shortening=Shortening())
    advance(world)
    assert message.last is not None
    assert text_shown(message.last, Account.of(world)) == f" {message.reactions.links[0][0].url}"


def test_every_recipient_has_links_of_its_own() -> None:
    """The text is prepared once for all recipients, its links are made for each."""
    world = make_world()
    messages = send(world, PHONE, "420777000200", body=URL, shortening=Shortening())
    advance(world)
    texts = {text_shown(message.last, Account.of(world)) for message in messages if message.last is not None}
    assert len(texts) == 2


def test_a_refused_attempt_shows_the_long_links() -> None:
    """What was never handed over has no short links: its text shows where they would have led."""
    world = make_world(account=AccountSpec(credit=0))
    message = send_one(world, body=f"See {URL}.", shortening=Shortening())
    advance(world)
    assert message.last is not None
    assert text_shown(message.last, Account.of(world)) == f"See {URL}."


# A text of 160 septets in which the link counts as 24 (A78), and one character more.
FITTING: list[Any] = [
    pytest.param(Shortening(), 160 - 24, "sendMessage", id="24 characters"),
    pytest.param(Shortening(enhance=True), 160 - 24 - 39, "sendMessage", id="with the query of get_enhance"),
    pytest.param(Shortening(enhance=True, name="ref"), 160 - 24 - 41, "sendMessage", id="with its name"),
    pytest.param(Shortening(enhance=True, name="a b"), 160 - 24 - 43, "sendMessage", id="with its name, quoted"),
    pytest.param(Shortening(enhance=True), 160 - 24 - 41, "sendMessages", id="with the id of one of several"),
]


@pytest.mark.parametrize(("shortening", "room", "operation"), FITTING)
def test_a78_a_short_link_counts_24_characters(shortening: Shortening, room: int, operation: str) -> None:
    """A short link counts 24 characters, whatever its length, plus the query with the message's id."""
    texts = [f"{'x' * (size - 1)} {URL}" for size in (room, room + 1)]
    assert [count(command(body=text, shortening=shortening), operation) for text in texts] == [1, 2]


# --- templates

RECORD = {
    "name": "t",
    "language": "en",
    "category": "UTILITY",
    "status": "APPROVED",
    "components": [{"type": "BODY", "text": f"Dear {{{{1}}}}, see {URL}"}],
}


def test_s2_2_a_template_is_the_content_of_its_step() -> None:
    """The text is the template's with its variables filled; it counts once and its links stay as approved."""
    world = make_world(account=AccountSpec(templates=(RECORD,)))
    use = TemplateUse("t", "en", params=["Jana"])
    message = send_one(world, steps=[step("chatapp_template", None, template=use)], shortening=Shortening())
    advance(world)
    assert message.last is not None
    assert text_shown(message.last, Account.of(world)) == f"Dear Jana, see {URL}"
    assert (message.last.count, message.reactions.links) == (1, {})


def test_a_template_that_is_not_there_has_no_text() -> None:
    """The text of an attempt whose template is unknown is empty."""
    world = make_world()
    one = command(steps=[step("chatapp_template", None, template=TemplateUse("t", "en"))])
    submission = submission_of(world, one)
    attempt = Attempt(Message(submission, 0, PHONE, True))
    assert text_of(attempt, prepare(submission, 0, one.steps[0], Account.of(world))) == ""
