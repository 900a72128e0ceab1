"""`sendbox explore`: what a run is, how it is judged, how long it may take, and what an interrupt leaves."""

from __future__ import annotations

import io
import shlex
import signal
import socket
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from sendbox.cli.explore import command
from sendbox.cli.explore.runs import JUnitResult, read_junit_result
from sendbox.cli.outcome import CANNOT, INTERRUPTED, NO, OK
from sendbox.exploring import exploration, find_files
from tests.commands.clients import CALLS, FAILED, ONCE, client, explore, said
from tests.commands.test_program import PROGRAM


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients and finds are in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


# --- JUnit ------------------------------------------------------------------------------------------------------------

#: A client that writes a report, and ends with 0 whatever is in it.
REPORTING: Final = """
failed = send() != 200 != send()
Path(sys.argv[1]).write_text(f'''<testsuites><testsuite><testcase classname="shop" name="is ready"/>
<testcase classname="shop" name="sends">{"<failure>status</failure>" if failed else ""}</testcase></testsuite>
</testsuites>''')
Path("files").open("a").write(sys.argv[1] + chr(10))
"""


def test_a_report_judges_and_names_the_test(tmp_path: Path) -> None:
    """Each run has a file of its own in place of the one that is named."""
    result = explore([*client(REPORTING), "report.xml"], *FAILED, "--junit", "report.xml")
    assert result.exit_code == NO
    assert result.stdout.startswith("breaks: shop::sends\n")
    assert "  (shop::sends failed)\n" in result.stdout
    (find,) = find_files.read(tmp_path / find_files.FOLDER)
    assert (find.test, find.command[-1]) == ("shop::sends", "report.xml")
    files = (tmp_path / "files").read_text().splitlines()
    assert len(set(files)) == len(files) > 3
    assert {Path(file).name for file in files} == {"report.xml"}
    assert not (tmp_path / "report.xml").exists()
    assert not Path(files[0]).exists()


@pytest.mark.deep
def test_a_report_that_no_argument_names(tmp_path: Path) -> None:
    """Runs go one at a time then, and each writes the file anew."""
    fixed = REPORTING.replace("sys.argv[1]", "'build.xml'")
    guarded = "if Path('build.xml').exists(): sys.exit('an old report')\n" + fixed
    result = explore(client(guarded), *FAILED, "--junit", "build.xml", "--jobs", "4")
    assert (result.exit_code, (tmp_path / "build.xml").exists()) == (NO, True)
    assert result.stdout.startswith("breaks: shop::sends\n")


def test_a_report_that_cannot_be_written_anew(tmp_path: Path) -> None:
    """The reason is told."""
    (tmp_path / "build").touch()
    result = explore(client(ONCE), "--junit", "build/report.xml")
    assert result.exit_code == CANNOT
    assert said(result).startswith("sendbox: build/report.xml cannot be removed: ")


def test_a_folder_of_reports(tmp_path: Path) -> None:
    """The first test that failed in any of its files is named, with its assertion."""
    folder = """
    failed = send() != 200 != send()
    out = Path(sys.argv[1]) / "test"
    out.mkdir(parents=True)
    (out / "TEST-a.xml").write_text('<testsuite><testcase classname="shop" name="is ready"/></testsuite>')
    text = '<failure message="expected: 200">java.AssertionError: expected: 200\\n\\tat Shop.java:7</failure>'
    case = f'<testcase classname="shop" name="sends">{text if failed else ""}</testcase>'
    (out / "TEST-b.xml").write_text(f"<testsuite>{case}</testsuite>")
    """
    result = explore([*client(dedent(folder)), "reports"], *FAILED, "--junit", "reports/")
    assert result.exit_code == NO
    assert result.stdout.startswith("breaks: shop::sends\n")
    assert "the assertion:\n  java.AssertionError: expected: 200\n" in result.stdout
    assert not (tmp_path / "reports").exists()


