"""Sendbox: a deterministic sandbox of a messaging, verification and partner-management service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sendbox.fixture.explored import explore as explore

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`explore`, the decorator of tests; it needs pytest, and is imported when it is asked for."""
    if name == "explore":
        from sendbox.fixture.explored import explore

        return explore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
