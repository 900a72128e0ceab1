"""`sendbox serve --watch`: a changed scenario, for the worlds that open from then on.

All files of the scenario are checked at intervals: its own, and every one that it builds on. A change counts when a
second check finds the same state as the first, so that a file which an editor is still writing is not read. Open worlds
keep the scenario that they were opened with; a scenario with problems changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
from msgspec.structs import asdict

from sendbox.cli.outcome import Failure
from sendbox.runtime.interface import LogLine
from sendbox.scenario.read import noting

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.runtime.worlds import Runtime

#: Real seconds between two checks.
INTERVAL: Final = 0.3

#: The state of a file: its time of change and its size; None = it does not exist.
Stamp = tuple[int, int] | None


class Handle(Protocol):
    """A timer that can be cancelled."""

    def cancel(self) -> None:
        """Cancels it."""


Later = Callable[[float, Callable[[], None]], Handle]


class Watcher:
    """Watches the files of one scenario.

    `read` compiles it again, raising `Failure` with its problems; `files` are those that were read for `blueprint`.
    `say` gets the lines for the log. `later` calls a function after so many seconds: the running loop's timer unless
    given.
    """

    def __init__(
        self,
        read: Callable[[], Blueprint],
        files: Iterable[Path],
        blueprint: Blueprint,
        runtime: Runtime,
        say: Callable[[LogLine], None],
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
        """Starts to watch."""
        self._timer = self._later(INTERVAL, self._check_files)

    def stop(self) -> None:
        """Stops to watch."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _check_files(self) -> None:
        now = _stamps(self._known)
        if now != self._known and now == self._seen:
            self._task = asyncio.ensure_future(self._read_changes(now))
            return
        self._seen = now
        self.start()

    async def _read_changes(self, stamps: dict[Path, Stamp]) -> None:
        """Reads the scenario on a separate thread: a long one takes longer than the loop may be blocked."""
        changed = [file for file, stamp in stamps.items() if stamp != self._known[file]]
        read, outcome = await asyncio.get_running_loop().run_in_executor(None, self._reading)
        # other files may have been read than before; the earlier ones stay, as they may be needed again
        self._known = {**_stamps(read), **stamps}
        self._seen = self._known
        names = ", ".join(file.name for file in changed)
        if isinstance(outcome, Failure):
            for line in (*outcome.details, outcome.message):
                self._say(LogLine(line, level="warning"))
            text = f"{names} changed, and is not used: new worlds open with the scenario as it was before"
            self._say(LogLine(text, level="warning"))
        else:
            changes = differences(self._blueprint, outcome)
            self._blueprint = self._runtime.blueprint = outcome
            summary = ", ".join(changes) or "no part of the scenario"
            self._say(LogLine(f"{names} changed ({summary}): new worlds open with it, open ones keep theirs"))
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
    return [name for name, value in _parts(new).items() if _content(before.get(name)) != _content(value)]


def _parts(blueprint: Blueprint) -> dict[str, object]:
    parts: dict[str, object] = {}
    for name, part in asdict(blueprint).items():
        if name not in ("source", "written"):
            parts |= part if name == "compiled" else {name: part}
    return parts


def _content(value: object) -> object:
    """The content of a part, without its places."""
    if isinstance(value, msgspec.Struct):
        return [_content(part) for name, part in asdict(value).items() if name != "place"]
    return [_content(item) for item in value] if isinstance(value, tuple | list) else value


def _stamps(files: Iterable[Path]) -> dict[Path, Stamp]:
    return {file: _stamp(file) for file in files}


def _stamp(file: Path) -> Stamp:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
