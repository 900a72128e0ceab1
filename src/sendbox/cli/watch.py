"""`sendbox serve --watch`: a changed scenario, for the worlds that open from then on.

The files are looked at now and then: the scenario's own, and every one that it is built from. A change counts once a
second look finds it as the first did, so that a file which an editor is still writing is not read. Worlds that are open
keep what they were opened with; a scenario that is broken changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from sendbox.cli.outcome import Failure
from sendbox.scenario.read import noting

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.runtime.worlds import Runtime

#: Real seconds between two looks.
EVERY: Final = 0.3

#: What a file looked like: when it was changed, and its size; None = it is not there.
Stamp = tuple[int, int] | None


class Handle(Protocol):
    """What a timer gives back."""

    def cancel(self) -> None:
        """Calls it off."""


Later = Callable[[float, Callable[[], None]], Handle]


class Watcher:
    """Watches the files of one scenario.

    `read` compiles it anew, raising `Failure` with its problems; `files` are those that were read for `blueprint`.
    `say` gets the lines. `later` calls a function after so many seconds: the running loop's timer unless given.
    """

    def __init__(
        self,
        read: Callable[[], Blueprint],
        files: Iterable[Path],
        blueprint: Blueprint,
        runtime: Runtime,
        say: Callable[[str], None],
        *,
        later: Later | None = None,
    ) -> None:
        self._read = read
        self._runtime = runtime
        self._say = say
        self._later = later or asyncio.get_running_loop().call_later
        self._blueprint = blueprint
        self._known = _stamps(files)
        self._seen = self._known
        self._timer: Handle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to look."""
        self._timer = self._later(EVERY, self._look)

    def stop(self) -> None:
        """Ends it."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _look(self) -> None:
        now = _stamps(self._known)
        if now != self._known and now == self._seen:
            self._task = asyncio.ensure_future(self._take(now))
            return
        self._seen = now
        self.start()

    async def _take(self, stamps: dict[Path, Stamp]) -> None:
        """Reads the scenario, on a thread of its own: a long one takes longer than the loop may be held."""
        changed = [file for file, stamp in stamps.items() if stamp != self._known[file]]
        read, found = await asyncio.get_running_loop().run_in_executor(None, self._reading)
        # what was read may be other files than before; those of before stay, as they may be needed again
        self._known = {**_stamps(read), **stamps}
        self._seen = self._known
        names = ", ".join(file.name for file in changed)
        if isinstance(found, Failure):
            for line in (*found.details, found.message):
                self._say(line)
            self._say(f"{names} changed, and is not taken: new worlds open with the scenario as it was before")
        else:
            parts = differences(self._blueprint, found)
            self._blueprint = self._runtime.blueprint = found
            what = ", ".join(parts) or "nothing that counts"
            self._say(f"{names} changed ({what}): new worlds open with it, open ones keep theirs")
        self.start()

    def _reading(self) -> tuple[list[Path], Blueprint | Failure]:
        with noting() as files:
            try:
                return files, self._read()
            except Failure as failure:
                return files, failure


def differences(old: Blueprint, new: Blueprint) -> list[str]:
    """The parts of a scenario that differ, by their names."""
    before = _parts(old)
    return [name for name, part in _parts(new).items() if _content(before.get(name)) != _content(part)]


def _parts(blueprint: Blueprint) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for each in fields(blueprint):
        part = getattr(blueprint, each.name)
        if each.compare:
            parts |= part if each.name == "settled" else {each.name: part}
    return parts


def _content(value: Any) -> Any:
    """What a part says, wherever it stands."""
    if is_dataclass(value) and not isinstance(value, type):
        return [_content(getattr(value, each.name)) for each in fields(value) if each.name != "place"]
    return [_content(item) for item in value] if isinstance(value, tuple | list) else value


def _stamps(files: Iterable[Path]) -> dict[Path, Stamp]:
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
