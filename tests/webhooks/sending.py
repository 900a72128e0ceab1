"""How tests of the sender run it, and what they send."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from sendbox.core.model import Target
from sendbox.loop import Kind, new_loop
from sendbox.webhooks.callbacks import Callbacks
from sendbox.webhooks.policy import HttpCall, encode

T = TypeVar("T")
ANYWHERE, LOOPBACK = Callbacks.parse("any"), Callbacks.parse("loopback")
EVENTS = '[{"message_id":"m-0","payload":{"a":"b & c=d+é%20;/?:@"}}]'.encode()
#: Real seconds: long for what must arrive, short for what never does.
LONG, SHORT = 5.0, 0.05


def run(main: Coroutine[Any, Any, T], kind: Kind = "auto") -> T:
    with asyncio.Runner(loop_factory=partial(new_loop, kind)) as runner:
        return runner.run(main)


def post(url: str, body: bytes = EVENTS) -> HttpCall:
    return encode(Target(url), body, "r-1")
