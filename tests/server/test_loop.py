"""Event loops keep their own time while a test holds the clock."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import time_machine
import uvloop
from freezegun import freeze_time

from sendbox.runtime import wall
from sendbox.server.loop import Kind, SteadyLoop, new_loop
from tests.box import turns
from tests.serving import LIMIT

Freezer = Callable[[], AbstractContextManager[object]]
#: Seconds of a loop's timer; the only waiting these tests do.
DELAY = 0.01

FREEZERS = [
    pytest.param(lambda: freeze_time("2026-03-01T09:00:00Z"), id="freezegun"),
    pytest.param(lambda: freeze_time("2026-03-01T09:00:00Z", real_asyncio=True), id="freezegun-real-asyncio"),
    pytest.param(lambda: time_machine.travel("2026-03-01T09:00:00Z", tick=False), id="time-machine"),
]


def running(loop: asyncio.AbstractEventLoop) -> threading.Thread:
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    return thread


def ended(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize("freezer", FREEZERS)
def test_timers_fire_in_another_thread_while_the_clock_is_frozen(freezer: Freezer, kind: Kind) -> None:
    """A timer comes due whether it is set before the freeze, within it, or both loop and freeze begin anew."""
    loop = new_loop(kind)
    thread = running(loop)
    before, within = threading.Event(), threading.Event()
    try:
        loop.call_soon_threadsafe(loop.call_later, DELAY, before.set)
        with freezer():
            loop.call_soon_threadsafe(loop.call_later, DELAY, within.set)
            before.wait()
            within.wait()
    finally:
        ended(loop, thread)


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize("freezer", FREEZERS)
def test_loop_made_while_the_clock_is_frozen(freezer: Freezer, kind: Kind) -> None:
    """A loop made inside a freeze runs its timers inside it, and after it."""
    with freezer():
        loop = new_loop(kind)
        thread = running(loop)
        within, after = threading.Event(), threading.Event()
        loop.call_soon_threadsafe(loop.call_later, DELAY, within.set)
        within.wait()
    try:
        loop.call_soon_threadsafe(loop.call_later, DELAY, after.set)
        after.wait()
    finally:
        ended(loop, thread)


@pytest.mark.parametrize("freezer", FREEZERS)
def test_time_is_the_walls(freezer: Freezer) -> None:
    """The loop's time is that of `wall`, in seconds, before and during a freeze."""
    loop = SteadyLoop()
    try:
        with freezer():
            low, time, high = wall.monotonic_ns(), loop.time(), wall.monotonic_ns()
        assert low / 1e9 <= time <= high / 1e9
    finally:
        loop.close()


@pytest.mark.parametrize(
    ("kind", "expected"), [("auto", uvloop.Loop), ("uvloop", uvloop.Loop), ("asyncio", SteadyLoop)]
)
def test_kind(kind: Kind, expected: type) -> None:
    """`auto` is uvloop where it is installed; either can be had by name."""
    loop = new_loop(kind)
    loop.close()
    assert isinstance(loop, expected)


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_close_with_an_open_connection(kind: Kind) -> None:
    """A loop that is closed while a connection is open closes, also where warnings are errors."""

    async def connect() -> socket.socket:
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
        client = socket.create_connection(server.sockets[0].getsockname())
        await turns(5)
        return client

    loop = new_loop(kind)
    with loop.run_until_complete(connect()), warnings.catch_warnings():
        warnings.simplefilter("error")
        closing = threading.Thread(target=loop.close, daemon=True)
        closing.start()
        closing.join(LIMIT)
        assert loop.is_closed()
        assert not closing.is_alive()
    del loop
    gc.collect()  # asyncio warns of what was open when it is collected


def test_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without uvloop `auto` is asyncio's loop, and asking for uvloop says what to do."""
    monkeypatch.setitem(sys.modules, "uvloop", None)
    loop = new_loop()
    loop.close()
    assert isinstance(loop, SteadyLoop)
    with pytest.raises(ImportError, match=r"^uvloop is not installed: install it, or choose 'auto' or 'asyncio'$"):
        new_loop("uvloop")
