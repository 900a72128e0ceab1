"""`sendbox explore`: clients as commands, each a few lines of Python."""

from __future__ import annotations

import io
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from click.testing import Result

from sendbox.cli.explore import command, runs
from sendbox.cli.explore.junit import judged
from sendbox.cli.outcome import CANNOT, INTERRUPTED, NO, OK, USAGE
from sendbox.exploring import found
from sendbox.exploring.explore import RUNS
from sendbox.exploring.families.table import USUAL, WHY_NOT
from sendbox.scenario.write import dump
from tests.commands.sandbox import sendbox
from tests.commands.test_program import PROGRAM

#: What every client begins with: `send` answers the status of a call, `number` counts the runs from 1.
PRELUDE: Final = """
import json, os, signal, sys, urllib.error, urllib.request
from pathlib import Path

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
number = len(Path("runs").read_text()) + 1 if Path("runs").exists() else 1
with Path("runs").open("a") as file:
    file.write(".")

def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"x-api-key": "test-a", "content-type": "application/json"}
    try:
        request = urllib.request.Request(os.environ["SENDBOX_URL"] + path, data, headers)
        with opener.open(request, timeout=1) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, None
    except OSError:
        return None, None

def send(phone="420777000101"):
    return call("/v2/message", {"to": [{"phone_number": phone}], "body": "Hello"})[0]

def clock():
    return call("/_sandbox/worlds/test-a/clock")[1]["mode"]
"""
#: A client that breaks when its only call does.
ONCE: Final = "print('sent', flush=True); sys.exit(send() != 200)"
#: How it is explored.
CALLS: Final = ("--families", "calls")

#: Writes a client, and is the command that runs it.
Writing = Callable[[str], list[str]]


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Writing:
    """In the working directory of the test. It starts without packages, so quickly."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> list[str]:
        (tmp_path / "client.py").write_text(PRELUDE + text)
        return [sys.executable, "-I", "-S", "client.py"]

    return write


def explore(command: list[str], *options: str) -> Result:
    return sendbox("explore", *options, "--", *command)


def said(result: Result) -> str:
    """The last line of stderr."""
    return result.stderr.splitlines()[-1]


# --- a find -----------------------------------------------------------------------------------------------------------


def test_a_find_is_told_and_kept(client: Writing, tmp_path: Path) -> None:
    """On the screen its story, the client's last lines and what was tried; in a file a scenario that is right."""
    line = client(ONCE)
    result = explore(line, *CALLS)
    assert result.exit_code == NO
    assert result.stderr == ""
    told = result.stdout.splitlines()
    assert told[:2] == [f"breaks: {shlex.join(line)}", "what breaks it:"]
    assert told[2].startswith("  the 1st call of sendMessage is ")
    assert told[told.index("the last lines of the run that broke:") :][1:3] == ["  sent", "  (exit code 1)"]
    (file,) = (tmp_path / ".sendbox" / "found").iterdir()
    shown = file.relative_to(tmp_path)
    assert told[-3:-1] == [f"scenario: {shown}", f"again: sendbox explore --found; shown: sendbox play {shown}"]
    assert told[-1].startswith("tried: ")
    assert "of 10 single misfortunes" in told[-1]
    (find,) = found.read(file.parent)
    assert (find.test, list(find.command)) == (shlex.join(line), line)
    assert sendbox("check", "--strict", str(shown)).exit_code == OK
    assert sendbox("play", str(shown)).exit_code == OK


def test_runs_at_once_find_the_same(client: Writing) -> None:
    """Which plans are tried, and what is found, does not depend on how many run at once."""
    line = client(
        "first, second = send(), send('420777000102')\n"
        "call('/_sandbox/worlds/test-a/clock/advance', {'by': '1m'})\n"
        "sys.exit(first != 200 and second != 200)"
    )
    one, three = (explore(line, *CALLS, "--runs", "12", "--jobs", jobs, "--seed", "s") for jobs in ("1", "3"))
    assert one.exit_code == three.exit_code == NO
    assert one.stdout == three.stdout


def test_nothing_found(client: Writing, tmp_path: Path) -> None:
    """What was tried is told, and nothing is kept."""
    result = explore(client("send()"), "--families", "delivery,calls", "--runs", "2")
    assert (result.exit_code, result.stderr) == (OK, "")
    assert result.stdout.splitlines() == [
        "2 of 10 single misfortunes tried",
        f"delivery not tried: {WHY_NOT['delivery']}",
    ]
    assert not (tmp_path / ".sendbox").exists()


def test_a_find_that_cannot_be_kept_is_told(client: Writing, tmp_path: Path) -> None:
    """The story is there all the same."""
    line = client(ONCE)
    (tmp_path / ".sendbox").write_text("in the way")
    result = explore(line, *CALLS)
    assert result.exit_code == NO
    assert "the scenario cannot be written: " in result.stdout


