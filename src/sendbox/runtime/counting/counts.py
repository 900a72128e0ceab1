"""The counts of a server since its start: plain numbers that only grow, and that `server/metrics.py` shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sendbox.engine.keeping.forgetting import MESSAGES

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.runtime.policy import Outcome
    from sendbox.runtime.slot import Hosted


class Counts:
    """The counts of one runtime. Nothing in them names a world, a key or a phone."""

    __slots__ = ("calls", "messages", "tries")

    def __init__(self) -> None:
        #: calls, by operation, status (0 where no answer was sent) and what became of them
        self.calls: Counter[tuple[str, int, str]] = Counter()
        #: tries of webhooks, by what became of the webhook, and why it was not delivered
        self.tries: Counter[tuple[str, str]] = Counter()
        #: messages of all worlds, as far as they were looked at (`look`)
        self.messages = 0

    def tried(self, state: str, outcome: Outcome) -> None:
        """A try has ended, and this is the state of its webhook now."""
        reason = "" if outcome.ok else outcome.error or f"{(outcome.status or 0) // 100}xx"
        self.tries["retried" if state == "waiting" else state, reason] += 1

    def look(self, hosted: Hosted) -> None:
        """Counts the messages that a world has made since the last look; it also comes before a world ends."""
        total = messages_made(hosted.world)
        self.messages += max(total - hosted.counted, 0)
        hosted.counted = total


def messages_made(world: World) -> int:
    """The number of messages that a world has had, including forgotten ones."""
    return sum(part.made for part in world.parts.values() if MESSAGES in part.counts)
