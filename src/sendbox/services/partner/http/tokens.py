"""Signup tokens: JWTs signed with HS256 by a key of their world, valid one hour of the world's time (§4.3, §5.3, §8).

The token names its signup, whose id begins with the tag of the world, so that the world is found without a key. PyJWT
would look at the machine's clock; that is switched off, and the instant is compared with the world's.

PyJWT takes 70 ms to import, so it is imported when the first token is made or read: `NotLoaded` asks the caller
to do so off the event loop.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Final, Literal

from sendbox.contract.validators import NotLoaded
from sendbox.engine.remarks import Finding
from sendbox.engine.world import World
from sendbox.services.http.exchange import Tokens
from sendbox.services.http.requests import token_in
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Signup

ALGORITHM: Final = "HS256"
#: What PyJWT must not check: everything that it would compare with the machine's clock.
_TIMELESS: Final = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "require": ["sub", "exp"]}


def preload() -> None:
    """Imports PyJWT, before the first token needs it; to be called off the event loop."""
    import_module("jwt")


def load_jwt(*, deferred: bool = False) -> ModuleType:
    """The module of PyJWT. With `deferred`, raises `NotLoaded` instead of importing it here."""
    if deferred and "jwt" not in sys.modules:
        raise NotLoaded(preload)
    return import_module("jwt")


def issue(world: World, signup: Signup) -> str:
    """The token of a signup."""
    claims = {"sub": signup.id, "iat": signup.created_at // 1000, "exp": signup.expires_at // 1000}
    return str(load_jwt().encode(claims, _secret(world), algorithm=ALGORITHM))


def subject(token: str) -> str | None:
    """The signup that a token names, unchecked: only to find its world. None for other texts."""
    jwt = load_jwt()
    try:
        claims = jwt.decode(token, options={"verify_signature": False, **_TIMELESS})
    except jwt.PyJWTError:
        return None
    return str(claims["sub"])


#: What is wrong with a token: the world did not make it, or it has expired.
Fault = Literal["unknown", "expired"]


def check(world: World, token: str) -> Signup | Fault:
    """The signup whose token this is, or the fault of the token."""
    jwt = load_jwt()
    try:
        claims = jwt.decode(token, _secret(world), algorithms=[ALGORITHM], options=_TIMELESS)
    except jwt.PyJWTError:
        return "unknown"
    signup = Partner.of(world).signups.get(str(claims["sub"]))
    if signup is None:
        return "unknown"
    return signup if Partner.of(world).valid(signup) else "expired"


def signup_of_token(world: World, token: str) -> Signup | Finding:
    """The signup whose token admits a call, or the finding that says why it does not."""
    result = check(world, token)
    if not isinstance(result, str):
        return result
    why = f"the token is {result}: a signup of this world returns one that is valid for an hour (§5, §8)"
    return Finding("$.token", "token", why, "§5")


def _secret(world: World) -> str:
    """The key with which a world signs."""
    return world.name("jwt", b"key")[:32].hex()


TOKENS: Final = Tokens(
    preload,
    token_in,
    subject,
    signup_of_token,
    (
        "no API key came with the call, and no token that names an open world",
        "send the key as header, or the token of a signup in the body (section 5)",
    ),
)
