"""Whom a call is about, whatever its interface calls the number."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.world import World
from sendbox.services.http.numbers import addressee
from sendbox.services.verify.http import ROUTES
from sendbox.services.verify.session import Session
from sendbox.services.verify.verify import Verify
from tests.core.worlds import make_world

CASES: dict[str, tuple[bytes, bytes, str]] = {
    "message": (b'{"to":[{"phone_number":"777000101"},{"phone_number":"777000102"}]}', b"", "420777000101"),
    "messages": (b' [{"to":[{"phone_number":"420777000102"}]},{"to":[]}]', b"", "420777000102"),
    "simple-query": (b"", b"number=777000101&body=Hi", "420777000101"),
    "form": (b"phone_number=%2B420777000101&body=Hi", b"", "420777000101"),
    "legacy-several": (b"number=777000103%3B777000104&message=Hi", b"", "420777000103"),
    "list": (b'{"to":"777000105\\n777000106"}', b"", "420777000105"),
    "rows": (b"", b"phone_number=420777000101", "420777000101"),
    "verify": (b'{"phoneNumber":"+420 777 000 107"}', b"", "420777000107"),
    "analytics": (b'{"phone_numbers":["420777000108"]}', b"", "420777000108"),
    "a-number-of-json": (b'{"phone_number":420777000101}', b"", "420777000101"),
    "the-second-field": (b'{"to":[],"number":"420777000101"}', b"", "420777000101"),
    "no-number": (b'{"to":[{"phone_number":"nonsense"}]}', b"", "nonsense"),
    "nobody": (b'{"body":"Hi"}', b"", ""),
    "nothing": (b"", b"", ""),
    "no-json": (b'{"to":', b"", ""),
    "lists-in-lists": (b'[[{"to":"420777000101"}]]', b"", ""),
    "null": (b'{"to":null}', b"", ""),
    "too-deep": (b'{"to":' * 9 + b'"420777000101"' + b"}" * 9, b"", ""),
    "too-deep-in-lists": (b'{"to":[' * 9 + b'"420777000101"' + b"]}" * 9, b"", ""),
}


@pytest.mark.parametrize(("body", "query", "expected"), CASES.values(), ids=CASES)
def test_the_first_number(body: bytes, query: bytes, expected: str) -> None:
    """The first number of a call, in international form; as it was written where it is none."""
    assert addressee(make_world(), body, query) == expected


def test_a_token_names_its_phone() -> None:
    """A code is about the phone that it was sent to; a token of nobody's is about nobody."""
    world: World = make_world()
    message: Any = None
    session = Session("t", "420777000109", "123456", "k", message, {}, (), 0, 1)
    Verify.of(world).sessions["t"] = session
    about = next(route.about for route in ROUTES if route.operation == "verifyCode")
    assert about is not None
    assert about(world, {"token": "t"}) == "420777000109"
    assert about(world, {"token": "u"}) == ""
