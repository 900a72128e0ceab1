"""What a service registers beside its routes: interfaces, and what is at addresses that its worlds give out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sendbox.contract.validators import Contract
    from sendbox.engine.world import World
    from sendbox.services.http.exchange import Answer, Refusal, Refused


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface as a whole: what it is called, how its paths begin, and how it refuses one that it does not have."""

    name: str
    prefixes: tuple[str, ...]
    error: Refusal


@dataclass(frozen=True, slots=True)
class Link:
    """An address for whoever has it; its parameter `code` carries the tag of the world that gave it out.

    `known` says whether a world has it; `follow` takes the world, the code, whether it counts, and the query.
    """

    path: str
    known: Callable[[World, str], bool]
    follow: Callable[[World, str, bool, str], Answer]
    lost: Answer


class Incoming(Protocol):
    """A body on its way in. Each step may raise `Refused`."""

    #: the id of the key that the call is journaled with
    key: str

    def begin(self, content_type: str) -> None:
        """It is about to be read."""

    def feed(self, chunk: bytes) -> Iterator[None]:
        """A piece of it; pauses now and then."""

    def store(self) -> None:
        """It is complete."""

    def give_up(self) -> None:
        """Nothing more comes: unless it was stored the address may be tried again."""


@dataclass(frozen=True, slots=True)
class Upload:
    """Where a body may be sent that is read as it comes; the parameter `address` carries the tag of the world.

    `receive` begins to take one in, which has at most `longest` bytes. `lost` refuses an address that is of no world,
    for the reason `unknown`, which has what to do about it too. `accepted` and `refused` are snippets for coverage: a
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
