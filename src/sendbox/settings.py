"""Settings of a server, which the command line, the environment and the fixture decide before it starts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final

from sendbox.engine.clock import Mode
from sendbox.runtime.callbacks import Callbacks

PORT: Final = 7357


@dataclass(slots=True)
class Settings:
    """`keys` are admitted although they do not begin with `test-`. Times in real seconds.

    Of several scenarios each is joined over the one before it.

    `patience` is how long a receiver may take to answer; `quiet` is how long nothing must be open before an `auto`
    clock goes on. `max_rounds` (of deliveries at one instant), `max_instants` and `max_reach_ms` (virtual) bound one
    call of `advance`; so do `max_calls` and `max_chain`, of a receiver that calls while webhooks are under way: at one
    instant, and one because of the other. `max_journal` is how many entries a world's journal keeps, None = all.
    `callbacks` says where webhooks may go. With `coverage` what was tried in closed and reset worlds is kept.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    scenario: str | tuple[str, ...] = "default"
    seed: int | str | None = None
    mode: Mode = "real"
    start: int | None = None
    public_url: str | None = field(default_factory=lambda: os.environ.get("SENDBOX_PUBLIC_URL") or None)
    keys: frozenset[str] = frozenset()
    any_key: bool = False
    hints: bool = True
    patience: float = 5.0
    quiet: float = 0.02
    max_worlds: int = 10_000
    max_rounds: int = 10_000
    max_calls: int = 1_000
    max_chain: int = 100
    max_instants: int = 100_000
    max_reach_ms: int = 400 * 86_400_000
    max_journal: int | None = None
    shard: int = 0
    check_answers: bool = False
    callbacks: Callbacks = field(default_factory=lambda: Callbacks.parse("private"))
    callback_ca: str | None = None
    callback_insecure: bool = False
    coverage: bool = False
