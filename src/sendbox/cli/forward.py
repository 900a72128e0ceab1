"""`sendbox forward`: fetches the webhooks of a sandbox that cannot reach its client, and sends them.

Each webhook is a task of its own, so that a receiver that hangs delays no other; a new poll, without those under way,
begins as soon as one of them has ended. Of several worlds each has a long poll of its own; the stream of the sandbox
says when worlds open.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, USAGE, Failure, one_line
from sendbox.cli.signals import on_signals
from sendbox.engine.patterns import Pattern
from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender
from sendbox.server.instance import Instances, routing

if TYPE_CHECKING:
    import httpx

#: Real seconds a receiver may take: as the service allows, and no longer than a sandbox waits for us.
PATIENCE: Final = 5.0
#: Real seconds a sandbox may take to accept a connection or a request.
CONNECT: Final = 5.0
#: One long poll, and how much longer its answer may take than that.
POLL: Final = "30s"
POLL_ANSWER: Final = 40.0
#: Real seconds after which a stream that has ended is asked for again.
AGAIN: Final = 1.0
#: Worlds of one page of their list.
PAGE: Final = 500


def run(to: str, url: str, world: str | None, cacert: str | None, say: Callable[[str], None]) -> None:
    """Forwards webhooks until SIGINT or SIGTERM, which let those under way end; a second one does not wait.

    The rest as for `forward`.
    """

    async def ended() -> None:
        end = asyncio.Event()
        carrying = asyncio.create_task(forward(to, url, world, cacert, say, end))

        def stop() -> None:
            if end.is_set():
                carrying.cancel()
            end.set()

        with on_signals(stop), contextlib.suppress(asyncio.CancelledError):
            await carrying

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(ended())


async def forward(
    to: str,
    url: str,
    world: str | None,
    cacert: str | None,
    say: Callable[[str], None],
    end: asyncio.Event | None = None,
) -> None:
    """Forwards webhooks until it is cancelled, or until `end`, when those under way are carried out; `say` gets a line
    for each. Raises `Failure` when the world is closed.

    `world` None is the one that is open; a world that is not open yet is opened. One with `*` is a pattern: it stands
    for all open worlds whose names it fits, also for those that open later, and none of them is opened. `cacert` is the
    file of an authority that is trusted besides the usual ones.
    """
    import httpx

    address.origin(to)
    origin = address.origin(url)
    timeout = httpx.Timeout(CONNECT, read=POLL_ANSWER, pool=None)
    instances = Instances()

    async def same(response: httpx.Response) -> None:
        """Each world stays on the server that answered first."""
        _, _, world, *_ = [*response.request.url.path.removeprefix("/_sandbox").split("/"), "", ""]
        if world and instances.changed(world, response.headers):
            raise Failure(CANNOT, one_line(instances.message(world, origin)))

    control = httpx.AsyncClient(
        base_url=f"{origin}/_sandbox",
        verify=_trust(cacert),
        timeout=timeout,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),  # a long poll for each world
        trust_env=False,
        event_hooks={"response": [same]},
    )
    # the address that the user names may be called, wherever it is
    try:
        callbacks = Callbacks.parse(["any", urlsplit(to).netloc.rpartition("@")[2]])
    except ValueError as error:
        raise Failure(USAGE, f"--to: {error}") from None
    out = Sender(callbacks, ca=cacert)
    async with control, contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(out.close)
        carrier = _Carrier(control, out, to, say, end or asyncio.Event())
        several = world is not None and "*" in world
        world_id = world if world is not None and several else await _world(control, world)
        say(f"webhooks of {one_line(world_id)} at {origin} go to {to}; Ctrl-C ends it")
        await (carrier.carry_fitting(Pattern(world_id)) if several else carrier.carry_world(world_id))


class _Carrier:
    """Carries the webhooks of worlds to one receiver, until its `end`."""

    def __init__(
        self, control: httpx.AsyncClient, out: Sender, to: str, say: Callable[[str], None], end: asyncio.Event
    ) -> None:
        self._control = control
        self._out = out
        self._to = to
        self._say = say
        self._end = end

    async def carry_world(self, world: str) -> None:
        """Those of one world. Raises `_Closed` when it is closed."""
        outbox = f"/worlds/{quote(world, safe='')}/outbox"
        under_way: dict[str, asyncio.Task[None]] = {}
        poll: asyncio.Task[Any] | None = None
        ending = asyncio.create_task(self._end.wait())
        try:
            while not ending.done():
                parameters = {"wait": POLL, "except": ",".join(under_way)}
                poll = asyncio.create_task(_ask(self._control, "GET", outbox, params=parameters))
                await asyncio.wait({poll, ending, *under_way.values()}, return_when=asyncio.FIRST_COMPLETED)
                if poll.done():
                    for call in poll.result()["calls"]:
                        report = f"{outbox}/{quote(call['id'], safe='')}"
                        under_way[call["id"]] = asyncio.create_task(self._carry(report, call))
                else:
                    poll.cancel()
                for name, task in list(under_way.items()):
                    if task.done():
                        task.result()
                        del under_way[name]
            if under_way:
                self._say(f"webhooks of {one_line(world)} under way: {len(under_way)}; it ends after them")
            await asyncio.gather(*under_way.values())
        finally:
            await _cancelled([ending, *under_way.values(), *([] if poll is None else [poll])])

    async def carry_fitting(self, pattern: Pattern) -> None:
        """Those of all worlds whose names fit, which are looked for whenever the stream says that worlds opened."""
        carried: dict[str, asyncio.Task[None]] = {}
        opened = asyncio.Event()
        opened.set()
        watching = asyncio.create_task(self._watch(opened))
        ending = asyncio.create_task(self._end.wait())
        waking: asyncio.Task[Any] = asyncio.create_task(opened.wait())
        try:
            while not ending.done():
                await asyncio.wait({waking, watching, ending, *carried.values()}, return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
                for name, task in list(carried.items()):
                    if task.done():
                        del carried[name]
                        self._ended(name, task)
                        opened.set()  # it may be open again
                if waking.done():
                    opened.clear()
                    for name in await _fitting(self._control, pattern):
                        if name not in carried:
                            self._say(f"webhooks of {one_line(name)} are carried")
                            carried[name] = asyncio.create_task(self.carry_world(name))
                    waking = asyncio.create_task(opened.wait())
            await asyncio.gather(*carried.values())
        finally:
            await _cancelled([ending, waking, watching, *carried.values()])

    def _ended(self, world: str, task: asyncio.Task[None]) -> None:
        """A world is carried no longer. Raises what else than its end was the reason."""
        try:
            task.result()
        except _Closed:
            self._say(f"{one_line(world)} was closed")

    async def _watch(self, opened: asyncio.Event) -> None:
        """Sets the event whenever the number of open worlds has changed. Raises `Failure`."""
        import httpx

        try:
            while True:
                async with self._control.stream("GET", "/stream") as events:
                    async for line in events.aiter_lines():
                        if line == "event: worlds":
                            opened.set()
                await asyncio.wait({asyncio.create_task(self._end.wait())}, timeout=AGAIN)
        except httpx.HTTPError as error:
            raise _unreachable(self._control, error) from None

    async def _carry(self, report: str, call: Mapping[str, Any]) -> None:
        """One call, and the report of its outcome."""
        url = target(self._to, call)
        headers = [(name, value) for name, value in call["headers"]]
        http = HttpCall(call["method"], url, headers, base64.b64decode(call["body"]))
        outcome = await self._out.send(http, PATIENCE)
        result: dict[str, Any] = {"error": outcome.error} if outcome.status is None else {"status": outcome.status}
        self._say(one_line(f"{outcome.status or outcome.error} {call['method']} {url} {call['id']}"))
        with contextlib.suppress(_Gone):  # the sandbox has waited long enough, or was reset
            await _ask(self._control, "POST", report, json=result)


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancels tasks, and waits until they have ended."""
    cancelled = list(tasks)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)


