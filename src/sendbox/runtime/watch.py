"""Who watches the worlds of a runtime, and may change what they are opened from. By default nobody does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.clock import Goal
    from sendbox.runtime.slot import Hosted


class Watch:
    """Watches nothing and changes nothing: the base of those who do. Its methods are called on the runtime's loop."""

    def opens(self, blueprint: Blueprint, start: int | None) -> tuple[Blueprint, int | None]:
        """A world is about to open; the blueprint and the start (None: not set by a call) that it opens with."""
        return blueprint, start

    def opened(self, hosted: Hosted) -> None:
        """A world has opened."""

    def loads(self, hosted: Hosted, blueprint: Blueprint) -> Blueprint:
        """A world gets another scenario; the one that it gets."""
        return blueprint

    def advances(self, hosted: Hosted, goal: Goal) -> Goal:
        """A tester is about to move a clock; how far it goes."""
        return goal

    def advanced(self, hosted: Hosted, began: int) -> None:
        """A tester has moved a clock; it began at this instant."""

    def closes(self, hosted: Hosted) -> None:
        """A world is about to close."""
