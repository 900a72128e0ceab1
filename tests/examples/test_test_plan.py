"""The test plan of docs/test-plan.md, played by a client that keeps it, and by some that break one sentence each."""

from __future__ import annotations

from typing import Any, Final

import pytest
from msgspec.structs import replace

from sendbox.engine.blueprint import Blueprint
from sendbox.engine.traffic import ReceiverBehavior, Traffic
from sendbox.playing import play
from tests.documentation.markdown import ROOT, blocks
from tests.scenario.test_library_clients import HOUR, MINUTE, SECOND, asked, message
from tests.scenarios import load

(PLAN,) = (block.text for block in blocks(ROOT / "docs" / "test-plan.md") if block.language == "yaml")
TO: Final = ["121", "122", "130", "190", *(str(number) for number in range(221, 227))]


def sent(at: int, to: str, body: str, tag: str = "transactional") -> Traffic:
    """A message to one phone."""
    return asked(at, "sendMessage", message(f"420777000{to}", body, tag=tag))


NEWSLETTER: Final = asked(
    0, "sendMessage", {"body": "Spring", "to": [{"phone_number": f"420777000{number}"} for number in TO]}
)
PETR: Final = sent(15 * MINUTE, "122", "Yes, from nine", "answer")
#: the fifth message, which is refused, and the same again
ORDER: Final = sent(2 * HOUR, "224", "Your order is packed")
RETRY: Final = replace(ORDER, at=2 * HOUR + SECOND)
CODE: Final = asked(3 * HOUR, "createValidation", {"phoneNumber": "420777000225"})
KEPT: Final = (
    NEWSLETTER,
    sent(15 * MINUTE, "121", "Yes, from nine", "answer"),
    PETR,
    sent(HOUR, "223", "Your order is packed"),
    ORDER,
    RETRY,
    CODE,
)
ASKED: Final = ["everyone who asks gets an answer", "each question is answered within 24 hours, to the asker"]
#: what keeps the fifth message the fifth
OTHER: Final = sent(20 * MINUTE, "226", "Your order is packed")
OFTEN: Final = [asked(4 * HOUR + number, "showKey", None) for number in range(11)]


def missed(*more: Traffic, without: Traffic | None = None, ends: tuple[int, ...] = (200,)) -> list[str]:
    """The sentences of the plan that a client misses."""
    traffic = tuple(sorted([*(each for each in KEPT if each is not without), *more], key=lambda each: each.at))
    story: Blueprint = replace(load(PLAN), traffic=traffic, receiver=(ReceiverBehavior(0, ends),))
    verdict = play(story).verdict
    assert verdict is not None
    return [each["name"] for each in verdict["expectations"] if not each["passed"]]


def test_a_client_that_keeps_the_plan() -> None:
    """Each of the fifteen sentences about the client holds."""
    assert missed() == []
    assert len(load(PLAN).expect) == 15


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ({"more": [OTHER], "without": PETR}, ASKED),
        ({"more": [sent(PETR.at, "226", "Yes, from nine", "answer")], "without": PETR}, ASKED),
        ({"more": [OTHER, replace(PETR, at=26 * HOUR)], "without": PETR}, ASKED[1:]),
        ({"more": [sent(4 * HOUR, "223", "Your order is packed")]}, ["no phone gets the same text twice within a day"]),
        (
            {"more": [sent(4 * HOUR + number, "221", f"News {number}") for number in range(3)]},
            ["no phone gets more than three messages a week"],
        ),
        ({"more": [sent(12 * HOUR, "221", "Night", "promotional")]}, ["nothing promotional arrives at night"]),
        ({"more": [sent(36 * HOUR, "221", "Night", "promotional")]}, ["nothing promotional arrives at night"]),
        (
            {"more": [replace(ORDER, at=2 * HOUR + 999)], "without": RETRY},
            ["each 503 is retried at most three times, with growing pauses"],
        ),
        ({"without": RETRY}, ["each 503 is followed by a retry that is accepted"]),
        ({"more": OFTEN}, ["never more than ten calls a second"]),
        (
            {"more": [asked(4 * HOUR, "getMessage", None, params=(("message_id", "x"),))]},
            ["the client makes no wrong request"],
        ),
        ({"ends": (500, 200)}, ["webhooks are acknowledged at their first try, within a second"]),
        (
            {"more": [replace(CODE, at=CODE.at + 9 * MINUTE)]},
            ["a code is asked for again only after the first expired"],
        ),
    ],
    ids=[
        "no answer",
        "an answer to a stranger",
        "a late answer",
        "twice",
        "too much a week",
        "at night",
        "in the second night",
        "a hasty retry",
        "no retry",
        "too many calls",
        "a wrong call",
        "a failing receiver",
        "a code too early",
    ],
)
def test_a_client_that_breaks_a_sentence(broken: dict[str, Any], expected: list[str]) -> None:
    """The verdict names this sentence."""
    more = broken.pop("more", [])
    assert missed(*more, **broken) == expected


def test_a_client_that_writes_to_the_opted_out() -> None:
    """It is refused, and so it lowers the share of newsletters that arrive, too."""
    assert missed(sent(4 * HOUR, "130", "Summer", "promotional")) == [
        "nine of ten newsletters arrive",
        "each opted-out phone gets nothing promotional any more",
        "nothing is sent that the service refuses",
    ]
