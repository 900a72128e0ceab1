"""Loops of client and receiver: a receiver that calls the sandbox because of a webhook, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.engine.delivery.chains import Chains
    from sendbox.settings import Settings

#: So many different calls are told apart.
_NAMED: Final = 1_000


class Calls:
    """The calls that reach a world while it advances and a webhook is under way: those of a receiver, as far as known.

    `loop` says in words which loop was found, None while there is none. Counted per instant and per chain, never by
    real time (`max_calls`, `max_chain`).
    """

    __slots__ = ("_at", "_count", "_named", "_under_way", "loop")

    def __init__(self) -> None:
        #: webhooks under way, by the length of the chain behind them
        self._under_way: Counter[int] = Counter()
        self._named: Counter[str] = Counter()
        self._at, self._count = 0, 0
        self.loop: str | None = None

    def begin(self) -> None:
        """A command moves the world: what was counted before does not count."""
        self._named.clear()
        self._count = 0
        self.loop = None

    @contextmanager
    def delivered(self, depth: int) -> Iterator[None]:
        """While it lasts a webhook is under way, with so many calls behind it."""
        self._under_way[depth] += 1
        try:
            yield
        finally:
            self._under_way[depth] -= 1
            if not self._under_way[depth]:
                del self._under_way[depth]

    @property
    def depth(self) -> int:
        """The length of the chain that a call now ends: 0 where no webhook is under way."""
        return 1 + min(self._under_way) if self._under_way else 0

    def made(self, operation: str, chains: Chains, at: int, settings: Settings) -> None:
        """A call of a receiver was answered at this instant."""
        name = f"{operation} to {chains.phone}" if chains.phone else operation
        if name in self._named or len(self._named) < _NAMED:
            self._named[name] += 1
        self._at, self._count = at, self._count + 1 if at == self._at else 1
        why = None
        if self._count > settings.max_calls:
            why = f"more than {settings.max_calls:,} calls at one instant (--max-calls)"
        elif chains.depth > settings.max_chain:
            why = f"more than {settings.max_chain:,} calls, each because of a webhook of the one before (--max-chain)"
        if why is not None:
            name, count = self._named.most_common(1)[0]
            self.loop = f"{count:,} × {name} from your receiver: {why}"
