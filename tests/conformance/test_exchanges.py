"""The conformance cases over HTTP: the exchanges, and the requests that the schema tests leave to a server."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import pytest

from sendbox.services.http.exchange import Route
from sendbox.services.messaging.http.legacy import ROUTES as LEGACY
from sendbox.services.messaging.http.legacy_queries import ROUTES as QUERIES
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.verify.http import ROUTES as VERIFY
from tests.box import ORIGIN, Answer, Box, boxed
from tests.conformance import exchanges
from tests.conformance.cases import Case as RequestCase
from tests.conformance.cases import load as load_requests

T = TypeVar("T")

CASES: Final = exchanges.load()
ROUTES: Final = {route.operation: route for route in (*SENDING, *SIMPLE, *LEGACY, *QUERIES, *VERIFY)}
#: Those that a world answers whatever happened in it before; what is about a session, the exchanges send.
REQUESTS: Final = [
    case for case in load_requests() if ROUTES[case.operation].auth != "none" and "{" not in ROUTES[case.operation].path
]
#: The key of the world that the requests go to.
KEY: Final = "test-requests"
#: Sections of the specification that are built; each must have cases.
SECTIONS: Final = (
    *("2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2", "3.3", "4.1", "4.2", "4.3", "4.4", "4.5"),
    *("5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "6", "7.1", "7.2", "7.3", "8", "9"),
)
#: Those whose cases run what no other measured test does.
MEASURED: Final = ("§4.3", "§4.5", "§5.5", "§7.1", "§7.2")


class Server:
    """A sandbox on a loop of its own, for tests that are plain functions."""

    def __init__(self, runner: asyncio.Runner, box: Box) -> None:
        self._runner = runner
        self.box = box

    def run(self, what: Coroutine[Any, Any, T]) -> T:
        """The outcome of what runs on the sandbox's loop; nothing that went out meanwhile may break the contract."""
        outcome = self._runner.run(what)
        violations = self.box.runtime.violations[:]
        self.box.runtime.violations.clear()
        assert violations == []
        return outcome


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        box = runner.run(stack.enter_async_context(boxed()))
        scenario = {"sendbox": 1, "extends": "default", "assume": {"rcs": True}}
        runner.run(box.open(KEY, scenario=scenario))
        yield Server(runner, box)
        runner.run(stack.aclose())


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=exchanges.id_of(case.section, case.name),
            marks=() if case.section in MEASURED else pytest.mark.unmeasured,
        )
        for case in CASES
    ],
)
def test_exchange(case: exchanges.Case, server: Server) -> None:
    """Each answer, event, call and message of a case is what the specification says."""
    assert server.run(exchanges.run(case, server.box)) == []


@pytest.mark.unmeasured
@pytest.mark.sample(3)
@pytest.mark.parametrize("case", [pytest.param(case, id=exchanges.id_of(case.section, case.name)) for case in REQUESTS])
def test_request_over_http(case: RequestCase, server: Server) -> None:
    """A legal request is answered with 200; an illegal one with 400 and its finding, also where no schema can tell.

    `GET /simple/message` answers 200 all the same (A12).
    """
    route = ROUTES[case.operation]
    answer = server.run(_send(server.box, route, case.body))
    polite = route.operation == "sendSimpleMessageByQuery"
    assert answer.status == (200 if case.valid or polite else 400), answer
    if polite:
        assert answer.json["accepted"] is case.valid
    if case.valid:
        return
    entry = server.run(server.box.get(answer.headers["sendbox-journal"].removeprefix(ORIGIN))).json
    first = entry["findings"][0]
    assert first["path"] == case.path
    if case.stage != "schema":
        assert first["rule"] == case.rule
    if route.interface == "legacy":
        assert re.fullmatch(rb"ERROR\|[0-9]{3}", answer.body)
    elif route.interface == "verify":
        assert answer.json["error"] in ("INVALID_PHONE", "MISSING_FIELD")
    elif not polite:
        assert answer.json["Message"].endswith(f" at {case.path}")


async def _send(box: Box, route: Route, body: Any) -> Answer:
    headers = {"content-type": route.request_type}
    if route.auth != "form":
        headers["x-api-key"] = KEY
    if route.method == "POST" and route.request_type == "application/json":
        return await box.post(route.path, body, **headers)
    fields = urlencode({"apikey": KEY, **body} if route.auth == "form" else body)
    if route.method == "GET":
        return await box.call("GET", f"{route.path}?{fields}", headers=headers)
    return await box.call("POST", route.path, fields.encode(), headers)


def test_names_are_unique_and_make_a_key() -> None:
    """A name leads to one case, and `test-<name>` is a legal key."""
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []
    assert [case.name for case in CASES if not exchanges.NAME.fullmatch(case.name)] == []


def test_every_section_is_covered() -> None:
    """Each section that is built has cases, and no case names another one."""
    assert sorted({case.section for case in CASES}) == sorted(f"§{section}" for section in SECTIONS)


def test_a_case_expects_something() -> None:
    """No case passes by looking at nothing."""
    looks = {"expect", "expect_events", "expect_calls", "expect_messages"}
    assert [case.name for case in CASES if not any(looks & step.keys() for step in case.steps)] == []


def test_every_row_and_status_of_verify_occurs() -> None:
    """Each status that a row of the Verify interface can answer stands in an exchange, the inner error apart (§7.1)."""
    expected = {(row.method, row.path, status) for row in VERIFY for status in row.responses if status != 500}
    found = set()
    for case in CASES:
        for step in case.steps:
            if "request" in step:
                path = re.sub(r"(?<=/validations/)[^/]+", "{token}", step["request"]["path"])
                found.add((step["request"]["method"], path, step["expect"]["status"]))
    assert expected - found == set()
