"""A thread that runs an event loop, and functions to call it from other threads.

No wait here has a timeout: a wait that reads a clock would hang, or end at once, while a test has frozen the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final, ParamSpec, TypeVar

from sendbox.engine.answer import JsonObject
from sendbox.server.loop import Kind, new_loop

T = TypeVar("T")
P = ParamSpec("P")

#: Seconds on the clock of the loop that cancelled tasks have to end when the thread stops.
SHUTDOWN_SECONDS: Final = 1.0


class ServerThread:
    """A daemon thread that runs an event loop from `start` to `stop`.

    Work may be submitted from any other thread. A forked child has no such thread: there every call raises
    RuntimeError, and `stop` leaves the parent's loop alone. `errors` holds the exceptions that reached the loop itself,
    out of a callback or of a task that was not awaited; they are logged by asyncio as well.
    """

    def __init__(self, kind: Kind = "auto", *, name: str = "sendbox") -> None:
        self.name = name
        self.errors: list[BaseException] = []
        self._kind: Kind = kind
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = 0
        self._fatal_error: BaseException | None = None
        self._ended = False
        self._waiting: set[Future[Any]] = set()

    @property
    def running(self) -> bool:
        """True if the thread accepts work."""
        return self._loop is not None and self._fatal_error is None and self._pid == os.getpid()

    def start(self) -> None:
        """Starts the thread and returns once its loop runs. RuntimeError if it was started before."""
        if self._thread is not None:
            raise RuntimeError(f"{self.name} was started before: make another thread")
        self._pid = os.getpid()
        loop = new_loop(self._kind)
        loop.set_exception_handler(self._record_error)
        ready = threading.Event()
        loop.call_soon(ready.set)
        self._thread = threading.Thread(target=self._run_loop, args=(loop,), name=self.name, daemon=True)
        self._loop = loop
        self._thread.start()
        ready.wait()

    def run(self, coro: Coroutine[object, object, T]) -> T:
        """Runs a coroutine on the loop and blocks until it has its result or its exception."""
        if threading.current_thread() is self._thread:
            coro.close()
            raise RuntimeError(f"{self.name} would wait for itself: await the coroutine instead of running it")
        future = self.submit(coro)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupted caller (Ctrl-C) leaves nothing behind
            raise

    def submit(self, coro: Coroutine[object, object, T]) -> Future[T]:
        """Runs a coroutine on the loop; its result is the future's."""
        try:
            loop = self._running_loop()
            future = asyncio.run_coroutine_threadsafe(coro, loop)
        except RuntimeError:
            coro.close()
            raise
        return self._track(future)

    def call(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls a plain function on the loop's thread and blocks until it has returned."""
        if threading.current_thread() is self._thread:
            return fn(*args, **kwargs)
        future: Future[T] = Future()

        def perform() -> None:
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # the caller's to handle, SystemExit too
                future.set_exception(error)
            else:
                future.set_result(result)

        self._running_loop().call_soon_threadsafe(perform)
        return self._track(future).result()

    def stop(self) -> None:
        """Cancels running tasks, ends the thread and closes the loop. Does nothing if the thread does not run."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None or self._pid != os.getpid():
            return
        if threading.current_thread() is thread:
            raise RuntimeError(f"{self.name} cannot stop itself: stop it from the thread that started it")
        self._loop = None
        with contextlib.suppress(RuntimeError):  # the loop died before and is closed
            loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._pid and self._pid != os.getpid():
            raise RuntimeError(
                f"process {os.getpid()} is a fork of {self._pid}, where {self.name} runs: "
                "start another thread here, or talk to the parent's over HTTP"
            )
        if self._fatal_error is not None:
            raise RuntimeError(f"{self.name} was ended by {self._fatal_error!r}") from self._fatal_error
        if self._loop is None:
            raise RuntimeError(f"{self.name} is not running: start it first")
        return self._loop

    def _track(self, future: Future[T]) -> Future[T]:
        """Makes sure that `future` fails if the thread ends before it is done."""
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if self._ended:
            self._fail_waiting()
        return future

    def _fail_waiting(self) -> None:
        for future in list(self._waiting):
            with contextlib.suppress(InvalidStateError):
                future.set_exception(
                    RuntimeError(f"{self.name} ended before the call did: {self._fatal_error or 'stopped'!r}")
                )

    def _run_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        except BaseException as error:  # SystemExit or KeyboardInterrupt out of a callback
            self._fatal_error = error
            self.errors.append(error)
        finally:
            try:
                loop.run_until_complete(_shut_down())
            finally:
                loop.close()
                self._ended = True
                self._fail_waiting()

    def _record_error(self, loop: asyncio.AbstractEventLoop, context: JsonObject) -> None:
        error = context.get("exception")
        # Errors of a transport (a client resets the connection, or rejects the certificate) are not ours.
        if error is not None and "transport" not in context:
            self.errors.append(error)
        loop.default_exception_handler(context)


async def _shut_down() -> None:
    """Ends all tasks of the loop, in the order of `asyncio.run`."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=SHUTDOWN_SECONDS)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
