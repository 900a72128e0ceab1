"""The address of the sandbox that a command talks to, and calls of its control interface."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from sendbox.cli.outcome import CANNOT, USAGE, Failure, one_line
from sendbox.cli.variables import injected
from sendbox.engine.texts import Pattern
from sendbox.runtime.origins import origin as parsed
from sendbox.settings import PORT

#: Addresses that mean every address: a client cannot call them.
EVERY: Final = ("", "0.0.0.0", "::", "*")
#: Worlds of one page of their list.
PAGE: Final = 500


def default(environment: Mapping[str, str] = os.environ, *, port: int | None = None, secure: bool | None = None) -> str:
    """The sandbox of this machine, as `serve` would start it under the same environment and with these options."""
    settings = {name: value for name, value in environment.items() if not injected(name, value)}
    if secure is None:
        secure = bool(settings.get("SENDBOX_TLS") or settings.get("SENDBOX_TLS_CERT"))
    host = callable_host(settings.get("SENDBOX_HOST", ""))
    return f"{'https' if secure else 'http'}://{host}:{port or settings.get('SENDBOX_PORT') or PORT}"


def bind(host: str) -> str:
    """The host as sockets take it: "" is every address."""
    return "" if host == "*" else host.removeprefix("[").removesuffix("]")


def callable_host(host: str) -> str:
    """The host as a client on this machine calls it."""
    host = bind(host)
    if host in EVERY:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def origin(url: str) -> str:
    """Scheme and authority of an address. Raises `Failure` for anything else."""
    try:
        address = urlsplit(url)
    except ValueError:  # brackets that do not close
        address = urlsplit("")
    if parsed(f"{address.scheme}://{address.netloc.rpartition('@')[2]}") is None:
        from sendbox.engine.kinds.masking import MASK

        raise Failure(USAGE, f"{MASK.text(url)} is not an address over http or https: http://127.0.0.1:{PORT} is one")
    return f"{address.scheme}://{address.netloc}"


def only_world(worlds: Sequence[str]) -> str:
    """The only open world. Raises `Failure` where there is not exactly one."""
    if len(worlds) == 1:
        return str(worlds[0])
    if not worlds:
        raise Failure(CANNOT, "no world is open: the first call with an API key opens one")
    names = one_line(", ".join(worlds))
    raise Failure(USAGE, f"{names} open: say which world with --world, for example --world test-demo")


def world_at(origin: str, world: str | None) -> str:
    """The world of a command: the one that it names, else the only open one. Raises `Failure`."""
    if world is not None:
        return world
    return only_world([row["id"] for row in call(origin, "worlds", None, {"last": 20})["worlds"]])


def several(world: str | None) -> Pattern | None:
    """The pattern that stands for all worlds whose names it fits; None for the name of one world."""
    return None if world is None or "*" not in world else Pattern(world)


def fitting(pattern: Pattern) -> Generator[dict[str, str], Mapping[str, Any], list[str]]:
    """The names of the worlds that fit, in the order of their list.

    It yields the arguments of the operation `worlds` for each page, and is sent the answers.
    """
    ids: list[str] = []
    arguments = {"pattern": pattern.text, "limit": str(PAGE)}
    while True:
        page = yield arguments
        ids += [row["id"] for row in page["worlds"]]
        if page["next_cursor"] is None:
            return ids
        arguments = {**arguments, "cursor": page["next_cursor"]}


def call(origin: str, operation: str, world: str | None, arguments: Mapping[str, Any]) -> Any:
    """The answer of the sandbox at an origin. Raises `Failure`."""
    from sendbox.app import SERVED
    from sendbox.control.carriers import Client
    from sendbox.control.operation import ControlError

    client = Client(origin, SERVED)
    try:
        return client.call(operation, world, arguments)
    except ControlError as error:
        raise Failure(CANNOT, one_line(error.message)) from None
    finally:
        client.close()
