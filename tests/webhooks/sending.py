"""How tests of the sender run it, and what they send."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from sendbox.engine.delivery.batches import Target
from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall, encode
from sendbox.server.loop import Kind, new_loop

T = TypeVar("T")
ANYWHERE, LOOPBACK = Callbacks.parse("any"), Callbacks.parse("loopback")
EVENTS = '[{"message_id":"m-0","payload":{"a":"b & c=d+é%20;/?:@"}}]'.encode()
#: Real seconds: long for what must arrive, short for what never does.
LONG, SHORT = 60.0, 0.05


def run(main: Coroutine[Any, Any, T], kind: Kind = "auto") -> T:
    with asyncio.Runner(loop_factory=partial(new_loop, kind)) as runner:
        return runner.run(main)


def post(url: str, body: bytes = EVENTS) -> HttpCall:
    return encode(Target(url), body, "r-1")
