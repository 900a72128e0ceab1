"""Reading of long lists by operations, in slices, and waiting until there is something to read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from sendbox.control.operation import Call, ControlError, milliseconds, whole
from sendbox.control.replaying import Replay
from sendbox.engine.world import World
from sendbox.runtime.worlds import Hosted, Slice

T = TypeVar("T")
V = TypeVar("V")


async def chosen(items: Iterable[T], fits: Callable[[T], bool], most: int | None = None) -> list[T]:
    """Those items that fit, at most `most`; in slices, so that a long list holds nobody up."""
    found: list[T] = []
    work = Slice()
    for number, item in enumerate(items):
        if fits(item):
            found.append(item)
            if len(found) == most:
                break
        if number % 64 == 63:
            await work.pause()
    return found


async def each(items: Iterable[T], view: Callable[[T], V]) -> list[V]:
    """What `view` makes of each item, in slices."""
    made = []
    work = Slice()
    for item in items:
        made.append(view(item))
        await work.pause()
    return made


async def newest(items: Sequence[T], fits: Callable[[T], bool], last: Any) -> list[T]:
    """Those items that fit, oldest first; with `last` only so many of the newest, and no more is looked at."""
    if last is None:
        return await chosen((items[index] for index in range(len(items))), fits)
    most = whole(last, "last")
    if most < 0:
        raise ControlError(400, "bad_argument", f"last: {most} is no number of things; legal: 0 and more")
    backwards = (items[index] for index in range(len(items) - 1, -1, -1))
    return (await chosen(backwards, fits, most))[::-1] if most else []


async def wait_for(hosted: Hosted, wait: Any, look: Callable[[], Awaitable[Any]]) -> Any:
    """Looks, and while there is nothing waits for something to happen, at most `wait` of real time (a long poll)."""
    longest = None if wait is None else milliseconds(wait, "wait") / 1000
    seen = hosted.changes
    found = await look()
    if found or longest is None:
        return found
    try:
        async with asyncio.timeout(longest):
            while not found:
                if hosted.changes == seen:  # else something happened while it looked
                    await _change(hosted)
                seen = hosted.changes
                found = await look()
    except TimeoutError:
        pass
    return found


async def past(call: Call, watch: Callable[[World], Callable[[], bool]]) -> bool:
    """Makes the world of a call again beside it, from its record, so that what happened in it can be watched.

    `watch` is given the world as it was opened, and answers what tells whether enough was seen. False where the record
    does not reach back.
    """
    record = call.here.world.record
    if record.cut is not None:
        return False
    again = Replay(call.control, record.head(len(record)).commands())
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


async def _change(hosted: Hosted) -> None:
    """Waits until something happens. Who only waits is no work in progress: an `auto` clock goes on under it."""
    hosted.controls -= 1
    hosted.readers -= 1
    try:
        await hosted.change()
    finally:
        hosted.controls += 1
        hosted.readers += 1
    if hosted.gone:
        raise ControlError(404, "no_such_world", f"{hosted.world.id} was closed while this call waited")
