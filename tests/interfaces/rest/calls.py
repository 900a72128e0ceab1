"""Calls of the management interface in a sandbox of this process."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from tests.box import KEY, Answer, Box

Body = dict[str, Any]


async def post(box: Box, path: str, key: str = KEY, **body: Any) -> Answer:
    """`POST` of an object."""
    return await box.post(f"/v1{path}", body, x_api_key=key)


async def get(box: Box, path: str, key: str = KEY, **query: str) -> Answer:
    """`GET` with a query."""
    return await box.get(f"/v1{path}?{urlencode(query)}" if query else f"/v1{path}", x_api_key=key)


#: What a sub-key with a balance of its own needs (A32).
OWN: Final[Body] = {"billing_name": "Acme", "billing_email": "bills@acme.example", "currency": "EUR"}


async def subkey(box: Box, **body: Any) -> str:
    """A sub-key with a balance of its own, unless `body` says otherwise."""
    answer = await post(box, "/apikey/add", **{**OWN, **body})
    assert answer.status == 200, answer
    key: str = answer.json["apikey"]
    return key


async def upload_url(box: Box, filetype: str = "jsonl", key: str = KEY) -> str:
    """The path of an upload address."""
    answer = await post(box, "/messaging/url", key, bulk_id="b1", filetype=filetype)
    assert answer.status == 200, answer
    path: str = urlsplit(answer.json["url"]).path
    return path


async def put(box: Box, path: str, data: bytes, kind: str = "application/jsonl") -> Answer:
    """`PUT` of a file."""
    return await box.call("PUT", path, data, {"content-type": kind})


async def journal(box: Box, kind: str, key: str = KEY) -> list[Any]:
    """Entries of a kind."""
    entries: list[Any] = (await box.get(f"/_sandbox/worlds/{key}/journal?kind={kind}")).json["entries"]
    return entries


async def moved(box: Box, by: str = "0s", key: str = KEY) -> list[tuple[str, dict[str, str], bytes]]:
    """Moves a world that keeps its deliveries, answers each with 200: address, headers and body of every one."""
    world = f"/_sandbox/worlds/{key}"
    moving = asyncio.ensure_future(box.advance(by, key=key))
    found = []
    while not moving.done():
        for call in (await box.post(f"{world}/outbox?during=advance&wait=5s")).json["calls"]:
            headers = {name.lower(): value for name, value in call["headers"]}
            found.append((call["url"], headers, base64.b64decode(call["body"])))
            await box.post(f"{world}/outbox/{call['id']}", {"status": 200})
        await asyncio.sleep(0)
    await moving
    return found
