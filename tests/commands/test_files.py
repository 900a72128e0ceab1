"""Scenario files: `sendbox check`, `init` and `schema`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sendbox.cli import serve as serving
from sendbox.cli.check import check, expand_folders, report
from sendbox.cli.outcome import CANNOT, NO, OK, Failure
from sendbox.cli.serve import Options
from sendbox.scenario.model import Problem
from sendbox.scenario.shape import schema
from tests.commands.sandbox import sendbox


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        pytest.param("otp-falback", 'did you mean "otp-fallback"?', id="library-name"),
        pytest.param("otp-falback.yaml", "cannot be read: No such file or directory", id="file-name"),
        pytest.param("no/otp-falback", "cannot be read: No such file or directory", id="path"),
        pytest.param("sendbox: 1", "cannot be read: No such file or directory", id="text"),
    ],
)
def test_a_name_that_nothing_has(name: str, ends: str) -> None:
    """A word without folder and suffix is taken for a scenario of the library, and the nearest is named."""
    ((asked, found),) = check((name,))
    assert asked == name
    assert [str(problem).endswith(ends) for problem in found] == [True]
    assert f'"{name}"' in str(found[0])


def test_a_file_comes_before_a_name_of_the_library(tmp_path: Path) -> None:
    """A file may have the name of a scenario of the library, or no suffix."""
    for name in ("default", "mine"):
        (tmp_path / name).write_text("sendbox: 2\n")
    assert [len(found) for _, found in check(("default", "mine", "otp-fallback"))] == [1, 1, 0]


def test_files_that_are_joined(tmp_path: Path) -> None:
    """Together they are one scenario, whose name has all of theirs; each by itself they are several."""
    (tmp_path / "a.yaml").write_text("sendbox: 1\naccount: {credit: {czk: 5}}\n")
    (tmp_path / "b.yaml").write_text("sendbox: 1\naccount: {currency: CZK}\n")
    names = ("a.yaml", "b.yaml")
    assert check(names, together=True) == [("a.yaml + b.yaml", [])]
    assert [len(found) for _, found in check((*names, "otp-fallback"))] == [0, 0, 0]
    (_, (problem,)), *_ = check(("a.yaml", "${X}.yaml"), together=True)
    assert "cannot be read" in problem.message


def test_the_environment_is_passed_on(tmp_path: Path) -> None:
    """A file may ask for what is set where it is checked."""
    (tmp_path / "a.yaml").write_text("sendbox: 1\nseed: ${SEED}\n")
    assert check(("a.yaml",), {"SEED": "7"}) == [("a.yaml", [])]
    assert [len(found) for _, found in check(("a.yaml",), {})] == [1]


ERROR = Problem("dir/a,b.yaml", 2, 3, "$.x", "y", "enum", "100% wrong:\n\x1b[2J, no")
WARNING = Problem("c.yaml", 4, 5, "$.x", "y", "shadowed", "doubtful", severity="warning")
NOWHERE = Problem("scenario", None, None, "", None, "file", "gone")


def test_a_report_in_text() -> None:
    """A line for each problem, warnings marked as such, and a line for each file without any."""
    found = [("a", [ERROR, WARNING]), ("b", [])]
    assert report(found, "text") == (
        NO,
        "dir/a,b.yaml:2:3: 100% wrong:\\n\\x1b[2J, no\nc.yaml:4:5: warning: doubtful\nb: ok",
    )


def test_a_report_for_github(tmp_path: Path) -> None:
    """Workflow commands: what would end a property or a command is escaped, paths begin at the working folder."""
    inside = Problem(str(tmp_path / "s" / "d.yaml"), 1, 1, "$", 1, "empty", "nothing")
    assert report([("a", [ERROR, WARNING, NOWHERE]), ("b", [inside, inside])], "github") == (
        CANNOT,
        (
            "::error file=dir/a%2Cb.yaml,line=2,col=3,title=enum::100%25 wrong:%0A\\x1b[2J, no\n"
            "::warning file=c.yaml,line=4,col=5,title=shadowed::doubtful\n"
            "::error file=scenario,title=file::gone\n"
            "::error file=s/d.yaml,line=1,col=1,title=empty::nothing"
        ),
    )
    assert report([("a", [])], "github") == (OK, "")


@pytest.mark.parametrize("how", ["text", "json", "github"])
def test_what_counts(how: str) -> None:
    """An error is a no in every format, a warning is one if it is to count; a file that cannot be read is neither."""
    every: tuple[list[Problem], ...] = ([], [WARNING], [ERROR], [ERROR, NOWHERE])
    assert [report([("a", found)], how)[0] for found in every] == [OK, OK, NO, CANNOT]
    assert [report([("a", found)], how, strict=True)[0] for found in every] == [OK, NO, NO, CANNOT]


def test_a_directory_is_its_scenarios(tmp_path: Path) -> None:
    """Every YAML file below it, in order, without what is hidden; a directory without any cannot be checked."""
    for name in ("b.yaml", "a/c.yml", "a/.hidden/d.yaml", ".e.yaml", "a/sendbox.schema.json", "notes.txt"):
        (tmp_path / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / name).write_text("sendbox: 1\n")
    (tmp_path / "none").mkdir()
    assert expand_folders(["otp-fallback", "all", "x.yaml"]) == ("otp-fallback", "all/a/c.yml", "all/b.yaml", "x.yaml")
    with pytest.raises(Failure, match="none holds no scenario") as caught:
        expand_folders(["none"])
    assert caught.value.code == CANNOT


# --- check and init ---------------------------------------------------------------------------------------------------


def test_check_accepts_the_library() -> None:
    """Scenarios of the library are checked by name."""
    result = sendbox("check", "default", "otp-fallback")
    assert (result.exit_code, result.output) == (OK, "default: ok\notp-fallback: ok\n")


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """A scenario with two problems."""
    file = tmp_path / "wrong.yaml"
    file.write_text("sendbox: 1\nsed: 7\nclock: {mod: real}\n")
    return str(file)


def test_check_prints_every_problem(wrong: str) -> None:
    """Each problem is a line with file, line and column, on stdout; the exit code says that there are any."""
    result = sendbox("check", wrong, "default")
    assert result.exit_code == NO
    assert [re.sub(r" .*", "", line) for line in result.stdout.splitlines()] == [
        f"{wrong}:2:1:",
        f"{wrong}:3:9:",
        "default:",
    ]


def test_check_as_json(wrong: str) -> None:
    """The same as one object, for editors and CI."""
    result = sendbox("check", "--format", "json", wrong)
    answer = json.loads(result.output)
    assert (result.exit_code, answer["ok"]) == (NO, False)
    assert [(each["line"], each["nearest"]) for each in answer["problems"]] == [(2, "seed"), (3, "mode")]
    assert json.loads(sendbox("check", "--format", "json", "default").output) == {"ok": True, "problems": []}


def test_check_warns(tmp_path: Path) -> None:
    """Warnings do not count, unless they are to; each format has them."""
    file = tmp_path / "doubtful.yaml"
    file.write_text("sendbox: 1\nattempts:\n  - then: sent\n  - then: failed\n")
    warned = f"{file}:4:5: warning: "
    for args, code in (((), OK), (("--strict",), NO), (("--together", "--strict"), NO)):
        result = sendbox("check", *args, str(file))
        assert (result.exit_code, result.stdout.startswith(warned)) == (code, True)
    answer = json.loads(sendbox("check", "--format", "json", str(file)).output)
    assert (answer["ok"], [each["severity"] for each in answer["problems"]]) == (True, ["warning"])
    result = sendbox("check", "--format", "github", str(file), "default")
    assert (result.exit_code, result.output.count("\n")) == (OK, 1)
    assert result.output.startswith("::warning file=")
    assert sendbox("check", "--format", "github", "default").output == ""


def test_check_joins(tmp_path: Path) -> None:
    """Files are checked by themselves, or as one; what the environment says is asked."""
    for name, text in {"a": "seed: ${SENDBOX_TEST_SEED}\n", "b": "extends: default\n"}.items():
        (tmp_path / f"{name}.yaml").write_text(f"sendbox: 1\n{text}")
    names = [str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")]
    env = {"SENDBOX_TEST_SEED": "7"}
    assert sendbox("check", *names, env=env).output == f"{names[0]}: ok\n{names[1]}: ok\n"
    assert sendbox("check", "--together", *names, env=env).output == f"{names[0]} + {names[1]}: ok\n"
    assert "is empty or not set" in sendbox("check", *names).output


def test_check_names_a_file_that_is_not_there() -> None:
    """A missing file is a problem of it."""
    result = sendbox("check", "no/such.yaml")
    assert result.exit_code == CANNOT
    assert "cannot be read: No such file" in result.output


def test_check_looks_through_a_directory(tmp_path: Path, wrong: str) -> None:
    """A directory stands for the scenarios in it."""
    (tmp_path / "right.yaml").write_text("sendbox: 1\n")
    result = sendbox("check", str(tmp_path))
    assert (result.exit_code, result.stdout.splitlines()[0]) == (NO, f"{tmp_path / 'right.yaml'}: ok")
    assert result.stdout.count(wrong) == 2
    (tmp_path / "lengths.yaml").write_text("sendbox: 1\nattempts: [{then: [sent: {after: 5}]}]\n")
    assert "5 is now 5ms" in sendbox("check", "--fix", str(tmp_path)).stderr


def test_the_schema_is_printed(tmp_path: Path) -> None:
    """As it is in the package; an older file is replaced."""
    text = sendbox("schema").output
    assert json.loads(text) == schema()
    file = tmp_path / "sendbox.schema.json"
    file.write_text("old")
    assert sendbox("schema", "--output", str(file)).exit_code == OK
    assert file.read_text("utf-8") == text


def test_init_writes_a_scenario_that_is_right(tmp_path: Path) -> None:
    """What is written passes the check; the schema that it names stands beside it."""
    file = tmp_path / "first.yaml"
    result = sendbox("init", str(file))
    assert result.exit_code == OK
    assert sendbox("check", str(file)).output == f"{file}: ok\n"
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", file.read_text("utf-8"))
    assert named
    assert json.loads((tmp_path / named[1]).read_text("utf-8")) == schema()


@pytest.mark.unmeasured
def test_the_commands_that_init_names_fit_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them does something with it; `explain` shows that the first rule decides."""
    served: list[Options] = []
    monkeypatch.setattr(serving, "run", served.append)
    result = sendbox("init", str(tmp_path / "first.yaml"))
    commands = [line.split()[1:] for line in result.output.splitlines()[1:]]
    assert [command[0] for command in commands] == ["explain", "play", "serve"]
    for command in commands:
        assert sendbox(*command).exit_code == OK
    assert "+ rich messages never arrive" in sendbox(*commands[0]).output
    assert len(served) == 1


