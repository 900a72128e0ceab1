"""Exports of random worlds can be run: a scenario plays to the digest of its world, a pytest file passes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from sendbox.engine.durations import duration
from sendbox.language import LANGUAGE
from sendbox.playing.player import play
from sendbox.scenario.model import errors
from tests.fixture.support import LEAN
from tests.recorded import worlds
from tests.recorded.box import served
from tests.recorded.player import Player
from tests.tiers import DEEP

#: The worlds that are exported, fewer of them in the normal run: with uploads, rules put in the middle, receivers that
#: fail, signups by hand, a delivery that is replayed, a call out of a receiver.
WORLDS: Final = range(24) if DEEP else (2, 12, 17)
#: So many of the worlds may have a rest that a scenario cannot say.
MOST: Final = 1
_UNTIL: Final = re.compile(r"^# sendbox play --until (\S+) ", re.MULTILINE)

Exports = dict[int, dict[str, Any]]


@pytest.fixture(scope="module")
def exports() -> Exports:
    """The exports of each world, by their form."""
    found: Exports = {}
    with served() as server:
        for number in WORLDS:
            player = Player(server, worlds.script(number))
            player.play()
            found[number] = {form: player.control("/export", **{"as": form}) for form in ("pytest", "scenario")}
            player.close()
    return found


@pytest.mark.parametrize("number", WORLDS)
def test_a_scenario_plays_to_the_digest(number: int, exports: Exports) -> None:
    """It is legal, and where nothing is left out it ends as the world did."""
    exported = exports[number]["scenario"]
    text = exported["text"]
    assert errors(LANGUAGE.check(text)) == []
    until = _UNTIL.search(text)
    played = play(text, until=None if until is None else duration(until[1]))
    assert exported["left_out"] or played.digest == exported["digest"]


@pytest.mark.unmeasured
def test_hardly_a_world_has_a_rest(exports: Exports) -> None:
    """The language says nearly all that a tester does."""
    left_out = {number: each["scenario"]["left_out"] for number, each in exports.items()}
    assert len([number for number, lines in left_out.items() if lines]) <= MOST, left_out


@pytest.mark.unmeasured
def test_a_pytest_file_passes(exports: Exports, tmp_path: Path) -> None:
    """Each file ends in the digest of its world, or says what is missing."""
    for number, each in exports.items():
        (tmp_path / f"test_{number}.py").write_text(each["pytest"]["text"], "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        *LEAN,
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert len([each for each in exports.values() if each["pytest"]["left_out"]]) <= MOST
