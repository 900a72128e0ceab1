"""The timeline as a table for a terminal with the summary under it, and as a Mermaid sequence diagram.

The diagram has a bounded length. Characters that have a meaning in its language are written as character references.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import DAY, iso, show
from sendbox.engine.expect.verdict import lines, proves, warning_lines
from sendbox.engine.kinds.narration import CLIENT, RECEIVER, WORLD, Names, short_line
from sendbox.engine.texts import shorten
from sendbox.engine.traffic import Counterexample
from sendbox.playing.play_result import Asked, Played, refutes
from sendbox.playing.rows import Row, rows
from sendbox.services.messaging.channels import STATES

#: Escape sequences by tone, and what ends them.
_COLOURS: Final = {"good": "\x1b[32m", "bad": "\x1b[31m", "dim": "\x1b[2m", "head": "\x1b[1m", "plain": ""}
_END: Final = "\x1b[0m"
#: The width of the clock, and the least width of the last column.
_CLOCK: Final = 12
_LEAST: Final = 30
#: How many messages the summary lists.
MESSAGES: Final = 60


def text(played: Played, *, width: int = 120, colour: bool = False) -> str:
    """The whole page, in lines of at most `width` columns where possible."""
    played_rows, names = rows(played)
    page = _Page(width, colour=colour)
    page_lines = [*page.head(played), "", *page.table(played, played_rows), "", *page.summary(played, names)]
    return "\n".join(line.rstrip() for line in page_lines)


def summary(names: Iterable[str], results: Sequence[Played]) -> str:
    """A line for each of several scenarios, and how many went as expected."""
    table = []
    for name, played in zip(names, results, strict=True):
        failed = sum(not request.ok for request in played.asked)
        details = [_counted(played.asked, "request"), _counted(played.messages, "message")]
        details += [f"{failed} not as expected"] if failed else []
        if played.verdict is not None:
            details.append(f"expectations {'met' if proves(played.verdict) else 'not met'}")
        if played.counterexamples:
            wrong = sum(not refutes(*counterexample) for counterexample in played.counterexamples)
            details.append(_counted(played.counterexamples, "counterexample"))
            details += [f"{wrong} of them not as expected"] if wrong else []
        details += ["stopped"] if played.stopped else []
        table.append(("ok" if played.passed else "FAIL", name, ", ".join(details)))
    width = max(len(name) for _, name, _ in table)
    passed = sum(played.passed for played in results)
    head = f"{len(results)} scenarios, {passed} as expected"
    return "\n".join([head, *(f"  {word:4}  {name:{width}}  {details}" for word, name, details in table)])


class _Page:
    def __init__(self, width: int, *, colour: bool) -> None:
        self._width = width
        self._colour = colour

    def _in(self, tone: str, line: str) -> str:
        begin = _COLOURS[tone] if self._colour else ""
        return f"{begin}{line}{_END}" if begin else line

    def head(self, played: Played) -> Iterator[str]:
        """The title, and what is played."""
        world = played.world
        yield self._in("head", short_line(played.blueprint.name, self._width))
        traffic = "sample traffic" if played.sampled else "the scenario's traffic"
        requests = _counted(played.asked, "request")
        yield f"{traffic}, {requests}, seed {world.seed_given}, from {_instant(world.start)}"

    def table(self, played: Played, played_rows: list[Row]) -> Iterator[str]:
        """The rows; an instant shows its time once, and a new day has a line."""
        start = played.world.start
        after = max([len("after"), *(len(_after(row.at, start)) for row in played_rows)])
        who = max([len("who"), *(len(row.narration.who) for row in played_rows)])
        indent = after + 2 + _CLOCK + 2 + who + 2
        room = max(self._width - indent, _LEAST)
        yield self._in("head", f"{'after':>{after}}  {'clock':{_CLOCK}}  {'who':{who}}  what")
        last, day = -1, start // DAY
        for row in played_rows:
            if row.at // DAY != day:
                day = row.at // DAY
                yield self._in("dim", f"{'':{after}}  {iso(row.at)[:10]}")
            at, clock = ("", "") if row.at == last else (_after(row.at, start), iso(row.at)[11:-1])
            last = row.at
            head = f"{at:>{after}}  {clock:{_CLOCK}}  {row.narration.who:{who}}  "
            wrapped = textwrap.wrap(row.text, room, break_on_hyphens=False) or [""]
            yield head + self._in(row.narration.tone, wrapped[0])
            yield from (" " * indent + self._in(row.narration.tone, line) for line in wrapped[1:])

    def summary(self, played: Played, names: Names) -> Iterator[str]:
        """The results of the messages, the failed requests, the verdict, and the digest."""
        messages = [played.by_id[name] for name in names.ids if name in played.by_id]
        table = []
        for message in messages[:MESSAGES]:
            steps = ", ".join(f"{attempt.step.channel} {STATES[attempt.state]}" for attempt in message.attempts)
            table.append((names.of(message.id), message.phone, message.result, steps or "nothing was tried"))
        if table:
            heads = ("message", "phone", "result")
            widths = [max(len(head), *(len(row[column]) for row in table)) for column, head in enumerate(heads)]
            yield self._in("head", "  ".join([*map(str.ljust, heads, widths), "way"]))
            for row in table:
                yield shorten("  ".join([*map(str.ljust, row[:3], widths), row[3]]), self._width)
            if len(messages) > MESSAGES:
                yield f"and {len(messages) - MESSAGES} more messages"
            yield ""
        for request in played.asked:
            if not request.ok:
                at = _after(request.at, played.world.start)
                yield self._in("bad", f"{request.traffic.operation} at {at}: {_outcome(request)}")
        if played.stopped:
            yield f"stopped at {_instant(played.world.now)}: more is due later (--until)"
        if played.verdict is not None:
            yield from self._verdict(played.verdict)
        for counterexample, result in played.counterexamples:
            yield self._counterexample(counterexample, result)
        for line in warning_lines({"warnings": played.warnings}):
            yield self._in("dim", shorten(line, self._width))
        marked = ", order-sensitive" if played.order_sensitive else ""
        yield self._in("dim", f"digest {played.digest}{marked}")

    def _counterexample(self, counterexample: Counterexample, result: Played) -> str:
        """A client that must not pass: the expectations that it failed, and those that it should have failed."""
        failed = ", ".join(result.failed) or "nothing"
        if refutes(counterexample, result):
            return self._in("good", f"counterexample, {counterexample.name}: fails as it must: {failed}")
        answers = [f"; {request.traffic.operation}: {_outcome(request)}" for request in result.asked if not request.ok]
        expected = ", ".join(counterexample.fails)
        line = f"counterexample, {counterexample.name}: fails {failed}; expected: {expected}{''.join(answers[:1])}"
        return self._in("bad", line)

    def _verdict(self, verdict: JsonObject) -> Iterator[str]:
        """The scenario's expectations: which were met, and why the others were not."""
        first, *others = lines({**verdict, "warnings": []})
        tone = "good" if proves(verdict) else "bad"
        yield self._in(tone, first)
        for line in others:
            if not line.startswith(" " * 4):
                tone = "dim" if line.startswith("  ok") else "bad"
            indent = line[: len(line) - len(line.lstrip())]
            wrapped = textwrap.wrap(line.strip(), max(self._width - len(indent), _LEAST), break_on_hyphens=False)
            yield from (self._in(tone, f"{indent}{'  ' * bool(place)}{piece}") for place, piece in enumerate(wrapped))


