"""What the suite of the zoo needs: the shop, once for each client, and time that passes.

`--zoo` says which clients are explored: each bug on its test, or the correct client on every test. `--zoo-told` names
the file for what was found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from sendbox.fixture import Sandbox
from tests.explore.zoo.bugs import ALL, BUGS, CORRECT
from tests.explore.zoo.shop import Shop
from tests.tiers import turn

#: Which clients are explored.
ZOO: Final = ("bugs", "correct")
#: So often the clock moves on before a shop that still has something to do is given up.
_PATIENCE: Final = 40


def pytest_addoption(parser: pytest.Parser) -> None:
    """The zoo's own options."""
    parser.addoption("--zoo", choices=ZOO, help="which clients are explored")
    parser.addoption("--zoo-told", type=Path, help="the file for what was found")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test for each client, in an ordinary run for a fifth of them; where the zoo is explored, only for those
    that are asked for."""
    if "make_shop" not in metafunc.fixturenames:
        return
    zoo, name = metafunc.config.getoption("--zoo", None), metafunc.function.__name__
    bugs = {None: turn(ALL, len(name), 5), "bugs": [bug for bug in BUGS if bug.test == name], "correct": ()}[zoo]
    clients = [pytest.param(bug, id=bug.__name__) for bug in bugs]
    if zoo != "bugs":
        clients.insert(0, pytest.param(Shop, id=CORRECT))
    metafunc.parametrize("make_shop", clients)


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
