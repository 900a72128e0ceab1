"""Clients of control, its carriers: the same operations in this process, or over HTTP against a sandbox elsewhere.

Every client answers plain objects and raises `ControlError`. The third carrier, HTTP's server side, is
`control/routes.py`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard, TypeVar
from urllib.parse import quote

from msgspec import ValidationError

from sendbox.control.operation import Control, ControlError, Operation, Served, unreadable
from sendbox.engine.answer import Answer, JsonMapping, JsonObject, read
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.texts import regex
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import HostedWorld
from sendbox.runtime.worlds import BEGINS
from sendbox.scenario.model import ScenarioError
from sendbox.server.instance import Instances, authorization, routing

if TYPE_CHECKING:
    import httpx

    from sendbox.scenario.language import Language


T = TypeVar("T")
_ERROR_NUMBER: Final = regex(r"\[Errno -?[0-9]+\] ")
#: Receives one delivery, with the world's instant in virtual milliseconds; called on the sandbox's loop.
DeliveryReceiver = Callable[[HttpCall, int], Awaitable[Outcome]]


class Thread(Protocol):
    """The methods that a client needs of the thread that owns the sandbox's loop."""

    def submit(self, coro: Coroutine[object, object, T]) -> Future[T]:
        """Runs a coroutine on the loop."""

    def call(self, fn: Callable[[], T]) -> T:
        """Calls a function on the loop's thread and blocks until it has returned."""


class ControlClient(Protocol):
    """A client of one sandbox. `world` is None for operations that have none; arguments have their public names."""

    origin: str
    served: Served

    def call(self, name: str, world: str | None, arguments: JsonMapping) -> Any:
        """Performs an operation and blocks until it is done."""

    def submit(self, name: str, world: str | None, arguments: JsonMapping) -> Future[Any]:
        """Starts an operation on another thread."""

    async def acall(self, name: str, world: str | None, arguments: JsonMapping) -> Any:
        """Performs an operation without blocking the running loop."""
        return await asyncio.wrap_future(self.submit(name, world, arguments))

    def scenario(self, scenario: object) -> object:
        """A scenario in the form in which this client takes it; files are read here, where the test runs."""


class InProcess(ControlClient):
    """The sandbox of this process, on its own thread. Plain values go through, nothing is encoded."""

    def __init__(self, thread: Thread, control: Control, origin: str) -> None:
        self.origin = origin
        self.served = control.served
        self._thread = thread
        self._control = control

    def submit(self, name: str, world: str | None, arguments: JsonMapping) -> Future[Any]:
        """Starts an operation on the sandbox's thread."""
        return self._thread.submit(self._control.perform(self.origin, name, world, arguments))

    def call(self, name: str, world: str | None, arguments: JsonMapping) -> Any:
        """Performs an operation and blocks until it is done."""
        return self.submit(name, world, arguments).result()

    def scenario(self, scenario: Any) -> Any:
        """A scenario compiled, so that problems in it are reported where it is given. Raises `ControlError` 422."""
        if scenario is None or isinstance(scenario, Blueprint):
            return scenario
        try:
            language: Language = self._control.served.language
            return language.load(scenario, env=os.environ)
        except ScenarioError as error:
            raise unreadable(error) from None

    def after(self, seconds: float, then: Callable[[], None]) -> Callable[[], object]:
        """Calls `then` on the sandbox's thread, whose clock libraries that freeze time do not affect."""
        return self._thread.submit(_after(seconds, then)).cancel

    def change_settings(self, world: str, settings: JsonMapping) -> None:
        """Changes settings of a world, by their fields. No operation of control does: a client could widen them."""

        def change() -> None:
            self._hosted(world).settings = replace(self._control.runtime.settings, **settings)

        self._thread.call(change)

    def _hosted(self, world: str) -> HostedWorld:
        hosted = self._control.runtime.worlds.get(world)
        if hosted is None:
            raise ControlError(404, "no_such_world", f'"{world}" is not an open world')
        return hosted

    def deliver_to(self, world: str, receiver: DeliveryReceiver | None) -> None:
        """Deliveries of a world go to a coroutine function of this process; None: to their targets again."""

        def install() -> None:
            hosted = self._hosted(world)

            async def deliver(call: HttpCall) -> Outcome:
                assert receiver is not None
                return await receiver(call, hosted.world.now)

            self._control.runtime.deliver_to(hosted, None if receiver is None else deliver)

        self._thread.call(install)


