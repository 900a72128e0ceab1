"""What the method of an operation of control says: GET reads, and what changes something is not taken from a site."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.app import SERVED
from sendbox.control.stream import STREAMED
from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio

ROWS: Final = (*SERVED.operations, *STREAMED)
READS: Final = [row for row in ROWS if row.method == "GET"]
CHANGES: Final = [row for row in ROWS if row.method != "GET"]
#: Arguments of the query without which an operation answers nothing.
QUERY: Final = {"compare": "?with=test-2", "explain": "?message_id={message_id}"}
#: What proves that a world is as it was: what happened in it, and how it is set.
PROOFS: Final = ("/digest", "/record", "/export?as=scenario", "/scenario", "/clock", "/account", "")


async def filled(box: Box) -> dict[str, Any]:
    """A world in which something happened; the values of parameters of paths."""
    await box.open()
    await box.open("test-2")
    (message_id,) = await box.send("420777000101")
    await box.post("/v1/validations", {"phoneNumber": "420777000102"}, x_api_key=KEY)
    signup = await box.post("/v1/chatapp/signup", {}, x_api_key=KEY)
    await box.post("/_sandbox/explorations", {"test": "shop"})
    await box.advance()
    (request, *_) = (await box.get(f"{WORLD}/requests")).json["requests"]
    (delivery, *_) = (await box.get(f"{WORLD}/deliveries")).json["deliveries"]
    return {
        "id": KEY,
        "message_id": message_id,
        "number": "420777000101",
        "n": request["n"],
        "name": "default",
        "dimension": "operations",
        "delivery": delivery["id"],
        "signup": signup.json["redirect_url"].rpartition("/")[2],
        "rule": "none",
        "outage": "none",
        "template": "none",
    }


async def state(box: Box) -> dict[str, Any]:
    """All that proves what a world is; the list of worlds too."""
    shown = {path: (await box.get(WORLD + path)).json for path in PROOFS}
    return {**shown, "worlds": list(box.runtime.worlds)}


async def left() -> Any:
    """The client of a stream goes away at once."""
    return {"type": "http.disconnect"}


async def test_no_get_changes_a_world() -> None:
    """Digest, record, export and settings are the same after each operation that is carried by GET."""
    async with boxed() as box:
        values = await filled(box)
        before = await state(box)
        for row in READS:
            own = {"id": "1"} if row.path.startswith("/explorations/") else {}
            path = (row.path + QUERY.get(row.name, "")).format(**values | own)
            answer = await box.call("GET", f"/_sandbox{path}", receive=left if row in STREAMED else None)
            assert answer.status == 200, (row.name, answer)
            assert await state(box) == before, row.name


@pytest.mark.parametrize("header", [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")])
async def test_no_foreign_site_changes_a_world(header: tuple[str, str]) -> None:
    """Each operation that may change something is refused where a page of another site asks for it."""
    async with boxed() as box:
        values = await filled(box)
        before = await state(box)
        for row in CHANGES:
            answer = await box.call(row.method, f"/_sandbox{row.path.format(**values)}", b"{}", dict([header]))
            assert (answer.status, answer.json["error"]) == (403, "foreign_origin"), row.name
        assert await state(box) == before


async def test_the_log_says_who_changed_what() -> None:
    """A line with the caller for each operation that changes something; none for what is refused, read, or polled."""
    async with boxed() as box:
        answer = await box.post("/_sandbox/worlds")
        drawn, rule = answer.json["id"], {"when": {}, "then": "failed"}
        await box.put(WORLD, {})
        box.log.clear()
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        assert (await box.post(f"{WORLD}/rules", {"whn": {}})).status == 422
        assert (await box.patch(f"{WORLD}/clock", {"rate": 2})).status == 200
        assert (await box.patch(f"{WORLD}/account", {"credit": {"eur": 1}})).status == 200
        assert (await box.post("/_sandbox/check", {"text": "sendbox: 1"})).status == 200
        for _ in range(2):
            assert (await box.post(f"{WORLD}/outbox")).status == 200
        assert (await box.post(f"{WORLD}/reset")).status == 200
        assert (await box.delete(f"/_sandbox/worlds/{drawn}")).status == 200
        assert (await box.post("/_sandbox/worlds")).status == 201
        (other,) = set(box.runtime.worlds) - {KEY}
        assert box.log == [
            (KEY, "control put_rule from 127.0.0.1:0"),
            (KEY, "control change_clock from 127.0.0.1:0"),
            (KEY, "control change_account from 127.0.0.1:0"),
            (KEY, "webhooks wait in the outbox from now on"),
            (KEY, "control reset from 127.0.0.1:0"),
            (drawn, "control close_world from 127.0.0.1:0"),
            (other, "control open_world from 127.0.0.1:0"),
        ]
