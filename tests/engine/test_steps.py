"""Conditions of messages and sends hold for one and the same step of a flow that was tried."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.world import World
from sendbox.playing import play
from tests.core.observed import verdict
from tests.scenarios import load

#: To …101 a template that falls back to sms, to …102 a rich message that arrives, to …103 an sms next week.
FLOWS: Final = """
sendbox: 1
account:
  templates:
    - {name: ready, language: en, category: UTILITY, status: APPROVED, components: [{type: BODY, text: It is ready}]}
attempts:
  - {when: {channel: chatapp_template}, then: undelivered}
  - {then: delivered}
traffic:
  - at: 1m
    request:
      operation: sendMessage
      body:
        to: [{phone_number: "420777000101"}]
        tag: order
        flow:
          - chatapp_template: {template_name: ready, language: en, sender: "420900000001"}
          - sms: {sender: Acme, body: Your order is on its way}
  - at: 2m
    request:
      operation: sendMessage
      body:
        to: [{phone_number: "420777000102"}]
        tag: card
        flow:
          - richmsg: {sender: Acme, body: "Paid with 4000123456789010"}
          - sms: {sender: Acme, body: Paid}
  - at: 3m
    request:
      operation: sendMessage
      body: {to: [{phone_number: "420777000103"}], tag: later, body: Next week, datetime: "2027-03-10T09:00:00Z"}
"""


@pytest.fixture(scope="module")
def world() -> World:
    return play(FLOWS).world


def judged(world: World, entry: dict[str, Any]) -> dict[str, Any]:
    """The view of one expectation."""
    (view,) = verdict(world, load({"sendbox": 1, "expect": [entry]}).expect)["expectations"]
    return dict(view)


@pytest.mark.parametrize("that", ["messages", "sends"])
@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({"channel": "chatapp_template"}, 1),
        ({"channel": "sms"}, 2),
        ({"channel": ["chatapp_template", "sms"]}, 2),
        ({"body": "*4000123456789010*"}, 1),
        ({"body": "Paid"}, 0),
        ({"sender": "420900000001"}, 1),
        ({"result": "undelivered"}, 1),
        ({"channel": "chatapp_template", "result": "undelivered"}, 1),
        ({"channel": "chatapp_template", "result": "delivered"}, 0),
        ({"channel": "sms", "sender": "420900000001"}, 0),
        ({"tried": {"channel": "chatapp_template"}, "channel": "sms"}, 1),
        ({"tried": {"channel": "sms", "result": "delivered"}}, 1),
        ({"last": {"channel": "chatapp_template"}}, 0),
        ({"last": {"channel": "sms"}}, 2),
        ({"last": {"not": {"channel": "sms"}}}, 1),
        ({"delivered": {"channel": "sms"}}, 1),
        ({"delivered": {"channel": ["sms", "richmsg"]}}, 2),
        ({"delivered": {"channel": "sms"}, "last": {"sender": "Acme"}, "tag": "order"}, 1),
        ({"tag": "later", "delivered": {"channel": "sms"}}, 0),
        ({"tag": "later", "channel": "sms", "result": "accepted"}, 1),
        ({"not": {"channel": "chatapp_template"}}, 2),
        ({"not": {"channel": "chatapp_template", "result": "delivered"}}, 3),
        ({"not": {"delivered": {"result": "delivered"}}}, 1),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_which_steps_count(world: World, that: str, where: dict[str, Any], count: int) -> None:
    """Each step that was tried is asked, by `last` the last one, by `delivered` the one that arrived; all conditions
    hold for the same one."""
    view = judged(world, {"that": that, "where": where, "count": count})
    assert (view["found"], view["passed"]) == (count, True)


def test_the_step_that_counts_is_named(world: World) -> None:
    """A message that should not count is explained by its step, not by the one that arrived."""
    view = judged(world, {"that": "sends", "where": {"channel": "chatapp_template"}, "count": 0})
    assert [near["why_not"] for near in view["nearest"]] == [
        "it counts by attempt 1 to 420777000101 by chatapp_template: undelivered, and makes too many: wanted none"
    ]


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"tag": "order", "delivered": {"channel": "richmsg"}}, 'delivered: channel is "sms", wanted "richmsg"'),
        (
            {"phone": "420777000103", "delivered": {"channel": "sms"}},
            'nothing of it is delivered, wanted delivered (channel "sms")',
        ),
        ({"tag": "card", "last": {"result": "undelivered"}}, 'last: result is "delivered", wanted "undelivered"'),
        ({"tag": "order", "channel": "sms", "result": "undelivered"}, 'result is "delivered", wanted "undelivered"'),
    ],
    ids=str,
)
def test_why_a_step_does_not_count(world: World, where: dict[str, Any], why: str) -> None:
    """The difference comes first, with the word of the step that was asked."""
    assert judged(world, {"that": "messages", "where": where})["nearest"][0]["why_not"] == why


def test_messages_belong_to_what_each_step_says(world: World) -> None:
    """With `each` a text and a channel are those of one step, and a share asks its population on its own."""
    view = judged(world, {"that": "messages", "each": ["channel", "body"], "among": {"tag": ["order", "card"]}})
    assert view["subjects"]["found"] == 2  # a template has no text
    share = {"that": "messages", "among": {"channel": "chatapp_template"}, "where": {"delivered": {"channel": "sms"}}}
    assert judged(world, {**share, "at_least": "100%"})["passed"]