def test_the_options_have_their_defaults() -> None:
    """The help says what holds where nothing is given."""
    text = " ".join(sendbox("explore", "--help").output.split())
    assert f"further ones. [default: {RUNS}]" in text
    assert f"drawn from. [default: {command.SEED}]" in text
    assert f"commas between them. [default: {','.join(USUAL)}]" in text


# --- what cannot be explored ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "a command is missing: sendbox explore -- COMMAND"),
        (["--families", "weather", "--", "true"], '"weather" is not a family of misfortunes; legal: delivery,'),
        (["--time", "10", "--", "true"], "10"),
        (["--runs", "0", "--", "true"], "a whole number, 1 and more"),
    ],
    ids=["command", "families", "time", "runs"],
)
def test_wrong_use(options: list[str], words: str) -> None:
    """One line says what is legal."""
    result = sendbox("explore", *options)
    assert result.exit_code == USAGE
    assert words in said(result)
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["./no-such-program"], "./no-such-program cannot be run: No such file or directory"),
        (["a\0b"], "cannot be run: embedded null byte"),
    ],
    ids=["missing", "name"],
)
def test_a_command_that_cannot_be_run(line: list[str], words: str) -> None:
    """It cannot be explored."""
    result = explore(line)
    assert (result.exit_code, len(result.stderr.splitlines())) == (CANNOT, 1)
    assert words in said(result)


def test_a_scenario_that_does_not_exist() -> None:
    """It is told before anything is run."""
    result = explore(["./no-such-program"], "--scenario", "otp-fallbak")
    assert result.exit_code == CANNOT
    assert 'did you mean "otp-fallback"?' in said(result)


def test_a_command_that_fails_without_misfortune(client: Writing) -> None:
    """Its last lines are shown, without colours."""
    line = client("print('\\x1b[31mone\\x1b[0m\\n\\ttwo', file=sys.stderr); sys.exit(7)")
    result = explore(line)
    assert (result.exit_code, result.stdout) == (CANNOT, "")
    assert result.stderr.splitlines() == [
        "one",
        "        two",
        f"sendbox: {shlex.join(line)} fails without misfortune: exit code 7",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("send('42077700010' + str(number))", "number 1 of the messages of world 1: "),
        ("call(f'/v2/balance' if number == 1 else '/v1/message?id=1')", "operations of world 1"),
        ("send(); sys.exit(number == 2)", "the second run without misfortune did not pass"),
    ],
    ids=["messages", "operations", "outcome"],
)
def test_a_command_that_does_not_repeat(client: Writing, text: str, words: str) -> None:
    """The first difference is told, and nothing is explored."""
    line = client(text)
    result = explore(line)
    assert result.exit_code == CANNOT
    assert said(result).startswith(f"sendbox: {shlex.join(line)} is not repeatable, so not explored: ")
    assert words in said(result)


def test_a_command_that_opens_no_world(client: Writing) -> None:
    """It probably calls another address."""
    result = explore(client(""))
    assert result.exit_code == CANNOT
    assert said(result).endswith("client.py opened no world: it has to call the sandbox at SENDBOX_URL")


# --- JUnit ------------------------------------------------------------------------------------------------------------

#: A client that writes a report, and ends with 0 whatever is in it.
REPORTING: Final = """
failed = send() != 200
Path(sys.argv[1]).write_text(f'''<testsuites><testsuite><testcase classname="shop" name="is ready"/>
<testcase classname="shop" name="sends">{"<failure>status</failure>" if failed else ""}</testcase></testsuite>
</testsuites>''')
Path("files").open("a").write(sys.argv[1] + chr(10))
"""


def test_a_report_judges_and_names_the_test(client: Writing, tmp_path: Path) -> None:
    """Each run has a file of its own in place of the one that is named."""
    result = explore([*client(REPORTING), "report.xml"], *CALLS, "--junit", "report.xml")
    assert result.exit_code == NO
    assert result.stdout.startswith("breaks: shop::sends\n")
    assert "  (shop::sends failed)\n" in result.stdout
    (find,) = found.read(tmp_path / found.FOLDER)
    assert (find.test, find.command[-1]) == ("shop::sends", "report.xml")
    files = (tmp_path / "files").read_text().splitlines()
    assert len(set(files)) == len(files) > 3
    assert {Path(file).name for file in files} == {"report.xml"}
    assert not (tmp_path / "report.xml").exists()
    assert not Path(files[0]).exists()


