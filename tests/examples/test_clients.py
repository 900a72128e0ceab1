"""The clients of examples/ do against a sandbox what docs/clients.md shows, over HTTP and over TLS."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.documentation.code import CLIENTS
from tests.documentation.markdown import ROOT, blocks
from tests.examples.running import COMPILED, LIMIT, need
from tests.house import House, housed

PAGE: Final = blocks(ROOT / "docs" / "clients.md")
#: How each is run: what the page's table says, and the program that must be there.
RUNS: Final = {
    "javascript": ("node", ["node", CLIENTS["javascript"]], "NODE_EXTRA_CA_CERTS"),
    "php": ("php", ["php", CLIENTS["php"]], "SSL_CERT_FILE"),
    "go": ("go", ["go", "run", CLIENTS["go"]], "SSL_CERT_FILE"),
    "ruby": ("ruby", ["ruby", CLIENTS["ruby"]], "SSL_CERT_FILE"),
    "sh": ("curl", [CLIENTS["sh"]], "CURL_CA_BUNDLE"),
}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with housed() as opened:
        yield opened


@pytest.mark.parametrize("secure", [False, True], ids=["http", "tls"])
@pytest.mark.parametrize(
    "language",
    [pytest.param(language, marks=[pytest.mark.deep] if language in COMPILED else []) for language in CLIENTS],
)
def test_a_client_prints_what_the_page_shows(house: House, tmp_path: Path, language: str, secure: bool) -> None:
    """It ends well, leaves no world behind, and its lines are those of the page."""
    program, line, trust = RUNS[language]
    need(program)
    authority = tmp_path / "ca.pem"
    authority.write_text(house.ca, "utf-8")
    key = f"test-{language}-{'tls' if secure else 'http'}"
    given = {"SANDBOX": house.secure if secure else house.origin, "KEY": key, "no_proxy": "*"}
    if secure:
        given[trust] = str(authority)
    done = subprocess.run(line, cwd=ROOT, env=os.environ | given, capture_output=True, text=True, timeout=LIMIT)
    (shown,) = [block.text for block in PAGE if block.language == "text"]
    assert (done.returncode, done.stdout) == (0, shown), done.stderr
    assert key not in {world["id"] for world in house.control("GET", "/worlds")["worlds"]}


def test_the_page_says_how_each_is_run() -> None:
    """A line of its table has the command and the variable that the test uses."""
    text = (ROOT / "docs" / "clients.md").read_text("utf-8")
    for _, line, trust in RUNS.values():
        assert f"| `{' '.join(line)}` | `{trust}=sendbox-ca.pem` |" in text


def test_the_helper_for_tests_in_node(house: House) -> None:
    """Its tests pass, and leave no world behind."""
    need("node")
    worlds = house.control("GET", "/worlds")["worlds"]
    given = {"SANDBOX": house.origin, "no_proxy": "*"}
    line = ["node", "examples/sandbox.test.mjs"]
    done = subprocess.run(line, cwd=ROOT, env=os.environ | given, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout
    assert house.control("GET", "/worlds")["worlds"] == worlds
