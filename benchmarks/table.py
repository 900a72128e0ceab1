"""The table: every row that is measured. Goals and meaning are said here and nowhere else."""

from __future__ import annotations

from typing import Final

from benchmarks.goals import Goal, Row, at_least, at_most
from benchmarks.scenes import calls, clock, memory, start

ROWS: Final[tuple[Row, ...]] = (
    Row(
        "call",
        "`POST /v2/message`, typical, 16 connections",
        "of bare",
        at_least(0.60, aim=0.75),
        calls.call,
        "Processor time of a request of bare, divided by that of Sendbox with everything on: key, validation, "
        "normalization, rules, prices, journal.",
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
        "processor time an event. Journal on, no webhooks.",
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
        "memory-message",
        "memory of a retained message with four transitions",
        "bytes",
        at_most(1_000, aim=650),
        memory.memory,
        "The slope of resident memory over the number of typical requests, without the bytes of requests and answers, "
        "for each of three recipients. Each message was moved to its end.",
    ),
    Row(
        "memory-bytes",
        "memory of a byte of a request",
        "bytes",
        at_most(1.5),
        memory.memory,
        "By how much more memory grows when the body of a request is longer.",
    ),
)
