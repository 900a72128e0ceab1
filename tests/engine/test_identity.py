"""Identity: what looks random is derived, and depends on what it is given and on nothing else."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.draws import derive, seed_bytes, tag_of, uuid_text

SEED = seed_bytes(7)


def test_derived_bytes_never_change() -> None:
    """A seed, scope, key and count give these bytes on every machine, in every process, in every version."""
    assert derive(SEED, "request", b"key", 3).hex()[:32] == "aa07ff960745a5a8d8641021b73de4ca"
    assert len(derive(SEED, "request", b"key", 3)) == 64


@pytest.mark.parametrize(
    "other",
    [
        derive(seed_bytes(8), "request", b"key", 3),
        derive(SEED, "message", b"key", 3),
        derive(SEED, "request", b"kez", 3),
        derive(SEED, "request", b"key", 4),
        derive(SEED, "request", b"key"),
    ],
    ids=["seed", "scope", "key", "count", "count left out"],
)
def test_each_argument_counts(other: bytes) -> None:
    """Another seed, scope, key or count gives other bytes."""
    assert derive(SEED, "request", b"key", 3) != other


@pytest.mark.parametrize(
    ("seed", "same"),
    [(7, "7"), ("x" * 64, "x" * 64), (-1, "-1")],
    ids=["number and its text", "as long as a key may be", "negative"],
)
def test_seeds_are_keys_as_they_are(seed: int | str, same: str) -> None:
    """A seed of at most 64 bytes is its own key; the number 7 and the text 7 are one seed."""
    assert seed_bytes(seed) == same.encode()


def test_long_seeds_are_hashed() -> None:
    """A seed longer than a key may be still counts to its last character."""
    assert len(seed_bytes("x" * 65)) == 64
    assert seed_bytes("x" * 65) != seed_bytes("x" * 64 + "y")


@given(st.binary(min_size=16, max_size=64))
def test_ids_are_version_4_uuids(raw: bytes) -> None:
    """The text is what the standard makes of the first sixteen bytes: version 4, its variant, lower case."""
    assert uuid_text(raw) == str(UUID(bytes=raw[:16], version=4))


def test_a_tag_has_a_fixed_width() -> None:
    """Two hex digits of shard, fourteen of the world, the same for the world whatever the shard."""
    assert tag_of("test-a") == "00" + tag_of("test-a", 255)[2:]
    assert tag_of("test-a", 255)[:2] == "ff"
    assert len(tag_of("a" * 64)) == len(tag_of("a")) == 16
    assert tag_of("test-a") != tag_of("test-b")
