"""`/metrics`: what the server counts of itself, in the text format of Prometheus.

Each metric is a row of `METRICS`, which the documentation lists. The hot path knows plain numbers only. A scrape reads
them on the loop, and makes families of the library of them, which is imported then, on a worker thread. No label names
a world, a key or a phone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from msgspec import Struct, field
from starlette.requests import Request
from starlette.responses import Response

from sendbox import __version__
from sendbox.engine import ENGINE
from sendbox.engine.forgetting import MESSAGES
from sendbox.runtime.bounds import MAX_WAITING_BUILDS
from sendbox.runtime.counts import Histogram
from sendbox.runtime.slot import Slice
from sendbox.runtime.worlds import Runtime

if TYPE_CHECKING:
    from prometheus_client import core, registry


class Scrape(Struct):
    """A runtime, and the sums over its open worlds."""

    runtime: Runtime
    messages: int = 0
    entries: int = 0
    webhooks: int = 0
    calls: int = 0
    polls: int = 0
    streams: set[asyncio.Future[None]] = field(default_factory=set)


Number = float | Histogram
#: The values of a metric, where it has labels by their values (a text, or several things); None is not shown.
Values = Number | Mapping[Any, Number] | None


class Metric(NamedTuple):
    """A metric: its name, its type, a sentence for people, its values at a scrape, and the names of its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    words: str
    values: Callable[[Scrape], Values]
    labels: tuple[str, ...] = ()


def _memory_used(runtime: Runtime) -> int | None:
    """The memory in use at the last look of its bound; None if it has none."""
    return None if runtime.bounds is None or runtime.settings.max_memory is None else runtime.bounds.used


def _leases(runtime: Runtime) -> int | None:
    """How many leases this process has; None where it shares no store."""
    sharing = None if runtime.persistence is None else runtime.persistence.sharing
    return None if sharing is None else len(sharing)


METRICS: Final = (
    Metric(
        "sendbox_build_info",
        "gauge",
        "The version of the server and of its engine; the value is 1",
        lambda _scrape: {(__version__, ENGINE): 1},
        ("version", "engine"),
    ),
    Metric(
        "sendbox_calls_total",
        "counter",
        "Calls of the emulated interfaces; status 0: no answer was sent",
        lambda scrape: scrape.runtime.counts.calls,
        ("operation", "status", "outcome"),
    ),
    Metric(
        "sendbox_call_duration_seconds",
        "histogram",
        "Real time that the answer to a call took, without the time to read it and to send the answer",
        lambda scrape: scrape.runtime.counts.call_seconds,
        ("operation",),
    ),
    Metric("sendbox_calls_open", "gauge", "Calls that are being answered", lambda scrape: scrape.calls),
    Metric(
        "sendbox_control_duration_seconds",
        "histogram",
        "Real time that the answer of control took, long polls included",
        lambda scrape: scrape.runtime.counts.control_seconds,
        ("operation",),
    ),
    Metric("sendbox_connections", "gauge", "Open connections", lambda scrape: scrape.runtime.counts.connections),
    Metric(
        "sendbox_long_polls", "gauge", "Calls of control that wait for news of a world", lambda scrape: scrape.polls
    ),
    Metric("sendbox_streams", "gauge", "Open streams of events", lambda scrape: len(scrape.streams)),
    Metric(
        "sendbox_webhook_tries_total",
        "counter",
        "Tries of webhooks, by what became of the webhook, and why the try failed",
        lambda scrape: scrape.runtime.counts.tries,
        ("outcome", "reason"),
    ),
    Metric(
        "sendbox_webhooks_waiting",
        "gauge",
        "Webhooks that wait for their turn, for a later try, or for the answer of a receiver",
        lambda scrape: scrape.webhooks,
    ),
    Metric("sendbox_worlds", "gauge", "Worlds that are open", lambda scrape: len(scrape.runtime.worlds)),
    Metric(
        "sendbox_stored_worlds",
        "gauge",
        "Worlds that wait in the store for their first call",
        lambda scrape: None if scrape.runtime.persistence is None else len(scrape.runtime.persistence.stored),
    ),
    Metric(
        "sendbox_worlds_limit",
        "gauge",
        "The most worlds that may be open, or wait in the store (--max-worlds)",
        lambda scrape: scrape.runtime.settings.max_worlds,
    ),
    Metric(
        "sendbox_worlds_opened_total",
        "counter",
        "Worlds that were opened",
        lambda scrape: scrape.runtime.open_worlds.opened,
    ),
    Metric(
        "sendbox_worlds_closed_total",
        "counter",
        "Worlds that were closed, or ended without use",
        lambda scrape: scrape.runtime.open_worlds.closed,
    ),
    Metric(
        "sendbox_world_ttl_seconds",
        "gauge",
        "Real time without use after which a world ends (--world-ttl)",
        lambda scrape: scrape.runtime.settings.world_ttl,
    ),
    Metric(
        "sendbox_closed_worlds",
        "gauge",
        "Closed worlds that can still be read",
        lambda scrape: len(scrape.runtime.closed_worlds.worlds),
    ),
    Metric(
        "sendbox_closed_worlds_limit",
        "gauge",
        "The most closed worlds that can still be read (--keep-closed)",
        lambda scrape: scrape.runtime.settings.keep_closed,
    ),
    Metric(
        "sendbox_messages_accepted_total",
        "counter",
        "Messages that all worlds have accepted, closed ones included",
        lambda scrape: scrape.runtime.counts.messages,
    ),
    Metric("sendbox_messages_kept", "gauge", "Messages that open worlds keep", lambda scrape: scrape.messages),
    Metric(
        "sendbox_messages_limit",
        "gauge",
        "The most messages that each world keeps (--max-messages)",
        lambda scrape: scrape.runtime.settings.max_messages,
    ),
    Metric(
        "sendbox_journal_entries_kept",
        "gauge",
        "Journal entries that open worlds keep",
        lambda scrape: scrape.entries,
    ),
    Metric(
        "sendbox_journal_entries_limit",
        "gauge",
        "The most journal entries that each world keeps (--max-journal)",
        lambda scrape: scrape.runtime.settings.max_journal,
    ),
    Metric(
        "sendbox_memory_used_bytes",
        "gauge",
        "Memory in use, as its bound counts it: without free memory that cannot be given back",
        lambda scrape: _memory_used(scrape.runtime),
    ),
    Metric(
        "sendbox_memory_limit_bytes",
        "gauge",
        "The bound of the memory (--max-memory)",
        lambda scrape: scrape.runtime.settings.max_memory,
    ),
    Metric(
        "sendbox_memory_full",
        "gauge",
        "Whether the bound of the memory is reached",
        lambda scrape: scrape.runtime.full is not None,
    ),
    Metric(
        "sendbox_reads_waiting",
        "gauge",
        "Long scenarios and bodies that are read, or wait to be read",
        lambda scrape: scrape.runtime.builder.waiting,
    ),
    Metric(
        "sendbox_reads_waiting_limit",
        "gauge",
        "The most long scenarios and bodies that may wait to be read",
        lambda _scrape: MAX_WAITING_BUILDS,
    ),
    Metric(
        "sendbox_loop_hold_seconds",
        "histogram",
        "How long the event loop was held, looked at every 20 ms from the first scrape on",
        lambda scrape: scrape.runtime.holds.histogram,
    ),
    Metric(
        "sendbox_loop_hold_longest_seconds",
        "gauge",
        "The longest hold so far",
        lambda scrape: scrape.runtime.holds.longest,
    ),
    Metric(
        "sendbox_leases",
        "gauge",
        "Worlds that this process has, or may open, of a database that several processes share",
        lambda scrape: _leases(scrape.runtime),
    ),
    Metric(
        "sendbox_commit_duration_seconds",
        "histogram",
        "Real time that the commits of worlds into their store took (--data)",
        lambda scrape: None if scrape.runtime.persistence is None else scrape.runtime.persistence.commits,
    ),
    Metric(
        "sendbox_log_lines_dropped_total",
        "counter",
        "Lines of the log that could not be written",
        lambda scrape: scrape.runtime.dropped(),
    ),
)
#: The samples of a metric: the values of its labels, and a number, or the counts of a histogram and its sum.
Samples = list[tuple[tuple[str, ...], float | tuple[list[tuple[str, float]], float]]]


