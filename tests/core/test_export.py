"""The script of a world: what was done to it, in order."""

from __future__ import annotations

import orjson

from sendbox.app import PARTS
from sendbox.control.export.rows import Act
from sendbox.control.export.script import Call, Move, script, whole
from sendbox.engine.journal import Capped
from sendbox.engine.requests import RequestRecord
from sendbox.engine.world import World
from tests.core.worlds import START, advance, make_world, rule, send_one
from tests.scenarios import make_blueprint


def called(
    world: World,
    operation: str = "sendMessage",
    *,
    status: int = 200,
    body: object = None,
    answer: object = None,
) -> None:
    raw = orjson.dumps({} if body is None else body)
    record = RequestRecord(operation, "POST", "/v2/message", world.id, status, raw, orjson.dumps(answer))
    world.request(record)


def moved(world: World, by: int) -> None:
    first = len(world.journal)
    advance(world, by)
    world.moved(first)


def shape(world: World) -> list[tuple[str, int]]:
    return [(type(step).__name__, step.at - START) for step in script(world).steps]


def test_calls_acts_and_moves_in_order() -> None:
    """A move stands where it was made, moves with nothing between are one, and nothing is before the first call."""
    world = make_world()
    called(world)
    moved(world, 0)
    called(world)
    moved(world, 1000)
    moved(world, 500)
    world.control("phone_offline", {"number": "1"})
    world.control("hook", {"received": 1})
    moved(world, 10)
    assert shape(world) == [("Call", 0), ("Move", 0), ("Call", 0), ("Move", 1500), ("Act", 1500), ("Move", 1510)]
    made = script(world)
    assert made.left_out == []
    assert whole(made)
    assert made.steps[4] == Act(2, START + 1500, "phone_offline", {"number": "1"})


def test_a_clock_that_ran_by_itself() -> None:
    """Instants that nobody advanced to are moved to, and the change of the clock is said."""
    world = make_world()
    world.control("clock", {"mode": "real"})
    advance(world, 700)
    called(world)
    advance(world, 300)
    assert shape(world) == [("Move", 700), ("Call", 700), ("Move", 1000)]
    assert script(world).left_out == [
        "the clock ran by itself for a time; here it goes by hand from instant to instant"
    ]


def test_a_call_while_the_world_advanced() -> None:
    """It is done again once its instant has settled, and that is said."""
    world = make_world()
    first = len(world.journal)
    advance(world, 200)
    called(world)
    advance(world, 100)
    world.moved(first)
    assert shape(world) == [("Move", 200), ("Call", 200), ("Move", 300)]
    assert script(world).left_out[0].startswith("1 calls or acts came while the world advanced")


def test_what_was_not_kept() -> None:
    """A bulk file and a body that was too long are gone."""
    world = make_world()
    called(world, "uploadBulk")
    called(world, status=413)
    made = script(world)
    assert made.steps == []
    assert len(made.left_out) == 2
    assert not whole(made)


def test_names_that_later_steps_quote() -> None:
    """Long texts of an answer that a later request or act quotes are named by their path; those of refusals are not."""
    world = make_world()
    token, other, wrong = "t" * 30, "o" * 30, "w" * 30
    called(world, answer={"list": [{"token": token}], "short": "x", "unused": "u" * 30})
    called(world, answer={"other": other}, body={"token": token})
    called(world, answer={"wrong": wrong}, status=400)
    world.request(RequestRecord("x", "GET", "/s", world.id, 200, b"", b"plain"))
    world.control("act", {"wrong": wrong, "other": other})
    names = [step.names for step in script(world).steps if isinstance(step, Call)]
    assert names == [((token, ("list", "#0", "token")),), ((other, ("other",)),), (), ()]


def test_outcomes_of_tries() -> None:
    """Tries that did not end in 200 are there by delivery: statuses, and words for no answer."""
    answers = iter([(500, None), (None, "refused")])
    world = make_world(attempts=(rule("sent"),))
    send_one(world, callback="http://127.0.0.1:9/hook")
    moved(world, 0)
    assert script(world).outcomes == {}
    assert script(world).delivers
    send_one(world, callback="http://127.0.0.1:9/other")
    first = len(world.journal)
    advance(world, 40_000, answer=lambda delivery: next(answers, (200, None)))
    world.moved(first)
    made = script(world)
    assert sorted(map(str, made.outcomes.values())) == ["['refused', 200]", "[500, 200]"]
    assert isinstance(made.steps[-1], Move)


def test_a_delivery_under_way_has_no_outcome_yet() -> None:
    """Only what ended is played back."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback="http://127.0.0.1:9/hook")
    world.run(world.now, 100)
    world.outlets.take()
    assert script(world).outcomes == {}


def test_a_journal_that_forgot_its_beginning() -> None:
    """What is gone is said to be left out, and the rest is told."""
    world = World("test-w", make_blueprint(), start=START, max_journal=3, services=PARTS)
    for _ in range(5):
        called(world)
    assert isinstance(world.journal, Capped)
    assert world.journal.forget(1000)
    made = script(world)
    assert made.left_out == ["the first 2 entries; the journal forgot them (--max-journal)"]
    assert [step.number for step in made.steps if isinstance(step, Call)] == [2, 3, 4]
    assert not whole(made)
