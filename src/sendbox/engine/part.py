"""The part of a service in a world: its state, and the hooks that the world calls."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from sendbox.engine.delivery.batches import Delivery, Events
from sendbox.engine.remarks import Advice
from sendbox.engine.rules.book import Rulebook

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint, TimelineEntry


class HasParts(Protocol):
    """A world, as far as its parts go."""

    @property
    def parts(self) -> Mapping[str, Any]: ...


class Part:
    """A service derives its own; a world opens one of each service, in the order in which they are listed.

    `NAME` is the service's, and the key of its part. `EVENTS` are the rows of the events that it makes. The
    `TIMELINE_HANDLERS` perform entries of a scenario's timeline, by their kind. `LAPSES` are the kinds of its lapses.
    """

    NAME: ClassVar[str]
    EVENTS: ClassVar[Events] = {}
    TIMELINE_HANDLERS: ClassVar[Mapping[str, Callable[[Any, TimelineEntry], None]]] = {}
    LAPSES: ClassVar[frozenset[str]] = frozenset()
    __slots__ = ()

    def __init__(self, world: object) -> None:
        """Opens the part in a world; what the scenario settles for it is in the world's blueprint."""

    @classmethod
    def of(cls, world: HasParts) -> Self:
        """The part that a world has of this service."""
        part: Self = world.parts[cls.NAME]
        return part

    def still_lapses(self, at: int, kind: str, subject: Any) -> bool:
        """True if a thing whose lapse was planned for this instant lapses now; it may have been prolonged, or ended."""
        return True

    def on_lapse(self, kind: str, subject: Any) -> bool:
        """Carries out a lapse at its instant; True if an event reports it."""
        return False

    @property
    def rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The lists of rules of this service, by the names of their keys in the language."""
        return {}

    @property
    def all_rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The same and those that cannot be changed at run time, by their places in the language."""
        return self.rulebooks

    @property
    def counts(self) -> Mapping[str, int]:
        """The numbers of things of this service, by name, for the short view of a world."""
        return {}

    @property
    def secrets(self) -> Iterable[str]:
        """The secrets that views of this service's world must not show (`kinds/masking.py`)."""
        return ()

    @classmethod
    def expects(cls, blueprint: Blueprint, suffix: str) -> bool:
        """True if a world of a blueprint has a further key `<world>~<suffix>` from its start."""
        return False

    def admits(self, key: str) -> bool | None:
        """True if a further key of the world is accepted; None for a key that was never made."""
        return None

    def remark(self, delivery: Delivery) -> Advice | None:
        """The remark of this service on a delivery whose last try succeeded, or which no client fetched; or None."""
        return None

    def follow(self, old: Self) -> None:
        """Takes over, from the same world in the epoch before, what belongs to the process."""

    def alias(self, name: str) -> str | None:
        """The alias of a name of this service, which is the same in all worlds; None for other names."""
        return None

    @property
    def made(self) -> int:
        """The number of things so far that can be forgotten, including the forgotten ones."""
        return 0

    def forget(self, until: int, bound: str, most: int) -> Generator[None, None, int]:
        """Forgets the oldest of the first `until` that have ended, `most` of them, because of a bound; with pauses.

        Returns the number of the first that was not looked at.
        """
        yield from ()
        return 0

    def release(self) -> Iterator[None]:
        """The world is closed: takes apart what refers to itself in a circle; pauses now and then."""
        yield from ()
