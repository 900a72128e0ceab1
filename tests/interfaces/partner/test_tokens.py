"""Signup tokens: HS256, a key for each world, the world's clock (§4.3, §5.3, §8)."""

from __future__ import annotations

import sys
from typing import Any

import jwt
import pytest

from sendbox.contract.validators import NotLoaded
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.http.requests import token_in
from sendbox.services.partner.http import tokens
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Signup
from tests.core.worlds import HOOK, START, advance, make_world


def signed_up(world: World) -> tuple[Signup, str]:
    """A signup and its token."""
    signup = Partner.of(world).sign_up("manual", None, {}, HOOK, Account.of(world).keys[world.id], b"{}")
    return signup, tokens.issue(world, signup)


def test_s4_3_a_token_is_a_jwt() -> None:
    """§4.3, §8: signed with HS256, names its signup, valid one hour of the world's time."""
    world = make_world()
    signup, token = signed_up(world)
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    claims = jwt.decode(token, options={"verify_signature": False, "verify_exp": False})
    assert claims == {"sub": signup.id, "iat": START // 1000, "exp": START // 1000 + 3600}
    assert tokens.subject(token) == signup.id
    assert signup.id.startswith(world.tag)


@pytest.mark.parametrize(("after", "valid"), [(3_599_999, True), (3_600_000, False), (3_600_001, False)])
def test_s8_valid_for_one_hour_of_the_world(after: int, valid: bool) -> None:
    """§8: to the millisecond, whatever the machine's clock says."""
    world = make_world()
    signup, token = signed_up(world)
    advance(world, after)
    assert tokens.check(world, token) == (signup if valid else "expired")


def test_a_signup_within_a_second_has_its_whole_hour() -> None:
    """A JWT counts in seconds: the end is rounded up."""
    world = make_world(start=START + 1)
    signup, token = signed_up(world)
    advance(world, 3_600_998)
    assert tokens.check(world, token) is signup
    advance(world, 1)
    assert tokens.check(world, token) == "expired"


def test_a_token_of_another_world_is_unknown() -> None:
    """Each world has a key of its own."""
    world, other = make_world("test-a"), make_world("test-b")
    _, token = signed_up(world)
    assert tokens.check(other, token) == "unknown"


def test_a_token_of_another_epoch_is_unknown() -> None:
    """After a reset nobody knows the signup any more."""
    _, token = signed_up(make_world())
    assert tokens.check(make_world(), token) == "unknown"


def forged(claims: dict[str, Any], algorithm: str = "HS256") -> str:
    return jwt.encode(claims, "" if algorithm == "none" else "k" * 64, algorithm=algorithm)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b.c",
        "eyJhbGciOiJIUzI1NiJ9.e30.x",
        forged({"sub": "x", "exp": 9_999_999_999}),
        forged({"sub": "x", "exp": 9_999_999_999}, "none"),
        forged({"exp": 9_999_999_999}),
    ],
)
def test_what_is_no_token(token: str) -> None:
    """Neither text, nor another key, nor no signature at all."""
    assert tokens.check(make_world(), token) == "unknown"
    assert tokens.subject(token) in (None, "x")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", None), (b"{", None), (b"[]", None), (b"{}", None), (b'{"token": 5}', None), (b'{"token": "a"}', "a"),
    ],
)  # fmt: skip
def test_the_token_of_a_body(body: bytes, expected: str | None) -> None:
    """The field `token`, where there is one and it is text."""
    assert token_in(body) == expected


def test_pyjwt_is_not_imported_where_it_would_hold_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deferred, the first use asks to be done off the loop, and says what to load."""
    monkeypatch.delitem(sys.modules, "jwt")
    with pytest.raises(NotLoaded) as asked:
        tokens.load_jwt(deferred=True)
    monkeypatch.setitem(sys.modules, "jwt", jwt)
    asked.value.load()
    assert tokens.load_jwt(deferred=True) is jwt
