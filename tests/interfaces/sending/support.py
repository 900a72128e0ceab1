"""A world that only remembers what it was asked to send, and calls that land in it."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any, cast

import orjson
from msgspec.structs import replace

from sendbox.engine.commands.record import Races
from sendbox.engine.draws import Naming
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.account.keys import Key
from sendbox.services.advice import ADVICE
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange, Refused, Route
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.http.sending.routes import ROUTES
from sendbox.services.messaging.model import Send, Step
from sendbox.services.messaging.records import Accepted, Request

ORIGIN = "http://sandbox.example"
REQUEST_ID = "11111111-1111-4111-8111-111111111111"


class FakeWorld:
    """The part of a world that decoding looks at; `rejected` are (message, recipient) to answer None for."""

    def __init__(self, assume: Assume | None = None, numbers: tuple[str, ...] = ()) -> None:
        self.assume = assume or Assume()
        self.now = 1_772_355_600_000
        self.clock = SimpleNamespace(now=self.now)
        self.world = self
        self.account = SimpleNamespace(
            business={},
            country=self.assume.country or "420",
            domains=frozenset({"go.acme.example"}),
            numbers=frozenset(numbers),
            senders={},
            registered=lambda family, sender: True,
            template=lambda name, language, sender: None,
        )
        self.races = Races()
        self.id = "test-world"
        self.account.top = Key(self.id)
        self.account.keys = {self.id: self.account.top}
        self.parts: dict[str, Any] = {"account": self.account, "messaging": self}
        self.pinned = True
        self.rejected: set[tuple[int, int]] = set()
        self.findings: list[Finding] = []
        self.calls: list[tuple[str, list[Send], Key, bytes, str]] = []

    def accept(
        self, operation: str, sends: list[Send], key: Key, content: bytes, origin: str = "", *_: object
    ) -> Accepted:
        """Remembers the call; ids are `m<message>` and `m<message>-<recipient>`."""
        self.calls.append((operation, [replace(send) for send in sends], key, content, origin))
        rejected = {send.index: [j for i, j in self.rejected if i == send.index] for send in sends}
        objects: list[tuple[int, int, Collection[int]]] = [
            (send.index, len(send.recipients), rejected[send.index]) for send in sends
        ]
        return FakeAccepted(Request(Naming("w"), b"", 0), operation, objects, self.findings)


class FakeAccepted(Accepted, eq=False):
    """What was accepted, with ids that a reader can tell apart."""

    @property
    def complete(self) -> bool:
        return False

    @property
    def request_id(self) -> str:
        return REQUEST_ID

    @property
    def base_ids(self) -> list[str]:
        return [f"m{index}" for index, _, _ in self.objects]

    @property
    def messages(self) -> list[list[str | None]]:
        rows = zip(self.base_ids, self.objects, strict=True)
        return [
            [None if place in rejected else f"{base}-{place}" for place in range(count)]
            for base, (_, count, rejected) in rows
        ]


def route(operation: str) -> Route:
    """The row of an operation."""
    return next(row for row in ROUTES if row.operation == operation)


def exchange(
    body: object = b"",
    *,
    operation: str = "sendMessage",
    world: FakeWorld | None = None,
    contract: Any = None,
    headers: list[tuple[bytes, bytes]] | None = None,
    key: Key | None = None,
) -> Exchange:
    """A call of an operation; a body that is not bytes is written as JSON."""
    return Exchange(
        route=route(operation),
        world=cast(Any, world or FakeWorld()),
        key=key or Key("test-world"),
        headers=[(b"content-type", b"application/json")] if headers is None else headers,
        query=b"",
        body=body if isinstance(body, bytes) else orjson.dumps(body),
        origin=ORIGIN,
        contract=contract,
    )


def message(**fields: object) -> dict[str, Any]:
    """A Message to one phone; a field of None is left out."""
    fields = {"to": [{"phone_number": "420777000101"}], "body": "Hello"} | fields
    return {name: value for name, value in fields.items() if value is not None}


def decode(
    request: dict[str, Any], *, assume: Assume | None = None, key: Key | None = None, numbers: tuple[str, ...] = ()
) -> tuple[Send, list[Advice]]:
    """A message decoded in a fake world, with the advice on it."""
    call = exchange(world=FakeWorld(assume, numbers), key=key)
    advice: list[Advice] = []
    send = decode_message(request, "$", call, advice)
    assert all(item.code in ADVICE for item in advice)
    return send, advice


def steps_of(send: Send) -> list[Step]:
    """The steps of a message, each with its text, also where that is the root's."""
    return [replace(step, body=send.text(step), inherits=False) for step in send.steps]


def step(request: dict[str, Any], index: int = 0, **options: Any) -> Step:
    """A step of a message that decodes without advice."""
    send, advice = decode(request, **options)
    assert advice == []
    return steps_of(send)[index]


def findings(request: dict[str, Any], **options: Any) -> list[Finding]:
    """Why a message is refused."""
    try:
        decode(request, **options)
    except Refused as refused:
        return refused.findings
    raise AssertionError("the message was taken")


def said(advice: list[Advice]) -> list[tuple[str, str]]:
    """Code and path of each advice."""
    return [(item.code, item.path) for item in advice]


def places(found: list[Finding]) -> list[tuple[str, str]]:
    """Rule and path of each finding."""
    return [(item.rule, item.path) for item in found]
