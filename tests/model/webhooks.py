"""Webhooks: which events travel together (A22), and when each batch is tried (A20)."""

from __future__ import annotations

import heapq
from typing import Any, Final, NamedTuple

#: A receiver that does not answer, and how long it has for that.
NO_ANSWER: Final = "timeout"
PATIENCE: Final = 5_000


class Target(NamedTuple):
    """Where events go, as `callback` has it (A01)."""

    url: str
    method: str = "POST"
    batch_size: int = 100

    @classmethod
    def of(cls, callback: Any, default: str) -> Target:
        """An empty text, or none, means the account's default."""
        if not callback:
            return cls(default)
        return cls(callback) if isinstance(callback, str) else cls(**callback)

    @property
    def answers(self) -> list[int | str]:
        """How the tries of each batch end, by turns, the last for ever: statuses and words, as the path says."""
        ends = self.url.rpartition("/")[2].split("-")
        return [int(end) if end.isdecimal() else end for end in ends]


class Batch(NamedTuple):
    """Events that travel together, and the tries: the instant and the answer of each."""

    target: Target
    at: int
    events: list[dict[str, Any]]
    tries: list[tuple[int, int | str]]


def split(target: Target, at: int, events: list[dict[str, Any]], *, bundle: bool) -> list[Batch]:
    """The batches of one instant for one target, in order."""
    size = target.batch_size if bundle else 1
    return [Batch(target, at, events[start : start + size], []) for start in range(0, len(events), size)]


def carry_out(batches: list[Batch], pauses: list[int]) -> None:
    """Tries all batches: again so long after the start of the try before, until one is answered with 2xx.

    Batches of one target go one after another, so that one without an answer holds up the others while it lasts.
    """
    free: dict[Target, int] = {}
    waiting = [(batch.at, place, batch) for place, batch in enumerate(batches)]
    heapq.heapify(waiting)
    while waiting:
        due, place, batch = heapq.heappop(waiting)
        start = max(due, free.get(batch.target, due))
        number = len(batch.tries)
        end = batch.target.answers[min(number, len(batch.target.answers) - 1)]
        batch.tries.append((start, end))
        free[batch.target] = start + (PATIENCE if end == NO_ANSWER else 0)
        if not str(end).startswith("2") and number < len(pauses):
            heapq.heappush(waiting, (start + pauses[number], place, batch))
