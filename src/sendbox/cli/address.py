"""The sandbox that a command talks to: its address, calls of its control interface, and its environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Generator, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from sendbox.cli.outcome import CANNOT, USAGE, Failure, one_line
from sendbox.engine.texts import Pattern, regex
from sendbox.runtime.callbacks import is_local, literal
from sendbox.runtime.callbacks import origin as parsed
from sendbox.settings import PORT

if TYPE_CHECKING:
    from sendbox.engine.answer import JsonMapping

#: Addresses that mean every address: a client cannot call them.
EVERY: Final = ("", "0.0.0.0", "::", "*")
#: Worlds of one page of their list.
PAGE: Final = 500


def default(environment: Mapping[str, str] = os.environ, *, port: int | None = None, secure: bool | None = None) -> str:
    """The sandbox of this machine, as `serve` would start it under the same environment and with these options."""
    settings = {name: value for name, value in environment.items() if not is_injected(name, value)}
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


def host_for_others(host: str) -> str:
    """The host as a client on another machine calls it: the first address of this machine's own name."""
    if bind(host) not in EVERY:
        return callable_host(host)
    try:
        name = socket.getaddrinfo(socket.gethostname(), None)[0][4][0]
    except OSError:
        return callable_host(host)
    return callable_host(str(name))


def is_loopback(host: str) -> bool:
    """True if only this machine reaches a server that listens there."""
    name = bind(host)
    number = literal(name)
    return is_local(name) if number is None else ip_address(number).is_loopback


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


def pattern_of_worlds(world: str | None) -> Pattern | None:
    """The pattern that stands for all worlds whose names it fits; None for the name of one world."""
    return None if world is None or "*" not in world else Pattern(world)


def fitting(pattern: Pattern) -> Generator[dict[str, str], JsonMapping, list[str]]:
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


#: The place of the token among the values of a command.
TOKEN: Final = "sendbox.token"


def token() -> str | None:
    """The token of the command that runs; None if it has none of its own."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(TOKEN)


def call(origin: str, operation: str, world: str | None, arguments: JsonMapping) -> Any:
    """The answer of the sandbox at an origin. Raises `Failure`."""
    from sendbox.app import SERVED
    from sendbox.control.carriers import Client
    from sendbox.control.operation import ControlError

    client = Client(origin, SERVED, token=token())
    try:
        return client.call(operation, world, arguments)
    except ControlError as error:
        raise Failure(CANNOT, one_line(error.message)) from None
    finally:
        client.close()


# --- variables of the environment: which are settings, which an orchestrator put there, and which are mistakes

PREFIX: Final = "SENDBOX_"
#: Of Sendbox's own tests, which a server started by them inherits.
OF_TESTS: Final = frozenset({"SENDBOX_DEEP", "SENDBOX_MUTATION_COSTS"})
#: What Kubernetes and Docker's links put there for services called sendbox, sendbox-api and so on, in any value.
_INJECTED: Final = regex(
    r"SENDBOX_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_\w+)?|ENV_\w+)"
)
#: The same for names that may be settings too: only these values are of an orchestrator.
_ADDRESS: Final = regex(r"(?:tcp|udp|sctp)://.*")
_LINK: Final = regex(r"/.+/.+")


def is_injected(name: str, value: str) -> bool:
    """True if an orchestrator set this variable for a service called sendbox."""
    if name.endswith("_PORT") and _ADDRESS.fullmatch(value):
        return True
    return bool(_INJECTED.fullmatch(name) or (name.endswith("_NAME") and _LINK.fullmatch(value)))


def unknown(environment: Mapping[str, str], variables: Collection[str]) -> dict[str, str | None]:
    """The variables with our prefix that set nothing, each with the setting that was probably meant (None: none)."""
    suggestions: dict[str, str | None] = {}
    words = [name.removeprefix(PREFIX) for name in variables]
    for name, value in environment.items():
        if name.startswith(PREFIX) and name not in variables and name not in OF_TESTS and not is_injected(name, value):
            from sendbox.scenario.model import nearest

            near = nearest(name.removeprefix(PREFIX), words)
            suggestions[name] = None if near is None else f"{PREFIX}{near}"
    return suggestions