class Client(ControlClient):
    """A sandbox at an address. Not bound to a loop: asynchronous calls run on threads of their own.

    Each call about a world has its id in the header `x-api-key`, by which a proxy finds the server of the world.
    A world that is opened without an id gets one here. The `token` is that of SENDBOX_TOKEN unless it is given.
    """

    origin: str
    """Scheme, host and port of the sandbox."""
    served: Served
    """The operations that can be called."""

    def __init__(
        self, origin: str, served: Served, http: httpx.Client | None = None, *, token: str | None = None
    ) -> None:
        import httpx

        self.origin = origin.rstrip("/")
        self.served = served
        # an advance lasts as long as its receivers take, so there is a limit for connecting only; without TLS the
        # authorities of the machine are not read, which takes longer than a call
        limit = httpx.Timeout(None, connect=10.0)
        self._http = http or httpx.Client(verify=self.origin.startswith("https:"), timeout=limit)
        self.instances = Instances()
        self._authorization = authorization(token)
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: set[Future[object]] = set()

    def submit(self, name: str, world: str | None, arguments: JsonMapping) -> Future[Any]:
        """Starts an operation on its own thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(8, thread_name_prefix="sendbox-client")
        future = self._pool.submit(self.call, name, world, arguments)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def call(self, name: str, world: str | None, arguments: JsonMapping) -> Any:
        """Performs an operation and blocks until it is done. `ControlError` 502 where no sandbox answers.

        The answer has the class that the operation names, if it is one without fields that services add.
        """
        import httpx

        row = self.served.by_name[name]
        values = {key: value for key, value in arguments.items() if value is not None}
        if name == "open_world" and "id" not in values:
            values["id"] = self.instances.new_world(self._prefix)
        named = values["id"] if name == "open_world" else world
        path = row.path.replace("{id}", quote(world or "", safe=""))
        for key in list(values):
            if f"{{{key}}}" in path:
                path = path.replace(f"{{{key}}}", quote(str(values.pop(key)), safe=""))
        try:
            response = self._http.request(
                row.method,
                f"{self.origin}/_sandbox{path}",
                headers={**routing(named), **self._authorization},
                **_payload(row, values),
            )
            if world is not None:
                self.check_same_server(world, response.headers)
            if (
                "format" in row.takes
                and response.is_success
                and response.headers.get("content-type", "").startswith("text/")
            ):
                return response.text
            value = response.json()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ControlError(502, "no_sandbox", unreachable(self.origin, error)) from error
        except ValueError:
            value = None
        if not isinstance(value, dict) or (response.status_code >= 400 and not _has_words(value)):
            raise ControlError(
                502, "no_sandbox", f"{masked(self.origin)} is not a Sandbox: it answers {response.status_code}"
            )
        if response.status_code >= 400:
            detail = {key: item for key, item in value.items() if key not in ("error", "message")}
            raise ControlError(response.status_code, value["error"], value["message"], **detail)
        if name == "open_world":
            self.check_same_server(value["id"], response.headers)
        elif name == "close_world" and world is not None:
            self.instances.forget(world)
        kind = row.answers
        if not isinstance(kind, type) or not issubclass(kind, Answer) or kind.EXTRA_FIELDS_TYPE is not None:
            return value
        try:
            return read(value, kind)
        except ValidationError as error:
            text = f"{masked(self.origin)} is a Sandbox of another version: {name} answers otherwise: {error}"
            raise ControlError(502, "no_sandbox", text) from None

    @cached_property
    def _prefix(self) -> str:
        """The beginning of the ids of worlds that are opened without one: the prefix of the token, if it has one."""
        asks = self._authorization and "token" in self.served.by_name
        return (self.call("token", None, {}).prefix if asks else "") or BEGINS

    def check_same_server(self, world: str, headers: Mapping[str, str]) -> None:
        """Raises `ControlError` 502 where an answer about a world comes from another server than those before it."""
        if self.instances.changed(world, headers):
            raise ControlError(502, "restarted", self.instances.message(world, masked(self.origin)))

    def scenario(self, scenario: object) -> object:
        """A scenario in the form in which this client takes it: a file as its text, a list item by item."""
        if isinstance(scenario, list | tuple):
            return [self.scenario(item) for item in scenario]
        return Path(scenario).read_text(encoding="utf-8") if is_file(scenario) else scenario

    def after(self, seconds: float, then: Callable[[], None]) -> Callable[[], object]:
        """Calls `then` on its own thread, after a wait that libraries that freeze time do not affect."""
        timer = threading.Timer(seconds, then)
        timer.name, timer.daemon = "sendbox-timeout", True
        timer.start()
        return timer.cancel

    def close(self) -> None:
        """Closes connections and threads; a call that still runs may end."""
        if self._pool is not None:
            self._pool.shutdown(wait=not self._under_way, cancel_futures=True)
        self._http.close()


def _has_words(answer: JsonMapping) -> bool:
    """True if the answer to a refused call has the two texts of ours."""
    return isinstance(answer.get("error"), str) and isinstance(answer.get("message"), str)


def unreachable(origin: str, error: Exception) -> str:
    """The reason why a sandbox does not answer, without numbers of errors and without a password."""
    why = _ERROR_NUMBER.sub("", str(error)) or "it does not answer"
    return f"{masked(origin)} cannot be reached: {why}"


def masked(origin: str) -> str:
    """An origin without the user and the password that it may have."""
    from sendbox.engine.kinds.masking import MASK

    return MASK.text(origin)


def is_file(scenario: object) -> TypeGuard[str | Path]:
    """True if a scenario is a path: a `Path`, or a one-line text that ends like the name of a scenario file."""
    if isinstance(scenario, str):
        return "\n" not in scenario and scenario.endswith((".yaml", ".yml", ".json"))
    return isinstance(scenario, Path)


async def _after(seconds: float, then: Callable[[], None]) -> None:
    await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=seconds)
    then()


def _payload(row: Operation, values: JsonObject) -> JsonObject:
    """The arguments of an HTTP request for an operation: as query, as JSON body, or as the body itself."""
    if row.method in ("GET", "DELETE"):
        return {"params": values}
    if not row.raw:
        return {"json": values}
    raw = values.pop("raw", None)
    body = {"content": raw.encode()} if isinstance(raw, str) else {"json": raw}
    return {"params": values, **body}
