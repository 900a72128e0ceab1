"""What tests of faulty deliveries share: a sandbox with rules of `webhooks:`, and its receiver."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.box import Box, boxed
from tests.receivers import Events, Receiver, answering, receiving


@asynccontextmanager
async def faulty(*rules: Any, answers: tuple[int, ...] = (200,), **more: Any) -> AsyncIterator[tuple[Box, Receiver]]:
    """A sandbox with these rules, and a receiver at its default callback."""
    async with boxed() as box, receiving(answering(*answers)) as receiver:
        account = {"default_callback_url": receiver.url, **more}
        await box.open(scenario={"sendbox": 1, "account": account, "webhooks": list(rules)})
        yield box, receiver


def results(calls: list[Events]) -> list[list[Any]]:
    """What each call brought."""
    return [[event.get("result", "inbound") for event in call] for call in calls]