async def show(request: Request) -> Response:
    """The metrics, in the form that the client asks for."""
    scrape = await _scrape(request.app.runtime)
    rows = [(metric, _samples(values)) for metric in METRICS if (values := metric.values(scrape)) is not None]
    accept = request.headers.get("accept", "")
    text, content_type = await asyncio.get_running_loop().run_in_executor(None, _encode, rows, accept)
    return Response(text, headers={"content-type": content_type})


async def _scrape(runtime: Runtime) -> Scrape:
    """Looks at all worlds in slices; everything else is looked at afterwards, at once."""
    runtime.holds.watch()
    scrape, work = Scrape(runtime), Slice()
    for hosted in runtime.open_worlds.after(0):
        runtime.counts.look(hosted)
        world = hosted.world
        scrape.messages += world.counts.get(MESSAGES, 0)
        scrape.entries += len(world.journal) - world.journal.first
        scrape.webhooks += world.outlets.backlog
        scrape.calls += len(hosted.open)
        scrape.polls += hosted.waits
        scrape.streams.update(hosted.streams)
        await work.pause()
    scrape.streams.update(runtime.open_worlds.streams)
    return scrape


def _samples(values: Number | Mapping[Any, Number]) -> Samples:
    """The values as they are now."""
    items = values.items() if isinstance(values, Mapping) else [((), values)]
    return [
        (
            (labels,) if isinstance(labels, str) else tuple(map(str, labels)),
            _buckets(number) if isinstance(number, Histogram) else number,
        )
        for labels, number in items
    ]


def _buckets(histogram: Histogram) -> tuple[list[tuple[str, float]], float]:
    bounds = [*map(str, histogram.bounds), "+Inf"]
    return list(zip(bounds, accumulate(histogram.counts), strict=True)), histogram.total / 1e9


class _Collector(Struct, eq=False):
    """Collects the metrics of a scrape. A class for each, as of the library's own, would hold itself in memory."""

    collect: Callable[[], Iterator[core.Metric]]


def _encode(rows: list[tuple[Metric, Samples]], accept: str) -> tuple[bytes, str]:
    """The metrics as text, with those of the process, and the content type of the text."""
    from prometheus_client import CollectorRegistry, ProcessCollector, core, exposition

    families = {
        "counter": core.CounterMetricFamily,
        "gauge": core.GaugeMetricFamily,
        "histogram": core.HistogramMetricFamily,
    }

    def collect() -> Iterator[core.Metric]:
        for metric, samples in rows:
            family = families[metric.kind](metric.name, metric.words, labels=metric.labels)
            for labels, sample in sorted(samples):
                family.add_metric(labels, *(sample if isinstance(sample, tuple) else (sample,)))
            yield family

    collectors = CollectorRegistry()
    collectors.register(cast("registry.Collector", _Collector(collect)))
    ProcessCollector(registry=collectors)
    encode, content_type = exposition.choose_encoder(accept)
    return encode(collectors), content_type
