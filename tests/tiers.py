"""How much of itself a test does: a sample in an ordinary run, everything in a deep one (`scripts/test deep`).

A test that an ordinary run leaves out as a whole has the marker `deep`; of one with the marker `sample(n)` an ordinary
run does every n-th case. Where coverage is measured, no tracer follows a test with the marker `unmeasured`, nor those
of the files below. `tests/conftest.py` carries all of it out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

#: Whether everything is run.
DEEP: Final = os.environ.get("SENDBOX_DEEP") == "1"
#: So many times as many examples of a property are made up in a deep run.
MORE: Final = 25
#: Seconds that a long test may take on a busy machine; `timeout` of pyproject.toml is for all others.
LONG: Final = 3_600 if DEEP else 600

#: Folders, and the tests in them that run what others cover: whole worlds again and again, made-up calls, programs,
#: sessions of pytest within a test, browsers, comparisons of texts. Under a tracer they would take twice as long.
_UNMEASURED: Final[Mapping[str, str]] = {
    ".": "app architecture arrival bounds command docs extension fuzz image versions wheel",
    "benchmarks": "measuring",
    "commands": "explore explore_runs forward_many program replay",
    "conformance": "requests",
    "contract": "openapi validators",
    "control": (
        "carriers checkpoints codes coverage faults methods operation outbox past records routes worlds worlds_closed"
    ),
    "control/lists": "request_texts",
    "durable": "kills kills_many",
    "engine": "bounds decisions outlets properties",
    "examples": "*",
    "explore": "clients people search zoo",
    "explore/narrow": "clinic",
    "explore/zoo": "*",
    "fixture": (
        "acts callbacks coverage crashes crashing deliver_to exploring export export_built freezing marker overtaking "
        "own_clocks plain plugin remote"
    ),
    "interfaces": "addressee advising",
    "interfaces/legacy": "legacy",
    "interfaces/partner": "decode tokens",
    "interfaces/rest": "errors messages",
    "interfaces/sending": "handlers simple",
    "isolation": "*",
    "journeys": "login reference",
    "model": "*",
    "page/browser": "*",
    "playing": "faults planned steps",
    "recorded": "*",
    "recording": "exchanges",
    "replaying": "*",
    "runtime": "delivering delivering_inside ending hold moving moving_settling remains runtime scale",
    "scenario": (
        "api cursor expect expect_mutations forms language library library_clients library_plays lints met mutations "
        "numbers read shape slips stories subkeys timeline traffic verify webhook_rules write"
    ),
    "server": "app_errors faulting hosts loop tls",
    "services/account": "account",
    "services/messaging": "accept checks handsets rows",
    "traceability": "*",
    "webhooks": "callbacks policy sender",
}


def unmeasured_files() -> frozenset[Path]:
    """The files whose tests no tracer follows. Raises `ValueError` for a name that no file has."""
    root = Path(__file__).parent
    files: set[Path] = set()
    for folder, names in _UNMEASURED.items():
        for name in names.split():
            named = list((root / folder).glob(f"**/test_{name}.py" if name == "*" else f"test_{name}.py"))
            if not named:
                raise ValueError(f"{folder}/test_{name}.py is unmeasured, and is no file")
            files.update(named)
    return frozenset(files)


def examples(count: int, deep: int | None = None) -> int:
    """How many examples of a property are made up: `count` in an ordinary run, `deep` or `MORE` times as many else."""
    return (deep or count * MORE) if DEEP else count


def turn(values: Sequence[T], number: int, parts: int) -> Sequence[T]:
    """The values that the place with this number gets: one part of them in an ordinary run, so that its neighbours
    get the others."""
    return values if DEEP else values[number % parts :: parts]
