"""A service more: what it registers is served, without a change of control, server or page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import orjson
import pytest

from sendbox.app import PARTS, SERVED, make_app
from sendbox.contract.validators import Contract
from sendbox.control.export.rows import Done, Exported
from sendbox.control.operation import Call, View, operation
from sendbox.fixture import SandboxServer
from sendbox.runtime.worlds import Runtime
from sendbox.services.http.exchange import Answer, Exchange, Route
from sendbox.services.http.interfaces import Interface, Link
from sendbox.settings import Settings
from tests.box import KEY, START, WORLD, Box
from tests.scenarios import load

pytestmark = pytest.mark.asyncio


@operation("POST", "/worlds/{id}/bell", act=True)
async def ring(call: Call, times: int | str | None = None) -> Any:
    """Rings the bell."""
    return {"rang": times, "world": call.here.world.id}


@operation("GET", "/worlds/{id}/bells")
async def bells(call: Call) -> Any:
    """Every bell."""
    return {"bells": [{"name": "<Big>", "rang": 3}] if call.here.world.fired else []}


async def open_bells(world: Any, most: int) -> Sequence[str]:
    """What the service has that is still to come."""
    return [f"{world.id} rings"][:most]


def error(status: int, text: str) -> Answer:
    return Answer(status, orjson.dumps({"bell": text}))


def deny(_with_key: bool) -> Answer:
    return error(401, "no")


def handler(exchange: Exchange) -> Answer:
    """The endpoint of the service."""
    return Answer(200, orjson.dumps({"key": exchange.key.id, "name": exchange.params["name"]}))


def written(_world: Any, step: Done) -> dict[str, Any]:
    return {"bell": step.detail["times"]}


ROUTE = Route("GET", "/v9/bells/{name}", "showBell", "Show a bell", "§1", handler, error, deny)


class Bell:
    """What the service offers on a test's handle."""

    def __init__(self, handle: Any) -> None:
        self.ring = partial(handle.perform, "ring")


def _follow(world: Any, code: str, counts: bool, query: str) -> Answer:
    return Answer(200, f"{world.id} {counts} {query}".encode(), b"text/plain")


WITH_BELLS = replace(
    SERVED,
    operations=(*SERVED.operations, ring, bells),
    routes=(*SERVED.routes, ROUTE),
    interfaces=(Interface("bell", ("/v9/",), error), *SERVED.interfaces),
    links=(*SERVED.links, Link("/b/{code}", lambda _world, _code: True, _follow, Answer(404, b"lost"))),
    pending={**SERVED.pending, "bells": open_bells},
    exported={**SERVED.exported, "ring": Exported(written)},
    attributes={**SERVED.attributes, "bell": Bell},
    views=(*SERVED.views, View("Bells", "bells", "bells", {"Name": "name", "Rang": "rang"})),
)


@asynccontextmanager
async def extended() -> AsyncIterator[Box]:
    """A sandbox with a service more."""
    runtime = Runtime(Settings(mode="manual", start=START), load("default"), PARTS)
    box = Box(runtime, make_app(runtime, Contract(), WITH_BELLS))
    try:
        await box.open()
        yield box
    finally:
        await runtime.aclose()


async def test_its_operation_is_one_of_control() -> None:
    """It is carried, held to its arguments, documented, journaled as an act, and exported."""
    async with extended() as box:
        assert (await box.post(f"{WORLD}/bell", {"times": 3})).json == {"rang": 3, "world": KEY}
        wrong = await box.post(f"{WORLD}/bell", {"tiems": 3})
        assert (wrong.status, wrong.json["error"]) == (400, "unknown_argument")
        document = (await box.get("/_sandbox/openapi.json")).json
        assert document["paths"]["/_sandbox/worlds/{id}/bell"]["post"]["summary"] == "Rings the bell."
        assert (await box.get(f"{WORLD}/pending")).json["bells"] == [f"{KEY} rings"]
        scenario = (await box.get(f"{WORLD}/export?as=scenario")).json
        assert "timeline:\n- at: 0s\n  bell: 3\n" in scenario["text"], scenario["text"]
        assert 'sendbox.perform("ring", times=3)' in (await box.get(f"{WORLD}/export")).json["text"]


async def test_its_routes_are_served() -> None:
    """A call, a denied key, an unknown path and a link are answered as the service says; coverage counts the call."""
    async with extended() as box:
        answer = await box.call("GET", "/v9/bells/church", headers={"x-api-key": KEY})
        assert answer.json == {"key": KEY, "name": "church"}
        assert (await box.call("GET", "/v9/bells/church")).json == {"bell": "no"}
        lost = await box.call("GET", "/v9/horns", headers={"x-api-key": KEY})
        assert (lost.status, lost.json) == (404, {"bell": "/v9/horns is no path of the bell interface"})
        tag = box.runtime.worlds[KEY].world.tag
        assert (await box.call("GET", f"/b/{tag}?x=1")).body == f"{KEY} True x=1".encode()
        assert (await box.call("GET", "/b/nothing")).body == b"lost"
        assert "/v9/bells/{name}" in (await box.get("/openapi.json")).json["paths"]
        items = (await box.get(f"{WORLD}/coverage")).json["items"]
        assert items["operations"]["showBell accepted"] == 1


async def test_the_page_shows_its_list() -> None:
    """Its view is a table of the page, once there is something in it; what stands in it is escaped."""
    async with extended() as box:
        assert b"<h2>Bells</h2>" not in (await box.get(f"/_sandbox/?world={KEY}")).body
        await box.send("420777000101")
        await box.advance("1s")
        page = (await box.get(f"/_sandbox/?world={KEY}")).body.decode()
        assert "<thead><tr><th>Name</th><th>Rang</th></tr></thead>" in page
        assert "<tr><td>&lt;Big&gt;</td><td>3</td></tr>" in page


async def test_a_handle_has_its_attributes() -> None:
    """A test's handle, blocking or not, offers what the service registered, and says what there is."""
    server = SandboxServer(served=WITH_BELLS).start()
    try:
        blocking: Any = server.sandbox("bells")
        handle: Any = server.async_sandbox("more bells")
        assert blocking.bell.ring(times=2).rang == 2
        assert (await handle.bell.ring(times=3)).world == handle.api_key
        with pytest.raises(AttributeError, match=r'^"bel" is not an attribute of Sandbox; legal: .*account, .*bell, '):
            _ = blocking.bel
        with pytest.raises(AttributeError, match=r"^_bell$"):
            _ = handle._bell
    finally:
        server.stop()
