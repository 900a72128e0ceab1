"""`/metrics`: what the server counts of itself, in the text format of Prometheus.

The hot path knows plain numbers only. A scrape gets them as families of the library, which is imported then,
and written on a worker thread. No label names a world, a key or a phone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.responses import Response

from sendbox import __version__
from sendbox.engine import ENGINE
from sendbox.engine.forgetting import MESSAGES
from sendbox.runtime.counts import BOUNDS
from sendbox.runtime.slot import Slice
from sendbox.server.application import OpenRoute

if TYPE_CHECKING:
    from prometheus_client import Metric
    from starlette.requests import Request

    from sendbox.runtime.worlds import Runtime


class ServerCounts(Struct, frozen=True):
    """The counts of the server at one instant."""

    calls: dict[tuple[str, int, str], int]
    tries: dict[tuple[str, str], int]
    worlds: int
    opened: int
    messages: int
    kept: int
    entries: int
    dropped: int
    #: bytes that the process has, None if the system does not say it; and their bound, if there is one
    memory: int | None
    most: int | None
    full: bool
    #: looks at the loop by how late they were, the sum, the longest
    holds: list[int]
    held: float
    longest: float


def metrics_route(runtime: Runtime) -> OpenRoute:
    """The route of `/metrics`."""

    async def show(request: Request) -> Response:
        """The metrics, in the form that the client asks for."""
        counts = await _collect_counts(runtime)
        accept = request.headers.get("accept", "")
        text, content_type = await asyncio.get_running_loop().run_in_executor(None, _encode_counts, counts, accept)
        return Response(text, headers={"content-type": content_type})

    return OpenRoute("/metrics", show, methods=["GET"])


async def _collect_counts(runtime: Runtime) -> ServerCounts:
    """Looks at all worlds in slices, then at everything else at once."""
    runtime.holds.watch()
    messages = entries = 0
    work = Slice()
    for hosted in runtime.open_worlds.after(0):
        runtime.counts.look(hosted)
        messages += hosted.world.counts.get(MESSAGES, 0)
        entries += len(hosted.world.journal) - hosted.world.journal.first
        await work.pause()
    memory = None
    with suppress(OSError):
        memory = runtime.resident()
    counts, holds, bounds = runtime.counts, runtime.holds, runtime.bounds
    return ServerCounts(
        dict(counts.calls),
        dict(counts.tries),
        worlds=len(runtime.worlds),
        opened=runtime.open_worlds.opened,
        messages=counts.messages,
        kept=messages,
        entries=entries,
        dropped=runtime.dropped(),
        memory=memory,
        most=runtime.settings.max_memory,
        full=bounds is not None and bounds.full is not None,
        holds=list(holds.counts),
        held=holds.total,
        longest=holds.longest,
    )


def _encode_counts(counts: ServerCounts, accept: str) -> tuple[bytes, str]:
    """The counts as text, and its content type."""
    from prometheus_client import CollectorRegistry, exposition, registry

    class Own(registry.Collector):
        def collect(self) -> Iterator[Metric]:
            return _families(counts)

    counted = CollectorRegistry()
    counted.register(Own())
    encode, content_type = exposition.choose_encoder(accept)
    return encode(counted), content_type


def _families(counts: ServerCounts) -> Iterator[Metric]:
    from prometheus_client import core

    def counter(name: str, text: str, value: float) -> core.CounterMetricFamily:
        return core.CounterMetricFamily(f"sendbox_{name}", text, value=value)

    def gauge(name: str, text: str, value: float) -> core.GaugeMetricFamily:
        return core.GaugeMetricFamily(name, text, value=value)

    yield core.InfoMetricFamily("sendbox_build", "The server", {"version": __version__, "engine": str(ENGINE)})
    text = "Calls of the emulated interfaces; status 0: no answer was sent"
    calls = core.CounterMetricFamily("sendbox_calls", text, labels=("operation", "status", "outcome"))
    for (operation, status, outcome), count in sorted(counts.calls.items()):
        calls.add_metric((operation, str(status), outcome), count)
    yield calls
    text = "Tries of webhooks, by what became of the webhook, and why the try failed"
    tries = core.CounterMetricFamily("sendbox_webhook_tries", text, labels=("outcome", "reason"))
    for labels, count in sorted(counts.tries.items()):
        tries.add_metric(labels, count)
    yield tries
    yield gauge("sendbox_worlds", "Worlds that are open", counts.worlds)
    yield counter("worlds_opened", "Worlds that were opened", counts.opened)
    yield counter("worlds_closed", "Worlds that were closed, or ended without use", counts.opened - counts.worlds)
    yield counter("messages_accepted", "Messages that worlds have accepted", counts.messages)
    yield gauge("sendbox_messages_kept", "Messages that open worlds keep", counts.kept)
    yield gauge("sendbox_journal_entries_kept", "Journal entries that open worlds keep", counts.entries)
    yield counter("log_lines_dropped", "Lines of the log that could not be written", counts.dropped)
    if counts.memory is not None:
        yield gauge("process_resident_memory_bytes", "Memory of the process", counts.memory)
    if counts.most is not None:
        yield gauge("sendbox_memory_limit_bytes", "The bound of the memory (--max-memory)", counts.most)
    yield gauge("sendbox_memory_full", "Whether the bound of the memory is reached", counts.full)
    bounds = [*map(str, BOUNDS), "+Inf"]
    yield core.HistogramMetricFamily(
        "sendbox_loop_hold_seconds",
        "How long the event loop was held, looked at every 20 ms from the first scrape on",
        buckets=list(zip(bounds, accumulate(counts.holds), strict=True)),
        sum_value=counts.held,
    )
    yield gauge("sendbox_loop_hold_longest_seconds", "The longest hold so far", counts.longest)
