"""The command itself: what is run in which order, what is shown, and how it ends."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TextIO

import click

from sendbox.cli.explore.runs import CommandResult, Runs
from sendbox.cli.files import load
from sendbox.cli.options import DURATION, SEED, WholeNumber, converter, scenario_option
from sendbox.cli.outcome import CANNOT, INTERRUPTED, NO, OK, USAGE, Failure, one_line
from sendbox.exploring import exploration, find_files
from sendbox.exploring.families.table import USUAL, parse_families, read_kept_kinds, untried_lines
from sendbox.exploring.misfortune import Plan

#: What plans are drawn from unless told.
USUAL_SEED: Final = "0"
#: Prints a line.
Echo = Callable[[str], object]


def parse_kinds(text: str) -> tuple[str, ...]:
    """The kinds of misfortune in a list with commas."""
    return read_kept_kinds([word.strip() for word in text.split(",")])


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--runs",
    type=WholeNumber(1),
    help="Runs of the search; a find is made small in further ones.  [default: 30 to 100]",
)
@click.option(
    "--families",
    metavar="LIST",
    callback=converter(parse_families),
    help="Families of misfortunes, with commas between them.  [default: all]",
)
@click.option("--seed", **{**SEED, "help": "Number or text that the plans are drawn from.  [default: 0]"})
@click.option("--time", **DURATION, help="Real time after which nothing else is tried, such as 10m.  [default: no end]")
@click.option(
    "--junit",
    metavar="PATH",
    help="The JUnit file that COMMAND writes, or a folder of them. Where COMMAND names PATH, each run has its own.",
)
@click.option("--jobs", type=WholeNumber(1), help="Runs at once.  [default: the number of processors]")
@scenario_option("worlds open")
@click.option(
    "--keep",
    metavar="LIST",
    callback=converter(parse_kinds),
    help="Kinds of misfortune that are left out, with commas between them, such as start.",
)
@click.option("--strict", is_flag=True, help="Questions make the exit code 1 too, not only bugs.")
@click.option("--found", is_flag=True, help="Run what was found again, with COMMAND or the command that found it.")
def explore_command(found: bool, **arguments: Any) -> int:
    """COMMAND runs tests of the client against the sandbox whose address is in the environment variable SENDBOX_URL. It
    is run again and again, without a shell, each time with a fresh sandbox, in which something else goes wrong that
    the service allows. Exit code 0 of COMMAND means that it passed; with --junit a failure in that file or folder
    counts as well, names the test, and its assertion is shown. Clocks jump to what is next by themselves, or stand
    still where COMMAND moves one. Webhooks may go to this machine only. Worlds are told apart by their ids where these
    are the same in each run, else by the order in which they are opened.

    A find is shown, and is kept as a scenario in .sendbox/found. It is a bug where the service may do at any time what
    breaks COMMAND, and a question where it changes what is true, so that a correct client may fail as well. COMMAND
    must pass without misfortune, twice, and a run ends after ten times the time of the first, 5 s at least. Ctrl-C
    keeps what was found. Exit code 1 when a bug was found, or when one still breaks COMMAND; with --strict questions
    count as well.

    \b
    Examples:
      sendbox explore -- node test.mjs
      sendbox explore --junit report.xml --time 10m -- pytest --junitxml=report.xml
      sendbox explore --junit target/surefire-reports -- mvn -q test
      sendbox explore --found
    """
    if not arguments["command"] and not found:
        raise Failure(USAGE, "a command is missing: sendbox explore -- COMMAND; see sendbox explore --help")
    explore_or_rerun = rerun_finds if found else run
    return explore_or_rerun(ExploreOptions(**arguments), click.echo, sys.stderr)


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """The command to explore, with its options. `time` is in milliseconds; None means the default."""

    command: tuple[str, ...]
    scenarios: tuple[str, ...] = ("default",)
    runs: int | None = None
    families: tuple[str, ...] | None = None
    seed: int | str | None = None
    time: int | None = None
    junit: str | None = None
    jobs: int | None = None
    keep: tuple[str, ...] | None = None
    strict: bool = False

    def counts(self, kind: exploration.FindKind) -> bool:
        """True if a find of this kind makes the command fail."""
        return self.strict or kind == "bug"

    def opened(self, command: Sequence[str]) -> Runs:
        """Runs of a command."""
        limit = None if self.time is None else self.time / 1000
        jobs = self.jobs or os.cpu_count() or 1
        return Runs(command, scenario=self.scenarios, junit=self.junit, jobs=jobs, limit=limit)


def run(settings: ExploreOptions, echo: Echo, progress: TextIO) -> int:
    """Explores a command; its exit code. Raises `Failure`."""
    load(*settings.scenarios, env=os.environ)
    with _ending(), settings.opened(settings.command) as runs:
        search = _Exploration(settings, runs, echo, _Progress(progress))
        return search.explored()


def rerun_finds(settings: ExploreOptions, echo: Echo, progress: TextIO) -> int:
    """Runs the finds of `sendbox explore` again; the exit code. Raises `Failure`."""
    load(*settings.scenarios, env=os.environ)
    try:
        finds = [find for find in find_files.read(find_files.FOLDER) if find.command]
    except (OSError, ValueError) as error:
        raise Failure(CANNOT, str(error)) from None
    if not finds:
        echo(f"{find_files.FOLDER} has no find of sendbox explore")
        return OK
    commands: dict[tuple[str, ...], list[find_files.StoredFind]] = {}
    for find in finds:
        commands.setdefault(settings.command or find.command, []).append(find)
    broken = False
    for command, of_it in commands.items():
        with _ending(), settings.opened(command) as runs:
            line = _Progress(progress)
            line.show(f"without misfortune: {shlex.join(command)}")
            _passes(command, runs.first(), line)
            for number, find in enumerate(of_it, 1):
                line.show(f"find {number} of {len(of_it)}: {shlex.join(command)}")
                outcome = runs.run_scenarios(find.plan)
                line.clear()
                of_kind = ", a question" if find.kind == "question" else ""
                echo(one_line(f"{_AGAIN[outcome.failed]}{of_kind}: {find.file.stem} ({find.test}; {find.file})"))
                broken = broken or (outcome.failed is True and settings.counts(find.kind))
                if outcome.failed:
                    for text in _output(outcome.output):
                        echo(text)
    return NO if broken else OK


#: How a find begins.
_BREAKS: Final[dict[exploration.FindKind, str]] = {"bug": "breaks", "question": "question"}
#: What is said about a find that was run again.
_AGAIN: Final[dict[bool | None, str]] = {
    True: "still breaks",
    False: "does not break any more",
    None: "took too long, which says nothing",
}


class _Exploration:
    """The exploration of one command."""

    def __init__(self, settings: ExploreOptions, runs: Runs, echo: Echo, progress: _Progress) -> None:
        self._asked = settings
        self._runs = runs
        self._echo = echo
        self._progress = progress
        self._name = shlex.join(settings.command)
        #: how many runs the search has, once that is known
        self._most = ""
        self._late = exploration.deadline(settings.time)
        self._passed = exploration.Run(None)
        self._done = 0
        #: the smallest plan that broke the client since one was found, its last run, and how often it was broken by it
        self._broken: tuple[Plan, exploration.Run] | None = None
        self._times = 0
        runs.on_run = self._count_run

    def explored(self) -> int:
        """The exit code."""
        settings = self._asked
        try:
            self._progress.show("without misfortune")
            self._passed = self._runs.first()
            _passes(settings.command, self._passed, self._progress)
            if not self._passed.worlds:
                raise Failure(CANNOT, f"{self._name} opened no world: it has to call the sandbox at SENDBOX_URL")
            result = exploration.explore(
                self._passed,
                self._run,
                name=self._name,
                families=settings.families or USUAL,
                keep=settings.keep or (),
                seed=USUAL_SEED if settings.seed is None else settings.seed,
                runs=settings.runs,
                over=self._over,
                run_all=self._runs.run_plans,
                progress=self._count,
            )
        except exploration.Interrupted as interrupted:
            self._report_interrupt(interrupted.result)
            return INTERRUPTED
        except KeyboardInterrupt:
            self._report_interrupt(exploration.Result(["nothing was tried"]))
            return INTERRUPTED
        self._progress.clear()
        return self._report_find(result)

    def _over(self) -> bool:
        return self._late()

    def _count(self, _done: int, runs: int, _found: str) -> None:
        self._most = f", the search has {runs}"

    def _run(self, plan: Plan, _observing: bool) -> exploration.Run:
        return self._runs.run_plan(plan)

    def _count_run(self, plan: Plan, run: exploration.Run, searching: bool) -> None:
        """A run has ended: of the search, or of making a plan small and proving it."""
        self._done += bool(plan)
        if searching:
            self._broken = None
        if run.failed and plan:
            self._times = self._times + 1 if self._broken is not None and self._broken[0] == plan else 1
            self._broken = plan, run
        small = "" if self._broken is None else f"; found: {len(self._broken[0])} misfortune(s), made small"
        self._progress.show(f"{self._done} runs{self._most}{small}")

    def _report_find(self, result: exploration.Result) -> int:
        if result.tried is None:
            raise Failure(CANNOT, f"{self._name} is {result.words[0]}")
        for find in result.finds:
            self._find_lines(find)
        for line in [*result.words, *untried_lines(dict.fromkeys(result.untried, 1), 1)]:
            self._echo(one_line(line))
        if result.runs_left:
            self._echo(f"{result.runs_left:,} runs were not made; a longer --time makes more")
        return NO if any(self._asked.counts(find.kind) for find in result.finds) else OK

    def _find_lines(self, find: exploration.Find) -> None:
        """A find: its story, the output of the client, and its files."""
        result: CommandResult = find.run.output
        test = result.failed or self._name
        for line in [f"{_BREAKS[find.kind]}: {test}", *find.story, *_output(result)]:
            self._echo(one_line(line))
        try:
            files = find_files.write(find_files.FOLDER, test, find, self._asked.command)
        except OSError as error:
            self._echo(f"the scenario cannot be written: {error.strerror or error}")
            return
        for file in files:
            self._echo(f"scenario: {file}")
        self._echo(f"again: sendbox explore --found; shown: sendbox play {shlex.quote(str(files[0]))}")

    def _report_interrupt(self, result: exploration.Result) -> None:
        """After an interrupt: what was found so far is kept."""
        self._runs.end()
        self._progress.clear()
        for find in result.finds:
            self._find_lines(find)
        if self._broken is not None and all(find.plan != self._broken[0] for find in result.finds):
            plan, run = self._broken
            proved = self._times > exploration.PROOF_RUNS
            state = (
                "proved" if proved else f"not proved: it was broken {self._times} of {exploration.PROOF_RUNS + 1} times"
            )
            self._echo(f"interrupted while it was made small; {state}")
            question = exploration.REASON_CHANGING if any(item.changing for item in plan) else ""
            lines = exploration.story(plan, self._passed.worlds, run.worlds, question)
            self._find_lines(exploration.Find("question" if question else "bug", plan, run, lines))
        elif not result.finds:
            self._echo(exploration.NOTHING_FOUND)
        self._echo(f"interrupted after {self._done} runs: {'; '.join(result.words)}")


def _passes(command: Sequence[str], run: exploration.Run, progress: _Progress) -> None:
    """Raises `Failure` where a run without misfortune did not pass."""
    if run.failed is False:
        return
    progress.clear()
    result: CommandResult = run.output
    raise Failure(
        CANNOT, f"{shlex.join(command)} fails without misfortune: {result.ended}", (*result.assertion, *result.output)
    )


def _output(result: CommandResult) -> list[str]:
    """The assertion of a run by its report, its last lines, and how it ended."""
    assertion = ["the assertion:", *(f"  {line}" for line in result.assertion)] if result.assertion else []
    return [
        *assertion,
        "the last lines of the run that broke:",
        *(f"  {line}" for line in result.output),
        f"  ({result.ended})",
    ]


class _Progress:
    """One line on a terminal, written again and again; elsewhere a line every ten seconds of real time."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._width = 0
        self._over = exploration.deadline(exploration.PROGRESS_INTERVAL)

    def show(self, text: str) -> None:
        """Writes the line."""
        line = one_line(f"sendbox: {text}")[:_WIDTH]
        if self._terminal:
            self._stream.write(f"\r{line.ljust(self._width)}")
            self._width = len(line)
        elif self._over():
            self._over = exploration.deadline(exploration.PROGRESS_INTERVAL)
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Leaves the terminal as if nothing had been written."""
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0


#: A longer line would be two on a narrow terminal, which cannot be written again.
_WIDTH: Final = 79


@contextmanager
def _ending() -> Iterator[None]:
    """Makes SIGTERM, and the end of the terminal, an interrupt, as Ctrl-C is, so that no child is left behind.

    What is ignored, as under nohup, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ends = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}  # Windows has no SIGHUP
    before = {number: handler for number in ends if (handler := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
