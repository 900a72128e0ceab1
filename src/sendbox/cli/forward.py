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
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import click
import httpx

from sendbox.cli import address
from sendbox.cli.options import FILE, TEXT, TOKEN, URL, WORLD
from sendbox.cli.outcome import CANNOT, USAGE, Failure, one_line
from sendbox.cli.signals import on_signals
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.kinds.masking import MASK
from sendbox.engine.texts import Pattern
from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender
from sendbox.server.instance import Instances, authorization, routing

T = TypeVar("T")
#: Real seconds a sandbox may take to accept a connection or a request.
CONNECT: Final = 5.0
#: One long poll, and how much longer its answer may take than that.
POLL: Final = "30s"
POLL_ANSWER: Final = 40.0
#: Real seconds after which a stream that has ended is asked for again, and a sandbox that does not answer.
AGAIN: Final = 1.0
#: So often a sandbox is asked whose connection broke.
TRIES: Final = 5


@click.command()
@click.option("--to", type=TEXT, required=True, help="Address of your receiver, http://127.0.0.1:3000/hooks.")
@URL
@TOKEN
@WORLD
@click.option("--cacert", type=FILE, help="Authority to trust besides the usual ones (PEM), as curl's --cacert.")
def forward_command(to: str, url: str | None, world: str | None, cacert: str | None) -> None:
    """A webhook for the built-in receiver goes to --to as it is; a webhook with a callback of its own keeps its
    path and query, and its user and password unless --to has them, and goes to the host and port of --to. A world that
    was never open is opened. With * in --world it stands for all worlds whose names fit, also for those that open
    later; their webhooks are carried until they close. A world that is forwarded is in use, so --world-ttl does not end
    it.

    Ctrl-C or SIGTERM ends it, with exit code 0: webhooks under way are carried out and reported first, which a second
    signal does not wait for. Webhooks of the worlds that were pushed before are pushed again from then on. Exit code 3
    when the sandbox cannot be reached, or the world is closed.

    \b
    Example:
      sendbox forward --url http://sandbox:7357 --world 'test-job42-*' --to http://127.0.0.1:3000/hooks
    """
    run(to, url or address.default(), world, cacert, click.echo)


def run(to: str, url: str, world: str | None, cacert: str | None, say: Callable[[str], None]) -> None:
    """Forwards webhooks until SIGINT or SIGTERM, which let those under way end; a second one does not wait.

    Either ends it while it waits for an answer of the sandbox, too.

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


def _client_of(origin: str, cacert: str | None, instances: Instances) -> httpx.AsyncClient:
    """The client of control. Raises `Failure` at an answer about a world by another server than the one before."""

    async def check_instance(response: httpx.Response) -> None:
        world = _world_of(response.request)
        if world and instances.changed(world, response.headers):
            raise Failure(CANNOT, one_line(instances.message(world, MASK.text(origin))))

    return httpx.AsyncClient(
        base_url=f"{origin}/_sandbox",
        headers=authorization(address.token()),
        verify=_ssl_context(cacert),
        timeout=httpx.Timeout(CONNECT, read=POLL_ANSWER, pool=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),  # a long poll for each world
        trust_env=False,
        event_hooks={"response": [check_instance]},
    )


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

    `world` None is the one that is open; a world that was never open is opened. One with `*` is a pattern: it stands
    for all open worlds whose names it fits, also for those that open later, and none of them is opened. Worlds whose
    deliveries were pushed before are set back at the end. `cacert` is the file of an authority that is trusted besides
    the usual ones.
    """

    def say_masked(line: str) -> None:
        say(MASK.text(line))

    address.origin(to)
    origin = address.origin(url)
    instances = Instances()
    control = _client_of(origin, cacert, instances)
    # the address that the user names may be called, wherever it is
    try:
        callbacks = Callbacks.parse(["any", urlsplit(to).netloc.rpartition("@")[2]])
    except ValueError as error:
        raise Failure(USAGE, f"--to: {error}") from None
    out = Sender(callbacks, ca=cacert)
    end = end or asyncio.Event()
    async with control, contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(out.close)
        closing.enter_context(contextlib.suppress(_Ended))
        forwarder = _Forwarder(control, out, to, say_masked, end)
        pattern = address.pattern_of_worlds(world)
        if pattern is not None:
            world_id, opened = pattern.text, False
            await _result_before(end, _fitting(control, pattern))  # one that fits no id is refused
        else:
            world_id, opened = await _result_before(end, _world(control, world))
        say_masked(f"webhooks of {one_line(world_id)} at {origin} go to {to}; Ctrl-C ends it")
        try:
            await (forwarder.forward_world(world_id, opened) if pattern is None else forwarder.forward_fitting(pattern))
        except _Unreachable as broken:
            await _explain_lost_connection(control, broken, broken.world or next(iter(instances.worlds), ""), end)


