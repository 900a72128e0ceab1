"""Stores: the protocol, the rows, and the refusals.

A store keeps the commands of worlds in the form of a record (`control/export/record.py`), and of each world the facts
that a list shows, so that nothing must be made again to show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from sendbox.engine.commands.command import Stamp
from sendbox.engine.timeline import Mode
from sendbox.runtime.slot import Capped

#: The stable word for a store that cannot be read or written.
STORE_FAILED: Final = "store_failed"


#: Seconds of the database's clock for which a lease lasts.
LEASE: Final = 5.0


class StoreError(Exception):
    """A store that cannot be read or written; the text says which, why, and what to do."""


class LeaseLost(StoreError):
    """This process was taken for dead: others may have its worlds, and it writes nothing more under its old name."""


class Unavailable(Capped):
    """A stored world that cannot be continued here. `error` says why in a word, the message also what to do."""


class Facts(Struct):
    """The state of a world at its last commit, as far as it is known without the world.

    `commands` counts its record, which is on the line `line`; `checkpoints` have a line and how many commands of it
    they are, by name. `late` says of a start that is still open whether it is the present of the first command; `cut`
    names the bound that removed the record. `webhooks` are under way, or leave without a step.
    """

    scenario: str
    seed: int | str
    salt: str
    tag: str
    started: int
    mode: Mode
    rate: int
    due: int | None
    pending: int
    entries: int
    counts: dict[str, int]
    line: int
    commands: int
    checkpoints: dict[str, tuple[int, int]]
    epoch: int
    at: int
    ticks: int
    pulling: bool = False
    opened_pulling: bool = False
    late: bool | None = None
    cut: str | None = None
    webhooks: int = 0

    @property
    def ends(self) -> Stamp:
        """The place of the world."""
        return Stamp(self.epoch, self.at, self.ticks)


class StoredWorld(Struct):
    """A row of a world. `number` is its place among the worlds, `used` the instant of the machine at its last commit.

    `engine` and `version` are those of the server that wrote it.
    """

    number: int
    id: str
    engine: int
    version: str
    used: int
    facts: Facts


class Claim(Struct):
    """The owner of a world. `address` is where another process is called that has it, None if this one has it now.

    One that is `leaving` takes no calls any more, and gives its worlds back soon. A world of this process has a
    `number`, and its row if the store has one.
    """

    address: str | None = None
    leaving: bool = False
    number: int = 0
    world: StoredWorld | None = None


class Part(Struct):
    """Commands of a line, which replace those from number `first` on."""

    line: int
    first: int
    commands: Sequence[bytes]


class Change(Struct):
    """A change of one world, all of which is in the store or nothing.

    A line is a record, that of the world or one on which checkpoints were taken; `lines` are those that stay, None =
    all. With `copied` the line of the first part begins as another one does: (line, number of commands).
    `opened` is the command with which the world was opened, None if the store has it. A world that `ended` is removed
    with all that it has.
    """

    world: StoredWorld
    copied: tuple[int, int] | None = None
    parts: Sequence[Part] = ()
    lines: Sequence[int] | None = None
    opened: bytes | None = None
    ended: bool = False


class Store(Protocol):
    """A store. It is used on one thread at a time. Every method raises `StoreError`."""

    def take_lease(self, owner: str) -> str:
        """Makes this process the owner of the worlds; returns the name that the store has had since it was made."""

    def worlds(self) -> list[StoredWorld]:
        """The worlds, in the order of their numbers."""

    def record(self, number: int) -> tuple[bytes, dict[int, list[bytes]]]:
        """The command with which a world was opened, and its lines."""

    def write(self, changes: Sequence[Change]) -> None:
        """Makes these changes in one commit, after which they outlast the process."""

    def close(self) -> None:
        """Gives the lease back."""


@runtime_checkable
class SharedStore(Store, Protocol):
    """A store of several processes. Each world has one owner, as long as that one renews its lease.

    The lease of a process is for all worlds that it has claimed. `write` raises `LeaseLost` once it has ended and
    another process has asked for one of them. A lease may be of an id without a world.
    """

    def advertise(self, address: str) -> None:
        """Says where this process is called by others."""

    def renew(self) -> None:
        """Makes the lease of this process last `LEASE` seconds from now. Raises `LeaseLost`."""

    def claim(self, world_id: str) -> Claim:
        """Makes this process the owner of a world that no living process has. Raises `LeaseLost`."""

    def claim_many(self, prefix: str, used_before: int | None = None) -> list[StoredWorld]:
        """Does so with all worlds whose ids begin so and that were last used before an instant; returns them."""

    def orphans(self, used_after: int) -> list[StoredWorld]:
        """The worlds that no living process has, and that were last used after an instant."""

    def release(self, world_ids: Sequence[str]) -> None:
        """Gives worlds back."""

    def find(self, tag: str) -> str | None:
        """The id of the world with a tag."""

    def others(self) -> list[str]:
        """The addresses of the other living processes."""

    def leave(self) -> None:
        """Says that this process takes no calls any more."""
