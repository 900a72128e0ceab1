"""The output of `play` is what the golden files show."""

from __future__ import annotations

import pytest

from tests.playing.golden import CASES, FOLDER, file, made


@pytest.mark.unmeasured
@pytest.mark.parametrize(("name", "how"), CASES, ids=["-".join(case) for case in CASES])
def test_what_is_printed(name: str, how: str) -> None:
    """Character by character; `python -m tests.playing` writes the files anew after a change that is meant."""
    assert made(name, how) == file(name, how).read_text("utf-8")


def test_no_golden_file_is_left_over() -> None:
    """Each file is one of a case."""
    assert {path.name for path in FOLDER.iterdir()} == {file(*case).name for case in CASES}


def test_no_golden_file_depends_on_the_machine() -> None:
    """No file says where this checkout is, or any other."""
    for path in FOLDER.iterdir():
        assert "/scenarios/" not in path.read_text("utf-8"), path.name
