"""The thread that owns a loop, seen from the threads that use it."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError, Future
from typing import NoReturn

import pytest
from freezegun import freeze_time

from sendbox.server.loop import Kind
from sendbox.server.thread import ServerThread


@pytest.fixture(params=["uvloop", "asyncio"])
def thread(request: pytest.FixtureRequest) -> Iterator[ServerThread]:
    kind: Kind = request.param
    thread = ServerThread(kind)
    thread.start()
    yield thread
    thread.stop()


async def answer(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def fail() -> NoReturn:
    raise LookupError("no such thing")


def fail_at_once(error: BaseException) -> NoReturn:
    raise error


async def forever() -> None:
    await asyncio.Event().wait()


def test_run_returns_the_result(thread: ServerThread) -> None:
    """`run` blocks until the coroutine has its result."""
    assert [thread.run(answer(n)) for n in range(3)] == [0, 1, 2]


def test_run_raises_what_the_coroutine_raised(thread: ServerThread) -> None:
    """An exception of a coroutine is the caller's, and none of the loop's."""
    with pytest.raises(LookupError, match="no such thing"):
        thread.run(fail())
    assert thread.errors == []


def test_submit_does_not_block(thread: ServerThread) -> None:
    """`submit` returns at once; the result is the future's, which also cancels."""
    waiting, done = thread.submit(forever()), thread.submit(answer(7))
    assert done.result() == 7
    assert not waiting.done()
    assert waiting.cancel()


def test_call_runs_a_function_on_the_loops_thread(thread: ServerThread) -> None:
    """`call` passes arguments and result, and runs where the loop runs, from that thread too."""
    inner = thread.call(lambda: thread.call(threading.get_ident))
    assert inner == thread.call(threading.get_ident) != threading.get_ident()
    assert thread.call(sorted, [2, 1], reverse=True) == [2, 1]


@pytest.mark.parametrize("error", [LookupError("no"), SystemExit(3)], ids=["error", "exit"])
def test_call_raises_what_the_function_raised(thread: ServerThread, error: BaseException) -> None:
    """What a function raises is the caller's, and does not end the thread."""
    with pytest.raises(type(error)):
        thread.call(fail_at_once, error)
    assert thread.run(answer(1)) == 1


