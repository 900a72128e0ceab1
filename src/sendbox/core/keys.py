"""API keys of a world: the parent key is the world's id, sub-keys are `<world>~<suffix>`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Key:
    """One key of a world and what is set on it. `default_callback_secret` signs deliveries (A21)."""

    id: str
    note: str = ""
    default_callback_url: str | None = None
    default_callback_secret: str | None = None
    default_sender: str | None = None