def test_a_folder_that_no_argument_names(tmp_path: Path) -> None:
    """Reports of the run before are removed, and nothing else."""
    (tmp_path / "reports").mkdir()
    for name, text in {"old.xml": "<testsuite/>", "pom.xml": "<project/>"}.items():
        (tmp_path / "reports" / name).write_text(text)
    result = explore(client("send(); sys.exit(Path('reports/old.xml').exists())"), "--junit", "reports", "--runs", "1")
    assert result.exit_code == OK
    assert [file.name for file in (tmp_path / "reports").iterdir()] == ["pom.xml"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("report", ["", None], ids=["empty", "missing"])
def test_without_a_report_the_exit_code_judges(report: str | None) -> None:
    """Whatever stands in the file's place."""
    writes = "" if report is None else f"Path(sys.argv[1]).write_text({report!r})\n"
    line = [*client(writes + ONCE), "out/report.xml" if report is None else "report.xml"]
    result = explore(line, *FAILED, "--junit", line[-1])
    assert result.exit_code == NO
    assert result.stdout.startswith(f"breaks: {shlex.join(line)}\n")


def test_which_test_a_report_names(tmp_path: Path) -> None:
    """The first that has a failure or an error."""
    file = tmp_path / "report.xml"
    for text, name in {
        '<testsuite><testcase name="a"><skipped/></testcase></testsuite>': None,
        '<testsuite><testcase name="a"><error/></testcase></testsuite>': "a",
        '<testsuite><testcase classname="c" name="a"><failure/></testcase></testsuite>': "c::a",
        "<testsuite><testcase><failure/></testcase></testsuite>": "a test without a name",
        "<testsuites/>": None,
    }.items():
        file.write_text(text)
        report = read_junit_result(file)
        assert report is not None
        assert report.failed == name
    file.write_text('<testsuite><testcase name="a"><error message="no">why</error></testcase></testsuite>')
    assert read_junit_result(file) == JUnitResult("a", ("no", "why"))
    for text in ("<html/>", "<testsuite", ""):
        file.write_text(text)
        assert read_junit_result(file) is None


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.deep  # it waits for the limit of a run
def test_a_run_that_takes_too_long_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended; and with each run, however it ends, all that it started."""
    monkeypatch.setattr(exploration, "MIN_SECONDS", 6)  # far more than a run takes on a busy machine
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        started = (
            "import signal, socket\n"
            f"connection = socket.create_connection({server.getsockname()!r})\nprint(flush=True); signal.pause()"
        )
        line = client(
            f"import subprocess\nother = [sys.executable, '-I', '-S', '-c', {started!r}]\n"
            "subprocess.Popen(other, stdout=subprocess.PIPE).stdout.readline()\nsend()\nnumber == 3 and signal.pause()"
        )
        result = explore(line, *CALLS, "--runs", "1")
        for _ in range(3):
            with server.accept()[0] as connection:
                connection.settimeout(60)
                assert connection.recv(1) == b""
    assert result.exit_code == OK
    told = "nothing found: 1 of 13 single misfortunes tried; 1 run took too long, or skipped the test, the first when "
    assert result.stdout.startswith(f"{told}the 1st call of ")


def test_the_first_run_may_take_all_the_time() -> None:
    """And no more."""
    result = explore(client("signal.pause()"), "--time", "200ms")
    assert result.exit_code == CANNOT
    assert said(result).endswith("client.py fails without misfortune: it took too long")


@pytest.mark.deep
def test_the_time_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out is told."""
    monkeypatch.setattr(command._Exploration, "_over", lambda self: self._done >= 2)
    result = explore(client("send()"), *CALLS, "--time", "10m", "--jobs", "1")
    assert result.exit_code == OK
    over, left = result.stdout.splitlines()[-2:]
    assert over == "the time of the session was over before all was tried"
    assert left == "11 runs were not made; a longer --time makes more"


@pytest.mark.deep
def test_the_time_ends_the_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A find stays as it is then, and is proved."""
    monkeypatch.setattr(command._Exploration, "_over", lambda self: Path("broke").exists())
    line = client(
        "sent = [send(f'42077700010{phone}') for phone in range(4)]\n"
        "if sent.count(200) < 2: Path('broke').touch(); sys.exit(1)\n"
    )
    result = explore(line, *FAILED, "--strict", "--runs", "40", "--time", "10m", "--jobs", "1")
    assert result.exit_code == NO
    assert result.stdout.splitlines()[1] == "what breaks it, all of it together:"


# --- what a run is ----------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_a_clock_jumps_unless_the_command_moves_it(tmp_path: Path) -> None:
    """A command that moves a clock runs with clocks that stand still; one that also waits for a clock does not."""
    told = "send(); Path('modes').open('a').write(clock() + ' ')\n"
    moves = "call('/_sandbox/worlds/test-a/clock/advance', {'by': '1m'})\n"
    for text, modes in {
        told: ["auto", "auto", "auto"],
        told + moves: ["auto", "manual", "manual", "manual"],
        told + moves + "sys.exit(clock() != 'auto')": ["auto", "manual", "auto", "auto"],
    }.items():
        result = explore(client(text), *CALLS, "--runs", "1")
        assert result.exit_code == OK, result.output
        assert (tmp_path / "modes").read_text().split() == modes
        (tmp_path / "modes").unlink()


#: Two tests that run in another order each time, each in a world of its own.
PARALLEL: Final = """
tests = [("a", "420777000101"), ("b", "420777000102")][:: 1 if number % 2 else -1]
for name, phone in tests:
    key = f"test-{name}{more}"
    call("/v2/message", {"to": [{"phone_number": phone}], "body": "Hello"}, key)
"""


def test_parallel_tests_have_worlds_with_ids_that_repeat() -> None:
    """These are told apart by their ids, else by their order; the reason is told."""
    assert explore(client(f"more = ''\n{PARALLEL}"), "--runs", "2").exit_code == OK
    Path("runs").unlink()
    result = explore(client(f"more = number\n{PARALLEL}"))
    assert result.exit_code == CANNOT
    assert said(result).endswith(
        "; world 1 was test-a1, then test-b2: do tests run in parallel? "
        "Then give their worlds ids that are the same in each run"
    )


def test_worlds_open_with_the_scenario() -> None:
    """That is given; its problems are those of a plan in front of it, too."""
    line = client("send(); name = call('/_sandbox/worlds/test-a')[1]['scenario']\nsys.exit('late' not in str(name))")
    assert explore(line, "--scenario", "late-receipt", "--runs", "1").exit_code == OK
    assert explore(line, "--runs", "1").exit_code == CANNOT


@pytest.mark.deep
def test_progress_is_one_line_of_a_terminal(tmp_path: Path) -> None:
    """Written again and again, and gone at the end. Of a long command the end is cut off."""
    kept = ("failed", "answer lost", "rate limit", "slow")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    lines: list[str] = []
    terminal = Terminal()
    line = tuple(client(ONCE, f"{'client' * 10}.py"))
    asked = command.ExploreOptions(line, families=("calls",), jobs=1, keep=kept)
    assert command.run(asked, lines.append, terminal) == NO
    shown = [line.rstrip() for line in terminal.getvalue().split("\r")]
    assert shown[:3] == ["", "sendbox: without misfortune", "sendbox: 0 runs"]
    assert shown[3].startswith("sendbox: 1 runs, the search has 30")
    assert shown[-3].endswith(" runs, the search has 30; found: 1 misfortune(s), made small")
    assert shown[-2:] == ["", ""]
    terminal = Terminal()
    again = command.ExploreOptions((), jobs=1)
    assert command.rerun_finds(again, lines.append, terminal) == NO
    shown = [line.rstrip() for line in terminal.getvalue().split("\r")]
    assert [line.split(": ")[1:2] for line in shown] == [[], ["without misfortune"], ["find 1 of 1"], [], []]
    assert {len(line) for line in shown} == {0, 79}


def test_without_groups_a_child_is_ended_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.delattr("os.killpg")
    assert explore(client("signal.pause()"), "--time", "200ms").exit_code == CANNOT


def test_signals_are_as_before() -> None:
    """What the signals do is restored."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    explore(client(""))
    assert [signal.getsignal(number) for number in numbers] == before


# --- an interrupt -----------------------------------------------------------------------------------------------------


def interrupted(line: list[str], folder: Path, jobs: int = 2) -> tuple[int, list[str]]:
    """The exit code and the lines of a command as a process, which its child interrupts."""
    done = subprocess.run(
        [*PROGRAM, "explore", *CALLS, "--jobs", str(jobs), "--", *line],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.mark.deep
@pytest.mark.sample(2)
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupt_ends_the_search(tmp_path: Path, number: str) -> None:
    """And says what was tried; a child that does not end is ended."""
    ends = f"signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getppid(), signal.{number}); signal.pause()"
    code, lines = interrupted(client(f"send()\nif number == 4: {ends}"), tmp_path)
    assert code == INTERRUPTED
    nothing, line = lines
    assert nothing == "nothing found"
    assert line.startswith("interrupted after ")


@pytest.mark.deep
def test_an_interrupt_before_the_search(tmp_path: Path) -> None:
    """Nothing was tried then."""
    line = client("os.kill(os.getppid(), signal.SIGINT); signal.pause()")
    assert interrupted(line, tmp_path) == (
        INTERRUPTED,
        ["nothing found", "interrupted after 0 runs: nothing was tried"],
    )


@pytest.mark.deep
def test_an_interrupt_keeps_what_was_found(tmp_path: Path) -> None:
    """Though it is not proved."""
    line = client(
        "status = send()\n"
        "if Path('broke').exists(): os.kill(os.getppid(), signal.SIGINT); signal.pause()\n"
        "if status != 200: Path('broke').touch(); sys.exit(1)"
    )
    code, lines = interrupted(line, tmp_path, jobs=1)
    assert code == INTERRUPTED
    assert lines[0] == "interrupted while it was made small; not proved: it was broken 1 of 3 times"
    assert lines[1] == f"breaks: {shlex.join(line)}"
    assert lines[-1].startswith("interrupted after ")
    assert lines[-1].endswith(" of 13 single misfortunes tried")
    assert len(find_files.read(tmp_path / find_files.FOLDER)) == 1
