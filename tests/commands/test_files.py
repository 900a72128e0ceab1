"""Scenario files that are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendbox.cli.files import check, report
from sendbox.scenario.model import Problem


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
        False,
        "dir/a,b.yaml:2:3: 100% wrong:\\n\\x1b[2J, no\nc.yaml:4:5: warning: doubtful\nb: ok",
    )


def test_a_report_for_github(tmp_path: Path) -> None:
    """Workflow commands: what would end a property or a command is escaped, paths begin at the working folder."""
    inside = Problem(str(tmp_path / "s" / "d.yaml"), 1, 1, "$", 1, "empty", "nothing")
    assert report([("a", [ERROR, WARNING, NOWHERE]), ("b", [inside, inside])], "github") == (
        False,
        (
            "::error file=dir/a%2Cb.yaml,line=2,col=3,title=enum::100%25 wrong:%0A\\x1b[2J, no\n"
            "::warning file=c.yaml,line=4,col=5,title=shadowed::doubtful\n"
            "::error file=scenario,title=file::gone\n"
            "::error file=s/d.yaml,line=1,col=1,title=empty::nothing"
        ),
    )
    assert report([("a", [])], "github") == (True, "")


@pytest.mark.parametrize("how", ["text", "json", "github"])
def test_what_counts(how: str) -> None:
    """An error is a no in every format, a warning is one if it is to count."""
    assert [report([("a", found)], how)[0] for found in ([], [WARNING], [ERROR])] == [True, True, False]
    assert [report([("a", found)], how, strict=True)[0] for found in ([], [WARNING], [ERROR])] == [True, False, False]
