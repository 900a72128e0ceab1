"""The product and the model agree on random worlds, which reach all that the model knows.

An ordinary run plays a sample; a deep one plays worlds until so many messages have been compared.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.box import boxed
from tests.model.comparison import compare
from tests.model.lifecycle import REFUSALS
from tests.model.requests import CHANNELS
from tests.tiers import DEEP, LONG

#: So many worlds are a sample; all of them are as many as it takes for so many messages.
SAMPLE: Final = 30
MESSAGES: Final = 20_000
STATES: Final = ("sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed")
#: What the worlds must come to, in the words of `World.reached`.
REACHED: Final = (
    *(f"{channel}: {state}" for channel in CHANNELS for state in STATES if (channel, state) != ("sms", "seen")),
    *(f"refused: {why}" for why in REFUSALS),
    "400",
    "in the response: variables",
    "in the response: number",
    "credit ends inside a request",
    "segments: 1",
    "segments: 2",
    "segments: 3",
    "scheduled",
    "past datetime",
    "held by its window",
    "held by quiet hours",
    "held by both",
    "hours that its window never meets",
    "hours of countries and channels",
    "a window ends at this instant",
    "the flow goes on: bad end",
    "the flow goes on: refused step",
    "the flow goes on: ttl",
    "the flow goes on after a bad end by its ttl",
    "late receipt",
    "receipt at the instant of its ttl",
    *(f"not met: {condition}" for condition in ("sent", "delivered", "seen")),
    *(f"ttl, but {condition} was met" for condition in ("sent", "delivered", "seen")),
    "bad end, but sent was met",
    *(f"webhook: {end}" for end in ("delivered", "given up", "no answer", "waited for another")),
)


@pytest.mark.asyncio
@pytest.mark.timeout(LONG)
async def test_product_and_model_agree() -> None:
    """On answers, states with their instants, rows, codes, credit, events, and the tries of webhooks."""
    reached: Counter[str] = Counter()
    number = messages = 0
    async with boxed() as box:
        while messages < MESSAGES if DEEP else number < SAMPLE:
            world = await compare(box, number)
            reached.update(world.reached)
            number, messages = number + 1, messages + len(world.messages)
    assert [words for words in REACHED if not reached[words]] == []


def test_the_model_is_a_second_opinion() -> None:
    """It imports nothing of the product; only the comparison and this test do."""
    for path in Path(__file__).parent.glob("*.py"):
        if path.stem in ("comparison", "test_model"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            own = ("tests.model", "tests.recorded.draw")
            assert not [name for name in names if name.startswith(("sendbox", "tests")) and not name.startswith(own)]