class _Forwarder:
    """Forwards the webhooks of worlds to one receiver, until its `end`."""

    def __init__(
        self, control: httpx.AsyncClient, out: Sender, to: str, say: Callable[[str], None], end: asyncio.Event
    ) -> None:
        self._control = control
        self._out = out
        self._to = to
        self._say = say
        self._end = end

    async def forward_world(self, world: str, opened: bool = False) -> None:
        """Those of one world. Raises `_Closed` when it is closed.

        At the end its deliveries are pushed again if they were pushed before, or if it was `opened` for this.
        """
        path = f"/worlds/{quote(world, safe='')}"
        try:
            changed = (
                opened or (await _result_before(self._end, _ask(self._control, "GET", path)))["deliveries"] == "push"
            )
        except _Ended:
            return
        outbox = f"{path}/outbox"
        try:
            await self._forward_outbox(world, outbox)
        finally:
            if changed:
                with contextlib.suppress(Failure):  # it is closed, or the sandbox does not answer
                    await _ask(self._control, "DELETE", outbox, timeout=CONNECT)
                    self._say(f"webhooks of {one_line(world)} are pushed again")

    async def _forward_outbox(self, world: str, outbox: str) -> None:
        under_way: dict[str, asyncio.Task[None]] = {}
        poll: asyncio.Task[JsonObject] | None = None
        ending = asyncio.create_task(self._end.wait())
        try:
            while not ending.done():
                parameters = {"wait": POLL, "except": ",".join(under_way)}
                poll = asyncio.create_task(_ask(self._control, "POST", outbox, json=parameters))
                await asyncio.wait({poll, ending, *under_way.values()}, return_when=asyncio.FIRST_COMPLETED)
                if poll.done():
                    for call in poll.result()["calls"]:
                        report = f"{outbox}/{quote(call['id'], safe='')}"
                        under_way[call["id"]] = asyncio.create_task(self._forward(report, call))
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
            await _cancel_all([ending, *under_way.values(), *([] if poll is None else [poll])])

    async def forward_fitting(self, pattern: Pattern) -> None:
        """Those of all worlds whose names fit, which are looked for whenever the stream says that worlds opened."""
        carried: dict[str, asyncio.Task[None]] = {}
        opened = asyncio.Event()
        opened.set()
        watching = asyncio.create_task(self._watch(opened))
        ending = asyncio.create_task(self._end.wait())
        waking = asyncio.create_task(opened.wait())
        try:
            while not ending.done():
                await asyncio.wait({waking, watching, ending, *carried.values()}, return_when=asyncio.FIRST_COMPLETED)
                if watching.done():
                    watching.result()
                for name, task in list(carried.items()):
                    if task.done():
                        del carried[name]
                        self._note_end(name, task)
                        opened.set()  # it may be open again
                if waking.done():
                    opened.clear()
                    with contextlib.suppress(_Ended):
                        for name in await _result_before(self._end, _fitting(self._control, pattern)):
                            if name not in carried:
                                self._say(f"webhooks of {one_line(name)} are carried")
                                carried[name] = asyncio.create_task(self.forward_world(name))
                    waking = asyncio.create_task(opened.wait())
            await asyncio.gather(*carried.values())
        finally:
            await _cancel_all([ending, waking, watching, *carried.values()])

    def _note_end(self, world: str, task: asyncio.Task[None]) -> None:
        """A world is carried no longer. Raises what else than its end was the reason."""
        try:
            task.result()
        except _Closed:
            self._say(f"{one_line(world)} was closed")

    async def _watch(self, opened: asyncio.Event) -> None:
        """Sets the event whenever the number of open worlds has changed. Raises `Failure`."""
        try:
            while True:
                async with self._control.stream("GET", "/stream") as events:
                    async for line in events.aiter_lines():
                        if line == "event: worlds":
                            opened.set()
                await asyncio.wait({asyncio.create_task(self._end.wait())}, timeout=AGAIN)
        except httpx.HTTPError as error:
            raise _unreachable(self._control, error) from None

    async def _forward(self, report: str, call: JsonMapping) -> None:
        """One call, and the report of its outcome."""
        url = target(self._to, call)
        headers = [(name, value) for name, value in call["headers"]]
        http = HttpCall(call["method"], url, headers, base64.b64decode(call["body"]))
        outcome = await self._out.send(http, call["patience"])
        result: JsonObject = {"error": outcome.error} if outcome.status is None else {"status": outcome.status}
        self._say(one_line(f"{outcome.status or outcome.error} {call['method']} {url} {call['id']}"))
        try:
            await _ask(self._control, "POST", report, json=result)
        except _Gone:
            if outcome.error != "timeout":
                self._say(
                    f"webhook {one_line(call['id'])} does not wait any more: another client, such as a second forward, "
                    "has sent it too, or its time was over, or the world was reset"
                )


