"""Carriers of control: the same operations in this process, or over HTTP against a sandbox elsewhere.

A carrier answers plain objects and raises `ControlError`, whichever it is. The third carrier, HTTP's server side, is
`control/routes.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from sendbox.control import operations
from sendbox.control.operation import ControlError, Operation, perform
from sendbox.scenario.compile import load

if TYPE_CHECKING:
    from concurrent.futures import Future

    import httpx

    from sendbox.runtime import Deliverer, Runtime
    from sendbox.thread import ServerThread


class Carrier(Protocol):
    """One way to a sandbox. `world` None for operations that have none; arguments by public name."""

    origin: str

    def submit(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Future[Any]:
        """Starts an operation; for those that take long."""

    def call(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
        """Performs an operation and blocks until it is done."""

    async def acall(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
        """Performs an operation without blocking the running loop."""

    def scenario(self, given: Any) -> Any:
        """A scenario in the form in which this carrier takes it; files are read here, where the test runs."""


class InProcess:
    """The sandbox of this process, on its own thread. Plain values go through, nothing is encoded."""

    def __init__(self, thread: ServerThread, runtime: Runtime, origin: str) -> None:
        self.origin = origin
        self._thread = thread
        self._runtime = runtime
        self._rows = operations.load()

    def submit(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Future[Any]:
        """Starts an operation on the sandbox's thread."""
        return self._thread.submit(perform(self._runtime, self.origin, self._rows[name], world, arguments))

    def call(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
        """Performs an operation and blocks until it is done."""
        return self.submit(name, world, arguments).result()

    async def acall(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
        """Performs an operation without blocking the running loop."""
        return await asyncio.wrap_future(self.submit(name, world, arguments))

    def scenario(self, given: Any) -> Any:
        """A scenario in the form in which this carrier takes it."""
        return load(Path(given)) if is_file(given) else given

    def deliver_to(self, world: str, deliverer: Deliverer | None) -> None:
        """Deliveries of a world go to a coroutine function of this process, called on the sandbox's loop."""
        self._thread.call(lambda: self._runtime.deliver_to(self._runtime.worlds[world], deliverer))


class Client:
    """A sandbox at an address. Not bound to a loop: asynchronous calls run on threads of their own."""

    def __init__(self, origin: str, http: httpx.Client | None = None) -> None:
        import httpx

        self.origin = origin.rstrip("/")
        self._rows = operations.load()
        # an advance lasts as long as its receivers take, so the answer is waited for; a connection is not
        self._http = http or httpx.Client(timeout=httpx.Timeout(None, connect=10.0))
        self._pool: Any = None

    def submit(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Future[Any]:
        """Starts an operation on a thread of its own."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(8, thread_name_prefix="sendbox-client")
        future: Future[Any] = self._pool.submit(self.call, name, world, arguments)
        return future

    def call(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
        """Performs an operation and blocks until it is done."""
        row = self._rows[name]
        given = {key: value for key, value in arguments.items() if value is not None}
        path = row.path.replace("{id}", quote(world or "", safe=""))
        for key in list(given):
            if f"{{{key}}}" in path:
                path = path.replace(f"{{{key}}}", quote(str(given.pop(key)), safe=""))
        response = self._http.request(row.method, f"{self.origin}/_sandbox{path}", **_payload(row, given))
        value = response.json()
        if response.status_code >= 400:
            detail = {key: item for key, item in value.items() if key not in ("error", "message")}
            raise ControlError(response.status_code, value["error"], value["message"], **detail)
        return value

    async def acall(self, name: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
        """Performs an operation without blocking the running loop."""
        return await asyncio.wrap_future(self.submit(name, world, arguments))

    def scenario(self, given: Any) -> Any:
        """A scenario in the form in which this carrier takes it: a file as its text."""
        return Path(given).read_text(encoding="utf-8") if is_file(given) else given

    def close(self) -> None:
        """Closes connections and threads."""
        self._http.close()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def is_file(given: Any) -> bool:
    """Whether a scenario is given as a path: a `Path`, or a one-line text that ends like a YAML file."""
    if isinstance(given, str):
        return "\n" not in given and given.endswith((".yaml", ".yml"))
    return isinstance(given, Path)


def _payload(row: Operation, given: dict[str, Any]) -> dict[str, Any]:
    """Where an operation's arguments travel: query, JSON body, or the body as it is."""
    if row.method in ("GET", "DELETE"):
        return {"params": given}
    if not row.raw:
        return {"json": given}
    raw = given.pop("raw", None)
    body = {"content": raw.encode()} if isinstance(raw, str) else {"json": raw}
    return {"params": given, **body}
