"""The versions that the scripts, continuous integration and the image install: `constraints.txt`, which this writes.

`scripts/constraints` runs it in an environment that holds nothing but `packaging`. pip says what it would install with
every extra of `pyproject.toml`, and installs nothing. `test_versions.py` holds the file against the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parent.parent
FILE: Final = ROOT / "constraints.txt"
#: The lowest Python of `requires-python`: what suits it suits later ones, while the reverse does not hold.
PYTHON: Final = (3, 11)
#: The extras that together contain every other.
ALL: Final = "mutation,site"
OWN: Final = "sendbox"
HEAD: Final = """\
# One version of each package, direct or not, that the scripts, continuous integration and the image install.
# Written by scripts/constraints, and checked by tests/test_versions.py. After # stand the packages that need it.

"""


@dataclass(frozen=True, slots=True)
class Row:
    """A package by its canonical name, the version to install, and the packages that need it."""

    name: str
    version: str
    needed_by: tuple[str, ...]

    def line(self) -> str:
        """The row as the file has it."""
        return f"{self.name}=={self.version}".ljust(40) + f" # {', '.join(self.needed_by)}"


def text_of(rows: Iterable[Row]) -> str:
    """The whole file."""
    return HEAD + "".join(row.line() + "\n" for row in sorted(rows, key=lambda row: row.name))


def read(text: str) -> Iterator[Row]:
    """The rows of a file."""
    for line in text.splitlines():
        pin, _, needed_by = line.partition(" # ")
        name, equal, version = pin.strip().partition("==")
        if equal:
            yield Row(name, version, tuple(needed_by.split(", ")))


def project() -> dict[str, Any]:
    """What `pyproject.toml` says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def direct() -> list[Requirement]:
    """The requirements of `pyproject.toml`: of the package, of each extra and of the build; without its own extras."""
    said = project()
    extras = said["project"]["optional-dependencies"].values()
    texts = [*said["project"]["dependencies"], *(text for extra in extras for text in extra)]
    found = [Requirement(text) for text in [*texts, *said["build-system"]["requires"]]]
    return [requirement for requirement in found if canonicalize_name(requirement.name) != OWN]


def holds(requirement: Requirement, extras: Iterable[str]) -> bool:
    """Whether a requirement counts on this machine, for a package that is installed with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def rows_of(report: dict[str, Any]) -> Iterator[Row]:
    """The rows for what pip's report says that it would install."""
    items = {canonicalize_name(item["metadata"]["name"]): item for item in report["install"]}
    needs = {OWN: direct()}
    asked = {canonicalize_name(each.name): each.extras for each in needs[OWN]}  # pip's report does not name these
    for name, item in items.items():
        if name != OWN:
            texts = [Requirement(text) for text in item["metadata"].get("requires_dist", ())]
            needs[name] = [each for each in texts if holds(each, asked.get(name, ()))]
    for name, item in items.items():
        if name != OWN:
            by = sorted(who for who, each in needs.items() if name in {canonicalize_name(it.name) for it in each})
            yield Row(name, item["metadata"]["version"], tuple(by))


def resolved(*, upgrade: bool) -> list[Row]:
    """What pip would install now; without `upgrade` in the versions that the file has already."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report), f"{ROOT}[{ALL}]"]
        if FILE.exists() and not upgrade:
            command += ["--constraint", str(FILE)]
        if subprocess.run(command, check=False).returncode:
            sys.exit("pip found no versions that fit together; scripts/constraints --upgrade also changes those it has")
        return list(rows_of(json.loads(report.read_text("utf-8"))))


def main() -> None:
    """`scripts/constraints [--upgrade]`."""
    if sys.argv[1:] not in ([], ["--upgrade"]):
        sys.exit(f"{' '.join(sys.argv[1:])} is not an option; legal: --upgrade")
    if sys.version_info[:2] != PYTHON:
        wanted = ".".join(map(str, PYTHON))
        sys.exit(
            f"{sys.version.split()[0]} is not Python {wanted}, the lowest version: PYTHON=python{wanted} names one"
        )
    before = {row.name: row.version for row in read(FILE.read_text("utf-8"))} if FILE.exists() else {}
    rows = resolved(upgrade=bool(sys.argv[1:]))
    FILE.write_text(text_of(rows), "utf-8")
    after = {row.name: row.version for row in rows}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            sys.stdout.write(f"{name}: {before.get(name, 'none')} -> {after.get(name, 'none')}\n")
    sys.stdout.write(f"{FILE.name}: {len(rows)} packages\n")


if __name__ == "__main__":
    main()
