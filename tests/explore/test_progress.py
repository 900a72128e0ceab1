"""What is shown while a session explores: a bar on a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from sendbox.cli.explore.command import _Progress
from sendbox.exploring.exploration import Progress
from sendbox.runtime import wall
from tests.documentation.markdown import ROOT
from tests.fixture.support import LEAN

#: The clock of the machine, in a conftest: a tenth of a second and more goes by whenever it is read.
CLOCK: Final = """
import itertools
from sendbox.runtime import wall

ticks = itertools.count(0, 110_000_000)
wall.monotonic_ns = lambda: next(ticks)
"""
TESTS: Final = """
import httpx
import pytest

def receive(environ, start_response):
    start_response("200 OK", [])
    return [b""]

@pytest.mark.parametrize("number", [1, 2])
def test_it(sendbox, number):
    sendbox.deliver_to(receive)
    body = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as http:
        http.post(f"{sendbox.base_url}/message", json=body)
    sendbox.advance("1m")
"""


class Clock:
    """A clock of the machine that stands still until it is set, in seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        monkeypatch.setattr(wall, "monotonic_ns", lambda: int(self.seconds * 1e9))


class Reporter:
    """What pytest's reporter writes to a pipe or a terminal."""

    def __init__(self, *, isatty: bool) -> None:
        self.isatty = isatty
        self.lines: list[str] = []

    def ensure_newline(self) -> None:
        """Before the first line."""

    def flush(self) -> None:
        """Behind each line."""

    def write_line(self, line: str, **_: object) -> None:
        """A line of its own."""
        self.lines.append(line)

    def rewrite(self, line: str, **_: object) -> None:
        """The same line again."""
        self.lines.append(line)

    def write(self, text: str, **_: object) -> None:
        """Back to the beginning of the line."""


class Config:
    """A configuration of pytest with this reporter."""

    def __init__(self, reporter: Reporter | None) -> None:
        self.pluginmanager = self
        self.reporter = reporter

    def getplugin(self, _name: str) -> Any:
        """The reporter."""
        return self.reporter


def shown(clock: Clock, reporter: Reporter | None, seconds: list[float]) -> None:
    """Two tests, each with a run at these seconds, the second one a hundred seconds later."""
    progress = Progress(Config(reporter))
    progress.tests = 2
    began = clock.seconds
    for test in range(2):
        with progress.next() as told:
            for run, second in enumerate(seconds, 1):
                clock.seconds = began + test * 100 + second
                told(run, 40, "nothing found")


def test_a_pipe_has_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each says which test it is, how many runs were made, and what was found; time goes on from test to test."""
    reporter = Reporter(isatty=False)
    shown(Clock(monkeypatch), reporter, [1, 9.9, 10, 19, 21, 22])
    assert reporter.lines == [
        "exploring test 1 of 2: 3 of 40 runs, nothing found",
        "exploring test 1 of 2: 5 of 40 runs, nothing found",
        "exploring test 2 of 2: 1 of 40 runs, nothing found",
        "exploring test 2 of 2: 4 of 40 runs, nothing found",
    ]


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times a second at most; it is gone at the end of a test, and a worker of xdist shows none."""
    reporter = Reporter(isatty=True)
    shown(Clock(monkeypatch), reporter, [0.05, 0.2, 0.25, 0.4])
    assert reporter.lines == [
        "exploring 1 of 2 [#...................] 2 of 40 runs, nothing found",
        "exploring 1 of 2 [##..................] 4 of 40 runs, nothing found",
        "",
        "exploring 2 of 2 [....................] 1 of 40 runs, nothing found",
        "exploring 2 of 2 [#...................] 2 of 40 runs, nothing found",
        "exploring 2 of 2 [##..................] 4 of 40 runs, nothing found",
        "",
    ]
    shown(Clock(monkeypatch), None, [1])


def test_the_command_has_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Where its progress is no terminal, and nothing has to be removed from it."""
    clock = Clock(monkeypatch)
    progress = _Progress(sys.stderr)
    for seconds in (1, 9, 10, 11, 20):
        clock.seconds = seconds
        progress.show(f"{seconds} runs")
    progress.clear()
    assert capsys.readouterr().err == "sendbox: 10 runs\nsendbox: 20 runs\n"


@pytest.mark.deep
def test_a_session_on_a_terminal(tmp_path: Path) -> None:
    """The bar is written again and again in one line, and removed."""
    pty = pytest.importorskip("pty")  # Windows has none
    (tmp_path / "conftest.py").write_text(CLOCK, "utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    options = [*LEAN, "-p", "no:cacheprovider", "--sendbox-explore=4", "--sendbox-explore-time=1h"]
    terminal, end = pty.openpty()
    with open(terminal, "rb", buffering=0) as reading:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", *options],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths, "TERM": "xterm", "COLUMNS": "80"},
            stdin=subprocess.DEVNULL,
            stdout=end,
            stderr=end,
        )
        os.close(end)
        written = b""
        try:
            while piece := reading.read(4096):
                written += piece
        except OSError:  # the terminal ends so on Linux
            pass
        assert process.wait() == pytest.ExitCode.OK, written.decode()
    text = written.decode()
    bar, *_ = (part for part in text.split("\r") if part.startswith("exploring 2 of 2 ["))
    assert bar.rstrip().endswith(" of 4 runs, nothing found")
    assert len(bar.rstrip()) < 80
    assert "exploring" not in text[text.index("sendbox explored") :]
