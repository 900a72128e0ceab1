"""Commands: all that comes into a world from outside, as data.

A world is what its commands made of it: the same commands at the same places make the same world, in any process. What
the world does by itself between two of them is counted in ticks (`World.run`), so a place is an epoch, an instant and a
number of ticks. What carries a command out stands where its meaning is known: here for those of the engine, in the
executor of the interfaces for calls, in control for acts of a tester.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, get_args

from msgspec import Struct

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.delivery.targets import Outlets
from sendbox.engine.timeline import Clock, Mode

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint


class World(Protocol):
    """A world, as far as the commands of the engine go."""

    epoch: int
    clock: Clock

    @property
    def outlets(self) -> Outlets: ...

    def journal_act(self, name: str, detail: JsonObject) -> int:
        """Journals what a tester did."""

    def restored(self, name: str) -> None:
        """A new epoch has begun at a checkpoint."""


class Kept(Protocol):
    """A long body that lies elsewhere."""

    def __bytes__(self) -> bytes: ...

    def pieces(self, size: int) -> Iterator[bytes]:
        """The body, so many bytes at a time."""


#: A body as it came; None if it was too long to be read.
Body = bytes | Kept | None


class Stamp(Struct, frozen=True):
    """The place of a command: the epoch, the instant in milliseconds, and the ticks done in the epoch so far."""

    epoch: int
    at: int
    ticks: int


class Open(NamedTuple):
    """The world begins, or begins anew in a later epoch: all that it does not get from its scenario."""

    world: str
    shard: int
    epoch: int
    seed: int | str
    salt: str
    start: int
    pinned: bool
    mode: Mode
    rate: float
    blueprint: Blueprint


class Call(NamedTuple):
    """A call of HTTP: of an emulated interface, an upload, or a click on a short link.

    `key` is the id of the key that it counts for, `headers` those that have a part in the answer, `body` None where it
    was too long to be read; `origin` begins the addresses that its answer gives out.
    """

    method: str
    path: str
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: Body
    origin: str
    key: str


class Act(NamedTuple):
    """An action of a tester through control: the operation, and its arguments by public name.

    An action that was `refused` is also a command if it changed something.
    """

    name: str
    arguments: JsonMapping
    refused: bool = False


class Outcome(NamedTuple):
    """The outcome of a try of a delivery, given by its number: an HTTP status, or a word for why there was none."""

    delivery: int
    status: int | None
    error: str | None

    def apply(self, world: World) -> None:
        """The delivery has its outcome."""
        outlets = world.outlets
        outlets.outcome(outlets.deliveries[self.delivery], self.status, self.error)


class Overtake(NamedTuple):
    """The events of some requests must leave before the requests are answered; with `leaves` they leave now."""

    requests: tuple[str, ...]
    leaves: bool

    def apply(self, world: World) -> None:
        """From now on it is set apart, or what was set apart leaves."""
        injection = world.outlets.injection
        if self.leaves:
            injection.racing.difference_update(self.requests)
            injection.begin_ahead()
        else:
            injection.racing.update(self.requests)


class Capture(NamedTuple):
    """A switch: `captured` if an app in process or an outbox also takes the deliveries of the built-in receiver."""

    captured: bool

    def apply(self, world: World) -> None:
        """From now on."""
        world.outlets.captured = self.captured


class Tune(NamedTuple):
    """A tester sets `mode` or `rate` of the clock, as `given`; `now` is the instant that it shows by then."""

    now: int
    given: JsonMapping

    def apply(self, world: World) -> None:
        """From the present instant on."""
        world.clock.change(self.now, self.given.get("mode"), self.given.get("rate"))
        world.journal_act("clock", dict(self.given))


class Move(NamedTuple):
    """The clock has moved: because a tester moved it, or by itself. Its place is where that ended.

    `first` is the number of the first command that came meanwhile.
    """

    by_hand: bool
    first: int

    def apply(self, _world: World) -> None:
        """The world is there already: it was brought to its place before."""


class Checkpoint(NamedTuple):
    """A checkpoint was taken."""

    name: str

    def apply(self, _world: World) -> None:
        """Nothing changes."""


class Restore(NamedTuple):
    """The world went back to a checkpoint, whose place is where the command before this one stands.

    `begins` is the epoch that begins there.
    """

    name: str
    begins: int

    def apply(self, world: World) -> None:
        """A new epoch begins; what was under way to a receiver is tried again."""
        world.epoch = self.begins
        world.outlets.land()
        world.restored(self.name)


#: Commands that the engine carries out.
Own = Overtake | Capture | Tune | Move | Checkpoint | Restore
Command = Open | Call | Act | Outcome | Overtake | Capture | Tune | Move | Checkpoint | Restore
#: All commands, by the word that a record has for each.
COMMANDS: Final[dict[str, type[Command]]] = {command.__name__.lower(): command for command in get_args(Command)}
