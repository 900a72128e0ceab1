"""Quotas of the worlds of a prefix: what is refused, to whom, and how it is said."""

from __future__ import annotations

import pytest

from sendbox.engine.delivery.batches import MAX_ANSWER_BYTES
from sendbox.runtime.quotas import KEPT
from sendbox.runtime.teams import LIMITS, parse_quotas, parse_tokens
from tests.box import Answer, Box, Reading, boxed, turns
from tests.webhooks.receiver import answering, receiving

SECRET = "0123456789abcdef"
TOKENS = parse_tokens(f"root admin {SECRET}0\na team test-a- {SECRET}1\nb team test-b- {SECRET}2", "tokens")
ROOT, TEAM = ({"authorization": f"Bearer {SECRET}{number}"} for number in (0, 1))
MESSAGE = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}


async def send(box: Box, key: str) -> Answer:
    return await box.post("/v2/message", MESSAGE, x_api_key=key)


def test_quotas_are_read() -> None:
    """A prefix and the most of some things."""
    first, second = parse_quotas(["test-a- worlds=5  calls=10", "test-b- messages=1 entries=2 memory=1.5MB"])
    assert (first.prefix, first.most) == ("test-a-", {"worlds": 5, "calls": 10})
    assert (second.prefix, second.most) == ("test-b-", {"messages": 1, "entries": 2, "memory": 1_500_000})
    assert {*first.most, *second.most} == {*LIMITS} == {*KEPT, "calls"}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            [""],
            "'' is not a quota; legal: a prefix and some of worlds, messages, entries, memory, calls, such as: test-",
        ),
        (["test-a-"], "'test-a-' is not a quota"),
        (["test-a- worlds"], "'test-a- worlds' is not a quota: 'worlds' limits nothing; legal: a prefix"),
        (["test-a- worlds=0"], "'test-a- worlds=0' is not a quota: '0' is no number of worlds; legal: a prefix"),
        (["test-a- disk=1"], "'test-a- disk=1' is not a quota: 'disk=1' limits nothing"),
        (["test-a- memory=0"], "'test-a- memory=0' is not a quota: '0' is not a size of memory; legal: a number"),
        (["test-a- worlds=1 worlds=2"], "'test-a- worlds=1 worlds=2' is not a quota"),
        (["a/b, worlds=1"], "'a/b,' is not the beginning of ids of worlds"),
        (["test-a- worlds=1", "test-a- calls=1"], "test-a-, test-a-: legal: one quota for each prefix"),
        (["test-a worlds=1", "test-ab calls=1"], "quotas: 'test-ab' begins with 'test-a'"),
    ],
)
def test_what_is_no_quota(texts: list[str], message: str) -> None:
    """The value, and what is legal."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parse_quotas(texts)
    assert str(caught.value).startswith(message)


@pytest.mark.asyncio
async def test_the_quota_of_worlds() -> None:
    """A further world is refused, through control with 429, by a call with 503; other teams are not concerned."""
    async with boxed(quotas=parse_quotas(["test-a- worlds=2", "test-b- worlds=9"])) as box:
        why = "the worlds of test-a- have 2 worlds, and their quota is 2"
        for world in ("test-a-1", "test-a-2"):
            assert (await box.put(f"/_sandbox/worlds/{world}")).status == 201
        refused = await box.put("/_sandbox/worlds/test-a-3")
        assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (429, "quota", "1")
        assert refused.json["message"] == f"{why}; close or reset worlds, or raise --quota"
        denied = await send(box, "test-a-3")
        assert (denied.status, denied.json["Message"]) == (503, why)
        assert (await box.get("/_sandbox/refused")).json["refused"][-1]["why"] == why
        assert (await box.put("/_sandbox/worlds/test-a-2")).status == 200
        for key in ("test-b-1", "test-c-1", "test-a-1"):
            assert (await send(box, key)).status == 200
        await box.delete("/_sandbox/worlds/test-a-1")
        assert (await send(box, "test-a-3")).status == 200


@pytest.mark.asyncio
async def test_the_quota_of_messages() -> None:
    """It is for all worlds of the prefix together; what adds none is served, and a reset or a closing makes room."""
    async with boxed(quotas=parse_quotas(["test-a- messages=2"])) as box:
        assert [(await send(box, key)).status for key in ("test-a-1", "test-a-2", "test-a-1")] == [200, 200, 503]
        assert (await send(box, "test-b-1")).status == 200
        assert (await box.get("/v1/apikey/me", x_api_key="test-a-1")).status == 200
        assert (await box.put("/_sandbox/worlds/test-a-3")).status == 429
        await box.post("/_sandbox/worlds/test-a-1/reset")
        assert (await send(box, "test-a-2")).status == 200
        assert (await send(box, "test-a-2")).status == 503
        await box.delete("/_sandbox/worlds/test-a-2")
        assert [(await send(box, "test-a-1")).status for _ in range(3)] == [200, 200, 503]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_messages_that_are_forgotten_make_room() -> None:
    """A world that forgets keeps less, also where it forgets later than in the call."""
    quotas = parse_quotas(["test-a- messages=3"])
    async with boxed(quotas=quotas, max_messages=1, when_full="forget") as box:
        for _ in range(9):
            assert (await send(box, "test-a-1")).status == 200
            await box.advance("1h", key="test-a-1")
            await turns(20)  # it forgets in parts


@pytest.mark.asyncio
async def test_the_quota_of_entries() -> None:
    """Journals that are too long together take no further call; control still reads, resets and closes."""
    async with boxed(quotas=parse_quotas(["test-a- entries=10"])) as box:
        assert (await send(box, "test-a-1")).status == 200
        await box.advance("1h", key="test-a-1")
        assert (await box.get("/v1/apikey/me", x_api_key="test-a-1")).status == 503
        assert (await box.get("/_sandbox/worlds/test-a-1/messages")).status == 200
        assert (await box.post("/_sandbox/worlds/test-a-1/reset")).status == 200
        assert (await send(box, "test-a-1")).status == 200


@pytest.mark.asyncio
async def test_the_quota_of_memory() -> None:
    """Bodies that are too long together take no further call of a service; a reset makes room."""
    async with boxed(quotas=parse_quotas(["test-a- memory=10kB"]), max_journal=100) as box:
        text = {**MESSAGE, "body": "x" * 6_000}
        first, second, refused = [await box.post("/v2/message", text, x_api_key="test-a-1") for _ in range(3)]
        assert (first.status, second.status, refused.status) == (200, 200, 503)
        why = refused.json["Message"]
        assert why.startswith("the worlds of test-a- have 1")
        assert why.endswith(" bytes of memory, and their quota is 10000")
        assert (await box.put("/_sandbox/worlds/test-a-2")).status == 429
        assert (await box.post("/_sandbox/worlds/test-a-1/reset")).status == 200
        assert (await box.post("/v2/message", text, x_api_key="test-a-1")).status == 200


@pytest.mark.asyncio
async def test_the_memory_of_what_receivers_answer() -> None:
    """What is kept of an answer counts, and no more once it is forgotten with its webhook."""
    size = 2 * MAX_ANSWER_BYTES
    raw = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (size, b"x" * size)
    async with (
        boxed(quotas=parse_quotas(["test-a- memory=10kB"]), max_journal=20) as box,
        receiving(answering(raw)) as to,
    ):
        message = {**MESSAGE, "callback": {"url": to.url}}
        assert (await box.post("/v2/message", message, x_api_key="test-a-1")).status == 200
        await box.post("/_sandbox/worlds/test-a-1/clock/advance", {"by": "10s"})
        outlets = box.runtime.worlds["test-a-1"].world.outlets
        tries = sum(len(delivery.tries) for delivery in outlets.deliveries)
        assert tries > 1
        assert outlets.answers.size > tries * MAX_ANSWER_BYTES
        assert (await send(box, "test-a-1")).status == 503
        for _ in range(40):
            await box.post("/_sandbox/worlds/test-a-1/phones/420777000101/offline", {})
            await turns(20)  # it forgets in parts
        assert outlets.answers.size == 0
        assert (await send(box, "test-a-1")).status == 200


@pytest.mark.asyncio
async def test_the_memory_of_what_is_forgotten() -> None:
    """A world that forgets keeps less memory."""
    async with boxed(quotas=parse_quotas(["test-a- memory=40kB"]), max_journal=5) as box:
        for _ in range(40):
            assert (await send(box, "test-a-1")).status == 200
            await turns(20)  # it forgets in parts


@pytest.mark.asyncio
async def test_the_quota_of_calls() -> None:
    """So many calls in a second, of the services and of control together; an administrator always gets through."""
    reading = Reading()
    async with boxed(quotas=parse_quotas(["test-a- calls=4"]), control_tokens=TOKENS, reading=reading) as box:

        async def clock(headers: dict[str, str], world: str = "test-a-1") -> Answer:
            return await box.call("GET", f"/_sandbox/worlds/{world}/clock", headers=headers)

        assert [(await send(box, "test-a-1")).status for _ in range(3)] == [200, 200, 200]
        assert (await clock(TEAM)).status == 200
        refused = await clock(TEAM)
        assert (refused.status, refused.json["error"]) == (429, "quota")
        assert refused.json["message"] == "4 calls in a second are the quota of test-a-; send less, or raise --quota"
        assert (await send(box, "test-a-1")).status == 503
        assert (await box.call("GET", "/_sandbox/worlds", headers=TEAM)).status == 429
        assert (await box.call("GET", "/_sandbox/worlds/test-b-1", headers=TEAM)).status == 403
        assert (await clock(ROOT)).status == 200
        assert (await send(box, "test-b-1")).status == 200
        reading.passes(0.25)
        assert [(await send(box, "test-a-1")).status for _ in range(2)] == [200, 503]
        reading.passes(9)
        assert [(await send(box, "test-a-1")).status for _ in range(5)] == [200, 200, 200, 200, 503]
        unserved = await box.get("/v1/nothing", x_api_key="test-a-1")
        assert (unserved.status, list(unserved.json)) == (503, ["message"])
        assert (await box.get("/v1/nothing", x_api_key="test-b-1")).status == 404


@pytest.mark.asyncio
async def test_a_team_sees_its_quota() -> None:
    """What its worlds may use, and what they keep."""
    quotas = parse_quotas(["test-a- worlds=5 messages=7 calls=100"])
    async with boxed(quotas=quotas, control_tokens=TOKENS) as box:
        await send(box, "test-a-1")
        await send(box, "test-b-1")
        holder = (await box.call("GET", "/_sandbox/token", headers=TEAM)).json
        assert holder["quota"] == {
            "worlds": {"most": 5, "used": 1},
            "messages": {"most": 7, "used": 1},
            "calls": {"most": 100, "used": None},
        }
        assert "quota" not in (await box.call("GET", "/_sandbox/token", headers=ROOT)).json