def _outcome(request: Asked) -> str:
    """The answer of a request, and how it differs from what was expected."""
    expected = f", expected {request.traffic.expected}" if request.traffic.expected else ""
    return f"{request.error or request.status}{expected}{''.join(f'; {text}' for text in request.differences)}"


def _counted(things: Sequence[object], noun: str) -> str:
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def _after(at: int, start: int) -> str:
    """A duration, with milliseconds as a fraction of its seconds."""
    total, milliseconds = divmod(at - start, 1000)
    if not milliseconds:
        return f"+{show(at - start)}"
    minutes, seconds = divmod(total, 60)
    return f"+{show(minutes * 60_000) if minutes else ''}{seconds}.{milliseconds:03}s"


def _instant(at: int) -> str:
    return iso(at).replace(".000Z", "Z")


#: How many rows, phones with a line of their own, and characters of a row.
ROWS: Final = 200
PHONES: Final = 12
LENGTH: Final = 140

_PLAIN: Final = re.compile(r"[^\w .,:+()/→…'*?!=@-]|[^\x20-\uffff]")
_OTHERS: Final = "phones"


def mermaid(played: Played) -> str:
    """The diagram's text."""
    return "\n".join(_lines(played))


def escape(text: str) -> str:
    """A text that a diagram shows unchanged: `#`, `;`, quotes and brackets as references, on one line."""
    line = short_line(text, LENGTH)
    line = _PLAIN.sub(lambda character: f"#{ord(character[0])};", line) or "-"
    if "style" in line or "classDef" in line:  # with a colon after them they would be statements
        line = line.replace(":", "#58;")
    # a word of the language at the end of a message would end a block
    return re.sub(r"\bend\b", "#101;nd", line)


