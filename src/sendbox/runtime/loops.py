"""Loops of client and receiver: a receiver that calls the sandbox because of a webhook, again and again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.engine.timeline import Clock
    from sendbox.settings import Settings

#: The greatest number of recipients of an operation that are counted one by one.
_MAX_RECIPIENTS: Final = 100_000
#: The greatest number of requests of receivers that are remembered; an older one counts as one that no receiver made.
_MAX_REQUESTS: Final = 10_000


class Calls:
    """The calls that reach a world while it advances and a webhook is under way: those of a receiver, as far as known.

    The chain behind a call is how many calls lie behind it, one because of a webhook of the other, itself included: 0
    where no receiver made it. `loop` says in words which loop was found, None while there is none. Counted per instant
    and per chain, never by real time.

    Where the clock runs by itself, any client may call while a slow receiver has a webhook, and nothing tells its calls
    from those of the receiver. A loop is there only what keeps the clock at one instant by a chain that comes to the
    same recipient again and again.
    """

    __slots__ = ("_at", "_chains", "_count", "_named", "_under_way", "loop")

    def __init__(self) -> None:
        #: the chain behind each request, by its id
        self._chains: dict[str, int] = {}
        #: webhooks under way, by the chain behind them
        self._under_way: dict[int, int] = {}
        #: how often each operation was called, by recipient, "" for none
        self._named: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._at, self._count = 0, 0
        self.loop: str | None = None

    def begin(self) -> None:
        """A command moves the world: what was counted before does not count."""
        self._chains.clear()
        self._named.clear()
        self._count = 0
        self.loop = None

    def begin_delivery(self, requests: Iterable[str], clock: Clock) -> int:
        """Counts a webhook as under way, with events of these requests; returns the chain behind it, which ends it.

        Each may be what causes a call: the shortest chain counts, here and among webhooks, so that no call is taken for
        a part of a loop that it has no part in.
        """
        self._present(clock)
        chain = min((self._chains.get(request, 0) for request in requests), default=0) if self._chains else 0
        self._under_way[chain] = self._under_way.get(chain, 0) + 1
        return chain

    def end_delivery(self, chain: int) -> None:
        """A webhook with this chain behind it is under way no more."""
        self._under_way[chain] -= 1
        if not self._under_way[chain]:
            del self._under_way[chain]

    @property
    def chain(self) -> int:
        """The chain behind a call that comes now."""
        return 1 + min(self._under_way) if self._under_way else 0

    def note_call(
        self, chain: int, operation: str, sent: tuple[str, str] | None, clock: Clock, settings: Settings
    ) -> None:
        """A call of a receiver was answered; `sent` is the id of its request, and its first phone."""
        self._present(clock)
        recipient = ""
        if sent is not None:
            recipient = sent[1]
            self._chains[sent[0]] = chain
            if len(self._chains) > _MAX_REQUESTS:
                del self._chains[next(iter(self._chains))]
        recipients = self._named[operation]
        recipients[recipient if recipient in recipients or len(recipients) < _MAX_RECIPIENTS else ""] += 1
        self._count += 1
        why = None
        if clock.mode == "manual" and self._count > settings.max_calls:
            why = f"more than {settings.max_calls:,} calls at one instant (max_calls)"
        elif chain > settings.max_chain and (clock.mode == "manual" or recipients[recipient] > settings.max_chain):
            why = f"more than {settings.max_chain:,} calls, each because of a webhook of the one before (max_chain)"
        if why is not None:
            self.loop = f"{self._most()} from your receiver: {why}"

    def _present(self, clock: Clock) -> None:
        """Calls of another instant do not count; nor do chains, where the clock runs by itself."""
        if clock.now != self._at:
            self._at, self._count = clock.now, 0
            if clock.mode != "manual":
                self._chains.clear()
                self._named.clear()

    def _most(self) -> str:
        """The operation that was called most, how often, and to whom."""
        operation, recipients = max(self._named.items(), key=lambda named: named[1].total())
        numbers = [number for number in recipients if number]
        to = f"{len(numbers):,} recipients"
        if len(recipients) > len(numbers) >= _MAX_RECIPIENTS:
            to += " at least"
        elif len(numbers) == 1:
            to = numbers[0]
        return f"{recipients.total():,} × {operation}{f' to {to}' if numbers else ''}"
