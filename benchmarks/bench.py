"""What scenes have: the trees that are measured, how much, and the bare app beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.load import Load
from benchmarks.processes import Broken, Process
from benchmarks.trees import Tree, bare

#: Microseconds of processor time that a request of the bare app takes on the machine for which times have goals.
REFERENCE: Final = 65.0
#: A scenario without messages to callbacks, whose credit never ends.
LEAST: Final = "sendbox: 1\naccount: {credit: {eur: 1000000000}, default_callback_url: null}\n"


@dataclass
class Bench:
    """A run. `quick` takes smaller worlds and fewer rounds. `trees` begins with this checkout."""

    trees: list[Tree]
    quick: bool = False
    #: why something could not be measured, by the name of the tree
    broken: dict[str, list[str]] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _bare: Process | None = None
    _folder: Path | None = None
    _turn: bool = False

    def rounds(self, whole: int = 7, quick: int = 3) -> range:
        """The numbers of the rounds."""
        return range(quick if self.quick else whole)

    def size(self, whole: int, quick: int) -> int:
        """How many, by the kind of run."""
        return quick if self.quick else whole

    @property
    def bare(self) -> Process:
        """The bare app, served until the run ends."""
        if self._bare is None or not self._bare.running:
            self._bare = self._stack.enter_context(bare(self.trees[0]))
            self._bare.load(Load(2_000))
        return self._bare

    def machine(self, requests: int = 3_000) -> float:
        """How many times slower than that of `REFERENCE` this machine is now, by a request of the bare app."""
        seconds, _ = self.bare.cost(Load(requests))
        return seconds * 1e6 / REFERENCE

    def scenario(self, text: str = LEAST) -> str:
        """The path of a file with a scenario."""
        if self._folder is None:
            self._folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="sendbox-bench-")))
        path = self._folder / f"{abs(hash(text))}.yaml"
        path.write_text(text, "utf-8")
        return str(path)

    @contextmanager
    def served(self, *arguments: str) -> Iterator[dict[Tree, Process]]:
        """A server of each tree. One that does not start is noted as broken."""
        with ExitStack() as stack:
            servers = {}
            for tree in self.trees:
                try:
                    servers[tree] = stack.enter_context(tree.serve(*arguments))
                except Broken as error:
                    self.note(tree, str(error))
            yield servers

    def turn(self, servers: dict[Tree, Process]) -> list[tuple[Tree, Process]]:
        """The servers, in the other order than last time, so that none is always the first."""
        self._turn = not self._turn
        return list(servers.items())[:: 1 if self._turn else -1]

    @contextmanager
    def trying(self, tree: Tree) -> Iterator[None]:
        """What breaks in the context is noted for the tree."""
        try:
            yield
        except Broken as error:
            self.note(tree, str(error))

    def note(self, tree: Tree, why: str) -> None:
        """Something of a tree could not be measured."""
        self.broken.setdefault(tree.name, []).append(why)

    def close(self) -> None:
        """Ends what still runs."""
        self._stack.close()
        self._bare = self._folder = None