def _lines(played: Played) -> Iterator[str]:
    all_rows, _ = rows(played)
    visible = all_rows[:ROWS]
    named = {CLIENT, WORLD, RECEIVER}
    ends = (end for row in visible for end in (row.narration.who, row.narration.to) if end is not None)
    phones = [name for name in dict.fromkeys(ends) if name not in named]
    ids = {CLIENT: CLIENT, WORLD: WORLD, RECEIVER: RECEIVER}
    ids |= {phone: f"phone{number}" for number, phone in enumerate(phones[:PHONES], 1)}
    ids |= dict.fromkeys(phones[PHONES:], _OTHERS)
    yield "sequenceDiagram"
    yield f"    title {escape(played.blueprint.name)}"
    yield f"    participant {CLIENT}"
    yield f"    participant {WORLD}"
    yield from (f"    participant {ids[phone]} as {escape(phone)}" for phone in phones[:PHONES])
    if len(phones) > PHONES:
        yield f"    participant {_OTHERS} as {len(phones) - PHONES} other phones"
    yield f"    participant {RECEIVER}"
    last = -1
    for row in visible:
        if row.at != last:
            last = row.at
            clock = iso(row.at).replace("T", " ")[:-5]
            yield f"    Note over {CLIENT},{RECEIVER}: {escape(f'+{show(row.at - played.world.start)}, {clock}')}"
        yield from (f"    {line}" for line in _row(row, ids))
    if len(all_rows) > ROWS:
        yield f"    Note over {CLIENT},{RECEIVER}: and {len(all_rows) - ROWS} more"
    if played.verdict is not None:
        word = "passed" if proves(played.verdict) else "failed"
        yield f"    Note over {CLIENT},{RECEIVER}: verdict, {word}"


def _row(row: Row, ids: dict[str, str]) -> Iterator[str]:
    """A row: an arrow between two, and one back for an answer; a note for an act without a partner."""
    who, action, tone, reached, answer = row.narration
    sender, to = ids[who], ids[reached or who]
    text = escape(f"{action} [order-sensitive]" if row.marked else action)
    if reached is not None and who in (reached, RECEIVER):
        sender = WORLD  # a result comes to a phone, a webhook to its receiver: from the sandbox
    if sender == to:
        yield f"Note over {to}: {escape(row.text)}"
        return
    yield f"{sender}->>{to}: {text}"
    if answer is not None:
        arrow = "--x" if tone == "bad" else "-->>"
        yield f"{to}{arrow}{sender}: {escape(answer)}"
