"""Explores the zoo in a session of its own, and says what was found. The table of the documentation is kept here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sendbox.exploring import find_files
from sendbox.exploring.families.table import FAMILIES
from tests.documentation.markdown import ROOT, table
from tests.explore.zoo.bugs import BUGS, Bug

SUITE: Final = Path(__file__).with_name("test_shop.py")
#: What was found, as the documentation has it.
KEPT: Final = Path(__file__).with_name("finds.json")
_INI: Final = """
[pytest]
addopts = -p tests.explore.zoo.plugin -p no:cacheprovider -p no:xdist -p no:schemathesis -p no:faker -p no:anyio
asyncio_default_fixture_loop_scope = function
"""
_EFFORT: Final = re.compile(r"^found by run (\d+), made small by (\d+) more$", re.MULTILINE)
_FILE: Final = re.compile(r"^scenario: (\S+)$", re.MULTILINE)
#: Where the second find of a test begins.
_SECOND: Final = "sendbox explored, find 2 of "
_PLAN: Final = re.compile(
    r"^  (\S.*)\n    the service may do so by (.*); a client may rely on this:\n    (.*)$", re.MULTILINE
)
#: The name of each kind of misfortune, by what its story says of it.
_NAMES: Final = {(", ".join(kind.cites), kind.relies): kind.name for kinds in FAMILIES.values() for kind in kinds}


@dataclass(frozen=True, slots=True)
class Find:
    """What was found of a client: bug or question, after how many runs, made small by how many, in words, by which
    kinds of misfortune, entries of the scenario."""

    client: str
    kind: str
    runs: int
    shrinking: int
    says: list[str]
    kinds: list[str]
    entries: int


@dataclass(frozen=True, slots=True)
class Explored:
    """A session: how it ended, what it said, and the first find of each client by its name."""

    code: int
    text: str
    finds: dict[str, Find]


def explored(folder: Path, zoo: str, runs: int | None = None, only: str = "") -> Explored:
    """Explores the zoo in a folder with the usual options, or `only` the tests that fit an expression of pytest's `-k`.

    Its time is longer than usual, so that the result does not depend on the machine.
    """
    told = folder / "told.json"
    options = [f"--zoo={zoo}", f"--zoo-told={told}", f"-k={only}", f"--sendbox-explore={runs or ''}"]
    code, text = session(folder, *options, "--sendbox-explore-time=1h")
    said = json.loads(told.read_text("utf-8")) if told.exists() else {}
    stored = {find.file.name: find for find in find_files.read(folder / find_files.FOLDER)}
    finds = [_find(test, story, stored) for test, story in said.items()]
    return Explored(code, text, {find.client: find for find in finds})


def session(folder: Path, *options: str) -> tuple[int, str]:
    """The exit code and the output of a session with the suite, in a folder; questions fail their tests too."""
    (folder / "pytest.ini").write_text(_INI, "utf-8")
    (folder / SUITE.name).write_text(SUITE.read_text("utf-8"), "utf-8")
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", "--sendbox-explore-strict", *options],
        cwd=folder,
        env={**_unmeasured(), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _unmeasured() -> dict[str, str]:
    """The environment without a tracer: what the session runs, other tests cover."""
    return {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}


def _find(test: str, story: str, finds: Mapping[str, find_files.StoredFind]) -> Find:
    story = story.partition(_SECOND)[0]
    effort, file = _EFFORT.search(story), _FILE.search(story)
    runs, shrinking = map(int, effort.groups()) if effort else (0, 0)
    client = test.partition("[")[2].rstrip("]")
    find = finds.get(Path(file[1]).name if file else "")
    if find is None:
        return Find(client, "", runs, shrinking, [], [], 0)
    plan = _PLAN.findall(story)
    kinds = [_NAMES[cites, relies] for _, cites, relies in plan]
    size = sum(map(entries, find.plan.values()))
    return Find(client, find.kind, runs, shrinking, [says for says, _, _ in plan], kinds, size)


def entries(plan: Mapping[str, Any]) -> int:
    """How many entries a scenario has: items of lists, and values beside them."""
    counted = 0
    for key, value in plan.items():
        if isinstance(value, Mapping):
            counted += entries(value)
        elif key != "sendbox":
            counted += len(value) if isinstance(value, list) else 1
    return counted


def rows(finds: Mapping[str, Find]) -> list[dict[str, Any]]:
    """The table as it is kept; a bug that was not found has only its own words."""
    return [_row(bug, finds.get(bug.__name__)) for bug in BUGS]


def _row(bug: type[Bug], find: Find | None) -> dict[str, Any]:
    row: dict[str, Any] = {"bug": " ".join((bug.__doc__ or "").split())}
    if find is None:
        return row
    fields = ("kind", "kinds", "runs", "shrinking", "says")
    return {**row, **{name: getattr(find, name) for name in fields}}


def kept() -> list[dict[str, Any]]:
    """The table that is kept."""
    found: list[dict[str, Any]] = json.loads(KEPT.read_text("utf-8"))
    return found


def written(finds: Mapping[str, Find]) -> str:
    """The text of the kept table."""
    return json.dumps(rows(finds), indent=1, ensure_ascii=False) + "\n"


def fresh() -> str:
    """The text of the table, explored anew."""
    with tempfile.TemporaryDirectory() as folder:
        return written(explored(Path(folder), "bugs").finds)


def document() -> str:
    """The table of the documentation."""
    cells = [
        (
            row["bug"],
            row["kind"],
            ", ".join(row["kinds"]),
            str(row["runs"]),
            str(row["shrinking"]),
            "; ".join(row["says"]),
        )
        for row in kept()
    ]
    return table(("the client's bug", "found as", "kind", "found by run", "made small by", "what breaks it"), cells)
