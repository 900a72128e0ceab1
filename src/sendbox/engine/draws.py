"""Draws and names: everything that looks random is derived, by a keyed hash, from a seed, a scope, a key and a count.

Two classes. *Fates* (results, times, shares, orders, operators, codes, numbers of a pool, invented texts) are drawn by
the chooser: every draw is asked of it by a stable name (rule, subject, ordinal, purpose), never of a stream, so that
one draw more or less moves no other. *Names* (ids of requests and messages, codes of links, tokens) are not draws: they
are derived from the content of a request and the salt of the world (`World.name`), neither a rule nor a plan has a part
in them. No service is imported here, and nothing else in the product draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import ClassVar, Final

_SCOPE_SIZE: Final = 16


def seed_bytes(seed: int | str) -> bytes:
    """The key of the hash for a seed: at most 64 bytes, longer seeds are hashed first."""
    raw = str(seed).encode()
    return raw if len(raw) <= 64 else blake2b(raw).digest()


def derive(seed: bytes, scope: str, key: bytes, n: int = 0) -> bytes:
    """64 bytes that depend on all four arguments and on nothing else. `scope` has at most 16 ASCII characters."""
    state = _state(seed, scope, n)
    state.update(key)
    return state.digest()


def _state(seed: bytes, scope: str, n: int) -> blake2b:
    """The state of the hash before its key."""
    return blake2b(key=seed, salt=n.to_bytes(_SCOPE_SIZE, "little"), person=scope.encode())


#: Names of a world begin alike: what they begin with is hashed once.
_state_of_names: Final = lru_cache(1024)(_state)


def uuid_text(raw: bytes, first: int = 0) -> str:
    """Sixteen bytes, from the `first` on, in the form of a version 4 UUID."""
    h = raw[first : first + 16].hex()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[raw[first + 8] >> 4 & 3]}{h[17:20]}-{h[20:]}"


#: The bits of version and variant in four UUIDs, and all others.
_VERSION: Final = int.from_bytes(bytes.fromhex("00000000000040008000000000000000") * 4)
_OTHERS: Final = ~int.from_bytes(bytes.fromhex("000000000000f000c000000000000000") * 4)
_PARTS: Final = Struct("8s4s4s4s12s" * 4)
#: The number of the parts of a UUID.
UUID_PARTS: Final = 5


def uuid_parts(raw: bytes) -> tuple[bytes, ...]:
    """64 bytes as the five parts of each of four version 4 UUIDs, whose texts have hyphens between them."""
    return _PARTS.unpack(b"%0128x" % (int.from_bytes(raw) & _OTHERS | _VERSION))


class Naming:
    """Derives the names of one world, salted with it."""

    __slots__ = ("_salt",)

    def __init__(self, salt: str) -> None:
        self._salt = seed_bytes(salt)

    def name(self, scope: str, key: bytes, n: int = 0) -> bytes:
        """64 derived bytes for a name."""
        state = _state_of_names(self._salt, scope, n).copy()
        state.update(key)
        return state.digest()


def tag_of(world_id: str, shard: int = 0) -> str:
    """The fixed-width tag of names that must be found without a key: two hex digits of shard, fourteen of the world."""
    return f"{shard:02x}{blake2b(world_id.encode(), digest_size=7).hexdigest()}"


class Draw:
    """Numbers drawn for one decision: each purpose has its own draw, so that adding one never shifts another."""

    __slots__ = ("_key", "_n", "_seed")

    def __init__(self, seed: bytes, key: bytes, n: int) -> None:
        self._seed = seed
        self._key = key
        self._n = n

    def _unit(self, purpose: str) -> int:
        return int.from_bytes(derive(self._seed, "fate", self._key + b"\0" + purpose.encode(), self._n)[:8], "big")

    def between(self, low: int, high: int, purpose: str) -> int:
        """An integer from `low` to `high`, both included."""
        return low + self._unit(purpose) % (high - low + 1)

    def interval(self, low: int, high: int, purpose: str) -> int:
        """Milliseconds from `low` to `high`, both included."""
        return self.between(low, high, purpose)

    def below(self, share: float, purpose: str) -> bool:
        """True with the probability `share`, from 0 (never) to 1 (always)."""
        return self._unit(purpose) < share * 2**64

    def weighted(self, weights: Sequence[float], purpose: str, options: Sequence[object] = ()) -> int:
        """An index into `weights`, with their odds; `options` are what they are the weights of (`Option`)."""
        point = self._unit(purpose) / 2**64 * sum(weights)
        for index, weight in enumerate(weights[:-1]):
            point -= weight
            if point < 0:
                return index
        return len(weights) - 1

    def pick(self, options: Sequence[object], purpose: str) -> int:
        """An index into `options` (`Option`), all with the same odds."""
        return self.between(0, len(options) - 1, purpose)

    def digits(self, low: int, high: int, purpose: str, prefix: str = "") -> str:
        """A number behind a prefix, with as many digits as `high` has."""
        return f"{prefix}{self.between(low, high, purpose):0{len(str(high))}}"


class _Single(Draw):
    """A draw that has the same number for every purpose."""

    __slots__ = ("_number",)

    def __init__(self, number: bytes) -> None:
        self._number = int.from_bytes(number, "big")

    def _unit(self, purpose: str) -> int:
        return self._number


class Chooser:
    """The ordinary chooser: a hash, keyed with a seed."""

    #: True if it is noticed when it is asked, so that something must be drawn when it happens and not when it is shown
    noted: ClassVar[bool] = False
    __slots__ = ("_seed",)

    def __init__(self, seed: bytes = b"") -> None:
        self._seed = seed

    def draw(self, rule: str, subject: str, number: int) -> Draw:
        """The draws of a rule, by its key, about a subject that had so many of its draws before."""
        return Draw(self._seed, f"{rule}\0{subject}".encode(), number)

    def scoped(self, scope: str, subject: str, number: int, size: int = 8) -> Draw:
        """A draw that no rule of a scenario has, out of so many bytes; `scope` is what stands for the rule."""
        return _Single(derive(self._seed, scope, subject.encode(), number)[:size])

    def constant(self, scope: str, subject: str) -> Draw:
        """A draw that does not depend on the seed: the same in every world."""
        return _Single(blake2b(subject.encode(), key=scope.encode(), digest_size=8).digest())


#: The chooser of what no world draws.
UNSEEDED: Final = Chooser()
