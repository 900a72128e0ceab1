"""Scenario files that are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendbox.commands.files import check


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
