"""Coverage through control: every snippet is legal, requests try what they promise, worlds add up, formats."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from sendbox.control.coverage import catalog
from sendbox.core.coverage import Row
from sendbox.core.covered import DIMENSIONS, Item
from sendbox.scenario.compile import check
from tests.box import CONTRACT, KEY, Answer, Box

pytestmark = pytest.mark.asyncio

ITEMS: Final = catalog().items
FORM: Final = "application/x-www-form-urlencoded"


def named(items: Any) -> Any:
    return pytest.mark.parametrize("item", items, ids=lambda item: f"{item.dimension}: {item.name}")


async def perform(box: Box, snippet: str, key: str = KEY, token: str = "TOKEN") -> Answer:
    """A request as a snippet writes it: method, path, body."""
    method, path, *rest = snippet.replace("test-demo", key).replace("TOKEN", token).split(" ", 2)
    body = rest[0] if rest else ""
    headers = {"content-type": FORM if body[:1] not in ("{", "[") else "application/json"}
    if "apikey=" not in snippet:
        headers["x-api-key"] = key
    return await box.call(method, path, body.encode(), headers)


async def tried(box: Box, key: str = KEY) -> dict[str, dict[str, int]]:
    """What was tried in a world, without what was not."""
    told = (await box.get(f"/_sandbox/worlds/{key}/coverage")).json
    return {
        dimension: {name: count for name, count in counts.items() if count}
        for dimension, counts in told["items"].items()
        if any(counts.values())
    }


# --- snippets


async def test_items_have_names_of_their_own() -> None:
    """No two items of a dimension share a name, and every dimension has some."""
    assert len({(item.dimension, item.name) for item in ITEMS}) == len(ITEMS)
    assert list(dict.fromkeys(item.dimension for item in sorted(ITEMS, key=_place))) == list(DIMENSIONS)


def _place(item: Item) -> int:
    return list(DIMENSIONS).index(item.dimension)


@named([item for item in ITEMS if item.form == "scenario"])
async def test_scenarios_of_snippets_compile(item: Item) -> None:
    """A snippet that is a scenario is legal in one that extends the default."""
    problems = check(f"sendbox: 1\nextends: default\n{item.snippet}\n")
    assert [str(problem) for problem in problems if problem.rule != "not-built"] == []


@named([item for item in ITEMS if item.form == "python"])
async def test_lines_of_tests_are_python(item: Item) -> None:
    """A snippet that is a line of a test can be read as one."""
    compile(item.snippet, item.name, "exec")


@named([item for item in ITEMS if item.dimension == "fields"])
async def test_requests_of_fields_are_legal(item: Item) -> None:
    """The request that would try a field has it, and keeps to the contract."""
    operation, _, path = item.name.partition(" ")
    route = ROUTES[operation]
    request = _request(catalog().rows[operation], item.snippet)
    assert item.name in catalog().fields(operation, request)
    assert CONTRACT.checker(route.request or route.query).findings(request) == []
    assert path.startswith("$")


def _request(row: Row, snippet: str) -> Any:
    from urllib.parse import parse_qsl

    _, path, *rest = snippet.split(" ", 2)
    if row.takes == "json":
        return json.loads(rest[0])
    return dict(parse_qsl(path.partition("?")[2] if row.takes == "query" else rest[0]))


from sendbox.routes import ROUTES as ROWS  # noqa: E402

ROUTES: Final[dict[str, Any]] = {row.operation: row for row in ROWS}