def target(to: str, call: Mapping[str, Any]) -> str:
    """The address of a call: `to` for the built-in receiver, else its own path and query on the host of `to`."""
    if call["hook"]:
        return to
    wanted, meant = urlsplit(to), urlsplit(str(call["url"]))
    return meant._replace(scheme=wanted.scheme, netloc=wanted.netloc).geturl()


class _Gone(Exception):
    """The delivery does not exist (any more)."""


class _Closed(Failure):
    """The world is not open (any more)."""


async def _ask(control: httpx.AsyncClient, method: str, path: str, **arguments: Any) -> Any:
    """The answer of control. Raises `_Gone` for a delivery that does not exist, `Failure` for every other error."""
    import httpx

    try:
        response = await control.request(method, path, **arguments)
        value = response.json()
    except httpx.HTTPError as error:
        raise _unreachable(control, error) from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Failure(CANNOT, f"{control.base_url} is not a Sendbox: it answers {response.status_code}")
    if response.status_code >= 400:
        if value.get("error") == "no_such_delivery":
            raise _Gone
        if value.get("error") == "world_exists":
            return value
        kind = _Closed if value.get("error") == "no_such_world" else Failure
        raise kind(CANNOT, one_line(str(value.get("message", value))))
    return value


def _unreachable(control: httpx.AsyncClient, error: Exception) -> Failure:
    """Why a command ends whose sandbox does not answer."""
    why = one_line(str(error)) or type(error).__name__
    return Failure(CANNOT, f"{control.base_url.host}:{control.base_url.port} cannot be reached: {why}")


async def _fitting(control: httpx.AsyncClient, pattern: Pattern) -> list[str]:
    """The open worlds whose names fit, in the order in which they were opened."""
    found: list[str] = []
    prefix = pattern.text.partition("*")[0]
    more: dict[str, str] = {}
    while True:
        parameters = {"prefix": prefix, "limit": str(PAGE), **more}
        page = await _ask(control, "GET", "/worlds", params=parameters)
        found += [row["id"] for row in page["worlds"] if pattern.matches(row["id"])]
        if page["next_cursor"] is None:
            return found
        more = {"cursor": page["next_cursor"]}


async def _world(control: httpx.AsyncClient, world: str | None) -> str:
    """The world whose webhooks are forwarded; it is opened where it is not open."""
    if world is not None:
        await _ask(control, "POST", "/worlds", headers=routing(world), json={"id": world, "deliveries": "pull"})
        return world
    worlds = [row["id"] for row in (await _ask(control, "GET", "/worlds", params={"last": "20"}))["worlds"]]
    return address.only_world(worlds)


def _trust(cacert: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if cacert is not None:
        try:
            context.load_verify_locations(Path(cacert))
        except OSError as error:  # ssl.SSLError is one
            raise Failure(CANNOT, f"{cacert} holds no certificates: {error}") from None
    return context
