"""One call of an emulated interface, as its handler sees it, and the handler's answer.

Beside it stands all that a service registers: its routes with their paths, found by a dictionary look-up, or by a
pattern where a part of them is a parameter; its interfaces; the addresses that its worlds give out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from sendbox.contract.validators import Contract
from sendbox.engine.commands.command import Call
from sendbox.engine.commands.record import JSON_TYPE, RequestRecord
from sendbox.engine.faults.calls import Applied
from sendbox.engine.remarks import Advice, Finding, RemadeAdvice
from sendbox.engine.texts import regex
from sendbox.engine.world import World
from sendbox.services.ports import Key

#: The longest body that is read; a longer one is refused before it is read whole.
BODY_CAP: Final = 16 * 1024 * 1024


class Refused(Exception):
    """The request is illegal: `findings` go to the journal, `status` and the first finding to the client."""

    def __init__(
        self, findings: list[Finding], status: int = 400, text: str | None = None, answer: Answer | None = None
    ) -> None:
        super().__init__(text or findings[0].message)
        self.findings = findings
        self.status = status
        self.text = text or findings[0].message
        #: the whole answer, where it says more than status and text
        self.answer = answer


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The first value of a header, by its lower-case name; None if there is none."""
    for key, value in headers:
        if key == name:
            return value
    return None


class Named(Protocol):
    """Something with an id, which may take a while to make."""

    @property
    def id(self) -> str: ...


class Exchange(msgspec.Struct):
    """One call: the request, its route and world, and the remarks made while it is handled.

    `headers` with lower-case names, those that have a part in the answer, `query` raw, `origin` the scheme and
    authority that addresses given out begin with. Handlers append to `advice`; a refusal is raised as `Refused`.
    """

    route: Route
    world: World
    key: Key
    headers: Sequence[tuple[bytes, bytes]]
    query: bytes
    body: bytes
    origin: str
    contract: Contract
    #: what stands in the path, by the names in the route's
    params: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: the call as the journal will keep it, None for what has no entry of its own
    record: RequestRecord | None = None
    #: how many entries the journal had when it came
    entries: int = 0
    #: the answer that `record` can make again
    remade: Answer | None = None
    #: advice that is only made when it is read, and the place in `advice` before which it comes
    remade_advice: tuple[int, RemadeAdvice] | None = None
    #: code and path of each remark of it
    remade_places: Sequence[tuple[str, str]] = ()
    advice: list[Advice] = msgspec.field(default_factory=list)
    #: what the journal says of a call that was accepted nevertheless
    findings: Sequence[Finding] = ()
    #: the canonical request without callback, once it was accepted
    content: bytes | None = None
    #: what the token names that let the call in, in place of the key (§5.3)
    bearer: Any = None
    #: the request that sent messages, and the first phone among them
    sent: tuple[Named, str] | None = None
    #: whether the order in which calls of this instant came decided something
    order_sensitive: bool = False
    #: what it changes, for calls of the same instant
    changed: tuple[tuple[str, ...], ...] = ()

    def uses(self, *subject: str) -> None:
        """Notes that the call uses a thing; the order of calls matters if an earlier one of this instant changed it."""
        world = self.world
        if world.races.uses(world.clock.now, subject) and subject not in self.changed:
            self.order_sensitive = True

    def changes(self, *subject: str) -> None:
        """Notes that the call changes a thing; order matters if an earlier one of this instant used or changed it."""
        if subject not in self.changed and self.world.races.changes(self.world.now, subject):
            self.order_sensitive = True
        self.changed = (*self.changed, subject)

    def header(self, name: bytes) -> bytes | None:
        """The value of a header by its lower-case name, or None."""
        return header(self.headers, name)


class Answer(msgspec.Struct):
    """The answer to a call: status, body and content type.

    A handler with a lot of work gives back `work`, which pauses now and then and returns the real answer.
    """

    status: int
    body: bytes
    content_type: bytes = JSON_TYPE
    headers: tuple[tuple[bytes, bytes], ...] = ()
    work: Generator[None, None, Answer] | None = None
    #: what a rule of `api:` does to the connection on which this goes back
    fault: Applied | None = None
    #: the body refuses the call, whatever the status is
    refuses: bool = False


def in_slices(work: Generator[None, None, Answer]) -> Answer:
    """The answer of a handler that works in slices."""
    return Answer(0, b"", work=work)


Handler = Callable[[Exchange], Answer]
#: The phone that the parameters of a path are about, "" where they name none.
About = Callable[["World", Mapping[str, str]], str]
#: How an interface refuses: (status, text) to an answer in its shape.
Refusal = Callable[[int, str], Answer]
#: which credentials a route takes: header; header or `apikey` query; header or a token in the body (`Route.tokens`);
#: `apikey` form field (legacy); none (`Route.world_lookup`)
Auth = Literal["header", "header-or-query", "header-or-token", "form", "none"]


