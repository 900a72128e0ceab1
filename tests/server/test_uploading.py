"""Uploads over HTTP: addresses that expire, files that are read as they come, and what is refused (§4.2; A35, A79)."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from sendbox.contract.validators import Contract
from sendbox.services.account.account import Account
from tests.box import KEY, ORIGIN, WORLD, Answer, Box, boxed
from tests.interfaces.rest.calls import OWN, journal, post, put, subkey, upload_url

pytestmark = pytest.mark.asyncio
GZIP = "application/gzip"


def line(number: str = "420777000101", **fields: Any) -> bytes:
    """A Message as a line."""
    return orjson.dumps({"body": "Hello", "to": [{"phone_number": number}], **fields}) + b"\n"


async def sent(box: Box) -> list[tuple[str, str]]:
    """Phone and result of every message."""
    shown = (await box.get(f"{WORLD}/messages")).json["messages"]
    return [(each["phone"], each["result"]) for each in shown]


@pytest.mark.parametrize(("filetype", "kind"), [("jsonl", "application/jsonl"), ("gz", GZIP)])
async def test_s4_2_a_file_is_sent_line_by_line(filetype: str, kind: str) -> None:
    """§4.2: one Message a line, in order; a bad line is skipped, and the journal has its number and why."""
    data = line() + b"nope\n" + line("420777000102") + b'{"to":[],"body":"x"}\n' + line("abc")
    async with boxed() as box:
        path = await upload_url(box, filetype)
        answer = await put(box, path, gzip.compress(data) if filetype == "gz" else data, kind)
        assert (answer.status, answer.json) == (200, {"success": True})
        assert answer.headers["sendbox-journal"].startswith(f"{ORIGIN}{WORLD}/journal/")
        assert await sent(box) == []
        await box.advance()
        assert await sent(box) == [
            ("420777000101", "delivered"), ("420777000102", "undelivered"), ("abc", "rejected"),
        ]  # fmt: skip
        lines = await journal(box, "bulk_line")
        assert [(each["line"], each["request_id"] is None) for each in lines] == [
            (1, False), (2, True), (3, False), (4, True), (5, False),
        ]  # fmt: skip
        assert [each["findings"][0]["path"] for each in lines if each["findings"]] == ["$", "$.to"]
        assert [text[:12] for _, text in box.log if text.startswith("line ")] == ["line 2 of b1", "line 4 of b1"]
        stored, done = await journal(box, "bulk")
        assert (stored["lines"], done["accepted"], done["skipped"]) == (5, 3, 2)


async def test_remarks_on_lines_are_advice() -> None:
    """Strict mode sees what the service would silently do with a line."""
    async with boxed() as box:
        await put(box, await upload_url(box), line("777000101", colour="red", sender="Acme"))
        await box.advance()
        advice = (await box.get(f"{WORLD}/advice")).json["advice"]
        assert {each["code"] for each in advice} == {"number-converted", "unknown-field", "sender-not-registered"}


@pytest.mark.parametrize(("after", "status"), [("59s", 200), ("59s999ms", 200), ("60s", 403), ("61s", 403)])
async def test_s8_an_address_is_valid_for_60_seconds(after: str, status: int) -> None:
    """§8: of the world's time; then 403 says so."""
    async with boxed() as box:
        path = await upload_url(box)
        await box.advance(after)
        answer = await put(box, path, line())
        assert answer.status == status
        assert status == 200 or answer.json == {"message": "Upload address has expired"}


async def test_a35_addresses_cannot_be_used_twice_nor_forged() -> None:
    """403 for one that was used, for one of a world that does not exist, and for one that was never given."""
    async with boxed() as box:
        path = await upload_url(box)
        assert (await put(box, path, line())).status == 200
        answer = await put(box, path, line())
        assert (answer.status, answer.json) == (403, {"message": "Upload address was used already"})
        for forged in (f"/upload/{'0' * 64}", path[:-1] + ("0" if path[-1] != "0" else "1"), "/upload/x"):
            answer = await put(box, forged, line())
            assert (answer.status, answer.json) == (403, {"message": "Upload address is not valid"})
        assert (await journal(box, "request"))[-1]["findings"][0]["rule"] == "upload"
        await box.advance()
        assert len(await sent(box)) == 1


