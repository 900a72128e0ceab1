"""`sendbox forward`: fetches the webhooks of a sandbox that cannot reach its client, and sends them.

Each webhook is a task of its own, so that a receiver that hangs delays no other; a new poll, without those under way,
begins as soon as one of them has ended.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, USAGE, Failure, one_line
from sendbox.cli.signals import on_signals
from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall
from sendbox.runtime.sender import Sender
from sendbox.server.instance import Instances

if TYPE_CHECKING:
    import httpx

#: Real seconds a receiver may take: as the service allows, and no longer than a sandbox waits for us.
PATIENCE: Final = 5.0
#: Real seconds a sandbox may take to accept a connection or a request.
CONNECT: Final = 5.0
#: One long poll, and how much longer its answer may take than that.
POLL: Final = "30s"
POLL_ANSWER: Final = 40.0


def run(to: str, url: str, world: str | None, cacert: str | None, say: Callable[[str], None]) -> None:
    """Forwards webhooks until SIGINT or SIGTERM; the rest as for `forward`."""

    async def ended() -> None:
        carrying = asyncio.create_task(forward(to, url, world, cacert, say))
        with on_signals(carrying.cancel), contextlib.suppress(asyncio.CancelledError):
            await carrying

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(ended())


async def forward(to: str, url: str, world: str | None, cacert: str | None, say: Callable[[str], None]) -> None:
    """Forwards webhooks until it is cancelled; `say` gets a line for each. Raises `Failure` when the world is closed.

    `world` None is the one that is open; a world that is not open yet is opened. `cacert` is the file of an authority
    that is trusted besides the usual ones.
    """
    import httpx

    address.origin(to)
    origin = address.origin(url)
    timeout = httpx.Timeout(CONNECT, read=POLL_ANSWER)
    instances = Instances()

    async def same(response: httpx.Response) -> None:
        """Each world stays on the server that answered first."""
        _, _, world, *_ = [*response.request.url.path.removeprefix("/_sandbox").split("/"), "", ""]
        if world and instances.changed(world, response.headers):
            raise Failure(CANNOT, one_line(instances.message(world, origin)))

    client = httpx.AsyncClient(
        base_url=f"{origin}/_sandbox",
        verify=_trust(cacert),
        timeout=timeout,
        trust_env=False,
        event_hooks={"response": [same]},
    )
    # the address that the user names may be called, wherever it is
    try:
        callbacks = Callbacks.parse(["any", urlsplit(to).netloc.rpartition("@")[2]])
    except ValueError as error:
        raise Failure(USAGE, f"--to: {error}") from None
    out = Sender(callbacks, ca=cacert)
    async with client as control, contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(out.close)
        world_id = await _world(control, world)
        say(f"webhooks of {one_line(world_id)} at {origin} go to {to}; Ctrl-C ends it")
        await _carry_all(control, out, f"/worlds/{quote(world_id, safe='')}/outbox", to, say)


async def _carry_all(control: httpx.AsyncClient, out: Sender, outbox: str, to: str, say: Callable[[str], None]) -> None:
    under_way: dict[str, asyncio.Task[None]] = {}
    poll: asyncio.Task[Any] | None = None
    try:
        while True:
            parameters = {"wait": POLL, "except": ",".join(under_way)}
            poll = asyncio.create_task(_ask(control, "GET", outbox, params=parameters))
            await asyncio.wait({poll, *under_way.values()}, return_when=asyncio.FIRST_COMPLETED)
            if poll.done():
                for call in poll.result()["calls"]:
                    report = f"{outbox}/{quote(call['id'], safe='')}"
                    under_way[call["id"]] = asyncio.create_task(_carry(control, out, report, call, to, say))
            else:
                poll.cancel()
            for name, task in list(under_way.items()):
                if task.done():
                    task.result()
                    del under_way[name]
    finally:
        tasks = [*under_way.values(), *([] if poll is None else [poll])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _carry(
    control: httpx.AsyncClient,
    out: Sender,
    report: str,
    call: Mapping[str, Any],
    to: str,
    say: Callable[[str], None],
) -> None:
    """One call, and the report of its outcome."""
    url = target(to, call)
    headers = [(name, value) for name, value in call["headers"]]
    outcome = await out.send(HttpCall(call["method"], url, headers, base64.b64decode(call["body"])), PATIENCE)
    result: dict[str, Any] = {"error": outcome.error} if outcome.status is None else {"status": outcome.status}
    say(one_line(f"{outcome.status or outcome.error} {call['method']} {url} {call['id']}"))
    with contextlib.suppress(_Gone):  # the sandbox has waited long enough, or was reset
        await _ask(control, "POST", report, json=result)


def target(to: str, call: Mapping[str, Any]) -> str:
    """The address of a call: `to` for the built-in receiver, else its own path and query on the host of `to`."""
    if call["hook"]:
        return to
    wanted, meant = urlsplit(to), urlsplit(str(call["url"]))
    return meant._replace(scheme=wanted.scheme, netloc=wanted.netloc).geturl()


class _Gone(Exception):
    """The delivery does not exist (any more)."""


async def _ask(control: httpx.AsyncClient, method: str, path: str, **arguments: Any) -> Any:
    """The answer of control. Raises `_Gone` for a delivery that does not exist, `Failure` for every other error."""
    import httpx

    try:
        response = await control.request(method, path, **arguments)
        value = response.json()
    except httpx.HTTPError as error:
        why = one_line(str(error)) or type(error).__name__
        raise Failure(CANNOT, f"{control.base_url.host}:{control.base_url.port} cannot be reached: {why}") from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Failure(CANNOT, f"{control.base_url} is not a Sendbox: it answers {response.status_code}")
    if response.status_code >= 400:
        if value.get("error") == "no_such_delivery":
            raise _Gone
        if value.get("error") == "world_exists":
            return value
        raise Failure(CANNOT, one_line(str(value.get("message", value))))
    return value


async def _world(control: httpx.AsyncClient, world: str | None) -> str:
    """The world whose webhooks are forwarded; it is opened where it is not open."""
    if world is not None:
        await _ask(control, "POST", "/worlds", json={"id": world, "deliveries": "pull"})
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