def test_a_report_that_no_argument_names(client: Writing, tmp_path: Path) -> None:
    """Runs go one at a time then, and each writes the file anew."""
    fixed = REPORTING.replace("sys.argv[1]", "'build.xml'")
    guarded = "if Path('build.xml').exists(): sys.exit('an old report')\n" + fixed
    result = explore(client(guarded), *CALLS, "--junit", "build.xml", "--jobs", "4")
    assert (result.exit_code, (tmp_path / "build.xml").exists()) == (NO, True)
    assert result.stdout.startswith("breaks: shop::sends\n")


def test_a_report_that_cannot_be_written_anew(client: Writing, tmp_path: Path) -> None:
    """A folder in its place is told."""
    (tmp_path / "build.xml").mkdir()
    result = explore(client(ONCE), "--junit", "build.xml")
    assert result.exit_code == CANNOT
    assert said(result).startswith("sendbox: build.xml cannot be removed: ")


@pytest.mark.parametrize("report", ["", None], ids=["empty", "missing"])
def test_without_a_report_the_exit_code_judges(client: Writing, report: str | None) -> None:
    """Whatever stands in the file's place."""
    writes = "" if report is None else f"Path(sys.argv[1]).write_text({report!r})\n"
    line = [*client(writes + ONCE), "out/report.xml" if report is None else "report.xml"]
    result = explore(line, *CALLS, "--junit", line[-1])
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
        report = judged(file)
        assert report is not None
        assert report.failed == name
    for text in ("<html/>", "<testsuite", ""):
        file.write_text(text)
        assert judged(file) is None


# --- time -------------------------------------------------------------------------------------------------------------


