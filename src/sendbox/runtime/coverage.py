"""The coverage of a process's worlds, kept when they are reset or closed.

Nothing is collected while a world works. If the settings ask for it (`coverage`), a world that is reset, restored or
closed is read once more before it is taken apart, in slices and after the call was answered; else only what the
journals of open worlds hold is counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from sendbox.engine.world import World
from sendbox.runtime.slot import HostedWorld, Slice

if TYPE_CHECKING:
    from sendbox.engine.coverage import Catalog, Collected, Sum


# What counts is imported by who asks: nothing is counted in most processes.


def _no_sum() -> Sum:
    from sendbox.engine.coverage import Sum

    return Sum()


def _collect_coverage(world: World, catalog: Catalog, *, present: bool) -> Generator[None, None, Collected]:
    """The coverage of a world, in slices; with `present`, only since it was last restored."""
    from sendbox.engine.coverage import collect_in_slices, last_restore

    return (yield from collect_in_slices(world, catalog, last_restore(world) if present else 0))


class Tried:
    """The sum over worlds that are gone. `keeping` says whether those are read at all.

    `load` makes the catalog of all that can be tried; `item_of` is the item of a call (path, key) whose key opened no
    world, None if it counts for none.
    """

    def __init__(
        self, load: Callable[[], Catalog], item_of: Callable[[str, str | None], str | None], *, keeping: bool
    ) -> None:
        self.load = load
        self.item_of = item_of
        self.keeping = keeping
        #: calls whose key opened no world, by the item they count for
        self.denied: Counter[str] = Counter()
        #: the sum over worlds that were read, None before the first
        self._all: Sum | None = None
        self._catalog: Catalog | None = None
        self._loading: asyncio.Future[Catalog] | None = None
        #: worlds that ended and were not read yet, and those that are being read
        self._waiting: dict[World, HostedWorld] = {}
        self._reading: set[World] = set()

    def refused(self, path: str, key: str | None) -> None:
        """A call that opened no world."""
        item = self.item_of(path, key)
        if item is not None:
            self.denied[item] += 1

    def note_end(self, hosted: HostedWorld, world: World) -> None:
        """A world was reset or closed; it will be read before it is taken apart."""
        if self.keeping:
            if self._catalog is None and self._loading is None:
                self._loading = asyncio.get_running_loop().run_in_executor(None, self.load)  # there when it is needed
            self._waiting[world] = hosted

    def reads(self, world: World) -> bool:
        """True if a world is being read at present, so that it must not be taken apart."""
        return world in self._reading

    def fold(self, world: World) -> Generator[None, None, None]:
        """Reads a world that ended, if it was not read yet; pauses now and then."""
        hosted = self._waiting.pop(world, None)
        if hosted is None:
            return
        if self._catalog is None:
            self._catalog = self.load()
        self._reading.add(world)
        collected = yield from _collect_coverage(world, self._catalog, present=True)
        self._reading.discard(world)
        if self._all is None:
            self._all = _no_sum()
        self._all.add(collected, world.blueprint.coverage)
        if hosted.tried is None:
            hosted.tried = _no_sum()
        hosted.tried.add(collected)

    async def _settle(self) -> None:
        """Reads what ended; the sweep that takes worlds apart may be reading one as well."""
        work = Slice()
        for world in list(self._waiting):
            await work.through(self.fold(world))
        while self._reading:
            await asyncio.sleep(0)

    async def present(self, hosted: HostedWorld, catalog: Catalog) -> Collected:
        """The coverage of the present epoch of a world."""
        self._catalog = catalog
        return await Slice().through(_collect_coverage(hosted.world, catalog, present=self.keeping))

    async def of_world(self, hosted: HostedWorld, catalog: Catalog) -> Sum:
        """The coverage of a world, including those of its earlier epochs that were read."""
        present = await self.present(hosted, catalog)
        await self._settle()
        total = _no_sum()
        total.add(present, hosted.world.blueprint.coverage)
        if hosted.tried is not None:
            total.add_counts(hosted.tried.tally, hosted.tried.leaned)
        return total

    async def of_all(self, worlds: list[HostedWorld], catalog: Catalog) -> Sum:
        """The coverage of all worlds, and the calls whose key was denied."""
        total = _no_sum()
        for hosted in worlds:
            hosted.readers += 1
            world = hosted.world
            try:
                present = await self.present(hosted, catalog)
            finally:
                hosted.readers -= 1
            if world not in self._waiting and world not in self._reading:  # else it ended meanwhile, and comes below
                total.add(present, world.blueprint.coverage)
        await self._settle()
        if self._all is not None:
            total.add_counts(self._all.tally, self._all.leaned)
            total.declared |= self._all.declared
        total.add_counts({"errors": self.denied}, {})
        return total
