"""Which server answers: a header of every answer, and how a client notices that another server answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

#: The header that tells a server from every other one, and from itself after a restart.
HEADER: Final = "sendbox-instance"


class Instances:
    """The servers on which worlds are, as a client sees them: each world is on one server, and ends with it."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def changed(self, world: str, headers: Mapping[str, str]) -> bool:
        """Whether this answer about a world comes from another server than those before it."""
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
        """What is said of it."""
        return f"{origin} is another server than before: it was restarted, and its worlds are gone, {world} too"
