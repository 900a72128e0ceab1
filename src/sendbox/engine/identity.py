"""Identity: everything that looks random is derived, by a keyed hash, from a seed, a scope, a key and a count.

Two classes. *Fates* (results, timings, operators) are drawn by the chooser (`engine/chooser/`), by a rule, a subject
and the ordinal of its case; *names* (request and message ids, link codes) are derived from the request's content,
salted with the world (`engine/world.py`).
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

_SCOPE_SIZE: Final = 16


def seed_bytes(seed: int | str) -> bytes:
    """The key of the hash for a seed: at most 64 bytes, longer seeds are hashed first."""
    raw = str(seed).encode()
    return raw if len(raw) <= 64 else blake2b(raw).digest()


def derive(seed: bytes, scope: str, key: bytes, n: int = 0) -> bytes:
    """64 bytes that depend on all four arguments and on nothing else. `scope` has at most 16 ASCII characters."""
    return blake2b(key, key=seed, salt=n.to_bytes(_SCOPE_SIZE, "little"), person=scope.encode()).digest()


def uuid_text(raw: bytes, first: int = 0) -> str:
    """Sixteen bytes, from the `first` on, in the form of a version 4 UUID."""
    h = raw[first : first + 16].hex()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[raw[first + 8] >> 4 & 3]}{h[17:20]}-{h[20:]}"


class Naming:
    """Derives the names of one world, salted with it."""

    __slots__ = ("_salt",)

    def __init__(self, salt: str) -> None:
        self._salt = seed_bytes(salt)

    def name(self, scope: str, key: bytes, n: int = 0) -> bytes:
        """64 derived bytes for a name."""
        return derive(self._salt, scope, key, n)


def tag_of(world_id: str, shard: int = 0) -> str:
    """The fixed-width tag of names that must be found without a key: two hex digits of shard, fourteen of the world."""
    return f"{shard:02x}{blake2b(world_id.encode(), digest_size=7).hexdigest()}"
