"""The script of a world: what was done to it, in order."""

from __future__ import annotations

import orjson
import pytest

from sendbox.control.export.rows import ActStep
from sendbox.control.export.script import CallStep, MoveStep, build_script, is_complete
from sendbox.engine.commands.command import Act, Tune
from sendbox.engine.commands.record import RecordIncomplete, RequestRecord
from sendbox.engine.journal import Capped
from sendbox.engine.remarks import Advice
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from tests.core.asked import asked, call_of
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
    body = {} if body is None else body
    world.request(asked(operation, body, key=world.id, status=status, answer=orjson.dumps(answer)))


def moved(world: World, by: int) -> None:
    first = len(world.record)
    advance(world, by)
    world.record.moved(world.now, world.ticks, first, by_hand=True)


def did(world: World, what: str, **detail: object) -> None:
    """What a tester does: on record, and in the journal."""
    world.record.add(world.now, world.ticks, Act(what, detail))
    world.journal_act(what, detail)


def shape(world: World) -> list[tuple[str, int]]:
    return [(type(step).__name__, step.at - START) for step in build_script(world).steps]


def test_calls_acts_and_moves_in_order() -> None:
    """A move stands where it was made, moves with nothing between are one, and nothing is before the first call."""
    world = make_world()
    called(world)
    moved(world, 0)
    called(world)
    moved(world, 1000)
    moved(world, 500)
    did(world, "phone_offline", number="1")
    did(world, "hook", received=1)
    moved(world, 10)
    assert shape(world) == [
        ("CallStep", 0), ("MoveStep", 0), ("CallStep", 0), ("MoveStep", 1500), ("ActStep", 1500), ("MoveStep", 1510)
    ]  # fmt: skip
    made = build_script(world)
    assert made.left_out == []
    assert is_complete(made)
    act = Act("phone_offline", {"number": "1"})
    assert made.steps[4] == ActStep(2, START + 1500, "phone_offline", {"number": "1"}, act)


def test_a_clock_that_ran_by_itself() -> None:
    """Instants that the clock came to by itself are moved to, and that it did is said."""
    world = make_world()
    world.enter(Tune(world.now, {"mode": "real"}))
    first = len(world.record)
    advance(world, 700)
    world.record.moved(world.now, world.ticks, first, by_hand=False)
    called(world)
    advance(world, 300)
    assert shape(world) == [("MoveStep", 700), ("CallStep", 700), ("MoveStep", 1000)]
    assert build_script(world).left_out == [
        "the clock ran on its own for a time; here it is moved from instant to instant"
    ]


def test_a_call_while_the_world_advanced() -> None:
    """It is done again once its instant has settled, and that is said where something else came after it there."""
    world = make_world()
    first = len(world.record)
    advance(world, 200)
    called(world)
    called(world)
    world.advise(Advice("some", "something else happens at this instant", "$", "§1"))
    advance(world, 100)
    world.record.moved(world.now, world.ticks, first, by_hand=True)
    assert shape(world) == [
        ("MoveStep", 200),
        ("CallStep", 200),
        ("MoveStep", 200),
        ("CallStep", 200),
        ("MoveStep", 300),
    ]
    assert build_script(world).left_out == [
        "2 calls or acts came while the world advanced; they are repeated once their instant has settled"
    ]


def test_an_act_while_the_world_advanced() -> None:
    """What happens to a message at its instant came after it: an act has no messages of its own."""
    world = make_world()
    first = len(world.record)
    advance(world, 200)
    did(world, "phone_offline", number="1")
    send_one(world)
    advance(world, 100)
    world.record.moved(world.now, world.ticks, first, by_hand=True)
    assert shape(world) == [("MoveStep", 200), ("ActStep", 200), ("MoveStep", 300)]
    assert build_script(world).left_out == [
        "1 calls or acts came while the world advanced; they are repeated once their instant has settled"
    ]


def test_a_body_that_the_journal_does_not_have() -> None:
    """It stands on record; of one that was too long to be read nothing is known."""
    world = make_world()
    upload = asked("uploadBulk", b"", method="PUT", path="/upload/1", key=world.id)
    world.request(upload, upload.call._replace(body=b"{}\n"))
    world.request(RequestRecord.of("sendMessage", call_of(None, key=world.id), 413, b"{}"))
    made = build_script(world)
    assert [step.body for step in made.steps if isinstance(step, CallStep)] == [b"{}\n", b""]
    assert is_complete(made)


def test_names_that_later_steps_quote() -> None:
    """Long texts of an answer that a later request or act quotes are named by their path; those of refusals are not."""
    world = make_world()
    token, other, wrong = "t" * 30, "o" * 30, "w" * 30
    called(world, answer={"list": [{"token": token}], "short": "x", "unused": "u" * 30})
    called(world, answer={"other": other}, body={"token": token})
    called(world, answer={"wrong": wrong}, status=400)
    world.request(asked("x", b"", method="GET", path="/s", key=world.id, answer=b"plain"))
    did(world, "act", wrong=wrong, other=other)
    names = [step.names for step in build_script(world).steps if isinstance(step, CallStep)]
    assert names == [((token, ("list", "#0", "token")),), ((other, ("other",)),), (), ()]


def test_outcomes_of_tries() -> None:
    """Tries that did not end in 200 are there by delivery: statuses, and words for no answer."""
    answers = iter([(500, None), (None, "refused")])
    world = make_world(attempts=(rule("sent"),))
    send_one(world, callback="http://127.0.0.1:9/hook")
    moved(world, 0)
    assert build_script(world).outcomes == {}
    assert build_script(world).delivers
    send_one(world, callback="http://127.0.0.1:9/other")
    first = len(world.record)
    advance(world, 40_000, answer=lambda delivery: next(answers, (200, None)))
    world.record.moved(world.now, world.ticks, first, by_hand=True)
    made = build_script(world)
    assert sorted(map(str, made.outcomes.values())) == ["['refused', 200]", "[500, 200]"]
    assert isinstance(made.steps[-1], MoveStep)


def test_a_delivery_under_way_has_no_outcome_yet() -> None:
    """Only what ended is played back."""
    world = make_world(attempts=(rule("sending"),))
    send_one(world, callback="http://127.0.0.1:9/hook")
    world.run(world.now, 100)
    world.outlets.take()
    assert build_script(world).outcomes == {}


def test_a_record_that_was_cut() -> None:
    """There is no way back to the opening, and so no script."""
    world = World("test-w", make_blueprint(), start=START, forgets=True, services=PARTS)
    for _ in range(5):
        called(world)
    assert isinstance(world.journal, Capped)
    world.journal.forget(3, "--max-journal=3")
    world.record.forget_all("--max-journal=3")
    called(world)
    with pytest.raises(RecordIncomplete, match="--max-journal=3 cut it") as raised:
        build_script(world)
    assert raised.value.bound == "--max-journal=3"