def test_many_callers(thread: ServerThread) -> None:
    """Any number of threads may hand in work at once."""
    results: list[int] = []
    callers = [threading.Thread(target=lambda n=n: results.append(thread.run(answer(n)))) for n in range(20)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert sorted(results) == list(range(20))


def test_waits_hold_while_the_clock_is_frozen() -> None:
    """Starting, waiting and stopping work inside a freeze, timers of the loop too."""
    with freeze_time("2026-03-01"):
        thread = ServerThread("asyncio")
        thread.start()
        assert thread.run(asyncio.wait_for(answer(1), 60)) == 1
        with pytest.raises(TimeoutError):
            thread.run(asyncio.wait_for(forever(), 0.01))
        thread.stop()


def test_run_on_its_own_thread(thread: ServerThread) -> None:
    """A coroutine that would wait for its own loop is told so instead of hanging."""

    async def nested() -> int:
        return thread.run(answer(1))

    with pytest.raises(RuntimeError, match=r"^sendbox would wait for itself: await the coroutine"):
        thread.run(nested())
    with pytest.raises(RuntimeError, match=r"^sendbox cannot stop itself"):
        thread.call(thread.stop)


def test_interrupted_caller_leaves_nothing_behind(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a waiting caller cancels what it waited for."""
    cancelled = threading.Event()

    async def work() -> None:
        try:
            await forever()
        finally:
            cancelled.set()

    def interrupted(future: Future[None]) -> NoReturn:
        thread.call(lambda: None)  # the work has begun
        raise KeyboardInterrupt

    class Interrupted(Future[None]):
        result = interrupted  # type: ignore[assignment]

    submit = thread.submit
    monkeypatch.setattr(thread, "submit", lambda coro: _as(Interrupted, submit(coro)))
    with pytest.raises(KeyboardInterrupt):
        thread.run(work())
    cancelled.wait()


def _as(kind: type[Future[None]], future: Future[None]) -> Future[None]:
    future.__class__ = kind
    return future


# --- the end ----------------------------------------------------------------------------------------------------------


def test_stop_cancels_what_still_runs(thread: ServerThread) -> None:
    """Tasks and generators end with the thread, and so does whoever waits for them."""
    ended: list[str] = []

    async def generator() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            ended.append("generator")

    async def work() -> None:
        items = generator()
        await anext(items)
        started.set()
        try:
            await forever()
        finally:
            ended.append("task")

    started = threading.Event()
    own = thread.call(threading.current_thread)
    future = thread.submit(work())
    started.wait()
    thread.stop()
    with pytest.raises(CancelledError):
        future.result()
    assert ended[0] == "task"
    assert not thread.running
    assert own not in threading.enumerate()


def test_stop_does_not_wait_for_ever(thread: ServerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that will not be cancelled does not hold the stop up, and its caller learns of it."""
    monkeypatch.setattr("sendbox.server.thread.SHUTDOWN_SECONDS", 0.01)
    release: list[asyncio.Event] = []
    started = threading.Event()

    async def stubborn() -> None:
        release.append(asyncio.Event())
        started.set()
        while True:
            try:
                await release[0].wait()
            except asyncio.CancelledError:
                continue
            return

    future = thread.submit(stubborn())
    started.wait()
    thread.stop()
    with pytest.raises(RuntimeError, match=r"^sendbox ended before the call did: 'stopped'$"):
        future.result()


def test_stop_without_a_start_and_twice() -> None:
    """There is nothing to stop before the start and after the stop."""
    thread = ServerThread()
    thread.stop()
    thread.start()
    thread.stop()
    thread.stop()


def test_a_thread_starts_once(thread: ServerThread) -> None:
    """A thread that was started is not started again."""
    with pytest.raises(RuntimeError, match=r"^sendbox was started before: make another thread$"):
        thread.start()


@pytest.mark.parametrize("stopped", [False, True], ids=["never-started", "stopped"])
def test_work_for_a_thread_that_does_not_run(stopped: bool) -> None:
    """Work that nobody would do is refused at once, without a warning about a coroutine left behind."""
    thread = ServerThread()
    if stopped:
        thread.start()
        thread.stop()
    for hand_in in (lambda: thread.run(answer(1)), lambda: thread.submit(answer(1)), lambda: thread.call(answer, 1)):
        with pytest.raises(RuntimeError, match=r"^sendbox is not running: start it first$"):
            hand_in()


def test_work_that_meets_the_end(thread: ServerThread) -> None:
    """A call that is handed in just as the thread ends does not wait for ever."""
    thread.stop()
    future: Future[int] = Future()
    with pytest.raises(RuntimeError, match=r"^sendbox ended before the call did: 'stopped'$"):
        thread._track(future).result()


def test_forked_child_does_not_wait_for_its_parents_thread(
    thread: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a fork there is no such thread: work is refused with advice, and a stop there stops nothing here."""
    with monkeypatch.context() as child:
        mine = os.getpid()
        child.setattr("sendbox.server.thread.os.getpid", lambda: -1)
        assert not thread.running
        with pytest.raises(RuntimeError, match=rf"^process -1 is a fork of {mine}, where sendbox runs"):
            thread.run(answer(1))
        thread.stop()
    assert thread.run(answer(1)) == 1


def test_death_of_the_thread_surfaces(thread: ServerThread) -> None:
    """When something ends the loop, whoever waits learns of it, and so does whoever comes later."""

    async def end() -> None:
        raise SystemExit(3)

    waiting = thread.submit(forever())
    with pytest.raises(SystemExit):
        thread.run(end())
    with pytest.raises(CancelledError):
        waiting.result()
    with pytest.raises(RuntimeError, match=r"^sendbox was ended by SystemExit\(3\)"):
        thread.run(answer(1))
    assert [type(error) for error in thread.errors] == [SystemExit]
    assert not thread.running


def test_errors_of_callbacks_surface(thread: ServerThread, caplog: pytest.LogCaptureFixture) -> None:
    """What nobody could catch is kept and logged; the loop goes on."""
    error = LookupError("no such thing")
    thread.call(lambda: asyncio.get_running_loop().call_soon(fail_at_once, error))
    thread.call(lambda: None)
    assert thread.errors == [error]
    own = [record for record in caplog.records if record.exc_info and record.exc_info[1] is error]
    assert [record.levelno for record in own] == [logging.ERROR]


@pytest.mark.parametrize(
    "context",
    [
        pytest.param({"message": "reset", "exception": ConnectionResetError(), "transport": object()}, id="transport"),
        pytest.param({"message": "slow"}, id="no-exception"),
    ],
)
def test_faults_of_clients_are_no_errors_of_ours(
    thread: ServerThread, context: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    """What a transport reports is logged, and is not kept as an error of the thread."""
    thread.call(lambda: asyncio.get_running_loop().call_exception_handler(context))
    assert thread.errors == []
    assert str(context["message"]) in caplog.text
