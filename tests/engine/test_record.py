"""The record of a world, and what its commands do."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.engine.commands.command import (
    COMMANDS,
    Act,
    Call,
    Capture,
    Checkpoint,
    Command,
    Move,
    Open,
    Outcome,
    Overtake,
    Restore,
    Stamp,
    Tune,
)  # fmt: skip
from sendbox.engine.commands.record import Record, RecordIncomplete, RequestRecord
from sendbox.engine.journal import CODE
from sendbox.engine.world import World
from tests.core.asked import asked, call_of
from tests.core.worlds import HOOK, ONE_EVENT, START, advance, make_world, names_of, one_delivery, send_one, take


def all_of(world: World) -> list[tuple[Stamp, Command]]:
    """What is on record behind the opening."""
    return list(world.record.commands())[1:]


def test_a_world_begins_with_its_opening() -> None:
    """The first command says all that a world does not get from its scenario."""
    world = make_world(seed=7, salt="pepper")
    ((stamp, opening),) = world.record.commands()
    assert stamp == Stamp(0, START, 0)
    assert opening == world.record.opening
    assert opening == Open("test-w", 0, 0, 7, "pepper", START, True, "manual", 1.0, world.blueprint)


def test_every_command_has_a_word() -> None:
    """And a record takes all of them."""
    given: list[Any] = [
        make_world().record.opening, call_of(), Act("hook", {}), Overtake(("r",), leaves=True), Capture(captured=True),
        Tune(START, {"rate": 2}), Move(by_hand=True, first=1), Checkpoint("a"), Restore("a", 1),
    ]  # fmt: skip
    assert {type(each) for each in given} | {Outcome} == set(COMMANDS.values())
    record = Record()
    for number, each in enumerate(given):
        record.add(START + number, number, each)
    assert [command for _, command in record.commands()] == given
    assert [stamp for stamp, _ in record.commands()] == [Stamp(0, START + n, n) for n in range(len(given))]


def test_places_are_columns() -> None:
    """A command came at an instant after so many ticks, in the epoch that the last restore began."""
    world = make_world()
    send_one(world)
    advance(world, 1_000)
    ticks = world.ticks
    world.enter(Checkpoint("a"))
    world.enter(Restore("a", 4))
    world.enter(Checkpoint("b"))
    assert all_of(world) == [
        (Stamp(0, START + 1_000, ticks), Checkpoint("a")),
        (Stamp(0, START + 1_000, ticks), Restore("a", 4)),
        (Stamp(4, START + 1_000, ticks), Checkpoint("b")),
    ]
    assert list(world.record.at) == [START, *[START + 1_000] * 3]


def test_a_call_is_the_entry_of_its_request() -> None:
    """What the journal keeps is not kept twice; the call is made of it, also where its body was put away."""
    world = make_world()
    record = asked(body=b"x" * 100, query=b"a=1")
    call = record.call
    world.request(record)
    assert world.record.entries[-1] is record
    record.put_away(lambda body: memoryview(body), 10)  # bytes() of it is it
    ((_, found),) = all_of(world)
    assert isinstance(found, Call)
    assert (bytes(found.body or b""), found._replace(body=b"")) == (b"x" * 100, call._replace(body=b""))
    assert (record.body, record.query, record.content_type, record.bare) == (
        b"x" * 100, b"a=1", b"application/json", False
    )  # fmt: skip


def test_a_call_of_which_the_journal_has_less() -> None:
    """An upload stands on record with its body."""
    world = make_world()
    record = asked("uploadBulk", b"")
    number = world.request(record, record.call._replace(body=b"lines"))
    assert all_of(world) == [(Stamp(0, START, 0), record.call._replace(body=b"lines"))]
    assert world.journal.entry(number)[2].body == b""


def test_a_body_that_was_too_long() -> None:
    """None is kept, and shown as nothing."""
    record = RequestRecord.of("sendMessage", call_of(None), 413, b"{}")
    record.put_away(lambda body: pytest.fail("there is nothing to put away"), 0)
    assert (record.call.body, record.body) == (None, b"")


@pytest.mark.parametrize(("status", "error"), [(200, None), (503, None), (None, "timeout")])
def test_an_outcome_is_its_try(status: int | None, error: str | None) -> None:
    """It is read off the try, and doing it again ends a try in the same way."""
    world, delivery = one_delivery()
    take(world)
    world.outcome(delivery, status, error)
    ((_, outcome),) = all_of(world)
    assert outcome == Outcome(0, status, error)
    again, other = one_delivery()
    take(again)
    Outcome(0, status, error).apply(again)
    assert [(each.status, each.error) for each in other.tries] == [(status, error)]
    assert other.state == delivery.state


def test_moves_in_a_row_are_one() -> None:
    """Unless something came in between or meanwhile, or another hand moved the clock."""
    record = make_world().record

    def moved(at: int, *, first: int | None = None, by_hand: bool = True) -> None:
        record.moved(START + at, at, len(record) if first is None else first, by_hand=by_hand)

    moved(1)
    moved(2)
    assert all(len(each) == 2 for each in (record.at, record.ticks, record.kind, record.entries))
    moved(3, by_hand=False)
    moved(4, by_hand=False)
    moved(5)
    record.add(START + 6, 6, Checkpoint("a"))
    moved(7, first=4)  # the mark came meanwhile
    moved(8)
    found = [(stamp.ticks, command) for stamp, command in record.commands()][1:]
    assert found == [
        (2, Move(by_hand=True, first=1)),
        (4, Move(by_hand=False, first=2)),
        (5, Move(by_hand=True, first=3)),
        (6, Checkpoint("a")),
        (8, Move(by_hand=True, first=4)),
    ]


def test_a_head_goes_on_in_its_own_way() -> None:
    """The first commands as a record; what is added to one of the two is not in the other."""
    record = make_world().record
    record.add(START, 0, Checkpoint("a"))
    head = record.head(2)
    record.add(START, 0, Checkpoint("b"))
    head.add(START + 1, 1, Checkpoint("c"))
    assert [command for _, command in record.commands()][1:] == [Checkpoint("a"), Checkpoint("b")]
    assert [command for _, command in head.commands()][1:] == [Checkpoint("a"), Checkpoint("c")]
    assert len(record.head(1)) == 1


def test_a_record_that_was_cut_has_no_way_back() -> None:
    """It names the bound, keeps nothing any more, and neither does a head of it."""
    world = make_world()
    before = world.record.head(1)
    world.record.forget_all("--max-journal=5")
    world.enter(Checkpoint("a"))
    world.request(asked())
    world.record.moved(START, 0, 0, by_hand=True)
    assert (len(world.record), world.record.entries) == (0, [])
    for record in (world.record, world.record.head(0)):
        with pytest.raises(RecordIncomplete, match="--max-journal=5 cut it") as raised:
            _ = record.opening
        assert raised.value.bound == "--max-journal=5"
        with pytest.raises(RecordIncomplete):
            list(record.commands())
    assert before.opening.world == world.id


# --- what commands do


def test_a_capture() -> None:
    """Somebody outside takes what the built-in receiver would, or not any more."""
    world = make_world(attempts=ONE_EVENT)
    for captured in (True, False):
        world.enter(Capture(captured))
        send_one(world)
        assert bool(take(world)) is captured


def test_a_tune() -> None:
    """The clock stands at the instant that it showed, goes on in its new way, and the journal says so."""
    world = make_world()
    world.enter(Tune(START + 5, {"mode": "real", "rate": 60}))
    assert (world.now, world.clock.mode, world.clock.rate) == (START + 5, "real", 60_000)
    world.enter(Tune(START + 5, {"rate": 2}))
    assert (world.clock.own_mode, world.clock.own_rate) == ("real", 2_000)
    assert [world.journal.entry(n)[2] for n in world.journal.find(CODE["control"], 0)] == [
        {"what": "clock", "mode": "real", "rate": 60},
        {"what": "clock", "rate": 2},
    ]


@pytest.mark.parametrize("leaves", [True, False])
def test_an_overtake(leaves: bool) -> None:
    """Requests race, and nothing else leaves, until theirs has left."""
    world = make_world()
    world.enter(Overtake(("r", "s"), leaves=False))
    assert world.outlets.injection.racing == {"r", "s"}
    if leaves:
        world.enter(Overtake(("r",), leaves=True))
    assert world.outlets.injection.racing == ({"s"} if leaves else {"r", "s"})


def test_a_restore() -> None:
    """The next epoch begins, nothing is under way, and the journal says so."""
    world = make_world(attempts=ONE_EVENT)
    send_one(world, callback=HOOK)
    assert len(take(world)) == 1
    world.enter(Restore("a", 3))
    assert (world.epoch, world.outlets.in_flight, world.now) == (3, 0, START)
    assert world.journal.subject[-1] == {"name": "a", "epoch": 3}
    assert names_of(world.journal)[-1] == "restored"


def test_moves_and_marks_change_nothing() -> None:
    """They say where the world was brought to, and that somebody may come back."""
    world = make_world()
    before = (world.now, world.ticks, len(world.journal), world.epoch)
    world.enter(Checkpoint("a"))
    world.enter(Move(by_hand=False, first=1))
    assert (world.now, world.ticks, len(world.journal), world.epoch) == before
