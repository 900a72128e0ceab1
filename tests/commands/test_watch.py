"""`sendbox serve --watch`: new worlds open with a scenario as its files are then."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sendbox.assembly import make_app
from sendbox.cli.outcome import USAGE, Failure
from sendbox.cli.serve import Options, scenario, serving
from sendbox.cli.watch import INTERVAL, Watcher, differences
from sendbox.runtime.interface import LogLine
from sendbox.scenario.read import noting
from sendbox.settings import Settings
from tests.box import CONTRACT
from tests.scenarios import load

FIRST = "sendbox: 1\nname: first\nextends: parent.yaml\n"


class Timer:
    """A timer that the test holds."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.cancelled = 0

    def __call__(self, seconds: float, then: Callable[[], None]) -> Timer:
        assert seconds == INTERVAL
        self.waiting.append(then)
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    def tick(self) -> None:
        """The time has come, once."""
        (then,) = self.waiting
        self.waiting.clear()
        then()


class Watched:
    """A watcher over two files, with everything it says."""

    def __init__(self, folder: Path) -> None:
        self.file, self.parent = folder / "mine.yaml", folder / "parent.yaml"
        self.written = 0
        self.write(self.file, FIRST)
        self.write(self.parent, "sendbox: 1\nseed: 1\n")
        self.options = Options(Settings(scenario=str(self.file)), mode="manual")
        with noting() as files:
            blueprint = scenario(self.options)
        self.runtime = make_app(self.options.settings, blueprint, CONTRACT).runtime
        self.lines: list[str] = []
        self.timer = Timer()
        self.watcher = Watcher(
            lambda: scenario(self.options), files, blueprint, self.runtime, self.say, later=self.timer
        )
        self.watcher.start()

    def say(self, line: LogLine) -> None:
        self.lines.append(line.message)

    def write(self, file: Path, text: str) -> None:
        """Writes a file, at another time than before."""
        self.written += 1
        file.write_text(text)
        os.utime(file, ns=(self.written * 10**9, self.written * 10**9))

    async def look(self, times: int = 2) -> list[str]:
        """Lets it look, and says what it said."""
        for _ in range(times):
            self.timer.tick()
            while not self.timer.waiting:
                await asyncio.sleep(0)
        said, self.lines[:] = self.lines[:], []
        return said


@pytest_asyncio.fixture
async def watched(tmp_path: Path) -> Any:
    found = Watched(tmp_path)
    yield found
    found.watcher.stop()
    await found.runtime.aclose()


pytestmark = pytest.mark.asyncio


async def test_nothing_is_said_while_nothing_changes(watched: Watched) -> None:
    """However often it looks."""
    assert await watched.look(5) == []


async def test_a_change_is_taken_for_new_worlds(watched: Watched) -> None:
    """One line says what is different; worlds that are open keep what they have."""
    old = watched.runtime.open("test-old")
    watched.write(watched.file, FIRST + "attempts: [{then: failed}]\n")
    assert await watched.look() == ["mine.yaml changed (attempts): new worlds open with it, open ones keep theirs"]
    new = watched.runtime.open("test-new")
    assert (len(old.blueprint.compiled["attempts"]), len(new.blueprint.compiled["attempts"])) == (0, 1)
    assert new.blueprint.mode == "manual"
    assert await watched.look() == []


async def test_what_it_builds_on_is_watched(watched: Watched) -> None:
    """Every file that was read, those of the first reading and those of the last."""
    watched.write(watched.parent, "sendbox: 1\nseed: 2\nextends: other.yaml\n")
    other = watched.parent.with_name("other.yaml")
    watched.write(other, "sendbox: 1\n")
    assert await watched.look() == ["parent.yaml changed (seed): new worlds open with it, open ones keep theirs"]
    watched.write(other, "sendbox: 1\naccount: {currency: CZK}\n")
    assert await watched.look() == ["other.yaml changed (account): new worlds open with it, open ones keep theirs"]
    assert watched.runtime.blueprint.compiled["account"].currency == "CZK"


