"""Reading of long lists by operations, in slices, and waiting until there is something to read."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from heapq import merge
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from sendbox.control.operation import Call, ControlError, closed, not_closed
from sendbox.control.replaying import Replay
from sendbox.engine.answer import enum
from sendbox.engine.commands.command import Stamp
from sendbox.engine.journal import Forgotten
from sendbox.engine.world import World
from sendbox.runtime.slot import HostedWorld, Slice

T = TypeVar("T")
V = TypeVar("V")
#: So many items are sorted between two pauses; then these runs are merged.
_RUN: Final = 2_000
#: How the items of a list may be shown.
FORMS: Final = ("plain", "short")
FORM: Final = enum(FORMS)


async def run_in_slices(work: Generator[None, None, T]) -> T:
    """The result of work that pauses now and then."""
    return await Slice().through(work)


async def select(items: Iterable[T], fits: Callable[[T], bool], most: int | None = None) -> list[T]:
    """Those items that fit, at most `most`; in slices, so that a long list does not block the loop."""
    fitting: list[T] = []
    work = Slice()
    for number, item in enumerate(items):
        if fits(item):
            fitting.append(item)
            if len(fitting) == most:
                break
        if number % 8 == 7:
            await work.pause()
    return fitting


async def map_in_slices(items: Iterable[T], view: Callable[[T], V]) -> list[V]:
    """The result of `view` for each item, computed in slices."""
    views = []
    work = Slice()
    for item in items:
        views.append(view(item))
        await work.pause()
    return views


async def newest(items: Sequence[T], fits: Callable[[T], bool], last: int | None) -> list[T]:
    """Those items that fit, oldest first; with `last` only that many of the newest, and no others are read."""
    if last is None:
        return await select((items[index] for index in range(len(items))), fits)
    backwards = (items[index] for index in range(len(items) - 1, -1, -1))
    return (await select(backwards, fits, last))[::-1] if last else []


class Page(NamedTuple, Generic[T]):
    """Items of a list; `cursor` says how to ask for those that follow, None where none do."""

    items: list[T]
    cursor: str | UnsetType | None = UNSET


async def page(
    items: Sequence[T],
    number: Callable[[T], int],
    fits: Callable[[T], bool],
    limit: int | None,
    cursor: int | None,
    order: str = "oldest",
) -> Page[T]:
    """Those items that fit behind a `cursor`, at most `limit`. Items have rising numbers, by which they are found.

    In the order `newest` those behind it are older.
    """
    if order == "newest":
        places = range((len(items) if cursor is None else bisect_left(items, cursor, key=number)) - 1, -1, -1)
    else:
        places = range(0 if cursor is None else bisect_right(items, cursor, key=number), len(items))
    return await page_of((items[place] for place in places), number, fits, limit)


async def page_of(
    behind: Iterable[T], number: Callable[[T], object], fits: Callable[[T], bool], limit: int | None
) -> Page[T]:
    """A page of what lies behind a cursor."""
    if limit is None:
        return Page(await select(behind, fits))
    items = await select(behind, fits, limit + 1)  # one more says that there is more
    return Page(items[:limit], str(number(items[limit - 1])) if len(items) > limit else None)


async def sorted_page(
    items: Sequence[T],
    key: Callable[[T], Any],
    fits: Callable[[T], bool],
    limit: int | None,
    cursor: int | None,
    order: str = "oldest",
) -> Page[T]:
    """Those items that fit, sorted by a key, falling in the order `newest`.

    The cursor is the number of items on the pages before.
    """
    fitting = await newest(items, fits, None)
    rank = (await map_in_slices(fitting, key)).__getitem__
    falls, places = order == "newest", range(len(fitting))
    parts = (places[start : start + _RUN] for start in places[::_RUN])
    runs = await map_in_slices(parts, lambda part: sorted(part, key=rank, reverse=falls))
    first = cursor or 0
    end = None if limit is None else first + limit
    ranked = await select(merge(*runs, key=rank, reverse=falls), lambda _: True, end)
    page = [fitting[place] for place in ranked[first:]]
    return Page(page) if end is None else Page(page, str(end) if end < len(fitting) else None)


async def listed(
    items: Sequence[T],
    number: Callable[[T], int],
    fits: Callable[[T], bool],
    *,
    key: Callable[[T], Any] | None,
    last: int | None,
    limit: int | None,
    cursor: int | None,
    order: str,
) -> Page[T]:
    """A page of those items that fit: the `last`, or those behind a cursor, sorted by a key or by their numbers."""
    if last is not None:
        return Page(await newest(items, fits, last))
    if key is not None:
        return await sorted_page(items, key, fits, limit, cursor, order)
    return await page(items, number, fits, limit, cursor, order)


async def count(items: Sequence[T], fits: Callable[[T], bool], *, filtered: bool) -> int:
    """The number of items that fit; all of them where nothing is `filtered`."""
    return len(await newest(items, fits, None)) if filtered else len(items)


def entry_of(world: World, number: int) -> int:
    """The number of an entry that there is, or was. Raises `ControlError`."""
    if not 0 <= number < len(world.journal):
        raise ControlError(404, "no_such_entry", f"{number} is not an entry; the journal has {len(world.journal)}")
    return number


def remembered(world: World, number: int) -> tuple[int, int, Any]:
    """An entry of the journal: its instant, its kind, what it is about. Raises `ControlError`."""
    try:
        return world.journal.entry(entry_of(world, number))
    except Forgotten as forgotten:
        raise ControlError(404, "forgotten", str(forgotten), first=world.journal.first) from None


async def wait_for(hosted: HostedWorld, wait: int | None, look: Callable[[], Awaitable[T]]) -> T:
    """Looks, and while there is nothing, waits until something happens, at most `wait` milliseconds (a long poll)."""
    changes = hosted.changes
    answer = await look()
    if answer or wait is None or hosted.leaving:
        return answer
    if hosted.gone:
        raise closed(hosted)
    try:
        async with asyncio.timeout(wait / 1000):
            while not answer and not hosted.leaving:
                if hosted.changes == changes:  # else something happened during the look
                    await _change(hosted)
                changes = hosted.changes
                answer = await look()
    except TimeoutError:
        pass
    return answer


async def replay_past(call: Call, watch: Callable[[World], Callable[[], bool]]) -> bool:
    """Replays the world of a call from its record in a replica, so that its past can be observed.

    `watch` is called with the replica at its start, and returns a function that is true once it has observed enough.
    Returns False if the record does not reach back to the start.
    """
    world = call.hosted.world
    record = world.record
    if record.cut_by is not None:
        return False
    present = Stamp(world.epoch, world.now, world.ticks)
    again = Replay(call.control, record.head(len(record)).commands(), present)
    enough = watch(again.world)
    work, pace = again.work(), Slice()
    try:
        for load in work:
            if load is not None:
                await asyncio.get_running_loop().run_in_executor(None, load)
            await pace.pause()
            if enough():
                break
    finally:
        work.close()
        for _ in again.world.dispose():
            await pace.pause()
    return True


async def _change(hosted: HostedWorld) -> None:
    """Waits until something happens. A waiting call does not count as work: an `auto` clock runs on meanwhile."""
    hosted.controls -= 1
    hosted.readers -= 1
    hosted.waits += 1
    try:
        await hosted.change()
    finally:
        hosted.controls += 1
        hosted.readers += 1
        hosted.waits -= 1
    not_closed(hosted, reads=False)
