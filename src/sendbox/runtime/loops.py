"""Loops of client and receiver: a receiver that calls the sandbox because of a webhook, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.settings import Settings

#: So many different calls are told apart.
_NAMED: Final = 1_000
#: So many requests of receivers are remembered; an older one counts as one that no receiver made.
_REMEMBERED: Final = 10_000


class Calls:
    """The calls that reach a world while it advances and a webhook is under way: those of a receiver, as far as known.

    The chain behind a call is how many calls lie behind it, one because of a webhook of the other, itself included: 0
    where no receiver made it. `loop` says in words which loop was found, None while there is none. Counted per instant
    and per chain, never by real time (`max_calls`, `max_chain`).
    """

    __slots__ = ("_at", "_chains", "_count", "_named", "_under_way", "loop")

    def __init__(self) -> None:
        #: the chain behind each request, by its id
        self._chains: dict[str, int] = {}
        #: webhooks under way, by the chain behind them
        self._under_way: Counter[int] = Counter()
        self._named: Counter[str] = Counter()
        self._at, self._count = 0, 0
        self.loop: str | None = None

    def begin(self) -> None:
        """A command moves the world: what was counted before does not count."""
        self._chains.clear()
        self._named.clear()
        self._count = 0
        self.loop = None

    @contextmanager
    def delivered(self, requests: Iterable[str]) -> Iterator[None]:
        """While it lasts a webhook is under way, with events of these requests.

        Each may be what causes a call: the shortest chain counts, here and among webhooks, so that no call is taken for
        a part of a loop that it has no part in.
        """
        chain = min((self._chains.get(request, 0) for request in requests), default=0) if self._chains else 0
        self._under_way[chain] += 1
        try:
            yield
        finally:
            self._under_way[chain] -= 1
            if not self._under_way[chain]:
                del self._under_way[chain]

    @property
    def chain(self) -> int:
        """The chain behind a call that comes now."""
        return 1 + min(self._under_way) if self._under_way else 0

    def made(self, chain: int, operation: str, sent: tuple[str, str] | None, at: int, settings: Settings) -> None:
        """A call of a receiver was answered at this instant; `sent` is the id of its request, and its first phone."""
        name = operation
        if sent is not None:
            name = f"{operation} to {sent[1]}"
            self._chains[sent[0]] = chain
            if len(self._chains) > _REMEMBERED:
                del self._chains[next(iter(self._chains))]
        if name in self._named or len(self._named) < _NAMED:
            self._named[name] += 1
        self._at, self._count = at, self._count + 1 if at == self._at else 1
        why = None
        if self._count > settings.max_calls:
            why = f"more than {settings.max_calls:,} calls at one instant (--max-calls)"
        elif chain > settings.max_chain:
            why = f"more than {settings.max_chain:,} calls, each because of a webhook of the one before (--max-chain)"
        if why is not None:
            name, count = self._named.most_common(1)[0]
            self.loop = f"{count:,} × {name} from your receiver: {why}"
