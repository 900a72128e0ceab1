"""Registrations of a service besides its routes: interfaces, and the handlers of addresses that its worlds give out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from sendbox.contract.validators import Contract
    from sendbox.engine.world import World
    from sendbox.services.http.exchange import Answer, Refusal, Refused


class Interface(msgspec.Struct, frozen=True):
    """An interface as a whole: its name, how its paths begin, and its refusal of a path that it does not have."""

    name: str
    prefixes: tuple[str, ...]
    error: Refusal


class Link(msgspec.Struct, frozen=True):
    """An address that anyone may open; its parameter `code` carries the tag of the world that gave it out.

    `known` says whether a world has it; `follow` takes the world, the code, whether it counts, and the query.
    """

    path: str
    known: Callable[[World, str], bool]
    follow: Callable[[World, str, bool, str], Answer]
    lost: Answer


class Incoming(NamedTuple):
    """A body on its way in, whose call is journaled with the `key` of that id.

    `take` gets its content type and its pieces, stores it, pauses now and then and may raise `Refused`. `give_up`
    says that nothing more comes: unless the body was stored the address may be tried again.
    """

    key: str
    take: Callable[[str, Iterable[bytes]], Iterator[None]]
    give_up: Callable[[], None]


class Upload(msgspec.Struct, frozen=True):
    """An address that takes a body and reads it as it comes; the parameter `address` carries the tag of the world.

    `receive` begins to take one in, which has at most `longest` bytes. `lost` refuses an address that is of no world,
    for the reason `unknown`, which also says how to fix it. `accepted` and `refused` are snippets for coverage: a
    request, and lines of a test.
    """

    operation: str
    path: str
    receive: Callable[[World, str, Contract], Incoming]
    longest: Callable[[World], int]
    success: Callable[[], Answer]
    error: Refusal
    lost: Callable[[], Refused]
    unknown: tuple[str, str]
    interface: str
    section: str
    accepted: str
    refused: str
