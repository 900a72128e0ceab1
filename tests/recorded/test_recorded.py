"""The record holds: what worlds, scenarios and texts were, they are.

In an ordinary run a part of the random worlds is played; all of them in a deep one (`scripts/test deep`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.recorded import library, record, worlds
from tests.recorded.box import served
from tests.recorded.golden import TEXTS
from tests.recorded.text import hashed
from tests.tiers import DEEP

#: One in so many random worlds is played in an ordinary run, beside those that are kept whole.
EVERY: Final = 240


def chosen() -> list[str]:
    """The random worlds that are played."""
    names = [worlds.name_of(number) for number in range(worlds.COUNT)]
    return [name for index, name in enumerate(names) if DEEP or index % EVERY == 0 or name in record.WHOLE]


@pytest.fixture(scope="module")
def session() -> Iterator[record.Session]:
    """One server for the worlds of this module."""
    with served() as server:
        yield record.Session(server)


@pytest.fixture(scope="module")
def random_worlds() -> dict[str, dict[str, str]]:
    """The recorded hashes of the random worlds."""
    return record.hashes("worlds.txt")


@pytest.fixture(scope="module")
def stories() -> dict[str, dict[str, str]]:
    """The recorded hashes of the library's scenarios."""
    return record.hashes("library.txt")


@pytest.mark.parametrize("name", chosen())
def test_a_random_world_is_what_it_was(name: str, session: record.Session, random_worlds: Any) -> None:
    """Every part of it: digest, journal, views, exports, the page, and each answer."""
    found = record.compared(name, session.parts(name), random_worlds[name])
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", library.played())
def test_a_scenario_of_the_library_is_what_it_was(name: str, session: record.Session, stories: Any) -> None:
    """Its own traffic leads to the same world, part by part; all forms in which it is played say the same, if deep."""
    found = record.compared(name, session.parts(name, said=DEEP), stories[name], but=() if DEEP else library.SAID)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_what_it_was(name: str) -> None:
    """What the contracts, the command line, errors and reports say, to the letter."""
    recorded = (record.FOLDER / "texts" / f"{name}.txt").read_text("utf-8")
    now = TEXTS[name]()
    if now != recorded:
        said = record.difference(name, now, recorded)
        pytest.fail(f"see python -m tests.recorded --show {name}\n{said}", pytrace=False)


@pytest.mark.deep
def test_the_worlds_reach_what_they_reached() -> None:
    """Together they meet the same kinds, operations, statuses and items of coverage."""
    names = [worlds.name_of(number) for number in range(worlds.COUNT)]
    _, tried = record.played(names, twice=False)
    recorded = (record.FOLDER / "tried.txt").read_text("utf-8")
    if tried != recorded:
        pytest.fail(record.difference("tried.txt", tried, recorded), pytrace=False)


# --- the record itself is whole


def test_every_world_and_scenario_is_recorded(random_worlds: Any, stories: Any) -> None:
    """None is missing, and none is left over; each has the same parts."""
    assert sorted(random_worlds) == [worlds.name_of(number) for number in range(worlds.COUNT)]
    assert sorted(stories) == library.played()
    for recorded in (random_worlds, stories):
        assert len({frozenset(parts) for parts in recorded.values()}) == 1


@pytest.mark.parametrize("name", record.WHOLE)
def test_a_whole_world_and_its_hashes_agree(name: str, random_worlds: Any) -> None:
    """What can be read of it is what is compared."""
    texts = record.kept(name)
    values = {part: text if part in record.TEXTS else json.loads(text) for part, text in texts.items()}
    assert {part: hashed(value) for part, value in values.items()} == random_worlds[name]


def test_the_catalogue_is_covered() -> None:
    """Every operation of both contracts is called by the recorded worlds and requests, and answered as it should be.

    The exceptions have their reasons; nothing else may be missing.
    """
    with served() as server:
        wanted = record.Session(server).catalogue.operations
    called: dict[str, str] = {}
    for line in (record.FOLDER / "tried.txt").read_text("utf-8").splitlines():
        if line.startswith("operation "):
            name, _, statuses = line.removeprefix("operation ").partition(": ")
            called[name] = statuses
    assert sorted(called) == sorted(wanted)
    assert {name for name, statuses in called.items() if not statuses.startswith(("2", "3"))} == set(UNREACHED)


#: Operations that no recorded call carries out, and why.
UNREACHED: Final = {
    "schema": "it is a file of this repository; that it takes no arguments is recorded",
    "stream_worlds": "it has no end; that it refuses a position is recorded",
    "stream": "it has no end; that it refuses a world that is not open is recorded",
}


def test_every_kind_of_the_journal_is_reached() -> None:
    """The kinds are those that the documentation of control lists."""
    text = (library.FOLDER.parent / "docs" / "control" / "records.md").read_text("utf-8")
    _, _, listed = text.partition("<!-- begin: journal kinds -->")
    kinds = {word.strip(" `.\n") for word in listed.partition("<!-- end -->")[0].split(",")}
    lines = (record.FOLDER / "tried.txt").read_text("utf-8").splitlines()
    assert {line.split()[1] for line in lines if line.startswith("kind ")} == kinds
