"""Operations on the calls of the emulated interfaces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final

from sendbox.control.arguments import SORTED, After, Limit, NextCursor, Order, Search, Total, Wait
from sendbox.control.export.request import FORMS, request_text
from sendbox.control.export.script import CallStep
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import FORM, Page, count, map_in_slices, select, sorted_page, wait_for
from sendbox.control.records import journal_entry, most_of
from sendbox.control.searching import TEXT, Filter, SearchKey, match_texts, patterns, search_filter, texts, times
from sendbox.engine.answer import Answer, Instant, enum, moment, reference
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.journal import CODE
from sendbox.engine.kinds.answers import Fault, RequestEntry
from sendbox.engine.kinds.narration import SHOWN, short_line
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.texts import Pattern
from sendbox.engine.world import World
from sendbox.services.http.numbers import phones_of, tags_of
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of

#: A call and its instant.
Timed = tuple[int, RequestRecord]

AS: Final = enum(FORMS)
#: What calls can be sorted by.
SORTS: Final[Mapping[str, Callable[[RequestRecord], object]]] = {
    "operation": lambda record: record.operation,
    "status": lambda record: record.status,
    "remarks": lambda record: (len(record.findings), len(record.advice)),
}
_STATUS: Final = re.compile(r"[0-9*?]{1,3}")


class ShortRequest(Answer):
    """A call as a list shows it: how many findings and remarks there are on it."""

    n: int
    at: Instant
    operation: str
    method: str
    path: str
    status: int
    findings: int
    advice: int
    fault: Fault | None = None


class Requests(Answer):
    """Calls of the emulated interfaces."""

    requests: list[Annotated[Any, reference("ListedRequest", RequestEntry, ShortRequest)]]
    more: bool
    next_cursor: str | None
    total: int | None = None


class RequestText(Answer):
    """A call as text that makes it again."""

    as_: Annotated[str, enum(FORMS)]
    text: str


@operation("GET", "/worlds/{id}/requests", answers=Requests)
async def requests(
    call: Call,
    after: After = -1,
    limit: Limit = None,
    wait: Wait = None,
    cursor: NextCursor = None,
    order: Order = "oldest",
    search: Search = None,
    form: Annotated[str, FORM] = "plain",
    sort: Annotated[str | None, enum(SORTS), SORTED] = None,
    total: Total = False,
) -> Requests:
    """Calls of the emulated interfaces, with findings and advice; `limit` and `more` are those of the journal.

    With `form=short` each has what a list shows: without body and answer, `findings` and `advice` are how many
    there are.
    """
    start, most, newest = max(after, -1), most_of(limit), order == "newest"
    if cursor is not None and not newest and sort is None:
        start = max(start, cursor)
    hosted, code = call.hosted, CODE["request"]
    looked: tuple[World | None, int] = (None, 0)

    async def look() -> tuple[World, Page[int]] | None:
        nonlocal looked
        world = hosted.world
        journal, fits = world.journal, _filter(world, search, start)
        if sort is not None:
            listed = await sorted_page(_numbers(world), _sort_key(world, sort), fits, most, cursor, order)
            return (world, listed) if listed.items else None
        if newest:
            numbers: Iterator[int] = journal.find_back(code, len(journal) if cursor is None else cursor)
        else:
            numbers = journal.find(code, looked[1] if looked[0] is world else start + 1)
        length = len(journal)
        matching = await select(numbers, fits, most + 1)  # one more says that there is more
        looked = (world, length)  # entries are only added, so none is read twice
        listed = Page(matching[:most], str(matching[most - 1]) if len(matching) > most else None)
        return (world, listed) if matching else None

    result = await wait_for(hosted, wait, look)
    full_count = None
    if total:
        fits, filtered = _filter(hosted.world, search, after), search is not None or after >= 0
        full_count = await count(_numbers(hosted.world), fits, filtered=filtered)
    if result is None:
        return Requests(requests=[], more=False, next_cursor=None, total=full_count)
    world, listed = result
    observer = Observer(world, call.served.kinds)
    view: Callable[[int], object] = partial(_short, world) if form == "short" else observer.entry
    views = await map_in_slices(listed.items, view)
    following = listed.cursor or None
    return Requests(requests=views, more=following is not None, next_cursor=following, total=full_count)


def _numbers(world: World) -> list[int]:
    """The numbers of the entries of all calls."""
    return [*world.journal.find(CODE["request"], 0)]


def _sort_key(world: World, sort: str) -> Callable[[int], object]:
    """What a call is sorted by, by the number of its entry."""
    key = SORTS[sort]
    return lambda number: key(world.journal.entry(number)[2])


def _filter(world: World, search: str | None, after: int) -> Callable[[int], bool]:
    """A filter of the numbers of entries: calls behind an entry that a search finds."""
    finds = search_filter(search, search_keys(world))

    def fits(number: int) -> bool:
        instant, _, record = world.journal.entry(number)
        return number > after and finds((instant, record))

    return fits


def _short(world: World, number: int) -> ShortRequest:
    """The short form of a call, as lists show it: without request and response, with the number of remarks."""
    at, _, record = world.journal.entry(number)
    return ShortRequest(
        n=number,
        at=moment(at),
        operation=record.operation,
        method=record.method,
        path=short_line(record.path, 2 * SHOWN),
        status=record.status,
        findings=len(record.findings),
        advice=len(record.advice),
        fault=None if record.fault is None else record.fault.as_written,
    )


@operation("GET", "/worlds/{id}/requests/{n}/export", answers=RequestText, unmasked=True)
async def export_request(call: Call, n: int, as_: Annotated[str, AS] = "curl") -> RequestText:
    """One call as text that makes it again: `as` curl, python (httpx), node (fetch), pytest, or scenario (`traffic`).

    A key is written as it came. 409 `not_expressible` where that form cannot say it.
    """
    world = call.hosted.world
    entry = await journal_entry(call, n)
    if entry["kind"] != "request":
        raise ControlError(404, "no_such_request", f"{n} is not a call; its entry is of the kind {entry['kind']}")
    at, _, record = world.journal.entry(n)
    step = CallStep(n, at, record, record.call)
    if step.call.body is None:
        raise ControlError(409, "not_expressible", "the body was too long to be read, and is not kept")

    def write() -> str:
        return request_text(lambda: call.served.language, world, call.origin, step, as_)

    try:
        text = await asyncio.get_running_loop().run_in_executor(None, write)
    except ValueError as error:
        raise ControlError(409, "not_expressible", str(error)) from None
    return RequestText(as_=as_, text=text)


def search_keys(world: World) -> dict[str, SearchKey[Timed]]:
    """The keys of a search for calls, by name."""
    country = account_of(world).country
    return {
        "to": lambda value: match_texts(
            notation.pattern(value, country).matches, lambda timed_request: phones_of(world, timed_request[1])
        ),
        "tag": patterns(lambda timed_request: tags_of(timed_request[1])),
        "operation": patterns(lambda timed_request: timed_request[1].operation),
        "status": _status,
        "method": patterns(lambda timed_request: timed_request[1].method),
        "path": patterns(lambda timed_request: timed_request[1].path),
        "key": patterns(lambda timed_request: timed_request[1].key),
        "remark": patterns(lambda timed_request: _remarks(timed_request[1])),
        **times(world.now, lambda timed_request: timed_request[0]),
        TEXT: texts(lambda timed_request: timed_request[1].body.decode("utf-8", "replace")),
    }


def _remarks(record: RequestRecord) -> list[str]:
    """The rules that a call broke, and the codes of the advice on it."""
    return [*(finding.rule for finding in record.findings), *(advice.code for advice in record.advice)]


def _status(value: str) -> Filter[Timed]:
    """The status of the answer; 0 where nothing was answered."""
    if not _STATUS.fullmatch(value):
        raise ValueError(f'"{value}" is not a status; legal: 200, 4?? or 4* (a call without an answer has 0)')
    matches = Pattern(value, digits=True).matches
    return lambda timed_request: matches(str(timed_request[1].status))
