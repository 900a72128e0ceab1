"""The table: every row that is measured. Goals and meaning are said here and nowhere else."""

from __future__ import annotations

from typing import Final

from benchmarks import peers
from benchmarks.goals import Goal, Row, at_least, at_most
from benchmarks.scenes import calls, clock, commands, growth, inside, memory, start

#: How names of rows about other programs begin.
PEER: Final = "peer-"
ROWS: Final[tuple[Row, ...]] = (
    Row(
        "call",
        "`POST /v2/message`, the same message again, 16 connections",
        "of bare",
        at_least(0.60, aim=0.75),
        calls.call,
        "Processor time of a request of bare, divided by that of Sendbox with everything on: key, validation, "
        "normalization, rules, prices, journal.",
    ),
    Row(
        "mix",
        "`POST /v2/message`, the mix of what clients send, 16 connections",
        "of bare",
        at_least(0.60, aim=0.75),
        calls.mix,
        "Processor time of a request of bare, divided by that of Sendbox. Of a hundred requests 45 are a text to one "
        "phone, 25 a code, 20 a flow of two steps to three phones, 10 go to ten phones; no two are equal.",
    ),
    Row(
        "durable",
        "the same mix where `--data` keeps it",
        "times one that is not kept",
        at_most(1.6),
        calls.durable,
        "Processor time of a request of the mix at a server with `--data`, divided by that at one without. The commit "
        "of its group is a part of it.",
    ),
    Row(
        "call-p99",
        "99th percentile of its time, 100,000 messages retained",
        "times bare",
        at_most(1.2),
        calls.tail,
        "The slowest hundredth of the answers as clients see it, while the world keeps 100,000 messages.",
    ),
    Row(
        "validate-typical",
        "validation of a typical message",
        "times jsonschema-rs",
        at_most(1.5),
        inside.validation,
        "Our decision whether a message is legal, divided by that of `jsonschema-rs` alone with the same schema.",
    ),
    Row(
        "validate-big",
        "validation of ten messages to ten recipients each",
        "times jsonschema-rs",
        at_most(1.5),
        inside.validation,
        "The same with a big request.",
    ),
    Row(
        "refusal",
        "a refusal with its message",
        "µs where bare takes 65",
        at_most(400),
        inside.validation,
        "Why a message with a wrong gateway is illegal: path, value, rule and what is legal.",
    ),
    Row(
        "recipient",
        "one more recipient of `/v2/messages`",
        "µs where bare takes 65",
        at_most(8),
        calls.recipients,
        "The difference between ten messages to ten recipients each and to one each, for each of the other 90.",
    ),
    Row(
        "bulk-recipient",
        "one more recipient in a bulk file",
        "µs where bare takes 65",
        at_most(8),
        calls.bulk,
        "The difference between lines of ten recipients and of one, for each of the nine: uploaded, read and accepted.",
    ),
    Row(
        "bulk-line",
        "a line of a bulk file, one recipient",
        "µs where bare takes 65",
        Goal(None),
        calls.bulk,
        "Uploaded, read and accepted, and the first attempt begun.",
    ),
    Row(
        "bulk-flat",
        "a line of a file of 100,000 lines, against one of 1,000",
        "times",
        at_most(1.3),
        calls.bulk,
        "Whether a long file costs more a line than a short one.",
    ),
    Row(
        "advance",
        "`advance` over scheduled events, 1,000 messages live",
        "of a bare heap",
        at_least(0.65),
        clock.advance,
        "A bare heap of tuples that appends a tuple for each event, and the server while control moves the clock: "
        "processor time an event, without that of the request and its answer. Journal on, no webhooks.",
    ),
    Row(
        "advance-many",
        "the same, 250,000 messages live",
        "of a bare heap",
        at_least(0.65),
        clock.advance,
        "The same with many messages under way, by a heap of as many tuples.",
    ),
    Row(
        "webhook",
        "webhooks, one event a POST",
        "of aiohttp alone",
        at_least(0.8),
        clock.webhooks,
        "Processor time a POST of a program with aiohttp that posts the same bodies one at a time, divided by that of "
        "Sendbox, which also makes the events and keeps the journal.",
    ),
    Row(
        "webhook-bundle",
        "webhooks in bundles of 100: events in the time of a request of bare",
        "events",
        at_least(8),
        clock.webhooks,
        "Events delivered in the processor time of a request of bare. 8 are 120,000 a second where bare does 15,000.",
    ),
    Row(
        "start",
        "process start to the first 200: processor time",
        "times bare",
        at_most(1.35),
        start.start,
        "From the start of `sendbox serve` to the first 200 of its health; compiled modules are there.",
    ),
    Row(
        "start-wall",
        "process start to the first 200: real time",
        "times bare",
        at_most(1.35),
        start.start,
        "The same by the clock on the wall.",
    ),
    Row(
        "start-call",
        "process start to the first accepted message: processor time",
        "times bare",
        at_most(1.35),
        start.start,
        "The same when the first request is a message, so that nothing that a call needs can be left for later.",
    ),
    Row(
        "memory-start",
        "resident memory after the start",
        "times bare",
        at_most(1.35),
        start.start,
        "After the first 200 of health.",
    ),
    Row(
        "memory-webhook",
        "resident memory after the first webhook",
        "times bare",
        at_most(1.75),
        start.first_webhook,
        "After a typical message was accepted and its events were delivered to a receiver; bare after one request.",
    ),
    Row(
        "session",
        "a pytest session that does not use the fixture",
        "s more",
        at_most(0.03),
        commands.session,
        "Processor time of a session that only collects one test, where the package is installed beside pytest, "
        "less that in an environment with starlette, httpx and pytest.",
    ),
    Row(
        "fixture-first",
        "the fixture: to the first 200, imports done",
        "ms where bare takes 65 µs",
        at_most(2),
        inside.fixture,
        "The server of a session starts and answers, by the clock on the wall.",
    ),
    Row(
        "fixture-stop",
        "the fixture: stop",
        "ms where bare takes 65 µs",
        at_most(0.5),
        inside.fixture,
        "The server of a session ends, by the clock on the wall.",
    ),
    Row(
        "fixture-setup",
        "the fixture: set-up of a test",
        "ms where bare takes 65 µs",
        at_most(0.7),
        inside.fixture,
        "A test gets its handle, and its world is open.",
    ),
    Row(
        "world-empty",
        "a new isolated world, empty",
        "µs where bare takes 65",
        at_most(25),
        inside.worlds,
        "A world of the least scenario is made.",
    ),
    Row(
        "world-default",
        "a new isolated world, default scenario",
        "µs where bare takes 65",
        at_most(80),
        inside.worlds,
        "A world of the default scenario is made.",
    ),
    Row(
        "memory-message",
        "memory of a retained message with four transitions",
        "bytes",
        at_most(1_000, aim=650),
        memory.memory,
        "The slope of resident memory over the number of typical requests, for each of three recipients. The bytes of "
        "request and answer are taken off, with what a byte takes (1.5 at most). Each message was moved to its end.",
    ),
    Row(
        "memory-bytes",
        "memory of a byte of a request",
        "bytes",
        at_most(1.5),
        memory.memory,
        "By how much more memory grows when the body of a request is longer.",
    ),
    Row(
        "flat-messages",
        "a message in a world of 1,000,000, against one in a world of 1,000",
        "times",
        at_most(1.3),
        growth.messages,
        "Processor time of a message from its request to its end, as the world grows. A quick run ends at 100,000.",
    ),
    Row(
        "flat-worlds",
        "a call with 10,000 worlds open, against one",
        "times",
        at_most(1.3),
        growth.worlds,
        "Processor time of a typical call; the calls go to all worlds in turn. A quick run ends at 1,000.",
    ),
    Row(
        "flat-opening",
        "the opening of a world among 10,000, against among 100",
        "times",
        at_most(1.3),
        growth.worlds,
        "Processor time of the first call with a new key, as the number of worlds grows.",
    ),
    Row(
        "hold",
        "the longest hold of the loop",
        "ms where bare takes 65 µs",
        at_most(5),
        inside.holds,
        "The most processor time between two turns of the loop, in the worst of the scenes. Collections of garbage are "
        "told apart.",
    ),
    Row(
        "health",
        "the health check of the container",
        "ms",
        at_most(10),
        commands.health,
        "Processor time of one check, the server's included.",
    ),
    *(
        Row(
            f"{PEER}{peer.name}",
            f"{peer.title} on the same request",
            "times our processor time",
            at_least(5) if peer.name == "prism" else Goal(None, larger=True),
            peers.scene(peer),
            f"Does: {peer.does}. Does not: {peer.without}.",
            apart=True,
        )
        for peer in peers.PEERS
    ),
)
