"""The bounds of a server: of what each world keeps, and of the memory of the process.

At a bound new calls are refused (`when_full` refuse), or the oldest of what has ended is forgotten (forget); entries of
a journal are always forgotten. Memory is that of the process: it is read now and then, and no call waits for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple, TypeVar

from sendbox.engine.answer import JsonObject
from sendbox.engine.forgetting import MESSAGES, Forgetting
from sendbox.runtime import collector
from sendbox.runtime.counts import messages_made
from sendbox.runtime.interface import RuntimeInterface
from sendbox.runtime.slot import Capped, HostedWorld

#: Real seconds between two readings of the memory.
PERIOD: Final = 0.25
#: Calls are accepted again once memory is below this share of the bound.
RELEASE_SHARE: Final = 0.95
#: A world of fewer entries does not forget because of memory: they take too little.
MIN_ENTRIES: Final = 100
_STATM: Final = "/proc/self/statm"


#: The least average number of bytes in a block of Python's memory.
BLOCK_SIZE: Final = 64


#: The greatest number of callers that wait for a long scenario or body to be read.
MAX_WAITING_BUILDS: Final = 16
T = TypeVar("T")


class Full(NamedTuple):
    """A bound that is reached, and what to do about it."""

    why: str
    what_to_do: str


def resident() -> int:
    """The bytes of memory that the process has. Raises OSError where the system has no `/proc`."""
    with open(_STATM, "rb") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def give_back(*, collecting: bool = False) -> None:
    """Gives free memory back to the system, where the C library can; `collecting` frees unused cycles before."""
    import ctypes

    if collecting:
        collector.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class FreeMemory:
    """The free part of the process's memory, in bytes, estimated from the drop in the number of blocks since its peak.

    Python keeps memory of which only parts are free, and uses these parts again; the system still counts them.
    `blocks` returns the number of blocks in use.
    """

    def __init__(self, blocks: Callable[[], int]) -> None:
        self._blocks = blocks
        self._peak_blocks = self._memory_at_peak = 0

    def of(self, memory: int) -> int:
        """The free part of this much memory, without the memory that went back to the system."""
        blocks = self._blocks()
        if blocks >= self._peak_blocks:
            self._peak_blocks, self._memory_at_peak = blocks, memory
        return max((self._peak_blocks - blocks) * BLOCK_SIZE - max(self._memory_at_peak - memory, 0), 0)


class Builder:
    """Reads long scenarios and bodies on a thread, one at a time, so that many callers need only the memory of one."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self.waiting = 0

    async def build(self, work: Callable[[], T]) -> T:
        """The result of `work`, run on a thread after all earlier work has ended. Raises `Capped` if too many wait."""
        if self.waiting > MAX_WAITING_BUILDS:
            most = MAX_WAITING_BUILDS
            text = f"{self.waiting} scenarios and long bodies wait to be read; legal: {most}. Send it again later"
            raise Capped("busy", text)
        self.waiting += 1
        try:
            async with self._turn:
                return await asyncio.get_running_loop().run_in_executor(None, _built, work)
        finally:
            self.waiting -= 1


def _built(work: Callable[[], T]) -> T:
    with collector.collecting():
        return work()


