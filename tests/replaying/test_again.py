"""Random worlds of every operation are made again from their records, in another process, and are the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sendbox.app import SERVED
from sendbox.engine.commands.command import COMMANDS
from sendbox.fixture import SandboxServer
from tests.box import Reading
from tests.recorded.box import served
from tests.recorded.player import Player
from tests.replaying.own_time import MODES, Timed, moved
from tests.replaying.shown import differences, shown
from tests.tiers import DEEP

COUNT: Final = 500
#: In an ordinary run these: modes of every kind are among them. The scenario drawn for 489 is not legal.
NUMBERS: Final = [*range(489), *range(490, COUNT + 1)] if DEEP else [*range(0, COUNT, 71), COUNT]
ROOT: Final = Path(__file__).parents[2]

OWN_KEY: Final = {"apikey": "<world>"}
#: Calls of the legacy interface that the specification does not have, with their fields.
QUERIES: Final[dict[str, dict[str, str]]] = {
    "GetUserInfo": {},
    "GetPrice": {"number": "420777000101", "message": "Hello"},
    "RequestList": {},
    "RequestStatus": {"requestID": "1"},
}
#: Outages, a happening, holds and a phone that opts in again, with messages between them.
BY_HAND: Final[list[dict[str, Any]]] = [
    {"control": "POST /outages", "json": {"name": "sms is out", "channel": "sms", "for": "10m"}},
    {"control": "POST /outages", "json": {"channel": "richmsg", "for": "15m", "after": "1h"}},
    {"call": "POST /v2/message", "key": "", "json": {"to": [{"phone_number": "420777000101"}], "body": "Hello"}},
    {"advance": {"by": "1m"}},
    {"control": "DELETE /outages/sms%20is%20out"},
    {"control": "POST /happenings", "json": {"phone": {"number": "420777000199", "act": "offline"}}},
    {"advance": {"by": "1m"}},
    {"control": "DELETE /outages"},
    {"control": "POST /phones/420777000101/opt-out", "json": {}},
    {"control": "POST /phones/420777000101/opt-in", "json": {}},
    {"control": "POST /holds", "json": {}},
    {"call": "POST /v2/message", "key": "", "json": {"to": [{"phone_number": "420777000101"}], "body": "Held"}},
    {"advance": {"by": "1m"}},
    {"control": "POST /holds/release", "json": {}},
    {"control": "POST /holds", "json": {"phone": "420777000101"}},
    {"control": "DELETE /holds"},
    {"advance": {"by": "1m"}},
]

#: Makes a world again, elsewhere.
Again = Callable[[Any], Any]
#: What all worlds of a run brought: commands, acts and calls.
Met = dict[str, set[str]]


@pytest.fixture(scope="module")
def reading() -> Reading:
    """The clock by which worlds in `real` mode go."""
    return Reading()


@pytest.fixture(scope="module")
def server(reading: Reading) -> Iterator[SandboxServer]:
    """One server for all worlds that are played."""
    with served() as server:
        server.runtime.reading = reading
        yield server


@pytest.fixture(scope="module")
def again() -> Iterator[Again]:
    """One other process for all records."""
    command = [sys.executable, "-m", "tests.replaying.again"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        came, went = process.stdout, process.stdin

        def make(record: Any) -> Any:
            went.write(json.dumps(record) + "\n")
            went.flush()
            return json.loads(came.readline())

        yield make
        went.close()


@pytest.fixture(scope="module")
def met() -> Met:
    """What the worlds met so far."""
    return {"command": set(), "act": set(), "call": set()}


def taken(player: Player) -> tuple[Any, dict[str, Any]]:
    """The record of a world and what control shows of it, at one moment: a clock that runs may go on meanwhile."""
    for _ in range(200):
        record = player.control("/record")
        views = shown(player.client, player.world)
        if player.control("/record") == record:
            return record, views
    raise AssertionError(f"{player.world} never comes to rest")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_random_world_is_made_again_in_another_process(
    number: int, server: SandboxServer, reading: Reading, again: Again, met: Met
) -> None:
    """The same journal, entry by entry, the same views, the same digest, and the same record once more."""
    make_again(Timed(server, moved(number), reading), again, met)


def test_what_no_random_world_does_is_made_again(
    server: SandboxServer, reading: Reading, again: Again, met: Met
) -> None:
    """Outages, happenings and holds by hand, and calls that the specification does not have (A94 to A96)."""
    asked = [
        {"call": f"{method} /{name}", "key": None, "form" if method == "POST" else "query": {**OWN_KEY, **fields}}
        for name, fields in QUERIES.items()
        for method in ("GET", "POST")
    ]
    steps = [*BY_HAND, *asked, {"call": "GET /v1/credit", "key": ""}]
    script = {**moved(0), "name": "by-hand", "open": {}, "receiver": "none", "steps": steps}
    make_again(Timed(server, script, reading), again, met)
    outages = {"happen", "begin_outage", "end_outage", "end_outages"}
    assert outages | {"hold_next", "release_held", "end_holds", "phone_opt_in"} <= met["act"]


def make_again(player: Timed, again: Again, met: Met) -> None:
    """Plays a world, makes it again elsewhere, compares the two, and notes what it met."""
    try:
        player.play()
        record, views = taken(player)
    finally:
        player.close()
    assert [each["hash"] if isinstance(each, dict) else each[2] for each in record["journal"]]
    made = again(record)
    assert "failed" not in made, made["failed"]
    assert made["first"] is None
    assert differences(views, made["shown"]) == []
    assert made["digest"] == record["digest"] == views["/digest"]["digest"]
    assert differences(record, made["record"]) == []
    for command in record["commands"]:
        met["command"].add(command["command"])
        if command["command"] == "act":
            met["act"].add(command["name"])
    met["call"] |= {entry["operation"] for entry in views["/journal"] if entry["kind"] == "request"}


def test_modes_of_every_kind_are_among_them() -> None:
    """Worlds whose clocks run by themselves, and worlds that are moved by hand."""
    modes = {MODES.get(number % 10, "manual") for number in NUMBERS}
    assert modes == {"manual", "real", "auto"}
    assert {moved(number)["open"]["clock"]["mode"] for number in NUMBERS} == modes


@pytest.mark.deep
def test_the_worlds_had_commands_of_every_kind(met: Met) -> None:
    """Every command, every act of control, and every operation of the interfaces was made again."""
    assert met["command"] == set(COMMANDS)
    assert met["act"] == {row.name for row in SERVED.operations if row.act}
    assert {route.operation for route in SERVED.routes} <= met["call"]


def test_a_record_that_was_changed_is_told(server: SandboxServer, reading: Reading, again: Again) -> None:
    """The comparison sees a difference: a call whose text is another one."""
    player = Timed(server, moved(0), reading)
    try:
        player.play()
        record, views = taken(player)
    finally:
        player.close()
    call = next(each for each in record["commands"] if each["command"] == "call" and "body" in str(each["body"]))
    call["body"] = call["body"].replace('"body":"', '"body":"Once more ', 1)
    made = again(record)
    assert made["first"] is not None
    assert differences(views, made["shown"])
