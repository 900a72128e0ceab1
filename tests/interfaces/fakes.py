"""A small world, contract and exchange, for the tests of decoding and answering."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from sendbox.engine.commands.record import Races
from sendbox.engine.remarks import Finding
from sendbox.services.account.keys import Key
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange, Route
from sendbox.services.messaging.model import Send


@dataclass
class FakeWorld:
    """A world that takes everything and gives ids `m0`, `m1`, … in order."""

    assume: Assume = field(default_factory=Assume)
    now: int = 1_772_355_600_000
    account: Any = field(
        default_factory=lambda: SimpleNamespace(
            country="420",
            domains=frozenset(),
            numbers=frozenset(),
            senders={},
            business={},
            registered=lambda family, sender: True,
            template=lambda name, language, sender: None,
        )
    )
    id: str = "test-world"
    races: Races = field(default_factory=Races)
    top: Key = field(default_factory=lambda: Key("test-world"))
    pinned: bool = True
    credit: bool = True
    request_id: str = "r1"
    taken: list[tuple[str, Send, Key, bytes, str]] = field(default_factory=list)
    names: list[tuple[str, str, bytes]] = field(default_factory=list)

    @property
    def world(self) -> FakeWorld:
        """Itself, as the world of its messages."""
        return self

    @property
    def clock(self) -> Any:
        """Its clock, which stands still."""
        return SimpleNamespace(now=self.now)

    @property
    def parts(self) -> dict[str, Any]:
        """What services ask of each other."""
        self.account.top, self.account.keys = self.top, {self.id: self.top}
        return {"account": self.account, "messaging": self}

    def accept(self, operation: str, sends: list[Send], key: Key, content: bytes, origin: str, *_: object) -> Any:
        """Notes the call."""
        (send,) = sends
        self.taken.append((operation, replace(send), key, content, origin))
        ids = [f"m{each}" for each in range(len(send.recipients))]
        return SimpleNamespace(request=None, request_id=self.request_id, base_ids=[""], messages=[ids], findings=[])

    def named(self, scope: str, operation: str, content: bytes) -> bytes:
        """A name, and what it is for."""
        self.names.append((scope, operation, content))
        return bytes(64)

    def can_pay(self, sends: list[Send], key: Key) -> bool:
        """Whether there is credit."""
        return self.credit

    @property
    def send(self) -> Send:
        """The only command that was taken."""
        ((_, send, _, _, _),) = self.taken
        return send


@dataclass
class FakeContract:
    """A contract that finds what the test says, by schema reference."""

    found: dict[str, list[Finding]] = field(default_factory=dict)
    seen: list[tuple[str, Any]] = field(default_factory=list)

    def checker(self, reference: str) -> Any:
        """A checker of one schema."""
        found = self.found.get(reference, [])

        def is_valid(value: Any) -> bool:
            self.seen.append((reference, value))
            return not found

        return SimpleNamespace(is_valid=is_valid, findings=lambda value: found)


def exchange(
    route: Route,
    *,
    query: bytes = b"",
    body: bytes = b"",
    content_type: bytes | None = b"application/x-www-form-urlencoded",
    world: FakeWorld | None = None,
    contract: FakeContract | None = None,
) -> Exchange:
    """One call of `route`."""
    headers = [] if content_type is None else [(b"accept", b"*/*"), (b"content-type", content_type)]
    return Exchange(
        route,
        cast("Any", world or FakeWorld()),
        Key("test-a", default_sender="Acme"),
        headers,
        query,
        body,
        "http://sandbox.example",
        cast("Any", contract or FakeContract()),
    )


def world_of(call: Exchange) -> FakeWorld:
    """The fake world behind a call."""
    return cast("FakeWorld", call.world)
