"""What the suite of the zoo needs: the shop, once for each client, and time that passes.

`--zoo` says which clients are explored: each bug on its test and family, the correct client on that of the first bug
of each family, or on every test with all families together. `--zoo-told` names the file for what was found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from sendbox.exploring.families.table import FAMILIES
from sendbox.fixture import Sandbox
from tests.explore.zoo.bugs import BUGS
from tests.explore.zoo.shop import Shop

#: Which clients are explored.
ZOO: Final = ("bugs", "correct", "whole")
#: Families that no bug belongs to, and the test on which the correct client is explored with them.
_MORE: Final = {"late": "test_a_notice_arrives"}
#: So often the clock moves on before a shop that still has something to do is given up.
_PATIENCE: Final = 40


def pytest_addoption(parser: pytest.Parser) -> None:
    """The zoo's own options."""
    parser.addoption("--zoo", choices=ZOO, help="which clients are explored")
    parser.addoption("--zoo-told", type=Path, help="the file for what was found")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test for each client; where the zoo is explored, only for those that are asked for."""
    if "make_shop" not in metafunc.fixturenames:
        return
    zoo, name = metafunc.config.getoption("--zoo", None), metafunc.function.__name__
    mine = [bug for bug in BUGS if bug.test == name]
    first = {**_MORE, **{bug.family: bug.test for bug in reversed(BUGS)}}
    clients = {
        None: [_client(Shop, "correct"), *(_client(bug, bug.__name__) for bug in BUGS)],
        "bugs": [_client(bug, bug.__name__, bug.family) for bug in mine],
        "correct": [_client(Shop, family, family) for family, test in first.items() if test == name],
        "whole": [_client(Shop, "correct", *FAMILIES)],
    }[zoo]
    metafunc.parametrize("make_shop", clients)


def _client(shop: type[Shop], name: str, *families: str) -> Any:
    """A client under test, and how it is explored."""
    marks = [pytest.mark.sendbox(explore={"families": list(families)})] if families else []
    return pytest.param(shop, id=name, marks=marks)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Writes what is said of each test that broke."""
    file = config.getoption("--zoo-told", None)
    if file is not None:
        broke = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
        told = {report.nodeid: report.longreprtext for report in broke}
        file.write_text(json.dumps(told), "utf-8")


@pytest.fixture
def shop(make_shop: type[Shop], sendbox: Sandbox) -> Iterator[Shop]:
    """A shop whose service is the sandbox."""
    headers = {"x-api-key": sendbox.api_key}
    with httpx.Client(base_url=sendbox.origin, headers=headers, transport=sendbox.transport) as http:
        shop = make_shop(http, lambda: sendbox.clock.now)
        sendbox.deliver_to(shop)
        yield shop


@pytest.fixture
def passes(sendbox: Sandbox, shop: Shop) -> Callable[[str], None]:
    """Lets time pass: the shop's timer rings at its end."""

    def passes(time: str) -> None:
        sendbox.advance(time)
        shop.work()

    return passes


@pytest.fixture
def ends(sendbox: Sandbox, shop: Shop) -> Callable[[], None]:
    """Lets time pass until nothing is due any more, neither at the service nor in the shop."""

    def ends() -> None:
        for _ in range(_PATIENCE):
            sendbox.advance(until="idle")
            if shop.due is None:
                return
            sendbox.advance(to=max(shop.due, sendbox.clock.now))
            shop.work()
        raise AssertionError("the shop is never done")

    return ends
