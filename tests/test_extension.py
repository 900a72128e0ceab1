"""A service more beside the shipped ones: what it may register that the parcel locker (`locker/`) does not have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.contract.validators import Contract
from sendbox.control.export.rows import ActStep, Exported
from sendbox.control.operation import Call, operation
from sendbox.services.http.exchange import Answer, Link
from sendbox.settings import Settings
from tests.box import KEY, START, WORLD, Box
from tests.scenarios import load

pytestmark = pytest.mark.asyncio


@operation("POST", "/worlds/{id}/bell", act=True)
async def ring(call: Call, times: int | str | None = None) -> Any:
    """Rings the bell."""
    return {"rang": times, "world": call.hosted.world.id}


async def open_bells(world: Any, most: int) -> Sequence[str]:
    """What the service has that is still to come."""
    return [f"{world.id} rings"][:most]


def written(_world: Any, step: ActStep) -> dict[str, Any]:
    return {"bell": step.detail["times"]}


def _follow(world: Any, code: str, counts: bool, query: str) -> Answer:
    return Answer(200, f"{world.id} {counts} {query}".encode(), b"text/plain")


WITH_BELLS = replace(
    SERVED,
    operations=(*SERVED.operations, ring),
    links=(*SERVED.links, Link("/b/{code}", lambda _world, _code: True, _follow, Answer(404, b"lost"))),
    pending={**SERVED.pending, "bells": open_bells},
    exported={**SERVED.exported, "ring": Exported(written)},
)


@asynccontextmanager
async def extended() -> AsyncIterator[Box]:
    """A sandbox with a service more."""
    box = Box(make_app(Settings(mode="manual", start=START), load("default"), Contract(), WITH_BELLS))
    try:
        await box.open()
        yield box
    finally:
        await box.runtime.aclose()


async def test_its_operation_is_one_of_control() -> None:
    """It is held to its arguments, documented, listed as still to come, and exported as an entry of a timeline."""
    async with extended() as box:
        assert (await box.post(f"{WORLD}/bell", {"times": 3})).json == {"rang": 3, "world": KEY}
        wrong = await box.post(f"{WORLD}/bell", {"tiems": 3})
        assert (wrong.status, wrong.json["error"]) == (400, "unknown_argument")
        document = (await box.get("/_sandbox/openapi.json")).json
        shown = document["paths"]["/_sandbox/worlds/{id}/bell"]["post"]
        assert shown["summary"] == "Rings the bell."
        answer = shown["responses"]["200"]["content"]["application/json"]["schema"]
        assert answer == {"type": "object", "additionalProperties": True}
        assert (await box.get(f"{WORLD}/pending")).json["bells"] == [f"{KEY} rings"]
        scenario = (await box.get(f"{WORLD}/export?as=scenario")).json
        assert "timeline:\n- at: 0s\n  bell: 3\n" in scenario["text"], scenario["text"]
        assert 'sendbox.perform("ring", times=3)' in (await box.get(f"{WORLD}/export")).json["text"]


async def test_its_link_is_followed() -> None:
    """What is at an address that a world gave out is answered as the service says, and so is one of no world."""
    async with extended() as box:
        tag = box.runtime.worlds[KEY].world.tag
        assert (await box.call("GET", f"/b/{tag}?x=1")).body == f"{KEY} True x=1".encode()
        assert (await box.call("GET", "/b/nothing")).body == b"lost"
