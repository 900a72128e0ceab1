"""Random worlds whose clocks run by themselves: `real`, by a reading that the test moves, and `auto`."""

from __future__ import annotations

from typing import Any, Final

from sendbox.fixture import SandboxServer
from tests.box import Reading
from tests.recorded.draw import Draw
from tests.recorded.messages import Step
from tests.recorded.player import Player
from tests.recorded.worlds import script

#: The last digit of a number says in which mode its world is played; all others are manual.
MODES: Final = {3: "auto", 7: "real"}
RATES: Final = (1, 60, 600)
#: Real seconds that pass between two steps.
PASSES: Final = (0.2, 1, 5, 30)


def moved(number: int) -> dict[str, Any]:
    """The script of a number in the mode of its world; in `real` mode time passes between its steps.

    Nobody pulls: the script fetches what waits while it advances, and a clock that runs does not wait for that.
    """
    found, mode = script(number), MODES.get(number % 10, "manual")
    if mode == "manual":
        return found
    while found["receiver"] == "pull":
        number += 10 * 997
        found = {**script(number), "name": found["name"]}
    draw = Draw(8_000_000 + number)
    found["open"]["clock"]["mode"] = mode
    if mode == "real":
        found["open"]["clock"]["rate"] = draw.pick(RATES)
        steps: list[Step] = []
        for step in found["steps"]:
            steps += [step, {"passes": draw.pick(PASSES)}] if draw.chance(60) else [step]
        found["steps"] = steps
    return found


class Timed(Player):
    """A player with a hand on the reading by which clocks in `real` mode go."""

    def __init__(self, server: SandboxServer, script: dict[str, Any], reading: Reading) -> None:
        self._reading = reading
        super().__init__(server, script)

    def step(self, step: Step) -> dict[str, Any]:
        """The passing of time is a step too."""
        if "passes" in step:
            self._reading.passes(step["passes"])
            return {"did": "nothing", "now": self.control("/clock")["now"]}
        return super().step(step)
