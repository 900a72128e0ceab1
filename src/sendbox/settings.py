"""Settings of a server, which the command line, the environment and the fixture decide before it starts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal

from sendbox.engine.bounds import HIGHEST
from sendbox.engine.classes import dataclass
from sendbox.engine.durations import duration
from sendbox.options import OPTIONS
from sendbox.runtime.callbacks import Callbacks, host_name

if TYPE_CHECKING:
    from sendbox.engine.clock import Mode

PORT: Final[int] = OPTIONS["port"].default
#: What happens at a bound.
WhenFull = Literal["refuse", "forget"]
#: How a size is written: bytes, or with a unit of a thousand or of 1,024.
_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]i?)?b?", re.IGNORECASE | re.ASCII)
_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


@dataclass(slots=True)
class Settings:
    """`keys` are admitted although they do not begin with `test-`. Times in real seconds.

    With `strict_keys` a call opens no world: control does.

    Of several scenarios each is joined over the one before it, and `assume` (entries `name=value`) over the last.

    `patience` is how long a receiver may take to answer; `quiet` is how long nothing must be open before an `auto`
    clock goes on. `max_rounds` (of deliveries at one instant), `max_instants` and `max_reach_ms` (virtual) bound one
    call of `advance`; so do `max_calls` and `max_chain`, of a receiver that calls while webhooks are under way: at one
    instant, and one because of the other. `max_journal` is how many entries a world's journal keeps, `max_messages` how
    many messages a world keeps, `max_memory` how many bytes the process has, None = no bound; at the last two
    `when_full` says whether more is refused or the oldest are forgotten.
    `world_ttl` is after how many seconds without use a world ends, None = never; `keep_closed` how many closed worlds
    can still be read.
    `callbacks` says where webhooks may go. With `coverage`, what was tried in a world is kept when it ends or resets.
    `hosts` are further names under which browsers may use control and the pages (`server/hosts.py`), as `hosts_of`
    reads them.
    """

    host: str = OPTIONS["host"].default
    port: int = PORT
    scenario: str | tuple[str, ...] = OPTIONS["scenario"].default
    assume: tuple[str, ...] = ()
    seed: int | str | None = None
    mode: Mode = "real"
    start: int | None = None
    public_url: str | None = field(default_factory=lambda: os.environ.get("SENDBOX_PUBLIC_URL") or None)
    keys: frozenset[str] = frozenset()
    any_key: bool = False
    strict_keys: bool = False
    hints: bool = True
    patience: float = duration(OPTIONS["patience"].default) / 1000
    quiet: float = 0.02
    max_worlds: int = OPTIONS["max_worlds"].default
    world_ttl: float | None = None
    keep_closed: int = 0
    max_rounds: int = 10_000
    max_calls: int = OPTIONS["max_calls"].default
    max_chain: int = OPTIONS["max_chain"].default
    max_instants: int = 100_000
    max_reach_ms: int = 400 * 86_400_000
    max_journal: int | None = None
    max_messages: int | None = None
    max_memory: int | None = None
    when_full: WhenFull = OPTIONS["when_full"].default
    shard: int = OPTIONS["shard"].default
    check_answers: bool = False
    callbacks: Callbacks = field(default_factory=lambda: Callbacks.parse(OPTIONS["callbacks"].default))
    callback_ca: str | None = None
    callback_insecure: bool = False
    hosts: frozenset[str] = frozenset()
    coverage: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scenarios."""
        return (self.scenario,) if isinstance(self.scenario, str) else self.scenario

    @property
    def assumptions(self) -> list[str]:
        """The scenario that `assume` makes, as text; none if it is empty."""
        entries = [entry.partition("=") for entry in self.assume]
        lines = "".join(f"  {name}: {value}\n" for name, _, value in entries)
        return [f"sendbox: 1\nassume:\n{lines}"] if lines else []


def hosts_of(text: str) -> frozenset[str]:
    """Host names of a list with commas, as a `Host` is compared with them. Raises ValueError."""
    names = [item.strip() for item in text.split(",") if item.strip()]
    for name in names:
        if host_name(name) is None or "*" in name:
            raise ValueError(
                f"{name!r} is not a host name: names without a port are legal, with commas between, such as "
                "sandbox.example (an IP address needs no entry)"
            )
    return frozenset(filter(None, map(host_name, names)))


def size_of(text: str) -> int:
    """The bytes of a size, at least 1. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else round(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if not 1 <= size <= HIGHEST:
        raise ValueError(f"{text!r} is not a size of memory; legal: a number above 0 and a unit, such as 512MB or 1GiB")
    return size


def ttl_of(text: str) -> float | None:
    """The seconds after which a world without use ends, None for `off`. Raises ValueError."""
    if text == "off":
        return None
    try:
        milliseconds = duration(text)
    except ValueError as error:
        raise ValueError(f"{error}; so is off") from None
    if milliseconds <= 0:
        raise ValueError(f"{text!r} is not a time after which a world ends; legal: a duration above 0, or off")
    return milliseconds / 1000


def assumed(entries: Iterable[str]) -> tuple[str, ...]:
    """Settings of the assumptions, each `name=value`. Raises ValueError for another form."""
    for entry in entries:
        if re.fullmatch(r"\w+=\S[^\r\n]*", entry) is None:
            raise ValueError(f"{entry!r} is not a setting of assume and its value, such as profile=careful")
    return tuple(entries)


def keys_of(keys: Iterable[str]) -> frozenset[str]:
    """API keys of a setting. Raises ValueError for one that no header can carry, which is several that ran together."""
    for key in keys:
        if re.search(r"[\s,]", key):
            raise ValueError(f"{key!r} is not an API key: several have commas between them in the environment")
    return frozenset(keys)
