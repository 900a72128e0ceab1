"""The sentences of `sentences.yaml`, what their tests are called, and the thirty that are drawn."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import yaml

from tests.conformance import cases, exchanges
from tests.conformance.test_exchanges import REQUESTS

FILE: Final = Path(__file__).parent / "sentences.yaml"
TESTS: Final = Path(__file__).parent.parent
#: Every section of the specification that says how the service behaves.
SECTIONS: Final = (
    *("1", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2", "3.3", "4.1", "4.2", "4.3", "4.4", "4.5"),
    *("5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7", "6", "7.1", "7.2", "7.3", "8", "9"),
)
#: How many are drawn, and what makes the draw this one.
DRAWN: Final = 30
SEED: Final = "traceability"
#: The head of a function that is a test.
_TEST: Final = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One fact of the specification; `tests` are names of tests, in full with brackets, else also their beginnings."""

    id: str
    section: str
    says: str
    tests: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)


@cache
def load() -> tuple[Sentence, ...]:
    """Every sentence, in the order of the specification."""
    return tuple(Sentence(**row) for row in yaml.load(FILE.read_text("utf-8"), Loader=yaml.CSafeLoader))


@cache
def names() -> frozenset[str]:
    """What tests are called: every function of every file, and the cases of the conformance suite with brackets."""
    found = {name for path in TESTS.rglob("test_*.py") for name in _TEST.findall(path.read_text("utf-8"))}
    found |= {f"test_exchange[{exchanges.id_of(case.section, case.name)}]" for case in exchanges.load()}
    found |= {f"test_request_over_http[{exchanges.id_of(case.section, case.name)}]" for case in REQUESTS}
    # `test_request` skips the others, whose rules no schema can say
    found |= {f"test_request[{case.section}-{case.name}]" for case in cases.load() if case.stage == "schema"}
    return frozenset(found)


def exists(name: str) -> bool:
    """Whether there is a test of this name, or one whose name begins so."""
    if name.endswith("]"):
        return name in names()
    return any(each.startswith(name) for each in names())


def drawn() -> list[Sentence]:
    """The thirty, in the order of the specification: the first by digest among those that an exchange proves."""
    pool = [each for each in load() if any(name.startswith("test_exchange[") for name in each.tests)]
    chosen = set(sorted((each.id for each in pool), key=_digest)[:DRAWN])
    return [each for each in pool if each.id in chosen]


def _digest(id_: str) -> bytes:
    return blake2b(f"{SEED}:{id_}".encode(), digest_size=8).digest()