def test_init_leaves_a_schema_that_is_there(tmp_path: Path) -> None:
    """A second scenario in the folder uses the schema of the first."""
    (tmp_path / "sendbox.schema.json").write_text("mine")
    assert sendbox("init", str(tmp_path / "a.yaml")).exit_code == OK
    assert (tmp_path / "sendbox.schema.json").read_text() == "mine"


def test_init_makes_the_folder(tmp_path: Path) -> None:
    """The example of its help works in an empty directory; where a file is in the way, that is said."""
    file = tmp_path / "scenarios" / "more" / "first.yaml"
    assert sendbox("init", str(file)).exit_code == OK
    assert sendbox("check", str(file)).exit_code == OK
    result = sendbox("init", str(file / "below" / "a.yaml"))
    assert (result.exit_code, f"{file / 'below'} cannot be made: " in result.stderr) == (CANNOT, True)


def test_init_never_overwrites(tmp_path: Path) -> None:
    """A file that is there stays as it is."""
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    result = sendbox("init", str(file))
    assert (result.exit_code, file.read_text()) == (CANNOT, "mine")
    assert result.stderr == f"sendbox: {file} exists already, and is left as it is: name another file\n"


def test_init_says_where_it_cannot_write() -> None:
    """A folder that takes no files is told."""
    result = sendbox("init", "/proc/such.yaml")
    assert result.exit_code == CANNOT
    assert "cannot be " in result.stderr