@pytest.mark.parametrize(
    ("filetype", "kind", "data", "status", "text"),
    [
        pytest.param("jsonl", GZIP, b"", 400, "Content-Type must be application/jsonl", id="type-of-jsonl"),
        pytest.param("gz", "application/jsonl", b"", 400, "Content-Type must be application/gzip", id="type-of-gz"),
        pytest.param("gz", "", b"", 400, "Content-Type must be application/gzip", id="no-type"),
        pytest.param("gz", GZIP, b"{}", 400, "Upload is not readable as gzip: ", id="no-gzip"),
        pytest.param("gz", GZIP, gzip.compress(line() * 9)[:40], 400, "Upload is not readable as gzip: ", id="cut-off"),
        pytest.param(
            "jsonl", "application/jsonl; charset=utf-8", b"a\n" * 4, 413, "Upload has more than 3", id="lines"
        ),
        pytest.param("gz", GZIP, gzip.compress(b"a" * 501), 413, "Upload is longer than 500 bytes", id="bytes"),
    ],
)
async def test_a35_what_is_refused_sends_nothing(filetype: str, kind: str, data: bytes, status: int, text: str) -> None:
    """Nothing of a refused file is sent, and its address may be tried again."""
    limits = {"sendbox": 1, "assume": {"bulk": {"lines": 3, "bytes": 500}}}
    async with boxed(limits) as box:
        path = await upload_url(box, filetype)
        answer = await put(box, path, data, kind)
        assert (answer.status, answer.json["message"][: len(text)]) == (status, text)
        await box.advance("1s")
        assert await sent(box) == []
        good = gzip.compress(line()) if filetype == "gz" else line()
        assert (await put(box, path, good, GZIP if filetype == "gz" else "application/jsonl")).status == 200


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "Missing 'bulk_id' or 'filetype' in request data"),
        ({"bulk_id": "b"}, "Missing 'bulk_id' or 'filetype' in request data"),
        ({"filetype": "gz"}, "Missing 'bulk_id' or 'filetype' in request data"),
        ({"bulk_id": "b", "filetype": "zip"}, "Unsupported filetype"),
    ],
    ids=["nothing", "no-filetype", "no-bulk-id", "zip"],
)
async def test_a35_errors_of_the_address(body: dict[str, str], text: str) -> None:
    """400 with the known texts."""
    async with boxed() as box:
        answer = await post(box, "/messaging/url", **body)
        assert (answer.status, answer.json) == (400, {"message": text})


async def test_lines_use_key_callback_and_balance_of_who_asked() -> None:
    """A file of a sub-key is charged to the sub-key, even if another call comes in between."""
    scenario = {"sendbox": 1, "account": {"subkeys": [{"name": "a", "credit": 0.072}]}}
    async with boxed(scenario) as box:
        path = await upload_url(box, key="test-1~a")
        await put(box, path, line("420777000101") + line("420777000102") + line("420777000103"))
        await box.advance()
        shown = (await box.get(f"{WORLD}/messages")).json["messages"]
        assert [each["attempts"][0].get("refused") for each in shown] == [None, None, "credit"]


async def test_an_address_ends_with_its_key() -> None:
    """What a disabled key asked for cannot be used."""
    async with boxed() as box:
        key = await subkey(box)
        path = await upload_url(box, key=key)
        await post(box, "/apikey/change", apikey=key, disable=1)
        assert (await put(box, path, line())).status == 403


async def pieces(box: Box, path: str, parts: AsyncIterator[Any], kind: str = "application/jsonl") -> Answer:
    """`PUT` in pieces, as a server hands them in."""

    async def receive() -> Any:
        return await anext(parts)

    return await box.call("PUT", path, b"", {"content-type": kind}, receive=receive)


async def test_a_broken_upload_is_none() -> None:
    """Half a file is no file: nothing is sent, and the address may be tried again."""

    async def broken() -> AsyncIterator[Any]:
        yield {"type": "http.request", "body": line(), "more_body": True}
        yield {"type": "http.disconnect"}

    async with boxed() as box:
        path = await upload_url(box)
        await pieces(box, path, broken())
        await box.advance("1s")
        assert await sent(box) == []
        assert (await put(box, path, line())).status == 200


