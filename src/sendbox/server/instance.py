"""The headers of clients: by which a proxy finds the server, by which another one is noticed, and of who calls."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from itertools import count
from socket import gethostname
from typing import Final

from sendbox.runtime.slot import fresh_id

#: The header that tells a server from every other one, and from itself after a restart.
HEADER: Final = "sendbox-instance"


def routing(world: object) -> dict[str, str]:
    """The header by which a proxy finds the server of a world; none if the id cannot be in a header."""
    fits = isinstance(world, str) and world.isascii() and world.isprintable()
    return {"x-api-key": str(world)} if fits else {}


#: The variable of the environment with the token of a client of control.
TOKEN_VARIABLE: Final = "SENDBOX_TOKEN"


def authorization(token: str | None = None) -> dict[str, str]:
    """The header of a client that has a token, which may come from the environment; none if it has none.

    Raises ValueError, which does not show the token, for one that no header can carry.
    """
    token = (token or os.environ.get(TOKEN_VARIABLE, "")).strip()
    if not (token.isascii() and token.isprintable()):
        raise ValueError("the token has a character that no header can carry; legal: visible ASCII characters")
    return {"authorization": f"Bearer {token}"} if token else {}


class Instances:
    """The servers on which worlds are, as a client sees them: each world is on one server, and ends with it."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}
        self._drawn = count(1)

    def new_world(self, prefix: str) -> str:
        """An id for a world, which no other client draws: it depends on machine, process, time and a count."""
        return fresh_id(f"client {gethostname()} {os.getpid()} {next(self._drawn)}", prefix)

    def changed(self, world: str, headers: Mapping[str, str]) -> bool:
        """True if this answer about a world comes from another server than those before it."""
        instance = headers.get(HEADER)
        return instance is not None and self._of.setdefault(world, instance) != instance

    @property
    def worlds(self) -> Collection[str]:
        """The worlds that a server has answered for."""
        return self._of.keys()

    def forget(self, world: str) -> None:
        """The world was closed."""
        self._of.pop(world, None)

    @staticmethod
    def message(world: str, origin: str) -> str:
        """The message about an answer that comes from another server."""
        why = "it was restarted, or a proxy sent the call to another server"
        return f"{origin} is another server than before: {why}; {world} is not on this one"
