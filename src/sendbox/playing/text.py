"""The timeline as a table for a terminal, and the summary under it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, Final

from sendbox.engine.durations import DAY, iso, show
from sendbox.engine.expect.verdict import lines
from sendbox.engine.kinds.narration import Names, cut
from sendbox.playing.played import Played
from sendbox.playing.rows import Row, rows

#: Escape sequences by tone, and what ends them.
_COLOURS: Final = {"good": "\x1b[32m", "bad": "\x1b[31m", "dim": "\x1b[2m", "head": "\x1b[1m", "plain": ""}
_END: Final = "\x1b[0m"
#: Columns: the time from the start, the clock, who. What happened gets the rest, at least so much of it.
_CLOCK: Final = 12
_LEAST: Final = 30
#: So many messages are summed up one by one.
MESSAGES: Final = 60


def text(played: Played, *, width: int = 120, colour: bool = False) -> str:
    """Everything, in lines of at most `width` columns as far as that can be."""
    told, names = rows(played)
    page = _Page(width, colour=colour)
    page_lines = [*page.head(played), "", *page.table(played, told), "", *page.summary(played, names)]
    return "\n".join(line.rstrip() for line in page_lines)


class _Page:
    def __init__(self, width: int, *, colour: bool) -> None:
        self._width = width
        self._colour = colour

    def _in(self, tone: str, line: str) -> str:
        begin = _COLOURS[tone] if self._colour else ""
        return f"{begin}{line}{_END}" if begin else line

    def head(self, played: Played) -> Iterator[str]:
        """What is played."""
        world = played.world
        yield self._in("head", cut(played.blueprint.name, self._width))
        count = len(played.asked)
        traffic = "sample traffic" if played.sampled else "the scenario's traffic"
        requests = f"{count} request{'' if count == 1 else 's'}"
        yield f"{traffic}, {requests}, seed {world.seed_given}, from {_instant(world.start)}"

    def table(self, played: Played, told: list[Row]) -> Iterator[str]:
        """The rows; what happened at one instant has its time once, and a new day is announced."""
        start = played.world.start
        after = max([len("after"), *(len(_after(row.at, start)) for row in told)])
        who = max([len("who"), *(len(row.who) for row in told)])
        left = after + 2 + _CLOCK + 2 + who + 2
        room = max(self._width - left, _LEAST)
        yield self._in("head", f"{'after':>{after}}  {'clock':{_CLOCK}}  {'who':{who}}  what")
        last, day = -1, start // DAY
        for row in told:
            if row.at // DAY != day:
                day = row.at // DAY
                yield self._in("dim", f"{'':{after}}  {iso(row.at)[:10]}")
            at, clock = ("", "") if row.at == last else (_after(row.at, start), iso(row.at)[11:-1])
            last = row.at
            head = f"{at:>{after}}  {clock:{_CLOCK}}  {row.who:{who}}  "
            parts = textwrap.wrap(row.text, room, break_on_hyphens=False) or [""]
            yield head + self._in(row.tone, parts[0])
            yield from (" " * left + self._in(row.tone, part) for part in parts[1:])

    def summary(self, played: Played, names: Names) -> Iterator[str]:
        """What became of each message, what went wrong, the verdict, and the digest."""
        messages = [played.by_id[name] for name in names.ids if name in played.by_id]
        table = []
        for message in messages[:MESSAGES]:
            way = ", ".join(f"{each.step.channel} {_result(each)}" for each in message.attempts)
            table.append((names.of(message.id), message.phone, message.result, way or "nothing was tried"))
        if table:
            heads = ("message", "phone", "result")
            widths = [max(len(head), *(len(row[column]) for row in table)) for column, head in enumerate(heads)]
            yield self._in("head", "  ".join([*map(str.ljust, heads, widths), "way"]))
            for row in table:
                yield cut_end("  ".join([*map(str.ljust, row[:3], widths), row[3]]), self._width)
            if len(messages) > MESSAGES:
                yield f"and {len(messages) - MESSAGES} more messages"
            yield ""
        for asked in played.asked:
            if not asked.ok:
                wanted = asked.traffic.status
                said = "" if wanted is None else f", expected {wanted or 'no answer'}"
                came = asked.error or asked.status
                yield self._in(
                    "bad", f"{asked.traffic.operation} at {_after(asked.at, played.world.start)}: {came}{said}"
                )
        if played.stopped:
            yield f"stopped at {_instant(played.world.now)}: more is due later (--until)"
        if played.verdict is not None:
            yield from self._verdict(played.verdict)
        marked = ", order-sensitive" if played.order_sensitive else ""
        yield self._in("dim", f"digest {played.digest}{marked}")

    def _verdict(self, verdict: dict[str, Any]) -> Iterator[str]:
        """Which of the scenario's expectations were met, and of each that was not, why."""
        first, *others = lines(verdict)
        tone = "good" if verdict["passed"] else "bad"
        yield self._in(tone, first)
        for line in others:
            if not line.startswith(" " * 4):
                tone = "dim" if line.startswith("  ok") else "bad"
            indent = line[: len(line) - len(line.lstrip())]
            wrapped = textwrap.wrap(line.strip(), max(self._width - len(indent), _LEAST), break_on_hyphens=False)
            yield from (self._in(tone, f"{indent}{'  ' * bool(place)}{part}") for place, part in enumerate(wrapped))


def cut_end(line: str, width: int) -> str:
    """A line cut to a width."""
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _after(at: int, start: int) -> str:
    """So much time, with milliseconds as a fraction of its seconds."""
    whole, rest = divmod(at - start, 1000)
    if not rest:
        return f"+{show(at - start)}"
    minutes, seconds = divmod(whole, 60)
    return f"+{show(minutes * 60_000) if minutes else ''}{seconds}.{rest:03}s"


def _instant(at: int) -> str:
    return iso(at).replace(".000Z", "Z")


def _result(attempt: Any) -> str:
    from sendbox.services.messaging.results import STATES

    return str(STATES[attempt.state])
