"""Clients that openapi-typescript generates from the two contracts compile, and do what they are to do.

A deep run installs the packages that examples/typescript pins. Others check what such a generator looks at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.documentation.markdown import ROOT
from tests.examples.running import need
from tests.house import House, housed

EXAMPLE: Final = ROOT / "examples" / "typescript"
#: Seconds of each step; packages may have to be fetched.
LONGEST: Final = 300


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with housed() as opened:
        yield opened


@pytest.mark.deep
def test_generated_clients_compile_and_work(house: House, tmp_path: Path) -> None:
    """The types are made of both contracts, the example compiles with `strict`, and passes."""
    need("npm")
    folder = shutil.copytree(EXAMPLE, tmp_path / "typescript")
    given = os.environ | {"SANDBOX": house.origin, "KEY": "test-typescript", "no_proxy": "*"}

    def run(*line: str) -> str:
        done = subprocess.run(line, cwd=folder, env=given, capture_output=True, text=True, timeout=LONGEST)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    run("npm", "ci", "--no-audit", "--no-fund")
    run("npm", "run", "types")
    run("npm", "run", "build")
    assert run("npm", "--silent", "start").splitlines() == [
        "clock: manual",
        "send: 200, 1 accepted",
        "webhooks: 3, answered 200 200 200",
        "delivered: 420777000101",
        "results: sending sent delivered",
        "events: sentMessage sending, sentMessage sent, sentMessage delivered",
    ]


@pytest.mark.parametrize("path", ["/openapi.json", "/_sandbox/openapi.json"])
def test_what_may_be_left_out_is_optional_for_generators(house: House, path: str) -> None:
    """A property that is not required has its `default` in an `allOf`: generators take others for required."""
    document = house.call("socket", "GET", path).json()
    wrong: list[str] = []

    def look(node: Any, place: str) -> None:
        if isinstance(node, list):
            for number, item in enumerate(node):
                look(item, f"{place}/{number}")
        if not isinstance(node, dict):
            return
        properties = node.get("properties")
        if isinstance(properties, dict):
            wrong.extend(f"{place}/{name}" for name, value in properties.items() if "default" in value)
        for key, value in node.items():
            look(value, f"{place}/{key}")

    look(document, "")
    assert wrong == []
