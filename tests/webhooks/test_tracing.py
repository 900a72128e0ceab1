"""`traceparent` of a call: in the journal, on the webhooks that it causes, in a record, and never in a digest."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sendbox.engine.commands import tracing
from sendbox.engine.commands.tracing import Traces, context_of
from tests.box import KEY, WORLD, Box, boxed
from tests.receivers import answering, receiving

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
OTHER = f"00-{'1' * 32}-{'2' * 16}-00"
STATE = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"


async def traced(box: Box, phone: str = "420777000101", url: str = "", **headers: str) -> int:
    """Sends one message with headers; the number of its entry."""
    callback = {"callback": {"url": url}} if url else {}
    message = {"body": "Hello", "to": [{"phone_number": phone}], **callback}
    answer = await box.post("/v2/message", message, x_api_key=KEY, **headers)
    assert answer.status == 200
    return int(answer.headers["sendbox-journal"].rpartition("/")[2])


async def entry(box: Box, number: int) -> Any:
    return (await box.get(f"{WORLD}/journal/{number}")).json


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_it_is_passed_on_to_each_try() -> None:
    """The trace id and the state stay, each try has a parent id of its own, the same in every run."""
    runs = []
    for _ in range(2):
        async with boxed() as box, receiving(answering(500, 200)) as receiver:
            await box.open()
            await box.only_sending()
            number = await traced(box, url=receiver.url, traceparent=PARENT, tracestate=STATE)
            await box.advance("10m")
            assert (await entry(box, number))["traceparent"] == PARENT
            sent = [headers["traceparent"] for headers in receiver.headers]
            assert [headers["tracestate"] for headers in receiver.headers] == [STATE, STATE]
            name = receiver.headers[0]["x-request-id"]
            shown = (await box.get(f"{WORLD}/deliveries/{name}")).json["request"]["headers"]
            assert ["traceparent", sent[1]] in shown
            runs.append(sent)
    first, second = runs[0]
    assert runs[0] == runs[1]
    assert first != second
    assert {text[:36] for text in (first, second)} == {f"00-{TRACE}-"}
    assert {text[-3:] for text in (first, second)} == {"-01"}
    assert PARENT[36:52] not in (first[36:52], second[36:52])


@pytest.mark.asyncio
async def test_a_bundle_has_the_context_of_the_first_traced_call() -> None:
    """Calls without one are passed over."""
    async with boxed() as box, receiving(answering(200)) as receiver:
        await box.open()
        await box.only_sending()
        assert "traceparent" not in await entry(box, await traced(box, "420777000101", receiver.url))
        await traced(box, "420777000102", receiver.url, traceparent=PARENT)
        await traced(box, "420777000103", receiver.url, traceparent=OTHER)
        await box.advance("1m")
        assert len(receiver.calls[0]) == 3
        assert receiver.headers[0]["traceparent"].startswith(f"00-{TRACE}-")
        assert "tracestate" not in receiver.headers[0]


@pytest.mark.asyncio
async def test_names_and_digest_do_not_know_it_and_a_record_does() -> None:
    """Equal requests under other contexts are equal; a replay has the same journal."""
    digests, ids = [], []
    for parent in ({"traceparent": PARENT}, {"traceparent": OTHER, "tracestate": STATE}, {}):
        async with boxed() as box:
            number = await traced(box, **parent)
            await box.advance("1m")
            digests.append((await box.get(f"{WORLD}/digest")).json["digest"])
            ids.append((await entry(box, number))["answer"])
            record = orjson.loads((await box.get(f"{WORLD}/export?as=record")).json["text"])
            calls = [command for command in record["commands"] if command["command"] == "call"]
            assert [dict(call["headers"]).get("traceparent") for call in calls] == [parent.get("traceparent")]
            assert "trace" not in (await box.get(f"{WORLD}/requests/{number}/export?as=curl")).json["text"]
            past = (await box.get(f"{WORLD}/journal?then={number + 1}")).json["entries"][number]
            assert past.get("traceparent") == parent.get("traceparent")
    assert len(set(digests)) == len(set(ids)) == 1


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "parent",
    [
        "", "x", PARENT.upper(), PARENT[:-1], f"{PARENT}-more", PARENT.replace("00-", "ff-", 1),
        f"00-{'0' * 32}-{'2' * 16}-01", f"00-{TRACE}-{'0' * 16}-01", f"{PARENT}\n",
    ],
)  # fmt: skip
@pytest.mark.asyncio
async def test_what_is_not_legal_is_passed_over(parent: str) -> None:
    """Without a finding, and without its state."""
    async with boxed() as box:
        shown = await entry(box, await traced(box, traceparent=parent, tracestate=STATE))
    assert "traceparent" not in shown
    assert (shown["findings"], shown["advice"]) == ([], [])
    assert context_of([(b"traceparent", parent.encode()), (b"tracestate", b"a=b")]) == ()


@pytest.mark.asyncio
async def test_rules_that_ask_for_headers_do_not_change_that() -> None:
    """The headers that rules ask for come beside the context."""
    async with boxed() as box:
        await box.open()
        rule = {"in": "api", "when": {"headers": {"X-Tenant": "b"}}, "fault": {"status": 503}}
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        number = await traced(box, traceparent=PARENT, tracestate=STATE, x_tenant="a")
        assert (await entry(box, number))["traceparent"] == PARENT


def test_a_context() -> None:
    """A later version may say more, of which nothing is passed on; several states are one; two parents are none."""
    later = f"cc-{TRACE}-b7ad6b7169203331-ff-what the.future"
    headers = [(b"tracestate", b"a=1"), (b"traceparent", later.encode()), (b"tracestate", b"b=2")]
    assert context_of(headers) == ((b"traceparent", later.encode()), (b"tracestate", b"a=1,b=2"))
    assert context_of([*headers, (b"traceparent", PARENT.encode())]) == ()
    assert context_of([headers[1], (b"tracestate", b"x" * 513)]) == (headers[1],)
    traces = Traces()
    traces.note("r", tuple(headers))
    traces.note("none", ())
    (name, parent), state = traces.onward(["none", "r"], "d", 1)
    assert (name, parent[:36], parent[-3:], state) == ("traceparent", f"00-{TRACE}-", "-03", ("tracestate", "a=1,b=2"))
    assert traces.onward(["none"], "d", 1) == []


def test_so_many_contexts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest."""
    monkeypatch.setattr(tracing, "_MAX_REQUESTS", 2)
    traces = Traces()
    for request in "abc":
        traces.note(request, ((b"traceparent", PARENT.encode()),))
    assert [bool(traces.onward([request], "d", 1)) for request in "abc"] == [False, True, True]
