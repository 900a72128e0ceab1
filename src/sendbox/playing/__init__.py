"""`sendbox play`: the traffic of a scenario in a world of this process, shown as text, JSON or a diagram."""

from __future__ import annotations

from sendbox.playing.play_result import Asked, Played
from sendbox.playing.player import play

__all__ = ["Asked", "Played", "play"]
