"""The roles of tokens: the scope of an operation, and the role and the prefix of a token, say who may call it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from sendbox.engine.kinds.masking import key_shown

if TYPE_CHECKING:
    from sendbox.runtime.teams import Token

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
