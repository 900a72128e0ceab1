"""Teams at one server, known by the beginning of the ids of their worlds: tokens of control, and quotas.

The scope of an operation, and the role and the prefix of a token, say who may call it.

Of a token only its digest is kept.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Final, Literal, cast

from msgspec import Struct

from sendbox.engine.bounds import parse_size
from sendbox.engine.kinds.masking import key_shown
from sendbox.engine.texts import regex

Role = Literal["admin", "team", "read"]
#: The roles, and how many words the line of a token has.
_WORDS: Final = {"admin": (3,), "team": (4,), "read": (3, 4)}
#: The number of calls that the audit keeps.
AUDITED: Final = 1_000
#: The form of a token and of a name: what fits into a header and into a line of a file.
_TOKEN: Final = regex(r"[!-~]{16,200}")
_NAME: Final = regex(r"[A-Za-z0-9._-]{1,64}")
#: The form of a prefix: behind it an id of a world has room for the digits of a drawn one.
_PREFIX: Final = regex(r"[!-+.-~-]{1,54}")
LEGAL_TOKEN: Final = "16 to 200 visible ASCII characters"
LEGAL_PREFIX: Final = "1 to 54 visible ASCII characters without a comma, such as test-payments-"
_LEGAL_LINE: Final = "NAME admin TOKEN, NAME team PREFIX TOKEN, NAME read TOKEN, or NAME read PREFIX TOKEN"

#: The words of a quota.
LIMITS: Final = ("worlds", "messages", "entries", "memory", "calls")
_LIMIT: Final = regex(rf"({'|'.join(LIMITS)})=(\S+)")
_COUNT: Final = regex(r"[1-9][0-9]{0,14}")
_LEGAL_QUOTA: Final = f"a prefix and some of {', '.join(LIMITS)}, such as: test-payments- worlds=50 calls=100"


class Token(Struct, frozen=True):
    """A token: the name by which the audit knows it, its role, and how the ids of its worlds begin ("": all)."""

    name: str
    role: Role
    prefix: str = ""
    digest: bytes = b""

    def covers(self, world_id: str) -> bool:
        """True if a world, or all worlds whose ids begin so, are among its own."""
        return world_id.startswith(self.prefix)


#: The caller where control asks for no token.
EVERYONE: Final = Token("", "admin")


class AuditedCall(Struct, frozen=True):
    """A call of control that changed something: the instant of the machine, the token's name, the address, the world.

    `world` ends with `*` where worlds were meant by the beginning of their ids, and is "" where none was.
    """

    at: int
    token: str
    caller: str
    operation: str
    world: str

    def concerns(self, token: Token) -> bool:
        """True if a token may know of it: its own call, or one about a world that is one of its own."""
        beginning, several, _ = self.world.partition("*")
        if several and token.prefix.startswith(beginning):
            return True
        return token.covers(beginning) or self.token == token.name


def make_token(name: str, role: Role, secret: str, prefix: str = "") -> Token:
    """The token with this secret. Raises ValueError, which does not show it."""
    if _TOKEN.fullmatch(secret) is None:
        raise ValueError(f"{len(secret)} characters that are no token; legal: {LEGAL_TOKEN}")
    return Token(name, role, prefix, _digest(secret))


def parse_tokens(text: str, file: str) -> tuple[Token, ...]:
    """The tokens of a file. Raises ValueError, which says the line and does not show a token."""
    tokens: list[Token] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            token = _parse_line(words)
            if any(other.name == token.name or other.digest == token.digest for other in tokens):
                raise ValueError(f"{token.name}: another line has this name or this token; legal: one line for each")
        except ValueError as error:
            raise ValueError(f"{file}:{number}: {error}") from None
        tokens.append(token)
    if not tokens:
        raise ValueError(f"{file}: it has no token; legal: lines such as {_LEGAL_LINE}")
    check_prefixes((token.prefix for token in tokens if token.role == "team"), file)
    return tuple(tokens)


def _parse_line(words: Sequence[str]) -> Token:
    name, role = words[0], words[1] if len(words) > 1 else ""
    if _NAME.fullmatch(name) is None:
        raise ValueError("the first word is not a name; legal: 1 to 64 of a-z A-Z 0-9 . _ -")
    if role not in _WORDS:
        raise ValueError(f"{name}: the second word is not a role; legal: {', '.join(_WORDS)}")
    if len(words) not in _WORDS[role]:
        raise ValueError(f"{name}: {len(words)} words are no line of a token; legal: {_LEGAL_LINE}")
    prefix = parse_prefix(words[2]) if len(words) == 4 else ""
    try:
        return make_token(name, cast(Role, role), words[-1], prefix)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def parse_prefix(text: str) -> str:
    """The beginning of ids of worlds. Raises ValueError."""
    if _PREFIX.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not the beginning of ids of worlds; legal: {LEGAL_PREFIX}")
    return text


def check_prefixes(prefixes: Iterable[str], place: str) -> None:
    """Raises ValueError where worlds of one prefix are those of another one too."""
    ordered = sorted(set(prefixes))
    for shorter, longer in pairwise(ordered):
        if longer.startswith(shorter):
            text = f"{longer!r} begins with {shorter!r}, so worlds would be of both"
            raise ValueError(f"{place}: {text}; legal: prefixes of which none begins with another, such as test-a-")


def token_of(tokens: Sequence[Token], headers: Sequence[bytes]) -> Token | None:
    """The token that the values of the header `Authorization` carry; None if there is none.

    All tokens are compared, each in constant time, so that the time of an answer says nothing about any of them.
    """
    scheme, _, secret = headers[0].partition(b" ") if len(headers) == 1 else (b"", b"", b"")
    if scheme.lower() != b"bearer":
        return None
    digest = _digest(secret.strip())
    matching = [token for token in tokens if hmac.compare_digest(token.digest, digest)]
    return matching[0] if matching else None


def _digest(secret: str | bytes) -> bytes:
    return sha256(secret.encode() if isinstance(secret, str) else secret).digest()


# --- quotas


class Quota(Struct, frozen=True):
    """The most that the worlds of a prefix may use, by the words of `LIMITS`; `calls` are those of a second."""

    prefix: str
    most: Mapping[str, int]


def parse_quotas(texts: Sequence[str]) -> tuple[Quota, ...]:
    """The quotas of an option. Raises ValueError."""
    quotas = []
    for text in texts:
        prefix, *words = text.split() or [""]
        try:
            most = dict(map(_parse_limit, words))
        except ValueError as error:
            raise ValueError(f"{text!r} is not a quota: {error}; legal: {_LEGAL_QUOTA}") from None
        if not most or len(most) < len(words):
            raise ValueError(f"{text!r} is not a quota; legal: {_LEGAL_QUOTA}")
        quotas.append(Quota(parse_prefix(prefix), most))
    if len({quota.prefix for quota in quotas}) < len(quotas):
        raise ValueError(f"{', '.join(quota.prefix for quota in quotas)}: legal: one quota for each prefix")
    check_prefixes((quota.prefix for quota in quotas), "quotas")
    return tuple(quotas)


def _parse_limit(word: str) -> tuple[str, int]:
    """A word of a quota, and the most. Raises ValueError."""
    match = _LIMIT.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} limits nothing")
    name, most = match.groups()
    if name == "memory":
        return name, parse_size(most)
    if _COUNT.fullmatch(most) is None:
        raise ValueError(f"{most!r} is no number of {name}")
    return name, int(most)


Scope = Literal["open", "facts", "world", "worlds", "server"]
#: The scopes, with the subject of their operations.
SCOPES: Final[dict[Scope, str]] = {
    "open": "the health of the server; no token is needed",
    "facts": "what every server of this version knows, and the token itself",
    "world": "one world, by its id",
    "worlds": "the worlds whose ids begin with the prefix of the token, and what is known of them",
    "server": "the server as a whole",
}


def denial(token: Token, scope: Scope, *, changes: bool, world_id: str | None = None) -> str | None:
    """The reason why a token may not call an operation; None if it may. Which worlds there are makes no difference."""
    if scope in ("open", "facts") or token.role == "admin":
        return None
    if changes and token.role == "read":
        return f"the token {token.name} only reads; legal: a token with the role admin, or team"
    if scope == "server" and (changes or token.prefix):
        return f"the token {token.name} is not for the whole server; legal: a token with the role admin"
    return None if world_id is None else foreign_world(token, world_id)


def foreign_world(token: Token, world_id: str) -> str | None:
    """The reason why a world, or the worlds whose ids begin so, are not those of a token; None if they are."""
    if token.covers(world_id):
        return None
    return (
        f'"{key_shown(world_id)}" is not a world of the token {token.name}; legal: ids that begin with {token.prefix}'
    )
