"""The documentation says what is so: what it lists is held against where it comes from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.boundaries import OWNERS

ROOT: Final = Path(__file__).resolve().parent.parent
#: Packages that are imported under another name.
IMPORTED_AS: Final = {"pyyaml": "yaml", "jsonschema-rs": "jsonschema_rs"}


def declared(extra: str | None) -> dict[str, str]:
    """What pyproject.toml names, of the package itself or of an extra: distribution to the comment beside it."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    found = {}
    for requirement in project["dependencies"] if extra is None else project["optional-dependencies"][extra]:
        name = re.split(r"[^A-Za-z0-9_.-]", requirement)[0]
        comment = re.search(rf'^ *"{re.escape(requirement)}", *# (.+)$', text, re.MULTILINE)
        if name != "sendbox":
            found[name] = comment[1] if comment else ""
    return found


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the table under a heading of docs/dependencies.md, without its head."""
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    yield from ([cell.strip() for cell in line.strip("|").split("|")] for line in table[2:])


@pytest.mark.parametrize(
    ("extra", "heading"),
    [(None, "What `pip install sendbox` brings"), ("tls", "Extra `tls`"), ("dev", "Extra `dev`")],
    ids=["main", "tls", "dev"],
)
def test_dependencies_have_one_reason_in_both_places(extra: str | None, heading: str) -> None:
    """docs/dependencies.md lists exactly what pyproject.toml names, with the same reason, and no reason is missing."""
    expected = declared(extra)
    assert all(expected.values()), [name for name, reason in expected.items() if not reason]
    assert {cells[0]: cells[1] for cells in rows(heading)} == expected


def test_dependencies_say_where_they_are_imported() -> None:
    """The columns `where` and `lazily` say what the boundaries hold the code to."""
    owners = {each.package: each for each in OWNERS}
    listed = {}
    for name, _, where, lazily in [*rows("What `pip install sendbox` brings"), *rows("Extra `tls`")]:
        if not where.startswith("nowhere"):
            listed[IMPORTED_AS.get(name, name)] = (where, lazily)
    assert listed == {
        package: (", ".join(f"`{each}`" for each in sorted(owner.parts)) or "everywhere", "yes" if owner.lazy else "no")
        for package, owner in owners.items()
    }


def test_changelog_keeps_a_place_for_the_next_change() -> None:
    """The first heading of the changelog is what is not released yet."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
