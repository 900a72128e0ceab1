"""Event loops that a frozen clock cannot stop.

A test under freezegun replaces `time.monotonic` in every module, in asyncio's too: timers of a plain loop that runs in
another thread then never come due. libuv reads the machine's clock by itself, so uvloop is immune; elsewhere our own
loop reads `wall.monotonic_ns`, which no freezer finds. time-machine leaves monotonic clocks alone.
"""

from __future__ import annotations

import asyncio
import functools
import warnings
from typing import TYPE_CHECKING, Literal

from sendbox.runtime import wall

if TYPE_CHECKING:
    import uvloop

Kind = Literal["auto", "uvloop", "asyncio"]


class SteadyLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop on a clock that is never replaced."""

    def time(self) -> float:
        """Seconds of the machine's monotonic clock."""
        return wall.monotonic_ns() / 1e9


def new_loop(kind: Kind = "auto") -> asyncio.AbstractEventLoop:
    """A new event loop: `auto` is uvloop where it is installed, else asyncio's own.

    ImportError where uvloop is asked for and is not there.
    """
    if kind != "asyncio":
        try:
            import uvloop
        except ImportError:
            if kind == "uvloop":
                raise ImportError("uvloop is not installed: install it, or choose 'auto' or 'asyncio'") from None
        else:
            return _closing_loop(uvloop.Loop)()
    return SteadyLoop()


@functools.cache
def _closing_loop(kind: type[uvloop.Loop]) -> type[uvloop.Loop]:
    """A class of uvloop's loops that close whatever is open.

    uvloop warns of each connection that is still open, and closes it then. Where warnings are errors the warning is
    raised in between, and uvloop would wait for that connection without end.
    """

    class ClosingLoop(kind):  # type: ignore[misc, valid-type]  # a base that is known when it runs
        """Closes its connections before it waits for them."""

        def close(self) -> None:
            """Ends the loop, and each connection that nobody closed."""
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                super().close()

    return ClosingLoop
