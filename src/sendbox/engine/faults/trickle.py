"""`trickle`: the answer comes in small pieces."""

from __future__ import annotations

from typing import ClassVar, Final

from sendbox.engine.durations import Span
from sendbox.engine.faults.fault import Act, Piece, Timed, Wait
from sendbox.engine.forms import span

#: So many pieces an answer trickles in, where it has so many bytes.
PIECES: Final = 20


class Trickle(Timed, frozen=True):
    """`time` is how long the whole body takes."""

    kind: ClassVar = "trickle"
    value: ClassVar = span("The answer comes in small pieces during this real time.")
    usual: ClassVar = {"time": Span(2_000, 2_000)}
    examples: ClassVar = {
        "trickle": "the head at once, the body in up to twenty pieces over two seconds",
        "{trickle: 5s}": "the same during the given time",
    }

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        pieces = max(1, min(PIECES, size))
        acts: list[Act] = [Piece(0, 0)]
        for number in range(pieces):
            acts.append(Wait((number + 1) * time // pieces - number * time // pieces))
            acts.append(Piece(number * size // pieces, (number + 1) * size // pieces))
        return tuple(acts)
