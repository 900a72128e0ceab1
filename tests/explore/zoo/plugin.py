"""What the suite of the zoo needs: the shop, once for each client, and time that passes.

`--zoo` says how the suite is explored: each bug on its test and family, or the correct client on every test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from sendbox.fixture import Sandbox
from tests.explore.zoo.bugs import BUGS, CORRECT
from tests.explore.zoo.shop import Shop

#: So often the clock moves on before a shop that still has something to do is given up.
_PATIENCE = 40


def pytest_addoption(parser: pytest.Parser) -> None:
    """The zoo's own option."""
    parser.addoption("--zoo", choices=("bugs", CORRECT), help="which clients are explored")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test for each client; where the zoo is explored, only those that are asked for."""
    if "make_shop" not in metafunc.fixturenames:
        return
    explores = metafunc.config.getoption("--zoo", None)
    name = metafunc.function.__name__
    clients = [] if explores == "bugs" else [pytest.param(Shop, id=CORRECT)]
    for bug in BUGS if explores != CORRECT else ():
        if explores is None or bug.test == name:
            families = pytest.mark.sendbox(explore={"families": [bug.family]})
            clients.append(pytest.param(bug, id=bug.__name__, marks=families))
    metafunc.parametrize("make_shop", clients)


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