def test_a_run_that_takes_too_long_says_nothing(client: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended; and with each run, however it ends, all that it started."""
    monkeypatch.setattr(runs, "LEAST", 0)
    monkeypatch.setattr(runs, "TIMES", 3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
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
                connection.settimeout(20)
                assert connection.recv(1) == b""
    assert (result.exit_code, result.stdout) == (
        OK,
        "1 of 10 single misfortunes tried; 1 runs took too long or were skipped\n",
    )


def test_the_first_run_may_take_all_the_time(client: Writing) -> None:
    """And no more."""
    result = explore(client("signal.pause()"), "--time", "200ms")
    assert result.exit_code == CANNOT
    assert said(result).endswith("client.py fails without misfortune: it took too long")


def test_the_time_ends_the_search(client: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out is told."""
    monkeypatch.setattr(command._Exploration, "_over", lambda self: self._done >= 2)
    result = explore(client("send()"), *CALLS, "--time", "10m", "--jobs", "1")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (
        OK,
        "the time of the session was over before all was tried",
    )


def test_the_time_ends_the_shrinking(client: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    """A find stays as it is then, and is proved."""
    monkeypatch.setattr(command._Exploration, "_over", lambda self: self._done >= 1)
    line = client("sys.exit({send(f'42077700010{phone}') for phone in range(4)} != {200})")
    result = explore(line, *CALLS, "--runs", "4", "--time", "10m")
    assert result.exit_code == NO
    assert result.stdout.splitlines()[1] == "what breaks it, all of it together:"


# --- what a run is ----------------------------------------------------------------------------------------------------


def test_a_clock_jumps_unless_the_command_moves_it(client: Writing, tmp_path: Path) -> None:
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


def test_worlds_open_with_the_scenario(client: Writing) -> None:
    """That is given; its problems are those of a plan in front of it, too."""
    line = client("send(); name = call('/_sandbox/worlds/test-a')[1]['scenario']\nsys.exit('late' not in str(name))")
    assert explore(line, "--scenario", "late-receipt", "--runs", "1").exit_code == OK
    assert explore(line, "--runs", "1").exit_code == CANNOT


def test_progress_is_one_line_of_a_terminal(client: Writing, tmp_path: Path) -> None:
    """Written again and again, and gone at the end."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    lines: list[str] = []
    terminal = Terminal()
    asked = command.Asked(tuple(client(ONCE)), families=("calls",), jobs=1)
    assert command.run(asked, lines.append, terminal) == NO
    shown = [line.rstrip() for line in terminal.getvalue().split("\r")]
    assert shown[:3] == ["", "sendbox: without misfortune", "sendbox: 0 runs, the search has 100"]
    assert shown[-3].endswith(" runs, the search has 100; found: 1 misfortune(s), made small")
    assert shown[-2:] == ["", ""]
    terminal = Terminal()
    again = command.Asked((), jobs=1)
    assert command.again(again, lines.append, terminal) == NO
    shown = [line.rstrip() for line in terminal.getvalue().split("\r")]
    assert [line.rpartition(": ")[2] for line in shown] == ["", "without misfortune", "find 1 of 1", "", ""]


# --- an interrupt -----------------------------------------------------------------------------------------------------


def interrupted(line: list[str], folder: Path, jobs: int = 2) -> tuple[int, list[str]]:
    """The exit code and the lines of a command as a process, which its child interrupts."""
    done = subprocess.run(
        [*PROGRAM, "explore", *CALLS, "--jobs", str(jobs), "--", *line],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_an_interrupt_ends_the_search(client: Writing, tmp_path: Path, number: str) -> None:
    """And says what was tried; a child that does not end is ended."""
    ends = f"signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getppid(), signal.{number}); signal.pause()"
    code, lines = interrupted(client(f"send()\nif number == 4: {ends}"), tmp_path)
    assert code == INTERRUPTED
    (line,) = lines
    assert line.startswith("interrupted after ")


def test_an_interrupt_before_the_search(client: Writing, tmp_path: Path) -> None:
    """Nothing was tried then."""
    line = client("os.kill(os.getppid(), signal.SIGINT); signal.pause()")
    assert interrupted(line, tmp_path) == (INTERRUPTED, ["interrupted after 0 runs: nothing was tried"])


def test_an_interrupt_keeps_what_was_found(client: Writing, tmp_path: Path) -> None:
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
    assert lines[-1].endswith(" of 10 single misfortunes tried")
    assert len(found.read(tmp_path / found.FOLDER)) == 1


# --- finds again ------------------------------------------------------------------------------------------------------


def test_finds_are_run_again(client: Writing, tmp_path: Path) -> None:
    """With the command that found them, or with another one."""
    explore(client(ONCE), *CALLS)
    (find,) = found.read(tmp_path / found.FOLDER)
    (file,) = (tmp_path / found.FOLDER).iterdir()
    about = f"{find.name} ({find.test}; {file.relative_to(tmp_path)})"
    (tmp_path / found.FOLDER / "of-pytest.yaml").write_text(dump({"sendbox": 1, "found": {"test": "tests/a.py::b"}}))
    result = sendbox("explore", "--found")
    assert (result.exit_code, result.stderr) == (NO, "")
    assert result.stdout.splitlines() == [
        f"still breaks: {about}",
        "the last lines of the run that broke:",
        "  sent",
        "  (exit code 1)",
    ]
    (tmp_path / "other.py").write_text(PRELUDE + "send() == 500 and send()")
    other = [sys.executable, "-I", "-S", "other.py"]
    result = explore(other, "--found")
    assert (result.exit_code, result.stdout) == (OK, f"does not break any more: {about}\n")
    client("sys.exit('not today')")
    result = sendbox("explore", "--found")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (CANNOT, "not today")


def test_a_find_may_take_too_long(client: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which says nothing."""
    explore(client(ONCE), *CALLS)
    monkeypatch.setattr(runs, "LEAST", 0.5)
    monkeypatch.setattr(runs, "TIMES", 1)
    client("if send() != 200: signal.pause()")
    result = sendbox("explore", "--found")
    assert result.exit_code == OK
    assert result.stdout.startswith("took too long, which says nothing: ")


def test_where_nothing_was_found(client: Writing, tmp_path: Path) -> None:
    """There is nothing to run; and what is not a find is told."""
    client("")
    result = sendbox("explore", "--found")
    assert (result.exit_code, result.stdout) == (OK, f"{found.FOLDER} has no find of sendbox explore\n")
    (tmp_path / found.FOLDER).mkdir(parents=True)
    (tmp_path / found.FOLDER / "a.yaml").write_text("sendbox: 1\n")
    result = sendbox("explore", "--found")
    assert result.exit_code == CANNOT
    assert "a.yaml is not a find" in said(result)


def test_a_find_that_does_not_fit(client: Writing, tmp_path: Path) -> None:
    """A plan that cannot stand in front of what the command opens is told."""
    line = client("send()")
    (tmp_path / found.FOLDER).mkdir(parents=True)
    broken = {"sendbox": 1, "found": {"test": "a", "command": line}, "webhooks": [{"fault": "none such"}]}
    (tmp_path / found.FOLDER / "a.yaml").write_text(dump(broken))
    result = sendbox("explore", "--found")
    assert result.exit_code == CANNOT
    assert said(result).startswith("sendbox: a plan cannot be laid in front of what the command opens: ")


def test_without_groups_a_child_is_ended_alone(client: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.delattr("os.killpg")
    assert explore(client("signal.pause()"), "--time", "200ms").exit_code == CANNOT


def test_signals_are_as_before(client: Writing) -> None:
    """What SIGTERM does is restored."""
    before = signal.getsignal(signal.SIGTERM)
    explore(client(""))
    assert signal.getsignal(signal.SIGTERM) is before
