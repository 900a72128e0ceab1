"""Verdicts beside what is expected: a client that made no call, and warnings, which `strict` makes failures."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.engine.digest import finished
from sendbox.engine.expect.verdict import expected_in_slices, lines, verdict_in_slices
from sendbox.engine.world import World
from sendbox.language import SUBJECTS
from sendbox.playing import play
from tests.core.observed import verdict
from tests.core.worlds import make_world, send, step
from tests.scenarios import load

NO_CALL: Final = {"that": "requests", "count": 0}
NONE: Final = {"that": "messages", "where": {"result": "failed"}, "count": 0}


def expected(*entries: dict[str, Any]) -> Any:
    """These entries of `expect`."""
    return load({"sendbox": 1, "expect": list(entries)}).expect


def with_call(world: World) -> dict[str, Any]:
    """The verdict on a world with what is expected of every client."""
    return verdict(world, finished(expected_in_slices(world, SUBJECTS)))


SILENT: Final = [
    pytest.param([NONE], False, id="no-message"),
    pytest.param([NONE, NONE], False, id="two"),
    pytest.param([{"that": "requests", "where": {"status": 500}, "count": 0}], False, id="no-such-call"),
    pytest.param([{"that": "requests", "within": "1h", "count": 0}], False, id="no-call-within-an-hour"),
    pytest.param([NONE, {"name": "silence", "that": "requests", "count": 0}], True, id="no-call"),
    pytest.param([], True, id="nothing-expected"),
]


@pytest.mark.parametrize(("entries", "passed"), SILENT)
def test_a_client_that_made_no_call_has_failed(entries: list[dict[str, Any]], passed: bool) -> None:
    """Whatever must not happen did not, but that proves nothing, unless it is said that no call is made."""
    judged = with_call(make_world(expect=expected(*entries)))
    assert judged["passed"] == passed
    assert ("the client made no call" in [view["why"] for view in judged["expectations"]]) == (not passed)


#: A phone that writes, and a call.
WRITES: Final = {"at": "1m", "inbound": {"channel": "sms", "from": "420777000101", "to": "420900000001", "body": "Hi"}}
CALL: Final = {
    "at": "2m",
    "request": {"operation": "sendMessage", "body": {"to": [{"phone_number": "420777000101"}], "body": "Hello"}},
}


@pytest.mark.parametrize("calls", [0, 1])
def test_calls_of_traffic_are_calls_of_the_client(calls: int) -> None:
    """What is played passes where the traffic has a call; that a phone writes is none."""
    scenario = {
        "sendbox": 1,
        "account": {"numbers": ["420900000001"]},
        "timeline": [WRITES],
        "traffic": [CALL] * calls,
        "expect": [{"that": "inbound"}],
    }
    assert play(scenario).passed == bool(calls)


def in_strict(world: World, *entries: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The verdict on these entries."""
    return finished(verdict_in_slices(world, SUBJECTS, expected(*entries), strict=strict))


NAMES: Final = [
    pytest.param({"that": "messages", "where": {"tag": "marketing"}}, "tag", id="tag"),
    pytest.param({"that": "attempts", "where": {"tag": ["otp", "marketing"]}}, "tag", id="one-of-several"),
    pytest.param({"that": "requests", "where": {"key": "bank"}}, "key", id="key"),
    pytest.param({"that": "sends", "where": {"key": "bank"}}, "key", id="key-of-messages"),
    pytest.param({"that": "transitions", "where": {"sender": "nova"}}, "sender", id="sender"),
    pytest.param(
        {"that": "requests", "at_least": 0, "then": [{"that": "messages", "where": {"tag": "market*"}, "count": 0}]},
        "tag",
        id="then",
    ),
    pytest.param(
        {"that": "messages", "among": {"sender": ["nova", "Vera"]}, "where": {"result": "failed"}, "at_most": "1%"},
        "sender",
        id="among",
    ),
    pytest.param({"that": "sends", "where": {"last": {"sender": "nova"}}}, "sender", id="part"),
    pytest.param({"that": "messages", "where": {"tag": "ot*", "key": "test-*", "sender": "Nov*"}}, None, id="patterns"),
    pytest.param({"that": "messages", "where": {"tag": "promotional", "key": "shop"}}, None, id="names"),
    pytest.param({"that": "messages", "where": {"sender": "Vera"}}, None, id="sender-of-a-message"),
    pytest.param({"that": "messages", "where": {"tag": "asked"}}, None, id="tag-of-the-traffic"),
]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("entry", "field"), NAMES)
def test_a_name_that_the_world_does_not_have_is_a_warning(
    entry: dict[str, Any], field: str | None, strict: bool
) -> None:
    """It names the field and the names that there are; only with strict does it fail the verdict."""
    call = {"at": "1m", "request": {"operation": "sendMessage", "body": {"to": [], "tag": "Asked"}}}
    account = {"subkeys": [{"name": "shop"}], "senders": {"sms": ["Nova"]}}
    blueprint = load({"sendbox": 1, "account": account, "traffic": [call]})
    world = make_world("test-w", traffic=blueprint.traffic, **blueprint.compiled)
    send(world, tags=("otp",))
    send(world, tags=("promotional",), steps=[step(sender="Vera")])
    given = entry if entry.keys() & {"then", "at_most"} else {**entry, "at_least": 0}
    judged = in_strict(world, given, NO_CALL, strict=strict)
    named = [warning["message"].split(" is not a ")[1].split(" of this world")[0] for warning in judged["warnings"]]
    assert named == ([] if field is None else [field])
    assert judged["state"] == ("failed" if strict and field else "passed")


def test_a_warning_says_what_there_is() -> None:
    """The nearest name is asked for, the names of the world are listed, and no expectation is named twice."""
    world = make_world(account=load({"sendbox": 1, "account": {"senders": {"sms": ["Nova"]}}}).compiled["account"])
    wrong = {"that": "messages", "where": {"sender": "nova"}, "count": 0}
    judged = in_strict(world, wrong, NO_CALL, strict=True)
    assert lines(judged) == [
        "verdict: all 2 expectations hold, but 1 warning fails the verdict (strict)",
        '  ok      messages with sender "nova"',
        "  ok      requests",
        'warning: "nova" is not a sender of this world; it has Nova; did you mean "Nova"? ($.expect[0])',
    ]
