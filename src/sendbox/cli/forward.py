"""`sendbox forward`: carries the webhooks of a sandbox that cannot reach its client, by asking for them.

Each webhook is a task of its own, so that a receiver that hangs holds up nobody else; a poll is asked again, without
those under way, as soon as one of them has ended.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, NO, USAGE, Failure, one_line

if TYPE_CHECKING:
    import httpx

#: Real seconds a receiver may take: what the service gives it, and no longer than a sandbox waits for us.
PATIENCE: Final = 5.0
#: One long poll, and how much longer its answer may take than that.
POLL: Final = "30s"
POLL_ANSWER: Final = 40.0


async def forward(to: str, url: str, world: str | None, cacert: str | None, say: Callable[[str], None]) -> None:
    """Carries webhooks until it is cancelled; `say` gets a line for each. Raises `Failure` when the world has gone.

    `world` None is the one that is open; a world that is not open yet is opened. `cacert` is the file of an authority
    that is trusted besides the usual ones.
    """
    import httpx

    address.origin(to)
    origin = address.origin(url)
    trust = _trust(cacert)
    timeout = httpx.Timeout(PATIENCE, read=POLL_ANSWER)
    async with (
        httpx.AsyncClient(base_url=f"{origin}/_sandbox", verify=trust, timeout=timeout, trust_env=False) as control,
        httpx.AsyncClient(verify=trust, timeout=PATIENCE, trust_env=False) as out,
    ):
        here = await _world(control, world)
        say(f"webhooks of {one_line(here)} at {origin} go to {to}; Ctrl-C ends it")
        await _carry_all(control, out, f"/worlds/{quote(here, safe='')}/outbox", to, say)


async def _carry_all(
    control: httpx.AsyncClient, out: httpx.AsyncClient, outbox: str, to: str, say: Callable[[str], None]
) -> None:
    under_way: dict[str, asyncio.Task[None]] = {}
    poll: asyncio.Task[Any] | None = None
    try:
        while True:
            asked = {"wait": POLL, "except": ",".join(under_way)}
            poll = asyncio.create_task(_ask(control, "GET", outbox, params=asked))
            await asyncio.wait({poll, *under_way.values()}, return_when=asyncio.FIRST_COMPLETED)
            if poll.done():
                for call in poll.result()["calls"]:
                    done = f"{outbox}/{quote(call['id'], safe='')}"
                    under_way[call["id"]] = asyncio.create_task(_carry(control, out, done, call, to, say))
            else:
                poll.cancel()
            for name, task in list(under_way.items()):
                if task.done():
                    task.result()
                    del under_way[name]
    finally:
        rest = [*under_way.values(), *([] if poll is None else [poll])]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


async def _carry(
    control: httpx.AsyncClient,
    out: httpx.AsyncClient,
    done: str,
    call: Mapping[str, Any],
    to: str,
    say: Callable[[str], None],
) -> None:
    """One call, and the report of how it went."""
    import httpx

    url = target(to, call)
    outcome: dict[str, Any]
    try:
        headers = [(name, value) for name, value in call["headers"]]
        request = httpx.Request(call["method"], url, headers=headers, content=base64.b64decode(call["body"]))
        async with asyncio.timeout(PATIENCE):
            response = await out.send(request)
        outcome = {"status": response.status_code}
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, UnicodeError) as error:
        outcome = {"error": word(error)}
    say(one_line(f"{outcome.get('status') or outcome['error']} {call['method']} {url} {call['id']}"))
    with contextlib.suppress(_Gone):  # the sandbox has waited long enough, or was reset
        await _ask(control, "POST", done, json=outcome)


def target(to: str, call: Mapping[str, Any]) -> str:
    """Where a call goes: to `to` if the built-in receiver was meant, else to its own path and query, there."""
    if call["hook"]:
        return to
    there, own = urlsplit(to), urlsplit(str(call["url"]))
    return own._replace(scheme=there.scheme, netloc=there.netloc).geturl()


def word(error: BaseException) -> str:
    """Why a receiver gave no answer, in the words that the sandbox has for it."""
    import httpx

    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "timeout"
    if isinstance(error, httpx.ConnectError):
        causes = list(_causes(error))
        if any(isinstance(cause, ssl.SSLError) for cause in causes):
            return "tls"
        refused = any(getattr(cause, "errno", None) == errno.ECONNREFUSED for cause in causes)
        return "refused" if refused or "refused" in str(error) or "attempts failed" in str(error) else "unreachable"
    if isinstance(error, httpx.NetworkError):
        return "closed"
    if isinstance(error, httpx.RemoteProtocolError):
        return "closed" if "disconnected" in str(error) else "invalid-answer"
    return "unreachable" if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol) else "invalid-answer"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


class _Gone(Exception):
    """What was asked for is not there (any more)."""


async def _ask(control: httpx.AsyncClient, method: str, path: str, **arguments: Any) -> Any:
    """What control answers. Raises `_Gone` for a delivery that is not there, `Failure` for everything else."""
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
        raise Failure(CANNOT, f"{control.base_url} is no Sendbox: it answers {response.status_code}")
    if response.status_code >= 400:
        if value.get("error") == "no_such_delivery":
            raise _Gone
        if value.get("error") == "world_exists":
            return value
        raise Failure(NO, one_line(str(value.get("message", value))))
    return value


async def _world(control: httpx.AsyncClient, world: str | None) -> str:
    """The world whose webhooks are carried, opened where it is not open."""
    if world is not None:
        await _ask(control, "POST", "/worlds", json={"id": world, "deliveries": "pull"})
        return world
    found = [each["id"] for each in (await _ask(control, "GET", "/worlds", params={"last": "20"}))["worlds"]]
    if len(found) == 1:
        return str(found[0])
    there = one_line(", ".join(found)) if found else "none"
    raise Failure(USAGE, f"{there} open: say which world with --world, for example --world test-demo")


def _trust(cacert: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if cacert is not None:
        try:
            context.load_verify_locations(Path(cacert))
        except OSError as error:  # ssl.SSLError is one
            raise Failure(USAGE, f"{cacert} holds no certificates: {error}") from None
    return context
