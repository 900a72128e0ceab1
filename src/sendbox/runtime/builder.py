"""What is long is built beside the loop, one thing at a time, so that many callers need the memory of one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from sendbox.runtime import collector
from sendbox.runtime.slot import Capped

T = TypeVar("T")
#: So many callers wait at most.
WAITING: Final = 16


class Builder:
    """A queue in front of one thread."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self.waiting = 0

    async def build(self, work: Callable[[], T]) -> T:
        """The result of `work`, done on a thread once all before it is done. Raises `Capped` where too many wait."""
        if self.waiting > WAITING:
            text = f"{self.waiting} scenarios and long bodies wait to be read; legal: {WAITING}. Send it again later"
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
