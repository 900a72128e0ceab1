"""Quotas: how much the worlds may use together whose ids begin with a prefix.

What such worlds keep is counted as they change, so that no call has to look at all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import ClassVar, Final

from sendbox.engine.forgetting import MESSAGES, Memory
from sendbox.runtime.bounds import Full
from sendbox.runtime.slot import Capped, HostedWorld
from sendbox.runtime.store.store import StoredWorld
from sendbox.runtime.teams import Quota

_SECOND: Final = 1_000_000_000


def _memory_of(hosted: HostedWorld) -> int:
    if hosted.memory is None or hosted.memory.world is not hosted.world:
        hosted.memory = Memory(hosted.world)
    return hosted.memory.measure()


#: What the worlds of a prefix keep, and how much of it one world keeps.
KEPT: Final[Mapping[str, Callable[[HostedWorld], int]]] = {
    "worlds": lambda hosted: 1,
    MESSAGES: lambda hosted: hosted.world.counts.get(MESSAGES, 0),
    "entries": lambda hosted: len(hosted.world.journal) - hosted.world.journal.first,
    "memory": _memory_of,
}


class OverQuota(Capped):
    """No further world can be opened with this prefix: its quota is reached."""

    status: ClassVar[int] = 429


class Usage:
    """The use of a quota: what the open worlds keep, and the instant up to which calls are used up."""

    def __init__(self, quota: Quota, now: int) -> None:
        self.quota = quota
        self.kept = {name: 0 for name in KEPT if name in quota.most}
        self._spent = now - _SECOND

    def full(self, name: str) -> Full | None:
        """The reason to take no more of something; None while there is room, or no limit."""
        if name not in self.kept or self.kept[name] < (most := self.quota.most[name]):
            return None
        kept, unit = self.kept[name], "bytes of memory" if name == "memory" else name
        why = f"the worlds of {self.quota.prefix} have {kept} {unit}, and their quota is {most}"
        return Full(why, "close or reset worlds, or raise --quota")

    def call(self, now: int) -> Full | None:
        """Counts a call; the reason to refuse it, None if it is accepted."""
        most = self.quota.most.get("calls")
        if most is None:
            return None
        spent = max(self._spent, now - _SECOND) + _SECOND // most
        if spent > now:
            return Full(f"{most} calls in a second are the quota of {self.quota.prefix}", "send less, or raise --quota")
        self._spent = spent
        return None

    def add(self, kept: Mapping[str, int], sign: int) -> None:
        """Adds to what is kept, or with the sign -1 takes away."""
        for name, count in kept.items():
            self.kept[name] += sign * count


class Quotas:
    """The quotas of one runtime. `reading` is the monotonic clock, in nanoseconds."""

    def __init__(self, quotas: Iterable[Quota], reading: Callable[[], int]) -> None:
        self._usages = [Usage(quota, reading()) for quota in sorted(quotas, key=attrgetter("prefix"))]
        self._prefixes = [usage.quota.prefix for usage in self._usages]
        self._reading = reading
        self._counted: dict[HostedWorld | str, Mapping[str, int]] = {}

    def of(self, world_id: str) -> Usage | None:
        """The use of the quota that a world belongs to, or worlds whose ids begin so; None if there is none."""
        place = bisect_right(self._prefixes, world_id) - 1
        return self._usages[place] if place >= 0 and world_id.startswith(self._prefixes[place]) else None

    def count(self, hosted: HostedWorld, *, is_open: bool) -> None:
        """Counts anew what a world keeps: nothing once it has ended."""
        usage = self.of(hosted.world.id)
        if usage is not None:
            self._count(usage, hosted, {name: KEPT[name](hosted) for name in usage.kept} if is_open else {})

    def count_stored(self, stored: StoredWorld, *, is_stored: bool) -> None:
        """Counts what a world keeps that is only in the store: it takes no memory before it is made again."""
        usage, facts = self.of(stored.id), stored.facts
        if usage is not None:
            kept = {"worlds": 1, MESSAGES: facts.counts.get(MESSAGES, 0), "entries": facts.entries}
            self._count(usage, stored.id, {name: kept.get(name, 0) for name in usage.kept} if is_stored else {})

    def _count(self, usage: Usage, world: HostedWorld | str, kept: Mapping[str, int]) -> None:
        usage.add(self._counted.pop(world, {}), -1)
        if kept:
            self._counted[world] = kept
            usage.add(kept, 1)

    def opening(self, world_id: str) -> Full | None:
        """The reason to open no further world with such an id; None if it is opened."""
        usage = self.of(world_id)
        if usage is None:
            return None
        return next(filter(None, map(usage.full, KEPT)), None)

    def call(self, world_id: str) -> Full | None:
        """Counts a call about a world; the reason to refuse it, None if it is accepted."""
        usage = self.of(world_id)
        return None if usage is None else usage.call(self._reading())

    def refusal(self, key: str, *, sends: bool) -> Full | None:
        """Counts a call with a key; the reason to refuse it, None if it is accepted. `sends`: it makes messages."""
        usage = self.of(key)
        if usage is None:
            return None
        over = usage.call(self._reading()) or usage.full("entries") or usage.full("memory")
        return over or (usage.full(MESSAGES) if sends else None)