@pytest.mark.unmeasured
async def test_two_uploads_at_once_to_one_address() -> None:
    """The first that has come whole is taken, the other one refused; another world goes on meanwhile."""
    gate = asyncio.Event()

    async def slow() -> AsyncIterator[Any]:
        yield {"type": "http.request", "body": line() * 2_000, "more_body": True}
        await gate.wait()
        yield {"type": "http.request", "body": line("420777000102"), "more_body": False}

    async with boxed() as box:
        path = await upload_url(box)
        first = asyncio.ensure_future(pieces(box, path, slow()))
        await asyncio.sleep(0)
        await box.send(key="test-2")
        assert (await put(box, path, line())).status == 200
        gate.set()
        late = await first
        assert (late.status, late.json) == (403, {"message": "Upload address was used already"})
        await box.advance()
        assert await sent(box) == [("420777000101", "delivered")]


async def test_an_upload_while_a_long_one_is_stored() -> None:
    """A long file is read in slices, and the address is used from the first one; another world goes on meanwhile."""
    async with boxed() as box:
        path = await upload_url(box)
        first = asyncio.ensure_future(put(box, path, line() * 20_000))
        while box.runtime.worlds[KEY].working is None:
            await asyncio.sleep(0)
        second = asyncio.ensure_future(put(box, path, line()))
        await box.send(key="test-2")
        assert not first.done()
        assert (await first).status == 200
        assert ((await second).status, (await second).json) == (403, {"message": "Upload address was used already"})


@pytest.mark.parametrize("how", ["reset", "close"])
async def test_a_world_that_goes_away_takes_its_uploads_along(how: str) -> None:
    """What was uploaded into an epoch that is over is not sent in the next."""
    gate = asyncio.Event()

    async def slow() -> AsyncIterator[Any]:
        yield {"type": "http.request", "body": line(), "more_body": True}
        await gate.wait()
        yield {"type": "http.request", "body": b"", "more_body": False}

    async with boxed() as box:
        path = await upload_url(box)
        upload = asyncio.ensure_future(pieces(box, path, slow()))
        await asyncio.sleep(0)
        await (box.post(f"{WORLD}/reset") if how == "reset" else box.delete(WORLD))
        gate.set()
        assert (await upload).status == 403


@pytest.mark.unmeasured
async def test_a_restored_world_reads_on() -> None:
    """A checkpoint between upload and its instant: what is restored reads the file again."""
    async with boxed() as box:
        await put(box, await upload_url(box), line())
        await box.put(f"{WORLD}/checkpoints/a")
        await box.advance()
        await box.post(f"{WORLD}/checkpoints/a")
        assert await sent(box) == []
        await box.advance()
        assert await sent(box) == [("420777000101", "delivered")]


async def test_the_digest_of_two_worlds_with_one_file_is_equal() -> None:
    """Addresses, keys and ids are names, and no part of a digest."""
    async with boxed() as box:
        digests = []
        for key in (KEY, "test-2"):
            await post(box, "/blacklist", key, to="420777000103")
            child = (await post(box, "/apikey/add", key, **OWN)).json["apikey"]
            await post(box, "/apikey/change", key, apikey=child, scope="api")
            assert (await post(box, "/apikey/change", child, apikey=child)).status == 403
            await put(box, await upload_url(box, key=key), line() + b"nope\n")
            await box.advance(key=key)
            digests.append((await box.get(f"/_sandbox/worlds/{key}/digest")).json["digest"])
        assert digests[0] == digests[1]


async def test_the_first_bad_line_needs_no_import_on_the_loop() -> None:
    """With a contract that defers its explainer, a bad line is explained all the same."""
    from sendbox.services.messaging.bulk import Bulk
    from sendbox.services.messaging.http.rest.routes import line_decoder

    async with boxed() as box:
        await box.send()
        world = box.runtime.worlds[KEY].world
        bulk = Bulk("b", "jsonl", Account.of(world).keys[KEY], "a", 0, ORIGIN)
        decode = line_decoder(Contract(deferred=True))
        assert [found.path for found in decode(world, bulk, b"{}").findings] == ["$.to", "$.body"]
