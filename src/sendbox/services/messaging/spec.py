"""What a scenario settles about phones (`phones:`)."""

from __future__ import annotations

from dataclasses import dataclass

from sendbox.engine.patterns import Pattern


@dataclass(frozen=True, slots=True)
class PhoneSpec:
    """An entry of `phones`: handsets whose number matches. `channels` None = every channel; the first match wins."""

    number: Pattern
    channels: frozenset[str] | None = None
    conversation: bool = False
    offline: bool = False
