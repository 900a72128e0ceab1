"""Control over HTTP: long answers in pieces, its own contract."""

from __future__ import annotations

import asyncio
import copy
import gzip
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest
from openapi_spec_validator import validate

from sendbox.app import SERVED
from sendbox.control import routes
from sendbox.scenario.shape import schema
from sendbox.services.messaging.channels import FAMILIES
from tests.box import WORLD, boxed

pytestmark = pytest.mark.asyncio


async def test_a_long_list_is_sent_in_pieces_and_is_the_same_json() -> None:
    """Long answers do not hold the loop; whoever reads them sees no difference."""
    async with boxed() as box:
        for number in range(60):
            await box.send(f"42077700{number:02}01", "420777000105")
        await box.advance()
        messages = (await box.get(f"{WORLD}/messages")).json["messages"]
        assert len(messages) == 120
        singly = [(await box.get(f"{WORLD}/messages/{each['message_id']}")).json for each in messages]
        assert messages == singly
        journal = (await box.get(f"{WORLD}/journal")).json
        assert (len(journal["entries"]), journal["length"]) == (journal["length"], journal["length"])
        assert len((await box.get(f"{WORLD}/hook")).json["events"]) == 300


async def test_answers_to_a_browser_are_compressed() -> None:
    """Those of some length, if it takes gzip; a program gets them as they are."""
    page = {"sec-fetch-site": "same-origin", "accept-encoding": "gzip, br"}
    async with boxed() as box:
        await box.send(*(f"420777000{number}" for number in range(101, 108)))
        plain = await box.get(f"{WORLD}/messages?form=short")
        assert len(plain.body) > routes.SHORTEST_COMPRESSED
        for headers, path, coding in (
            (page, f"{WORLD}/messages?form=short", "gzip"),
            (page, f"{WORLD}/clock", None),
            ({"accept-encoding": "gzip"}, f"{WORLD}/messages?form=short", None),
            ({**page, "accept-encoding": "br"}, f"{WORLD}/messages?form=short", None),
        ):
            answer = await box.call("GET", path, headers=headers)
            assert answer.headers.get("content-encoding") == coding
            assert int(answer.headers["content-length"]) == len(answer.body)
            if coding:
                assert gzip.decompress(answer.body) == plain.body
                assert answer.headers["vary"] == "accept-encoding"


async def test_pieces_of_every_shape() -> None:
    """Empty lists, short ones, values that are none: the pieces always make the object."""
    for value in (
        {"a": list(range(51))},
        {"a": list(range(100)), "b": [], "c": None, "d": {"e": [1]}},
        {"x": 1, "a": [[1, 2]] * 120, "é": "ž"},
    ):
        expected = copy.deepcopy(value)
        assert orjson.loads(b"".join([piece async for piece in routes._pieces(value)])) == expected


@pytest.mark.parametrize(
    ("method", "path", "body", "name"),
    [
        ("DELETE", "/_sandbox/worlds?prefix=test-1&prefix=test-2", b"", "prefix"),
        ("GET", f"{WORLD}/journal?limit=1&limit=2", b"", "limit"),
        ("GET", "/_sandbox/stream?worlds=test-1&worlds=test-2", b"", "worlds"),
        ("POST", f"{WORLD}/clock/advance?by=1s", b'{"by": "1s"}', "by"),
    ],
)
async def test_an_argument_is_given_once(method: str, path: str, body: bytes, name: str) -> None:
    """Twice in the query, or there and in the body, is refused: one of the values would be lost in silence."""
    async with boxed() as box:
        await box.open()
        answer = await box.call(method, path, body)
        assert (answer.status, answer.json["error"]) == (400, "bad_argument")
        assert answer.json["message"] == f"{name}: it is given more than once; legal: one value"
        assert list(box.runtime.worlds) == ["test-1"]


async def test_the_origin_of_control_may_be_public() -> None:
    """Addresses that control gives out begin with the public URL where there is one."""
    async with boxed(public_url="https://public.example/") as box:
        assert (await box.open())["addresses"]["base_url"] == "https://public.example/v2"
        assert (await box.get("/_sandbox/openapi.json")).json["servers"] == [{"url": "https://public.example"}]


async def test_the_contract_of_control_is_valid_and_complete() -> None:
    """`/_sandbox/openapi.json` holds every operation that is served, and stands up to the validator."""
    async with boxed() as box:
        document = (await box.get("/_sandbox/openapi.json")).json
        validate(document)
        found = {
            row["operationId"]: (method.upper(), path)
            for path, rows in document["paths"].items()
            for method, row in rows.items()
        }
        expected = {name: (row.method, f"/_sandbox{row.path}") for name, row in SERVED.by_name.items()}
        streams = {"stream": ("GET", "/_sandbox/worlds/{id}/stream"), "stream_worlds": ("GET", "/_sandbox/stream")}
        assert found == {**expected, **streams}
        several = document["paths"]["/_sandbox/stream"]["get"]
        assert [each["name"] for each in several["parameters"]] == ["worlds", "since", "most", "Last-Event-ID"]
        assert list(several["responses"]["200"]["content"]) == ["text/event-stream"]
        inbound = document["paths"]["/_sandbox/worlds/{id}/inbound"]["post"]
        body = inbound["requestBody"]["content"]["application/json"]["schema"]
        assert body["required"] == ["channel", "from", "body"]
        assert body["properties"]["channel"] == {"type": "string", "enum": list(FAMILIES)}
        assert [each["name"] for each in inbound["parameters"]] == ["id"]


async def test_every_operation_says_what_it_does() -> None:
    """The contract, the documentation and the clients show the docstring."""
    assert [name for name, row in SERVED.by_name.items() if not row.function.__doc__] == []


async def test_the_schema_is_served() -> None:
    """Editors can name its address; what is answered stays whole."""
    async with boxed() as box:
        for _ in range(2):
            answer = await box.get("/_sandbox/schema")
            assert (answer.status, answer.json) == (200, schema())


async def test_what_breaks_a_stream_is_not_swallowed() -> None:
    """An error while an answer is made is an error of the call."""

    async def broken() -> AsyncGenerator[bytes, None]:
        yield b"x"
        raise LookupError("out of paper")

    async def receive() -> Any:
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        pass

    with pytest.raises(LookupError, match="out of paper"):
        await routes.Streamed(
            broken(), media_type="text/event-stream", endless=asyncio.get_running_loop().create_future()
        )({}, receive, send)