class Bounds:
    """The bounds of one runtime. `reading` returns the bytes of memory in use, `blocks` is as for `FreeMemory`."""

    def __init__(
        self,
        runtime: RuntimeInterface,
        reading: Callable[[], int] = resident,
        blocks: Callable[[], int] = sys.getallocatedblocks,
    ) -> None:
        settings = runtime.settings
        self._runtime = runtime
        self._loop = asyncio.get_running_loop()
        self._reading = reading
        self._free = FreeMemory(blocks)
        self._entries, self._messages, self._memory = settings.max_journal, settings.max_messages, settings.max_memory
        #: True if worlds forget
        self.forgets = self._entries is not None or settings.when_full == "forget"
        self._drops = settings.when_full == "forget"
        #: the memory that was in use at the last look, and why calls are refused; None while there is room
        self.used = 0
        self.full: Full | None = None
        self._timer: asyncio.TimerHandle | None = None
        #: free memory on its way back to the system; and whether worlds were disposed since the last time
        self._giving: asyncio.Future[None] | None = None
        self._worlds_disposed = False
        if self._memory is not None:
            try:
                self.look()
            except OSError as error:
                text = f"--max-memory: this system does not say how much memory the server uses ({error})"
                raise ValueError(text) from None
            self._timer = self._loop.call_later(PERIOD, self._tick)

    def close(self) -> None:
        """No more readings."""
        if self._timer is not None:
            self._timer.cancel()

    # -- one world

    def changed(self, hosted: HostedWorld) -> None:
        """Notes a change of a world, which forgets what is over its bounds."""
        if not self.forgets or hosted.gone:
            return
        forgetting = self._of(hosted)
        forgetting.note()
        self._begin(forgetting)
        if not forgetting.waits:
            self._step(hosted, forgetting)

    def _begin(self, forgetting: Forgetting) -> None:
        """Begins a pass, if the world keeps too much."""
        if self._entries is not None:
            forgetting.of_entries(self._entries, f"--max-journal={self._entries}")
        if self._messages is not None and self._drops:
            forgetting.of_messages(self._messages, f"--max-messages={self._messages}")

    @staticmethod
    def _of(hosted: HostedWorld) -> Forgetting:
        if hosted.forgetting is None or hosted.forgetting.world is not hosted.world:
            hosted.forgetting = Forgetting(hosted.world)
        return hosted.forgetting

    def _step(self, hosted: HostedWorld, forgetting: Forgetting) -> None:
        """Forgets a part, and the next one at the loop's next turn; never while the world is read or at work."""
        forgetting.waits = False
        is_busy = hosted.readers or hosted.working is not None or hosted.advancing
        if is_busy or hosted.gone or hosted.forgetting is not forgetting or hosted.world is not forgetting.world:
            return
        if forgetting.step():
            self._begin(forgetting)  # more may have come meanwhile
        self._runtime.count_kept(hosted)
        if forgetting.work is not None:
            forgetting.waits = True
            self._loop.call_soon(self._step, hosted, forgetting)

    def refusal(self, key: str, *, sends: bool) -> Full | None:
        """The reason to refuse a call with a key; None if it is accepted. `sends` says that it makes messages."""
        if self.full is not None or self._messages is None or not sends:
            return self.full
        hosted = self._runtime.worlds.get(key.partition("~")[0])
        if hosted is None:
            return None
        count = hosted.world.counts.get(MESSAGES, 0)
        if count < self._messages or (hosted.forgetting is not None and hosted.forgetting.work is not None):
            return None
        why = f"the world keeps {count} messages, and --max-messages is {self._messages}"
        if self._drops:
            return Full(f"{why}; too few have ended to be forgotten", "move the clock, or raise --max-messages")
        return Full(why, "reset the world, raise --max-messages, or start with --when-full forget")

    # -- memory

    def _tick(self) -> None:
        self._timer = self._loop.call_later(PERIOD, self._tick)
        self.look()

    def note_disposed_worlds(self) -> None:
        """Worlds were disposed: the next look gives their memory back."""
        self._worlds_disposed = True

    def look(self) -> None:
        """Reads the memory: above its bound worlds forget, or calls are refused until it is well below.

        Free memory goes back to the system, on a worker thread, while the bound is reached and after worlds have ended:
        otherwise the process keeps it until it ends. Free memory that cannot be returned is not counted as used. Cycles
        that nothing uses are looked for when the bound is reached, and after worlds have ended while it is. That is not
        done at each look, because it blocks the loop.
        """
        assert self._memory is not None
        memory = self._reading()
        self.used = memory - self._free.of(memory)
        if self._worlds_disposed or self.full is not None or self.used >= self._memory:
            self._give_back(collecting=self.used >= self._memory and (self._worlds_disposed or self.full is None))
        if self.used < self._memory:
            if self.used < self._memory * RELEASE_SHARE:
                self.full = None
            return
        self._runtime.replicas.forget()  # they can be made again
        self._runtime.closed_worlds.forget()
        if self._drops:
            largest = max(self._runtime.worlds.values(), key=_size, default=None)
            if largest is not None and _size(largest) > MIN_ENTRIES:
                forgetting = self._of(largest)
                forgetting.note()
                forgetting.of_entries(_size(largest) * 9 // 10, f"--max-memory={self._memory}")
                if not forgetting.waits:
                    self._step(largest, forgetting)
                return
        why = f"the server uses {_megabytes(self.used)}, and --max-memory is {_megabytes(self._memory)}"
        self.full = Full(why, "close or reset worlds, or raise --max-memory")

    def _give_back(self, *, collecting: bool) -> None:
        if self._giving is None or self._giving.done():
            self._worlds_disposed = False
            self._giving = self._loop.run_in_executor(None, partial(give_back, collecting=collecting))

    # -- what is shown

    def of_server(self) -> JsonObject:
        """The use of memory against its bound, if there is one."""
        if self._memory is None:
            return {}
        return {"memory": {"used": self.used, "most": self._memory, "full": self.full is not None}}

    def of_world(self, hosted: HostedWorld) -> JsonObject:
        """The bounded things of a world, with three counts each: kept, the most that are kept, and forgotten."""
        world, view = hosted.world, {}
        if self._messages is not None:
            kept, total = world.counts.get(MESSAGES, 0), messages_made(world)
            view[MESSAGES] = {"kept": kept, "most": self._messages, "forgotten": total - kept}
        if self._entries is not None:
            view["entries"] = {"kept": _size(hosted), "most": self._entries, "forgotten": world.journal.first}
        return view


def _size(hosted: HostedWorld) -> int:
    journal = hosted.world.journal
    return len(journal) - journal.first


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"
