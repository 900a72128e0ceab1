"""Where control wants one number or one word, what only looks like it is refused and named."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.box import WORLD, boxed

pytestmark = pytest.mark.asyncio


@pytest.mark.unmeasured
@pytest.mark.parametrize("number", ["42077700010*", "420777#000101", "4207770001\uff101", "420777000101x5"])
async def test_one_phone_is_not_a_pattern(number: str) -> None:
    """Wherever control takes the number of a phone, a pattern is refused and a strange character is named."""
    wrong = "is a pattern where one number is wanted" if "*" in number else "(U+"
    async with boxed() as box:
        await box.open()
        path = quote(number)
        answers = [
            await box.post(f"{WORLD}/inbound", {"channel": "sms", "from": number, "body": "x"}),
            await box.post(f"{WORLD}/phones/{path}/reply", {"body": "x"}),
            await box.post(f"{WORLD}/phones/{path}/opt-out", {}),
            await box.get(f"{WORLD}/phones/{path}"),
            await box.get(f"{WORLD}/messages?phone={path}"),
            await box.get(f"{WORLD}/codes?phone={path}"),
        ]
        assert [answer.status for answer in answers] == [400] * len(answers)
        assert all(wrong in answer.json["message"] for answer in answers)


@pytest.mark.parametrize("to", ["42090*", "4209000000?1", "\u201c42090\u201d"])
async def test_the_number_that_a_phone_writes_to_is_not_a_pattern(to: str) -> None:
    """A sender may have a name, but nothing that only looks like a number."""
    async with boxed() as box:
        await box.open()
        write = f"{WORLD}/phones/420777000101/write"
        answer = await box.post(write, {"body": "x", "to": to})
        assert (answer.status, answer.json["message"].partition(" is ")[0]) == (400, f'to: "{to}"')
        assert (await box.post(write, {"body": "x", "to": "Acme 24/7"})).status == 201


async def test_a_word_that_looks_the_same_is_named() -> None:
    """The character is named, not a word that looks the same."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/messages?result=d%D0%B5livered")
        assert "(U+0435, CYRILLIC SMALL LETTER IE) at place 2" in answer.json["message"]


async def test_a_text_that_a_client_wrote_to_is_found_as_it_is() -> None:
    """A client may send to what is not a number (it is rejected); its message is found by the same text."""
    async with boxed() as box:
        await box.send("abc")
        found = (await box.get(f"{WORLD}/messages?phone=abc")).json["messages"]
        assert [message["phone"] for message in found] == ["abc"]
