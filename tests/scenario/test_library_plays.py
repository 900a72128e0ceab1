"""Every scenario of the library is a story: it is played with its own traffic, and its expectations say how it ends."""

from __future__ import annotations

import functools
from typing import Any, Final

import pytest
from msgspec.structs import replace

from sendbox.engine.blueprint import Blueprint
from sendbox.engine.expect.expectation import Expectation
from sendbox.engine.expect.verdict import lines
from sendbox.engine.traffic import Traffic
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.playing import Played, play
from sendbox.playing.player import START
from sendbox.scenario import library
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import SENDING
from tests.core.observed import verdict
from tests.scenarios import check, load

#: The default scenario is everybody's: what it expected would be in the verdict of every world that asks for no other.
STORIES: Final = tuple(name for name in library.names() if name != "default")
EXPECTED: Final = [(name, at) for name in STORIES for at in range(len(load(name).expect))]


def _asks(traffic: Traffic) -> bool:
    """Whether a request changes nothing."""
    return traffic.operation in ("getMessage", "listMessages", "listServices", "listSubKeys", "showKey")


@functools.cache
def played(name: str) -> Played:
    """A scenario of the library, played once for all tests that only look."""
    return play(name)


@functools.cache
def elsewhere(name: str) -> World:
    """The world in which the story does not happen: the same client at the same time, under the default scenario."""
    story = load(name)
    return play(replace(load("default"), start=story.start, traffic=story.traffic, expect=())).world


def holds(world: World, expectation: Expectation) -> bool:
    """Whether an expectation is met."""
    return bool(verdict(world, [expectation])["passed"])


def test_every_scenario_is_a_story() -> None:
    """Each has traffic and says how it ends; only the default scenario, which every world has, expects nothing."""
    assert [name for name in STORIES if not (load(name).traffic and load(name).expect)] == []
    assert load("default").expect == ()


@pytest.mark.parametrize("name", library.names())
def test_a_scenario_is_clean(name: str) -> None:
    """There are neither problems nor warnings."""
    assert check(name) == []


@pytest.mark.parametrize("name", library.names())
def test_a_scenario_has_traffic_of_its_own(name: str) -> None:
    """A sample client sends it; what is played is not the built-in sample, and comes to its end by itself."""
    story = played(name)
    assert not story.sampled
    assert not story.stopped
    assert all(entry.relative for entry in story.blueprint.traffic)


@pytest.mark.parametrize("name", STORIES)
def test_a_story_begins_at_an_instant(name: str) -> None:
    """Clock and seed are pinned, so that it is the same story on a server, in a test, and next year."""
    text = library.path(name).read_text("utf-8")
    assert load(name).start is not None
    assert "\nseed: " in text


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", library.names())
def test_a_scenario_plays(name: str) -> None:
    """Every request gets the status that it expects, or one below 400; expectations are met, the verdict is trusted."""
    story = played(name)
    assert [(each.traffic.place, each.answer or each.error) for each in story.asked if not each.ok] == []
    refused = [each for each in story.asked if not each.traffic.statuses and (each.status or 500) >= 400]
    assert [(each.traffic.place, each.traffic.name, each.answer or each.error) for each in refused] == []
    if story.verdict is not None:
        assert story.verdict["passed"], "\n".join(lines(story.verdict))
        assert story.verdict["trusted"]
        assert story.verdict["next_due"] is None
    assert story.passed


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", library.names())
def test_a_scenario_plays_the_same_again(name: str) -> None:
    """A second time gives the same entries and the same digest."""
    first, second = played(name), play(name)
    assert first.digest == second.digest
    assert _story(first) == _story(second)


@pytest.mark.sample(6)
@pytest.mark.parametrize(("name", "at"), EXPECTED, ids=[f"{name}-{at}" for name, at in EXPECTED])
def test_an_expectation_can_fail(name: str, at: int) -> None:
    """Each has a name, and fails where nothing happened, or where the client did the same but the story did not happen.

    One that expects something fails in the world where nothing happened; one that forbids something, in the other.
    """
    story = load(name)
    expectation = story.expect[at]
    assert expectation.name
    empty = World("test-play", story, start=START if story.start is None else story.start, services=PARTS)
    assert not holds(empty, expectation) or not holds(elsewhere(name), expectation)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", STORIES)
def test_the_story_makes_the_difference(name: str) -> None:
    """Some expectation fails for the same client under the default scenario, so the verdict is about the story."""
    assert not verdict(elsewhere(name), load(name).expect)["passed"]


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", STORIES)
def test_every_rule_has_its_part(name: str) -> None:
    """The traffic meets each named rule that the scenario adds to the default one: nothing is in it for nothing."""
    story, default = played(name), load("default")
    wanted, usual = ({rule.name for rule in each.compiled["attempts"]} for each in (story.blueprint, default))
    wanted -= usual
    wanted |= {rule.name for rule in story.blueprint.webhooks} | {rule.name for rule in story.blueprint.api}
    attempts = [attempt for message in Messaging.of(story.world).messages for attempt in message.attempts]
    met = {rule for attempt in attempts if attempt.decision is not None for rule in attempt.decision.rules}
    met |= {str(entry.get("rule")) for entry in story.entries if entry["kind"] in ("fault", "webhook_fault")}
    assert wanted - met <= {None}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", STORIES)
def test_a_client_that_sends_twice_does_not_pass(name: str) -> None:
    """Whoever sends each message, or puts each file, once more at the same instant misses an expectation."""
    story = load(name)
    sending = (*SENDING, "requestUpload", "uploadBulk")
    twice = [(each, *([replace(each, name=None)] if each.operation in sending else [])) for each in story.traffic]
    assert not _passes(story, tuple(each for both in twice for each in both))


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [name for name in STORIES if any(map(_asks, load(name).traffic))])
def test_a_client_that_does_not_ask_does_not_pass(name: str) -> None:
    """Where the sample client asks what became of something, that is expected."""
    story = load(name)
    assert not _passes(story, tuple(each for each in story.traffic if not _asks(each)))


def _passes(story: Blueprint, traffic: tuple[Traffic, ...]) -> bool:
    return bool(verdict(play(replace(story, traffic=traffic, expect=())).world, story.expect)["passed"])


def _story(story: Played) -> list[dict[str, Any]]:
    """Everything that is printed depends on it."""
    return [*story.entries, *story.canonical]
