"""Short links over HTTP: redirects, clicks, expiry (§2.1, A17)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.box import WORLD, Box, boxed

pytestmark = pytest.mark.asyncio


# --- short links ------------------------------------------------------------------------------------------------------


async def linked(box: Box, target: str = "https://acme.example/x", **url: Any) -> tuple[str, str]:
    """The path of a short link that was sent, and the id of its message."""
    (message_id,) = await box.send(body=f"See {target}", params={"_url": url})
    await box.advance("0s")
    (link,) = (await box.get(f"{WORLD}/messages/{message_id}")).json["links"]
    parts = urlsplit(link["url"])
    return parts.path + (f"?{parts.query}" if parts.query else ""), message_id


async def clicks(box: Box, message_id: str) -> tuple[int, str | None]:
    shown = (await box.get(f"{WORLD}/messages/{message_id}")).json
    return len(shown["links"][0]["clicks"]), shown["clicked_at"]


@pytest.mark.unmeasured
async def test_a17_a_get_is_a_click_and_a_head_is_not() -> None:
    """302 to the target either way; GETs count, and the first sets the message's `clicked_at`."""
    async with boxed() as box:
        path, message_id = await linked(box)
        for method in ("HEAD", "GET"):
            answer = await box.call(method, path)
            assert (answer.status, answer.headers["location"]) == (302, "https://acme.example/x")
            assert (await clicks(box, message_id))[0] == (method == "GET")
        await box.advance("1m")
        await box.get(path)
        assert await clicks(box, message_id) == (2, "2026-03-01T09:00:00.000Z")
        assert [entry["phone"] for entry in (await box.get(f"{WORLD}/journal?kind=click")).json["entries"]] == [
            "420777000101"
        ] * 2


@pytest.mark.parametrize(
    ("target", "query", "location"),
    [
        ("https://acme.example/x", "a=1", "https://acme.example/x?a=1"),
        ("https://acme.example/x?b=2", "a=1&c=%20", "https://acme.example/x?b=2&a=1&c=%20"),
        ("https://acme.example/x#top", "a=1", "https://acme.example/x?a=1#top"),
        ("https://acme.example/x#top", "", "https://acme.example/x#top"),
        ("https://acme.example/žluť?ř=ě", "", f"https://acme.example/{quote('žluť')}?{quote('ř')}={quote('ě')}"),
        ("https://acme.example/a%20b;c~|{d}", "", "https://acme.example/a%20b;c~|{d}"),
    ],
    ids=["added", "joined", "before-the-fragment", "none", "other-scripts", "as-it-is"],
)
async def test_a17_the_query_is_passed_on(target: str, query: str, location: str) -> None:
    """What a client appends to a short link reaches the target, and the target's own parts stay what they are."""
    async with boxed() as box:
        path, _ = await linked(box, target)
        answer = await box.get(f"{path}?{query}" if query else path)
        assert (answer.status, answer.headers["location"]) == (302, location)


async def test_s2_1_get_enhance_reaches_the_target() -> None:
    """With `get_enhance: id` the target learns the message's id under `get_name`."""
    async with boxed() as box:
        path, message_id = await linked(box, get_enhance="id", get_name="mid")
        assert path.endswith(f"?mid={message_id}")
        assert (await box.get(path)).headers["location"] == f"https://acme.example/x?mid={message_id}"


async def test_a17_an_expired_link_is_410() -> None:
    """At `expires_at` a link stops; nothing is counted any more."""
    async with boxed() as box:
        path, message_id = await linked(box, expires_at=1_772_355_600 + 60)
        await box.advance("59s")
        assert (await box.get(path)).status == 302
        await box.advance("1s")
        answer = await box.get(path)
        assert (answer.status, answer.body) == (410, b"this link has expired")
        assert (await clicks(box, message_id))[0] == 1


async def test_s8_a_link_expires_after_seven_days_by_default() -> None:
    """Default expiry is 7 days after sending."""
    async with boxed() as box:
        path, _ = await linked(box)
        await box.advance("6d23h59m")
        assert (await box.call("HEAD", path)).status == 302
        await box.advance("1m")
        assert (await box.call("HEAD", path)).status == 410


async def test_a17_a_link_that_never_was_or_is_no_more_is_404() -> None:
    """An unknown code, one of a closed world, and one of an epoch that is over."""
    async with boxed() as box:
        path, _ = await linked(box)
        assert (await box.get("/s/nothing")).status == 404
        assert (await box.get(f"{path}x")).status == 404
        await box.post(f"{WORLD}/reset")
        assert (await box.get(path)).status == 404
        await box.delete(WORLD)
        answer = await box.get(path)
        assert (answer.status, answer.body) == (404, b"there is no such link")
