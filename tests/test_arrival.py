"""Calls that come at one instant in another order: the digest is the same, or the journal says that the order decided.

No client controls the order of calls from several threads. So each pair of calls is made in both orders, in two equal
worlds, and after it whatever depends on what they left.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, Final

import pytest

from sendbox.app import SERVED
from sendbox.runtime.policy import HttpCall, Outcome
from tests.box import Box, boxed
from tests.isolation.test_isolation_credentials import (
    OURS,
    PHONE,
    SUB,
    Names,
    call,
    furnished,
    request_of,
)
from tests.tiers import DEEP

pytestmark = pytest.mark.asyncio
#: Calls of one operation, each with other content, that want the same thing: fields over those of a legal call.
RIVALS: Final[dict[str, tuple[tuple[str, dict[str, Any]], ...]]] = {
    "sendMessage": ((OURS, {"sender": "420900000001"}), (SUB, {"body": "Other", "callback": "http://a.example/"})),
    "registerDevice": ((OURS, {"id": "shared"}), (SUB, {"id": "shared"})),
    "orderService": (
        (SUB, {}),
        (SUB, {"period": "year"}),
        (SUB, {"service_id": "sender_sms_420_alnum", "subject": "Acme"}),
    ),
    "addSubKey": ((OURS, {"note": "one"}), (OURS, {"note": "two", "scope": "send-only"})),
    "changeSubKey": ((OURS, {"disable": 0, "scope": "readonly"}), (OURS, {})),
    "updateKey": ((SUB, {"default_callback_url": ""}), (SUB, {"note": "other"})),
    "verifyCode": ((OURS, {}), (OURS, {"code": "0"})),
    "createTemplate": ((OURS, {"template": {"text": "One"}}), (OURS, {"template": {"text": "Two"}})),
    "editTemplate": (
        (OURS, {"template": {"components": [{"type": "BODY", "text": "One"}]}}),
        (OURS, {"template": {"components": [{"type": "BODY", "text": "Two"}]}}),
    ),
}
Made = tuple[str, str, dict[str, Any]]
CALLS: Final[list[Made]] = [
    (route.operation, key, fields)
    for route in SERVED.routes
    for key, fields in RIVALS.get(route.operation, ((OURS, {}), (SUB, {})))
]
PAIRS: Final = list(combinations_with_replacement(CALLS, 2))
#: An ordinary run takes all pairs of one operation, and of the others one in so many.
SAMPLED: Final = 150


async def make(box: Box, names: Names, made: Made) -> None:
    """One of the calls."""
    operation, key, fields = made
    route = next(route for route in SERVED.routes if route.operation == operation)
    given: Any = (
        {"phoneNumber": PHONE, "code": "1", "proof": "0" * 64}
        if operation == "verifyProof"
        else request_of(route, OURS, names)
    )
    if operation == "createTemplate":
        components = [{"type": "BODY", "text": fields.get("template", {}).get("text", "Hello")}]
        given = {**given, "template": {**given["template"], "components": components}}
    elif isinstance(given, dict):
        given = {**given, **fields}
    await call(box, route, names, given, key=key)


async def _taken(_: HttpCall) -> Outcome:
    return Outcome(200)


async def played(*calls: Made) -> tuple[str, bool]:
    """The digest of a world with these calls at one instant, and whether its journal says that their order decided."""
    async with boxed(check_answers=False) as box:
        names = await furnished(box, OURS)
        world, hosted = f"/_sandbox/worlds/{OURS}", box.runtime.worlds[OURS]
        hosted.pulling = False
        box.runtime.deliver_to(hosted, _taken)
        await box.advance(key=OURS, by="1m")
        hosted.world.journal.order_sensitive.clear()  # of what the world was furnished with
        for made in calls:
            await make(box, names, made)
        for _ in range(2):
            await box.advance(key=OURS, by="1h")
            await box.post(f"{world}/inbound", {"channel": "sms", "from": PHONE, "to": "420900000001", "body": "Hi"})
        shown = (await box.get(f"{world}/digest")).json
        return shown["digest"], shown["order_sensitive"]


@pytest.mark.sample(4)
@pytest.mark.parametrize("part", range(8))
async def test_the_order_of_two_calls_changes_nothing_or_is_marked(part: int) -> None:
    """Pairs of one operation, and a sample of the others; all of them in a deep run."""
    rivals = [pair for pair in PAIRS if pair[0][0] == pair[1][0]]
    others = [pair for pair in PAIRS if pair[0][0] != pair[1][0]]
    chosen = rivals + (others if DEEP else others[::SAMPLED])
    wrong = []
    for one, other in chosen[part::8]:
        first, second = await played(one, other), await played(other, one)
        if first[0] != second[0] and not (first[1] and second[1]):
            wrong.append(f"{one} and {other}: marked {first[1]}, {second[1]}")
    assert wrong == []


def _template(text: str) -> Made:
    return "createTemplate", OURS, {"template": {"text": text}}


@pytest.mark.parametrize(
    "calls",
    [
        [("registerDevice", OURS, {"id": "shared"}), ("registerDevice", SUB, {"id": "shared"})],
        [
            ("orderService", SUB, {"service_id": "sender_sms_420_simhost", "subject": "420900000009"}),
            ("orderService", SUB, {"service_id": "sender_sms_420_alnum", "subject": "Other"}),
        ],
        [("addSubKey", OURS, {"note": str(number)}) for number in range(20)],
        [("sendMessage", OURS, {"sender": "420900000001"}), ("sendMessage", OURS, {"sender": "420900000002"})],
        [_template("One"), _template("Two")],
    ],
    ids=["device", "credit", "the 20th sub-key", "which number a reply belongs to", "template"],
)
async def test_what_arrival_decides_is_marked_and_seen_by_the_digest(calls: list[Made]) -> None:
    """Whichever comes first, the journal says that the order decided; the digest shows which text a template has."""
    one, other = await played(*calls), await played(*reversed(calls))
    assert (one[1], other[1]) == (True, True)
    assert one[0] != other[0] or calls[0][0] in ("registerDevice", "orderService")


async def test_calls_of_different_instants_are_not_marked() -> None:
    """Their order is that of the clock."""
    async with boxed() as box:
        await box.open()
        for note in ("one", "two"):
            await box.post("/v1/apikey/update", {"note": note}, x_api_key="test-1")
            await box.post("/v1/apikey/add", {"note": note, "shared": True}, x_api_key="test-1")
            await box.send()
            await box.advance()
        assert len(box.runtime.worlds["test-1"].world.journal.order_sensitive) == 2  # each message after its update
