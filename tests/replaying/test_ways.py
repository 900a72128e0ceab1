"""A random script comes to the same in whatever way it is played, and in whatever order its answers land."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from sendbox.fixture import SandboxServer
from tests.recorded.box import served
from tests.recorded.player import Player
from tests.recorded.worlds import script
from tests.replaying.over_http import OverHttp, hurried
from tests.replaying.split import Split
from tests.replaying.ways import ended, journal, landing, played
from tests.tiers import DEEP

#: Those of the random worlds whose deliveries a receiver outside takes.
_TAKEN: Final = [number for number in range(500 if DEEP else 21) if script(number)["receiver"] == "app"]
PERMUTED: Final = _TAKEN[:200] if DEEP else _TAKEN[-4:]
NUMBERS: Final = range(120) if DEEP else (2, 4, 25)
#: For worlds of every receiver; that of 25 calls back in the middle of an advance. The scenario drawn for 489 is
#: not legal.
WAYS: Final = [number for number in range(500) if number != 489] if DEEP else (2, 4, 9, 25)


@pytest.fixture(scope="module")
def server() -> Iterator[SandboxServer]:
    """One server for all worlds that are played."""
    with served() as server:
        yield server


def first(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> Any:
    """The first two entries that differ, None where all are equal."""
    pairs = zip(one, other, strict=False)
    return next((pair for pair in pairs if pair[0] != pair[1]), None if len(one) == len(other) else "lengths")


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", PERMUTED)
def test_the_order_of_landings_changes_nothing(number: int, server: SandboxServer) -> None:
    """Journals are equal, entry by entry: outcomes of a round come in as its tries began."""
    one, other = (landing(server, script(number), seed) for seed in (1, 2))
    assert first(one[0], other[0]) is None
    assert one[1] == other[1]


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", NUMBERS)
def test_twice(number: int, server: SandboxServer) -> None:
    """The same script again."""
    one, other = (played(server, script(number)) for _ in range(2))
    assert first(one[0], other[0]) is None
    assert one[1] == other[1]


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", NUMBERS)
def test_restored(number: int, server: SandboxServer) -> None:
    """Half of it done again from a checkpoint: the same, but for the entry that says so."""
    given = script(number)
    steps = given["steps"]
    if given["receiver"] == "app" and given["calls_back"]:
        pytest.skip("its receiver counts how often it was called")
    half = len(steps) // 2
    alone, digest = played(server, {**given, "steps": steps})
    player = Player(server, {**given, "steps": steps[:half]})
    try:
        player.play()
        there = f"/_sandbox/worlds/{player.world}/checkpoints/half"
        assert player.client.put(there).status_code == 201
        assert player.client.post(there).status_code == 200
        player.script["steps"] = steps[half:]
        player.play()
        assert [each["kind"] for each in journal(player) if each["kind"] != "restored"] == [
            each["kind"] for each in alone if each["kind"] != "restored"
        ]
        assert player.control("/digest")["digest"] == digest
    finally:
        player.close()
        server.runtime.closed.clear()


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", WAYS)
def test_split(number: int, server: SandboxServer) -> None:
    """Every advance in several smaller ones; receivers that call back in the middle of one find the same instants."""
    whole = Player(server, script(number))
    one = ended(server, whole)
    player = Split(server, script(number), whole.answers, 9_000_000 + number)
    other = ended(server, player)
    assert first(one[0], other[0]) is None
    assert one[1] == other[1]


def test_advances_are_split(server: SandboxServer) -> None:
    """In some of these worlds there are advances that can be divided; else nothing would be split."""
    whole = Player(server, script(WAYS[0]))
    ended(server, whole)
    player = Split(server, script(WAYS[0]), whole.answers, 9_000_000 + WAYS[0])
    ended(server, player)
    assert player.parts > player.divided > 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", WAYS)
def test_over_http(number: int, server: SandboxServer) -> None:
    """Through a socket, with control over HTTP as well, it is as it is in process."""
    inside = Player(server, script(number))
    one = ended(server, inside)
    with hurried():
        other = ended(server, OverHttp(server, script(number), inside.answers))
    assert first(one[0], other[0]) is None
    assert one[1] == other[1]


def test_from_eight_threads(server: SandboxServer) -> None:
    """Eight worlds at once, each as it is alone."""
    scripts = [script(number) for number in (0, 1, 2, 4, 5, 8, 9, 11)]
    alone = [played(server, each) for each in scripts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda each: played(server, each), scripts))
    for one, other in zip(alone, together, strict=True):
        assert first(one[0], other[0]) is None
        assert one[1] == other[1]


def test_answers_do_land_out_of_order(server: SandboxServer) -> None:
    """In some of these worlds several are under way at once; else nothing would be permuted."""
    assert max(landing(server, script(number), 1)[2] for number in PERMUTED[:10]) > 1
