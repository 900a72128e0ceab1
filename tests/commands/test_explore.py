"""`sendbox explore`: what is found, what cannot be explored, and finds that are run again."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from sendbox.cli.explore import command
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE
from sendbox.exploring import exploration, find_files
from sendbox.exploring.families.table import FAMILIES, USUAL, WHY_NOT
from sendbox.exploring.search import FEWEST, RUNS
from sendbox.scenario.write import dump
from tests.commands.clients import CALLS, FAILED, ONCE, client, explore, said
from tests.commands.sandbox import sendbox


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients and finds are in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


# --- a find -----------------------------------------------------------------------------------------------------------


def test_a_find_is_told_and_kept(tmp_path: Path) -> None:
    """On the screen its story, the client's last lines and what was tried; in a file a scenario that is right."""
    line = client(ONCE)
    result = explore(line, *FAILED)
    assert result.exit_code == NO
    assert result.stderr == ""
    told = result.stdout.splitlines()
    assert told[:2] == [f"breaks: {shlex.join(line)}", "what breaks it:"]
    assert told[2].startswith("  the 1st call of sendMessage ")  # which comes first depends on the command's path
    assert told[told.index("the last lines of the run that broke:") :][1:3] == ["  sent", "  (exit code 1)"]
    (file,) = (tmp_path / ".sendbox" / "found").iterdir()
    shown = file.relative_to(tmp_path)
    assert told[-3:-1] == [f"scenario: {shown}", f"again: sendbox explore --found; shown: sendbox play {shown}"]
    assert told[-1].endswith(" tried")
    assert told[-1].startswith("all 2 single misfortunes")
    (find,) = find_files.read(file.parent)
    assert (find.test, list(find.command)) == (shlex.join(line), line)
    assert sendbox("check", "--strict", str(shown)).exit_code == OK
    assert sendbox("play", str(shown)).exit_code == OK


@pytest.mark.deep
def test_runs_at_once_find_the_same() -> None:
    """Which plans are tried, and what is found, does not depend on how many run at once."""
    line = client(
        "first, second = send(), send('420777000102')\n"
        "call('/_sandbox/worlds/test-a/clock/advance', {'by': '1m'})\n"
        "sys.exit(first != 200 and second != 200)"
    )
    options = (*CALLS, "--keep", "failed,answer lost", "--strict", "--runs", "8", "--seed", "s")
    one, three = (explore(line, *options, "--jobs", jobs) for jobs in ("1", "3"))
    assert one.exit_code == three.exit_code == NO
    assert one.stdout == three.stdout


def test_nothing_found(tmp_path: Path) -> None:
    """What was tried is told, and nothing is kept."""
    result = explore(client("send()"), "--families", "delivery,calls", "--runs", "2")
    assert (result.exit_code, result.stderr) == (OK, "")
    assert result.stdout.splitlines() == [
        "nothing found: 2 of 13 single misfortunes tried",
        f"delivery not tried: {WHY_NOT['delivery']}",
    ]
    assert not (tmp_path / ".sendbox").exists()


def test_a_find_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    """The story is there all the same."""
    line = client(ONCE)
    (tmp_path / ".sendbox").write_text("in the way")
    result = explore(line, *FAILED)
    assert result.exit_code == NO
    assert "the scenario cannot be written: " in result.stdout


def test_the_options_have_their_defaults() -> None:
    """The help says what holds where nothing is given."""
    text = " ".join(sendbox("explore", "--help").output.split())
    assert f"further ones. [default: {FEWEST} to {RUNS}]" in text
    assert f"drawn from. [default: {command.USUAL_SEED}]" in text
    assert tuple(FAMILIES) == USUAL
    assert "commas between them. [default: all]" in text


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


