"""Playing a scenario: a world of its own in this process, the scenario's traffic, and what became of it."""

from sendbox.playing.player import Asked, Played, play

__all__ = ["Asked", "Played", "play"]
