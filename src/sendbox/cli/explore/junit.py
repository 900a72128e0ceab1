"""The JUnit file of a run: where it is written, and which test it says has failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from xml.etree import ElementTree as ET

from sendbox.cli.outcome import CANNOT, Failure


@dataclass(frozen=True, slots=True)
class Judged:
    """The result in a JUnit file: the first test that failed, None if all passed."""

    failed: str | None


class Reports:
    """The JUnit files of all runs of a command, which names `path` in its arguments.

    Each run has a file of its own below `folder`, whose name stands in place of `path`. Where no argument names `path`
    all runs write it, so they have to run one at a time (`shared`).
    """

    def __init__(self, path: str, command: Sequence[str], folder: Path) -> None:
        self._path = path
        self._folder = folder
        #: not within a longer path
        self._named = re.compile(rf"(?<![\w./\\-]){re.escape(path)}(?![\w/\\-]|\.\w)")
        self.shared = not any(map(self._named.search, command))

    def prepared(self, command: Sequence[str]) -> tuple[list[str], Path]:
        """The command of one run, and the file that it writes, which is not there yet. Raises `Failure`."""
        if self.shared:
            file = Path(self._path)
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise Failure(CANNOT, f"{file} cannot be removed: {error.strerror or error}") from None
            return list(command), file
        file = Path(mkdtemp(dir=self._folder)) / Path(self._path).name
        return [self._named.sub(lambda _: str(file), word) for word in command], file


def judged(file: Path) -> Judged | None:
    """The result in a JUnit file; None if the file does not exist, or is not a JUnit file."""
    try:
        root = ET.parse(file).getroot()
    except (OSError, ET.ParseError):
        return None
    cases = list(root.iter("testcase"))
    if not cases and root.tag not in ("testsuite", "testsuites"):
        return None
    return Judged(next((_name(case) for case in cases if _failed(case)), None))


def _failed(case: ET.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _name(case: ET.Element) -> str:
    return "::".join(filter(None, (case.get("classname"), case.get("name")))) or "a test without a name"