async def test_a_change_that_means_nothing(watched: Watched) -> None:
    """A comment, or a rule that moved."""
    watched.write(watched.file, "# mine\n" + FIRST)
    assert await watched.look() == [
        "mine.yaml changed (no part of the scenario): new worlds open with it, open ones keep theirs"
    ]


async def test_what_is_broken_is_not_taken(watched: Watched) -> None:
    """Every problem is told, the old one goes on, and what was put right is taken."""
    before = watched.runtime.blueprint
    watched.write(watched.file, FIRST + "sed: 1\nnam: x\n")
    first, second, count, last = await watched.look()
    assert first.startswith(f'{watched.file}:4:1: "sed" is not a key of a scenario')
    assert second.startswith(f'{watched.file}:5:1: "nam" is not a key of a scenario')
    assert count == f"{watched.file} has 2 problems, all above"
    assert last == "mine.yaml changed, and is not used: new worlds open with the scenario as it was before"
    assert watched.runtime.blueprint is before
    watched.file.unlink()
    assert "cannot be read" in (await watched.look())[0]
    watched.write(watched.file, FIRST + "seed: 5\n")
    assert await watched.look() == ["mine.yaml changed (seed): new worlds open with it, open ones keep theirs"]


async def test_a_file_that_is_being_written_is_left_alone(watched: Watched) -> None:
    """It is read once a second look finds it as the first did."""
    watched.write(watched.file, FIRST + "attempts: [")
    assert await watched.look(1) == []
    watched.write(watched.file, FIRST + "attempts: [{then: sent}]\n")
    assert await watched.look(1) == []
    assert len(await watched.look(1)) == 1


async def test_stop_ends_it(watched: Watched) -> None:
    """The timer is called off, and a reading that is under way."""
    watched.watcher.stop()
    assert watched.timer.cancelled == 1
    watched.write(watched.file, FIRST + "seed: 9\n")
    watched.timer.tick()
    watched.timer.tick()
    watched.watcher.stop()
    await asyncio.sleep(0)
    assert (watched.lines, watched.timer.waiting) == ([], [])


async def test_a_watcher_that_never_started_can_be_stopped() -> None:
    """Nothing is there to be called off."""
    runtime = make_app(Settings(), load("default"), CONTRACT).runtime
    Watcher(lambda: load("default"), [], runtime.blueprint, runtime, print).stop()
    await runtime.aclose()


async def test_serve_watches(tmp_path: Path) -> None:
    """A server that is told to watches the file that it was started with, and its banner says so."""
    from sendbox.cli.serve import banner

    file = tmp_path / "mine.yaml"
    file.write_text("sendbox: 1\nname: first\n")
    lines: list[str] = []
    told = asyncio.Event()

    def log(line: LogLine) -> None:
        lines.append(line.message)
        told.set()

    options = Options(Settings(port=0, scenario=str(file)), watch=True)
    async with serving(options, log) as served:
        assert "watch         new worlds open" in banner(options, served)
        file.write_text("sendbox: 1\nname: the second\n")
        await asyncio.wait_for(told.wait(), 60)
        assert served.runtime.blueprint.name == "the second"
    assert lines == ["mine.yaml changed (name): new worlds open with it, open ones keep theirs"]


async def test_a_scenario_of_the_library_does_not_change() -> None:
    """To watch one is wrong use."""
    with pytest.raises(Failure, match="default is a scenario of the library") as failure:
        async with serving(Options(Settings(port=0), watch=True)):
            pass
    assert failure.value.code == USAGE


async def test_parts_are_compared_by_what_they_say() -> None:
    """Rules are equal wherever they stand."""
    text = "sendbox: 1\nattempts: [{when: {phone: '420*'}, mix: {sent: 1}}]\n"
    assert differences(load(text), load(f"sendbox: 1\n\n{text.partition(chr(10))[2]}")) == []
    assert differences(load(text), load(text.replace("420", "421"))) == ["attempts"]