async def _result_before(end: asyncio.Event, asking: Coroutine[object, object, T]) -> T:
    """The result of what is asked. Raises `_Ended` if `end` comes first; the question is given up then."""
    question = asyncio.create_task(asking)
    ending = asyncio.create_task(end.wait())
    try:
        await asyncio.wait({question, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not question.done():
            raise _Ended
        return question.result()
    finally:
        await _cancel_all([question, ending])


async def _cancel_all(tasks: Iterable[asyncio.Task[object]]) -> None:
    """Cancels tasks, and waits until they have ended."""
    cancelled = list(tasks)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)


def target(to: str, call: JsonMapping) -> str:
    """The address of a call: `to` for the built-in receiver, else its own path and query on the host of `to`.

    It keeps its own user and password unless `to` has them.
    """
    if call["hook"]:
        return to
    receiver, meant = urlsplit(to), urlsplit(str(call["url"]))
    user, at, _ = meant.netloc.rpartition("@")
    netloc = receiver.netloc if "@" in receiver.netloc else f"{user}{at}{receiver.netloc}"
    return meant._replace(scheme=receiver.scheme, netloc=netloc).geturl()


class _Ended(Exception):
    """The end came before an answer."""


class _Gone(Exception):
    """The delivery does not exist (any more)."""


class _Closed(Failure):
    """The world is not open (any more). `before` is true if a tester closed it."""

    def __init__(self, message: str, before: bool) -> None:
        super().__init__(CANNOT, message)
        self.before = before


class _Unreachable(Failure):
    """The sandbox does not answer (any more). `world` is the one that a call was about, "" if it was about none."""

    def __init__(self, message: str, world: str) -> None:
        super().__init__(CANNOT, message)
        self.world = world


async def _ask(control: httpx.AsyncClient, method: str, path: str, **arguments: Any) -> JsonObject:
    """The answer of control. Raises `_Gone` for a delivery that does not exist, `Failure` for every other error."""
    try:
        response = await control.request(method, path, **arguments)
        value = response.json()
    except httpx.HTTPError as error:
        raise _unreachable(control, error) from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Failure(CANNOT, f"{MASK.text(str(control.base_url))} is not a Sendbox: it answers {response.status_code}")
    if response.status_code >= 400:
        if value.get("error") == "no_such_delivery":
            raise _Gone
        if value.get("error") == "world_exists":
            return value
        message = one_line(str(value.get("message", value)))
        if value.get("error") in ("no_such_world", "closed"):
            raise _Closed(message, bool(value.get("closed")))
        raise Failure(CANNOT if value.get("error") != "bad_pattern" else USAGE, message)
    return value


def _world_of(request: httpx.Request) -> str:
    """The world that a call is about, "" if it is about none."""
    _, _, world, *_ = [*request.url.path.removeprefix("/_sandbox").split("/"), "", ""]
    return world


def _unreachable(control: httpx.AsyncClient, error: httpx.HTTPError) -> _Unreachable:
    """The reason why a command ends whose sandbox does not answer."""
    from sendbox.control.carriers import unreachable

    origin = str(control.base_url.copy_with(path=""))
    return _Unreachable(one_line(unreachable(origin, error)), _world_of(error.request))


async def _explain_lost_connection(
    control: httpx.AsyncClient, broken: _Unreachable, world: str, end: asyncio.Event
) -> None:
    """The connection to a sandbox broke: asks it for a few seconds what became of it, or until `end`.

    Raises `Failure`, which says whether it was restarted, is gone, or answers again.
    """
    path = f"/worlds/{quote(world, safe='')}" if world else "/health"
    ending = asyncio.create_task(end.wait())
    try:
        for _ in range(TRIES):
            await asyncio.wait({ending}, timeout=AGAIN)
            if ending.done():
                return
            with contextlib.suppress(httpx.HTTPError):
                await _result_before(end, control.get(path, timeout=CONNECT))  # an answer of another server raises
                raise Failure(CANNOT, f"{broken.message}; it answers again: start forward again")
    finally:
        await _cancel_all([ending])
    raise Failure(CANNOT, f"{broken.message}; it is gone: it has not answered since")


async def _fitting(control: httpx.AsyncClient, pattern: Pattern) -> list[str]:
    """The open worlds whose names fit, in the order in which they were opened."""
    pages = address.fitting(pattern)
    parameters = next(pages)
    while True:
        page = await _ask(control, "GET", "/worlds", params=parameters)
        try:
            parameters = pages.send(page)
        except StopIteration as end:
            names: list[str] = end.value
            return names


async def _world(control: httpx.AsyncClient, world: str | None) -> tuple[str, bool]:
    """The world whose webhooks are forwarded, and whether it is opened for this: it was never open.

    Raises `Failure` if it was closed.
    """
    if world is not None:
        try:
            closed = "closed" in await _ask(control, "GET", f"/worlds/{quote(world, safe='')}")
        except _Closed as gone:
            closed = gone.before
            if not closed:
                body = {"id": world, "deliveries": "pull"}
                answer = await _ask(control, "POST", "/worlds", headers=routing(world), json=body)
                return world, "error" not in answer
        if closed:
            raise Failure(CANNOT, f"{one_line(world)} was closed: POST /_sandbox/worlds opens it again")
        return world, False
    worlds = [row["id"] for row in (await _ask(control, "GET", "/worlds", params={"last": "20"}))["worlds"]]
    return address.only_world(worlds), False


def _ssl_context(cacert: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if cacert is not None:
        try:
            context.load_verify_locations(Path(cacert))
        except OSError as error:  # ssl.SSLError is one
            raise Failure(CANNOT, f"{cacert} holds no certificates: {error}") from None
    return context