class Tokens(msgspec.Struct, frozen=True):
    """Tokens that stand in for a key: a world gave them out, and they carry its tag (§5.3).

    `preload` imports the modules that read tokens, off the event loop. `in_body` is the token in a body, or None;
    `subject` the name in it, unchecked, by which its world is found; `admitted` the thing it names in that world, or a
    finding that says why it is refused. `missing` is why a call with neither key nor token reached no world, and how
    to fix it.
    """

    preload: Callable[[], None]
    in_body: Callable[[bytes], str | None]
    subject: Callable[[str], str | None]
    admitted: Callable[[World, str], object]
    missing: tuple[str, str]

    def of(self, call: Call, body: bytes) -> str | None:
        """The token of a call, None if the call has a key."""
        return self.in_body(body) if header(call.headers, b"x-api-key") is None else None


class WorldLookup(msgspec.Struct, frozen=True):
    """The way to the world of a call without credentials: a name in its body that carries the world's tag.

    `unknown` is the reason why a call reached no world, and the way to fix it.
    """

    name_of: Callable[[bytes], str]
    unknown: tuple[str, str]


class Route(msgspec.Struct, frozen=True):
    """A row of an interface: everything that serving, documenting and checking it needs.

    `request`, `query` and the values of `responses` are schema references (`sending.json#/$defs/Message`), None where
    there is nothing to check. `error` encodes a refusal: (status, text) to an Answer in the interface's shape. `deny`
    answers a call whose key is missing (False) or not admitted (True). A part of the path in braces is a parameter:
    `/v1/validations/{token}`.
    """

    method: str
    path: str
    operation: str
    summary: str
    section: str
    handler: Handler
    error: Refusal
    deny: Callable[[bool], Answer]
    auth: Auth = "header"
    request: str | None = None
    request_type: str = "application/json"
    query: str | None = None
    responses: Mapping[int, str | None] = msgspec.field(default_factory=dict)
    interface: str = "sending"
    assumed: tuple[str, ...] = ()
    #: what stands in for the key, where something may
    tokens: Tokens | None = None
    #: of a route that takes no credentials
    world_lookup: WorldLookup | None = None
    about: About | None = None
    #: for coverage: a call that is refused, where that takes more than a body that is not legal; "" where none is
    refused: str | None = None
    #: the most bytes of a body that are read
    longest: int = BODY_CAP
    #: it is served at its path in any case, and at `/` where the call carries fields (A13)
    any_case: bool = False
    at_root: bool = False
    #: the specification does not have it, so that a setting can switch it off
    beyond: bool = False

    @property
    def methods(self) -> frozenset[str]:
        """The methods that it serves, as routes of Starlette have them."""
        return frozenset({self.method})

    @property
    def too_long(self) -> str:
        """Why a longer body is refused."""
        return f"the body is longer than {self.longest} bytes, the most that is read"


class Interface(msgspec.Struct, frozen=True):
    """An interface as a whole: its name, how its paths begin, and its refusal of a path that it does not have."""

    name: str
    prefixes: tuple[str, ...]
    error: Refusal


class Link(msgspec.Struct, frozen=True):
    """An address that anyone may open; its parameter `code` carries the tag of the world that gave it out.

    `known` says whether a world has it; `follow` takes the world, the code, True for a click, and the query.
    """

    path: str
    known: Callable[[World, str], bool]
    follow: Callable[[World, str, bool, str], Answer]
    lost: Answer


class Incoming(Struct, frozen=True):
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


#: A parameter of a path, as `re.escape` leaves it.
_PARAMETER: Final = regex(r"\\\{(\w+)\\\}")
_NO_PARAMETERS: Final[Mapping[str, str]] = {}

#: The rows of one path, by method.
MethodRoutes = dict[str, Route]


class RouteTable:
    """All rows, by path and method."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._routes_by_path: dict[str, MethodRoutes] = {}
        for route in self.routes:
            self._routes_by_path.setdefault(route.path, {})[route.method] = route
        #: what comes before the first parameter, and the whole
        self._patterns = [
            (path.partition("{")[0], regex(_PARAMETER.sub(r"(?P<\1>[^/]+)", re.escape(path))), rows)
            for path, rows in self._routes_by_path.items()
            if "{" in path
        ]
        self._folded = {route.path.lower(): self._routes_by_path[route.path] for route in self.routes if route.any_case}
        #: the rows that are served at `/`, too, by method
        self.at_root = {route.method: route for route in self.routes if route.at_root}

    def __contains__(self, path: str) -> bool:
        return path in self._routes_by_path or path.lower() in self._folded

    def find(self, path: str) -> tuple[MethodRoutes | None, Mapping[str, str]]:
        """The rows of a path, None if it has none, and the values of its parameters."""
        rows = self._routes_by_path.get(path)
        if rows is None:
            for prefix, pattern, candidate in self._patterns:
                if path.startswith(prefix) and (match := pattern.fullmatch(path)):
                    return candidate, match.groupdict()
            rows = self._folded.get(path.lower())
        return rows, _NO_PARAMETERS
