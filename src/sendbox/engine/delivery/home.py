"""Protocols: the parts of a world that deliveries use, and the parts of its lines that their faults use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sendbox.engine.chooser.draws import Chooser
    from sendbox.engine.clock import Clock
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.delivery.events import Events
    from sendbox.engine.journal import Journal
    from sendbox.engine.keeping.kept import Kept
    from sendbox.engine.timeline import Timeline


class Carriage(Protocol):
    """The settings of deliveries: bundled or not, the times of retries, the time limit of an answer in world time."""

    @property
    def bundle(self) -> bool: ...
    @property
    def webhook_retry(self) -> tuple[int, ...]: ...
    @property
    def webhook_timeout(self) -> int: ...


class Lines(Protocol):
    """The lines of a world to its targets, as far as faults of deliveries use them."""

    deliveries: Kept[Delivery]
    captured: bool

    def queue(self, delivery: Delivery) -> None:
        """Puts a batch at the end of its line."""

    def made(self, delivery: Delivery) -> int:
        """Adds a batch, and returns its entry's number."""

    def begin(self, delivery: Delivery) -> None:
        """A batch is under way from now on."""

    def key_of(self, event: object, at: int) -> str:
        """The key of an event that leaves at an instant."""


class Home(Protocol):
    """The world of deliveries."""

    id: str
    chooser: Chooser
    start: int
    clock: Clock
    timeline: Timeline
    journal: Journal

    @property
    def assume(self) -> Carriage: ...
    @property
    def events(self) -> Events: ...
    @property
    def outlets(self) -> Lines: ...

    def delivery_name(self, key: bytes) -> str:
        """The id of a delivery, derived from the key of its first event."""
