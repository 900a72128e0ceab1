"""An operation of control: one row that every carrier reads.

An operation is a coroutine function of (`Call`, keyword arguments). Its row says where HTTP carries it; its signature
says which arguments are legal: path parameters, then fields of the query (GET, DELETE) or of the JSON body. A trailing
underscore in an argument's name is not part of its public name (`from_` is `from`).
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from sendbox.core.spans import duration
from sendbox.runtime import Hosted
from sendbox.runtime import Runtime as Runtime  # the page takes it from here, and knows nothing behind control

T = TypeVar("T")


class ControlError(Exception):
    """Why an operation was not done: an HTTP status, a stable word, a line for people, and details."""

    def __init__(self, status: int, error: str, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.detail = detail

    def as_json(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": self.error, "message": self.message, **self.detail}


@dataclass(slots=True)
class Call:
    """What an operation works on: the runtime, the origin of addresses it gives out, and its world, where it has one."""

    runtime: Runtime
    origin: str
    hosted: Hosted | None = None

    @property
    def here(self) -> Hosted:
        """The world of an operation that has one."""
        assert self.hosted is not None
        return self.hosted


Function = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: `name` in the clients, `method` and `path` over HTTP (under `/_sandbox`), `status` of a good answer.

    `raw` hands the request's body over unparsed, as argument `raw` (scenario texts).
    """

    name: str
    method: str
    path: str
    function: Function
    status: int = 200
    raw: bool = False
    arguments: tuple[str, ...] = field(default=())

    @property
    def worldly(self) -> bool:
        """Whether it works on one world."""
        return self.path.startswith("/worlds/{id}")


OPERATIONS: Final[dict[str, Operation]] = {}


def operation(method: str, path: str, *, status: int = 200, raw: bool = False) -> Callable[[Function], Function]:
    """Makes a function an operation; its name is the function's."""

    def enter(function: Function) -> Function:
        name = function.__name__
        arguments = tuple(inspect.signature(function).parameters)[1:]
        OPERATIONS[name] = Operation(name, method, path, function, status, raw, arguments)
        return function

    return enter


async def perform(
    runtime: Runtime, origin: str, row: Operation, world_id: str | None, arguments: Mapping[str, Any]
) -> Any:
    """Performs an operation. `arguments` by public name. Raises `ControlError`."""
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in row.arguments:
            given[name] = value
        elif f"{name}_" in row.arguments:
            given[f"{name}_"] = value
        else:
            legal = [argument.removesuffix("_") for argument in row.arguments]
            near = get_close_matches(name, legal, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise ControlError(
                400, "unknown_argument", f'"{name}" is no argument of {row.name}; legal: {", ".join(legal)}{hint}'
            )
    call = Call(runtime, origin)
    if row.worldly:
        hosted = runtime.worlds.get(world_id or "")
        if hosted is None:
            raise ControlError(404, "no_such_world", f'"{world_id}" is no open world; POST /_sandbox/worlds opens one')
        call.hosted = hosted
        runtime.present(hosted)
        hosted.controls += 1
    try:
        inspect.signature(row.function).bind(call, **given)
    except TypeError as error:
        if call.hosted is not None:
            call.hosted.controls -= 1
        raise ControlError(400, "missing_argument", f"{row.name}: {str(error).replace('_', '')}") from None
    try:
        return await row.function(call, **given)
    finally:
        if call.hosted is not None:
            call.hosted.controls -= 1
            runtime.kick(call.hosted)


def milliseconds(value: Any, name: str) -> int:
    """A duration argument. Raises `ControlError` that says what was legal."""
    try:
        return duration(int(value) if isinstance(value, str) and value.isdigit() else value)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f"{name}: {error}") from None


def whole(value: Any, name: str) -> int:
    """A whole number as argument. Raises `ControlError`."""
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ControlError(400, "bad_argument", f"{name}: {value!r} is no whole number") from None


def newest(backwards: Iterable[T], last: Any) -> list[T]:
    """The `last` newest (None: all) of what comes newest first, oldest first. No more is looked at than is needed."""
    if last is None:
        return list(backwards)[::-1]
    most = whole(last, "last")
    if most < 0:
        raise ControlError(400, "bad_argument", f"last: {most} is no number of things; legal: 0 and more")
    return list(itertools.islice(backwards, most))[::-1]


async def wait_for(hosted: Hosted, wait: Any, look: Callable[[], Any]) -> Any:
    """Looks, and while there is nothing waits for something to happen, at most `wait` of real time (a long poll)."""
    found = look()
    if found or wait is None:
        return found
    # a wait that only waits is no work in progress: an `auto` clock goes on under it
    hosted.controls -= 1
    try:
        async with asyncio.timeout(milliseconds(wait, "wait") / 1000):
            while not found:
                await hosted.change()
                if hosted.gone:
                    raise ControlError(404, "no_such_world", f"{hosted.world.id} was closed while this call waited")
                found = look()
    except TimeoutError:
        pass
    finally:
        hosted.controls += 1
    return found
