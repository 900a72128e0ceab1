"""The record: what stands in its files, what is so now, and how the two differ.

`worlds.txt` and `library.txt` have a hash a line, for each part of each world. `whole/` has ten worlds as they are,
`texts/` the golden texts. `tried.txt` says what the worlds reach together.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final

from tests.recorded import golden, library, worlds
from tests.recorded.box import SandboxServer, served
from tests.recorded.catalogue import Catalogue, operations
from tests.recorded.player import Player
from tests.recorded.text import hashed, pretty
from tests.recorded.views import parts

FOLDER: Final = Path(__file__).parent / "record"
#: Worlds that are kept whole, so that a difference can be read: together they meet most kinds of the journal.
WHOLE: Final = tuple(worlds.name_of(number) for number in (1, 10, 35, 54, 80, 190, 206, 209, 223, 246))
_PART: Final = re.compile(r"^=== part ([a-z-]+)\n", re.MULTILINE)
#: Parts that are texts, not JSON.
TEXTS: Final = ("play-json", "play-mermaid")
#: Lines of a difference that a failure shows.
SHOWN: Final = 60

#: The parts of a world, each as JSON or text.
Parts = dict[str, Any]


class Session:
    """Plays worlds on one server, each once."""

    def __init__(self, server: SandboxServer) -> None:
        self._server = server
        with_nothing: dict[str, Any] = {
            "name": "catalogue",
            "open": {},
            "receiver": "hook",
            "answers": [200],
            "steps": [],
        }
        player = Player(server, with_nothing)
        documents = [player.client.get(path).json() for path in ("/openapi.json", "/_sandbox/openapi.json")]
        player.close()
        self.paths = operations(documents[0])
        self.catalogue = Catalogue(*documents)
        #: what the worlds reached together: by kind of the journal, by operation and status, by item of coverage
        self.kinds: Counter[str] = Counter()
        self.calls: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.items: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def script(self, name: str) -> dict[str, Any]:
        """The script of a random world, or of a scenario of the library."""
        if name.startswith("world-"):
            return worlds.script(int(name.removeprefix("world-")))
        return library.script(name, self.paths)

    def parts(self, name: str, *, said: bool = True) -> Parts:
        """A world is played; its parts, its script first. With `said` what the command line says of a scenario, too."""
        script = self.script(name)
        player = Player(self._server, script)
        try:
            player.play()
            found = parts(player)
            self._count(player.calls, found)
        finally:
            player.close()
        if said and not name.startswith("world-"):
            found |= library.said(name)
        return {"script": script, **found}

    def _count(self, calls: Mapping[str, Counter[int]], found: Mapping[str, Any]) -> None:
        self.count(calls)
        self.kinds.update(found["kinds"])
        for dimension, items in found["coverage"]["items"].items():
            self.items[dimension].update(items)

    def count(self, calls: Mapping[str, Counter[int]]) -> None:
        """Counts calls by their operations."""
        for call, statuses in calls.items():
            if (name := self.catalogue.name_of(call)) is not None:
                self.calls[name].update(statuses)

    def tried(self) -> str:
        """What all the worlds reached, as text."""
        self.count(golden.calls())
        lines = [f"kind {name} {count}" for name, count in sorted(self.kinds.items())]
        for name in sorted(self.catalogue.operations):
            statuses = ", ".join(str(status) for status in sorted(self.calls[name]))
            if statuses:
                lines.append(f"operation {name}: {statuses}")
        for dimension, items in sorted(self.items.items()):
            lines.append(f"coverage {dimension}: {len(items)} items")
        return "\n".join(lines) + "\n"


def lines_of(found: Mapping[str, Parts]) -> str:
    """A hash a line, for each part of each world."""
    lines = (f"{name} {part} {hashed(value)}" for name, values in found.items() for part, value in values.items())
    return "\n".join(sorted(lines)) + "\n"


def hashes(file: str) -> dict[str, dict[str, str]]:
    """The hashes of a file of the record, by world and part."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for line in (FOLDER / file).read_text("utf-8").splitlines():
        name, part, value = line.split()
        found[name][part] = value
    return dict(found)


def whole(values: Parts) -> str:
    """A world as the text that is kept of it."""
    return "".join(f"=== part {part}\n{pretty(value)}\n" for part, value in values.items())


def kept(name: str) -> dict[str, str]:
    """The parts of a world that is kept whole, as texts."""
    _, *found = _PART.split((FOLDER / "whole" / f"{name}.txt").read_text("utf-8"))
    return {part: text.removesuffix("\n") for part, text in zip(found[::2], found[1::2], strict=True)}


def difference(name: str, now: str, recorded: str) -> str:
    """The first lines of a difference between two texts."""
    lines = list(
        unified_diff(recorded.splitlines(), now.splitlines(), f"recorded {name}", f"now {name}", lineterm="", n=1)
    )
    more = [f"… and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join([*(line[:400] for line in lines[:SHOWN]), *more])


def compared(name: str, values: Parts, recorded: Mapping[str, str], *, but: Collection[str] = ()) -> list[str]:
    """How a world differs from its record, `but` for some parts: each part, and how to see it."""
    found: list[str] = []
    for part in sorted({*values, *recorded} - {*but}):
        now = hashed(values[part]) if part in values else "nothing"
        before = recorded.get(part, "nothing")
        if now == before:
            continue
        found.append(
            f"{name}, part {part}: {now} now, {before} recorded; see python -m tests.recorded --show {name} {part}"
        )
        if name in WHOLE and part in values:
            found.append(difference(f"{name} {part}", pretty(values[part]), kept(name).get(part, "")))
    return found


def played(names: Iterable[str], *, twice: bool = True) -> tuple[dict[str, Parts], str]:
    """Every world of the names, and what they reach together. Plays each `twice`, on two servers: they must agree."""
    with served() as server:
        session = Session(server)
        found = {name: session.parts(name) for name in names}
        tried = session.tried()
    if not twice:
        return found, tried
    with served() as server:
        session = Session(server)
        for name, values in found.items():
            again = session.parts(name)
            differing = [part for part in values if values[part] != again.get(part)]
            if differing:
                first = differing[0]
                said = difference(f"{name} {first}", pretty(again.get(first)), pretty(values[first]))
                raise AssertionError(f"{name} is not the same in two runs: {', '.join(differing)}\n{said}")
    return found, tried
