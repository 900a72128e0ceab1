"""`constraints.txt` is complete and agrees with `pyproject.toml` and with what is installed; no registry is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.versions import FILE, OWN, PYTHON, ROOT, direct, holds, project, read, text_of

TEXT: Final = FILE.read_text("utf-8")
ROWS: Final = {row.name: row for row in read(TEXT)}


def needed(name: str) -> list[Requirement]:
    """What an installed package says that it needs, with every extra."""
    return [Requirement(text) for text in metadata.requires(name) or ()]


def same(name: str) -> bool:
    """Whether the version that is installed is that of the file; what other versions need is not its affair."""
    try:
        return name in ROWS and metadata.version(name) == ROWS[name].version
    except metadata.PackageNotFoundError:  # of an extra that is not installed
        return False


def installed() -> Iterator[tuple[str, list[Requirement]]]:
    """Each package that is installed because of `pyproject.toml`, and what it needs on this machine."""
    todo, seen = direct(), set()
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if (name, *requirement.extras) in seen or not holds(requirement, ()):
            continue
        seen.add((name, *requirement.extras))
        found = [each for each in needed(name) if holds(each, requirement.extras)] if same(name) else []
        yield name, found
        todo += found


def test_it_is_what_the_script_writes() -> None:
    """Sorted, in one form, with its head."""
    assert text_of(ROWS.values()) == TEXT


def test_it_has_what_the_project_names() -> None:
    """Each requirement of the project has a version in its range."""
    wrong = [str(each) for each in direct() if not fits(each)]
    assert wrong == [], "run scripts/constraints"


def fits(requirement: Requirement) -> bool:
    """Whether the file has a version that this requirement takes."""
    row = ROWS.get(canonicalize_name(requirement.name))
    return row is not None and row.version in requirement.specifier


def test_it_has_what_is_installed() -> None:
    """The closure of what is installed is in the file, in versions that go together."""
    closure = dict(installed())
    wrong = [f"{name} needs {each}" for name, found in closure.items() for each in found if not fits(each)]
    assert (closure.keys() - ROWS.keys(), wrong) == (set(), []), "run scripts/constraints"


def test_it_has_nothing_else() -> None:
    """Each row is needed by the project, or by a row that is."""
    named = {canonicalize_name(each.name) for each in direct()}
    assert {name for name, row in ROWS.items() if OWN in row.needed_by} == named
    reached = {OWN}
    while more := {name for name, row in ROWS.items() if reached & set(row.needed_by)} - reached:
        reached |= more
    assert set(ROWS) - reached == set()
    assert {who for row in ROWS.values() for who in row.needed_by} <= reached


def test_what_it_says_about_needs_is_so() -> None:
    """A package that a row names needs that row, as far as the package is installed in this version."""
    known = {name: {canonicalize_name(each.name) for each in needed(name)} for name in ROWS if same(name)}
    said = [(who, row.name) for row in ROWS.values() for who in row.needed_by]
    wrong = [f"{who} does not need {name}" for who, name in said if who in known and name not in known[who]]
    assert wrong == [], "run scripts/constraints"


def test_ranges_are_wide() -> None:
    """A requirement that users install has a lower bound, which `scripts/test lowest` installs, and nothing else."""
    said = project()["project"]
    users = [text for extra in ("people", "postgresql", "test", "tls") for text in said["optional-dependencies"][extra]]
    bounds = [text.partition(";")[0] for text in [*said["dependencies"], *users] if not text.startswith(f"{OWN}[")]
    assert [text for text in bounds if not re.fullmatch(r"[a-z0-9-]+>=[0-9.]+", text)] == []
    assert said["requires-python"] == f">={PYTHON[0]}.{PYTHON[1]}"


@pytest.mark.parametrize(("file", "times"), [("scripts/lib.sh", 2), ("Dockerfile", 2)])
def test_what_installs_uses_it(file: str, times: int) -> None:
    """Scripts and image install with these versions, and build with them."""
    text = (ROOT / file).read_text("utf-8")
    assert "PIP_BUILD_CONSTRAINT=constraints.txt" in text
    assert re.search(r"PIP_CONSTRAINT=(constraints\.txt|\$constraints) ", text)
    assert text.count("-m pip ") == times