def test_a_command_that_fails_without_misfortune() -> None:
    """Its last lines are shown, without colours."""
    line = client("print('\\x1b[31mone\\x1b[0m\\n\\ttwo', file=sys.stderr); sys.exit(7)")
    result = explore(line)
    assert (result.exit_code, result.stdout) == (CANNOT, "")
    assert result.stderr.splitlines() == [
        "one",
        "        two",
        f"sendbox: {shlex.join(line)} fails without misfortune: exit code 7",
    ]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_command_that_a_signal_ends() -> None:
    """The signal is told, and no exit code that there is not."""
    line = client("os.kill(os.getpid(), 9)")
    assert said(explore(line)).endswith(f"{shlex.join(line)} fails without misfortune: ended by signal 9")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("send('42077700010' + str(number))", "number 1 of the messages of world 1: "),
        ("call(f'/v2/balance' if number == 1 else '/v1/message?id=1')", "operations of world 1"),
        ("send(); sys.exit(number == 2)", "the second run without misfortune did not pass"),
    ],
    ids=["messages", "operations", "outcome"],
)
def test_a_command_that_does_not_repeat(text: str, words: str) -> None:
    """The first difference is told, and nothing is explored."""
    line = client(text)
    result = explore(line)
    assert result.exit_code == CANNOT
    assert said(result).startswith(f"sendbox: {shlex.join(line)} is not repeatable, so not explored: ")
    assert words in said(result)


def test_a_command_that_opens_no_world() -> None:
    """It probably calls another address."""
    result = explore(client(""))
    assert result.exit_code == CANNOT
    assert said(result).endswith("client.py opened no world: it has to call the sandbox at SENDBOX_URL")


# --- finds again ------------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_finds_are_run_again(tmp_path: Path) -> None:
    """With the command that found them, or with another one."""
    explore(client(ONCE), *FAILED)
    (find,) = find_files.read(tmp_path / find_files.FOLDER)
    (file,) = (tmp_path / find_files.FOLDER).iterdir()
    about = f"{find.file.stem} ({find.test}; {file.relative_to(tmp_path)})"
    (tmp_path / find_files.FOLDER / "of-pytest.yaml").write_text(
        dump({"sendbox": 1, "found": {"test": "tests/a.py::b"}})
    )
    result = sendbox("explore", "--found")
    assert (result.exit_code, result.stderr) == (NO, "")
    assert result.stdout.splitlines() == [
        f"still breaks: {about}",
        "the last lines of the run that broke:",
        "  sent",
        "  (exit code 1)",
    ]
    result = explore(client("send() == 500 and send()", "other.py"), "--found")
    assert (result.exit_code, result.stdout) == (OK, f"does not break any more: {about}\n")
    client("sys.exit('not today')")
    result = sendbox("explore", "--found")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (CANNOT, "not today")


@pytest.mark.deep
def test_a_find_may_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which says nothing."""
    explore(client(ONCE), *FAILED)
    monkeypatch.setattr(exploration, "MIN_SECONDS", 0.5)
    monkeypatch.setattr(exploration, "TIME_FACTOR", 1)
    client("if send() != 200: signal.pause()")
    result = sendbox("explore", "--found")
    assert result.exit_code == OK
    assert result.stdout.startswith("took too long, which says nothing: ")


def test_where_nothing_was_found(tmp_path: Path) -> None:
    """There is nothing to run; and what is not a find is told."""
    client("")
    result = sendbox("explore", "--found")
    assert (result.exit_code, result.stdout) == (OK, f"{find_files.FOLDER} has no find of sendbox explore\n")
    (tmp_path / find_files.FOLDER).mkdir(parents=True)
    (tmp_path / find_files.FOLDER / "a.yaml").write_text("sendbox: 1\n")
    result = sendbox("explore", "--found")
    assert result.exit_code == CANNOT
    assert "a.yaml is not a find" in said(result)


def test_a_find_that_does_not_fit(tmp_path: Path) -> None:
    """A find that was changed for the worse is told with its place."""
    line = client("send()")
    (tmp_path / find_files.FOLDER).mkdir(parents=True)
    broken = {"sendbox": 1, "found": {"test": "a", "command": line}, "webhooks": [{"fault": "none such"}]}
    (tmp_path / find_files.FOLDER / "a.yaml").write_text(dump(broken))
    result = sendbox("explore", "--found")
    assert result.exit_code == CANNOT
    assert 'a.yaml:10:10: "none such" is not a fault' in said(result)
