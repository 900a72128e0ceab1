"""`/metrics`: what the server counts of itself, for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families as families

from sendbox.runtime.counts import BOUNDS, LoopHolds
from sendbox.server.gateway import SAMPLE
from sendbox.server.listener import HttpServer
from sendbox.server.metrics import METRICS
from sendbox.server.wire import AsgiCall
from sendbox.settings import Settings
from tests.box import KEY, WORLD, Box, Reading, boxed, turns
from tests.receivers import answering, receiving

Samples = dict[tuple[Any, ...], float]


async def scraped(box: Box) -> Samples:
    """The values by (name, label, …), labels in the order of their names."""
    answer = await box.get("/metrics")
    assert answer.status == 200
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in families(answer.body.decode())
        for sample in family.samples
    }


def only(samples: Samples, name: str) -> dict[tuple[Any, ...], float]:
    """The values of one name, by its labels."""
    return {key[1:]: value for key, value in samples.items() if key[0] == name}


@pytest.mark.asyncio
async def test_calls_by_operation_status_and_outcome() -> None:
    """Accepted, refused, denied, spoiled by a fault; the labels are sorted: operation, outcome, status."""
    async with boxed() as box:
        await box.send()
        await box.send()
        assert (await box.post("/v2/message", {}, x_api_key=KEY)).status == 400
        assert (await box.post("/v2/message", {}, x_api_key="live-1")).status == 400
        assert (await box.get("/v2/simple/message", x_api_key=KEY)).json["accepted"] is False
        assert (await box.get("/v2/else", x_api_key=KEY)).status == 404
        assert (await box.get("/v2/else")).status == 404
        assert (await box.call("PUT", "/upload/nothing", b"x")).status == 403
        rule = {"in": "api", "when": {"operation": "sendMessage"}, "fault": {"status": 503}}
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        assert (await box.post("/v2/message", {}, x_api_key=KEY)).status == 503
        calls = only(await scraped(box), "sendbox_calls_total")
    assert calls == {
        ("sendMessage", "accepted", "200"): 2,
        ("sendMessage", "refused", "400"): 1,
        ("sendMessage", "denied", "400"): 1,
        ("sendSimpleMessageByQuery", "refused", "200"): 1,
        ("sendMessage", "fault", "503"): 1,
        ("unknown", "refused", "404"): 1,
        ("unknown", "denied", "404"): 1,
        ("uploadBulk", "denied", "403"): 1,
    }


@pytest.mark.asyncio
async def test_webhooks_by_outcome() -> None:
    """Each try says what became of its webhook, and why it failed."""
    async with boxed() as box, receiving(answering(500, 200)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(callback=receiver.url)
        await box.advance("1m")
        await box.send("420777000102", callback="http://192.0.2.1/hooks")
        await box.advance("1m")
        samples = only(await scraped(box), "sendbox_webhook_tries_total")
    assert samples == {("retried", "5xx"): 1, ("delivered", ""): 1, ("failed", "not_allowed"): 1}


@pytest.mark.asyncio
async def test_worlds_and_messages() -> None:
    """Counts only grow: what ended worlds and earlier epochs accepted stays in them, and is counted once."""
    async with boxed() as box:
        await box.send()
        await box.send(key="test-2")
        assert (await box.put(f"{WORLD}/checkpoints/one")).status == 201
        assert (await scraped(box))["sendbox_messages_accepted_total",] == 2
        await box.send()
        assert (await box.post(f"{WORLD}/checkpoints/one")).status == 200
        assert (await scraped(box))["sendbox_messages_accepted_total",] == 3
        assert (await box.post(f"{WORLD}/reset", {})).status == 200
        await box.send()
        assert (await box.delete("/_sandbox/worlds/test-2")).status == 200
        samples = await scraped(box)
    assert samples["sendbox_messages_accepted_total",] == 4
    assert samples["sendbox_messages_kept",] == 1
    assert samples["sendbox_journal_entries_kept",] > 1
    worlds = [
        samples[name,] for name in ("sendbox_worlds", "sendbox_worlds_opened_total", "sendbox_worlds_closed_total")
    ]
    assert worlds == [1, 2, 1]


@pytest.mark.asyncio
async def test_memory_and_build() -> None:
    """The memory of the process, its bound where there is one, and which server it is."""
    async with boxed() as box:
        samples = await scraped(box)
        assert samples["process_resident_memory_bytes",] > 1_000_000
        assert ("sendbox_memory_limit_bytes",) not in samples
        ((labels, value),) = only(samples, "sendbox_build_info").items()
        assert (len(labels), value) == (2, 1)
        assert samples["process_cpu_seconds_total",] > 0
        assert samples["process_open_fds",] > 0
    async with boxed(max_memory=2**40) as box:
        samples = await scraped(box)
    assert samples["sendbox_memory_limit_bytes",] == 2**40
    assert samples["sendbox_memory_full",] == 0


@pytest.mark.asyncio
async def test_durations_by_operation() -> None:
    """Those of calls that came into a world, and of control; of calls that are answered at once some stand for all."""
    reading = Reading()

    def ticking() -> int:
        reading.passes(0.002)
        return reading()

    async with boxed(reading=ticking) as box:
        await box.send()
        for _ in range(SAMPLE + 1):
            assert box.app.answer_at_once(scope_of(KEY), b"{}").status == 400
        assert (await box.post("/v2/message", {}, x_api_key="live-1")).status == 400
        assert (await box.get(WORLD)).status == 200
        assert (await box.get("/_sandbox/worlds/test-none")).status == 404
        samples = await scraped(box)
    counts = only(samples, "sendbox_call_duration_seconds_count")
    assert counts == {("sendMessage",): 1 + SAMPLE}
    assert only(samples, "sendbox_control_duration_seconds_count") == {("world",): 2}
    for name, operation, count in (("call", "sendMessage", 1 + SAMPLE), ("control", "world", 2)):
        buckets = only(samples, f"sendbox_{name}_duration_seconds_bucket")
        assert (buckets["0.001", operation], buckets["+Inf", operation]) == (0, count)
        assert samples[f"sendbox_{name}_duration_seconds_sum", operation] > 0.0019 * count


def scope_of(key: str) -> Any:
    """A message that came whole."""
    headers = [(b"host", b"box"), (b"x-api-key", key.encode()), (b"content-type", b"application/json")]
    return AsgiCall("POST", "http", ("127.0.0.1", 80), "/v2/message", "", headers).scope


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_what_waits() -> None:
    """Webhooks until they are answered or given up, long polls, streams; and connections."""
    async with boxed() as box, receiving(answering(500)) as receiver:
        await box.open()
        await box.only_sending()
        await box.send(callback=receiver.url)
        assert (await scraped(box))["sendbox_webhooks_waiting",] == 0  # it is not due
        await box.advance("1s")
        assert (await scraped(box))["sendbox_webhooks_waiting",] == 1
        polling = asyncio.create_task(box.get(f"{WORLD}/hook?wait=10s"))
        streaming = [asyncio.create_task(box.get(f"/_sandbox{path}")) for path in ("/stream", f"/worlds/{KEY}/stream")]
        await turns(20)
        samples = await scraped(box)
        assert [samples[name,] for name in ("sendbox_long_polls", "sendbox_streams")] == [1, 2]
        for task in (polling, *streaming):
            task.cancel()
        await asyncio.gather(polling, *streaming, return_exceptions=True)
        await box.advance("7d")
        samples = await scraped(box)
        assert [samples[name,] for name in ("sendbox_webhooks_waiting", "sendbox_streams")] == [0, 0]
        server = HttpServer(box.app)
        port = await server.start()
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        await turns(20)
        assert (await scraped(box))["sendbox_connections",] == 1
        await server.stop()
        writer.close()
        await turns(20)
        assert (await scraped(box))["sendbox_connections",] == 0


@pytest.mark.asyncio
async def test_bounds() -> None:
    """What is bounded stands beside its bound; what has no bound is not shown."""
    async with boxed() as box:
        samples = await scraped(box)
    assert samples["sendbox_worlds_limit",] == Settings.max_worlds
    unset = ("sendbox_messages_limit", "sendbox_journal_entries_limit", "sendbox_memory_used_bytes")
    assert not [name for name in (*unset, "sendbox_world_ttl_seconds") if (name,) in samples]
    async with boxed(max_memory=2**40, max_messages=7, max_journal=8, keep_closed=9, world_ttl=60.0) as box:
        samples = await scraped(box)
    limits = ("messages_limit", "journal_entries_limit", "closed_worlds_limit", "world_ttl_seconds")
    assert [samples[f"sendbox_{name}",] for name in limits] == [7, 8, 9, 60]
    assert 0 < samples["sendbox_memory_used_bytes",] < samples["sendbox_memory_limit_bytes",]


def test_names_and_types() -> None:
    """A counter ends in `_total`, nothing else does; each name is there once."""
    names = [row.name for row in METRICS]
    assert len(set(names)) == len(names)
    assert [row.name for row in METRICS if row.name.endswith("_total") != (row.kind == "counter")] == []


@pytest.mark.asyncio
async def test_no_name_of_a_world_or_a_phone_is_shown() -> None:
    """Whatever comes in."""
    async with boxed() as box:
        await box.send("420777000199")
        await box.get("/v2/test-secret/else", x_api_key="test-hidden")
        text = (await box.get("/metrics")).body.decode()
    assert not [name for name in (KEY, "test-", "420777000199", "secret", "hidden") if name in text]


@pytest.mark.asyncio
async def test_it_is_served_as_control_is() -> None:
    """Its form goes by Accept; foreign hosts and origins and other methods are refused."""
    async with boxed() as box:
        assert (await box.get("/metrics")).headers["content-type"].startswith("text/plain; version=")
        asked = await box.get("/metrics", accept="application/openmetrics-text;version=1.0.0")
        assert asked.headers["content-type"].startswith("application/openmetrics-text")
        assert asked.body.endswith(b"# EOF\n")
        assert (await box.get("/metrics", host="evil.example")).status == 421
        assert (await box.get("/metrics", origin="http://evil.example")).status == 403
        assert (await box.post("/metrics")).status == 405


@pytest.mark.asyncio
async def test_holds_are_watched_while_someone_asks() -> None:
    """A timer notes how late it is; it ends when no scrape has come for long."""
    timers: list[tuple[float, Callable[[], None]]] = []
    now = 100.0

    class Timer:
        def cancel(self) -> None:
            timers.clear()

    class Loop:
        def time(self) -> float:
            return now

        def call_at(self, when: float, look: Callable[[], None]) -> Timer:
            timers.append((when, look))
            return Timer()

    loop: Any = Loop()
    watched = LoopHolds(loop)
    watched.close()
    watched.watch()
    watched.watch()
    for late in (0.0, 0.03, 2.0):
        when, look = timers.pop()
        now = when + late
        look()
    assert [watched.histogram.counts[place] for place in (0, BOUNDS.index(0.05), -1)] == [1, 1, 1]
    assert (sum(watched.histogram.counts), round(watched.longest, 6), watched.histogram.total) == (
        3,
        2.0,
        2_030_000_000,
    )
    now += 700
    timers.pop()[1]()
    assert timers == []
    watched.watch()
    assert len(timers) == 1
    watched.close()
    assert timers == []


@pytest.mark.asyncio
async def test_a_hold_shows_at_the_next_scrape() -> None:
    """The sums are those of the timer."""
    async with boxed() as box:
        assert (await scraped(box))["sendbox_loop_hold_seconds_count",] == 0
        box.runtime.holds.histogram.add(7_500_000)
        box.runtime.holds.longest = 0.0075
        samples = await scraped(box)
    buckets = only(samples, "sendbox_loop_hold_seconds_bucket")
    assert buckets["0.01",] - buckets["0.005",] >= 1
    assert buckets["+Inf",] == samples["sendbox_loop_hold_seconds_count",]
    assert samples["sendbox_loop_hold_longest_seconds",] >= 0.0075
