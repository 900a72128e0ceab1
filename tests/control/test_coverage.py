"""Coverage through control: every snippet is legal, requests try what they promise, worlds add up, formats."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest

from sendbox.app import SERVED
from sendbox.control.catalog import catalog
from sendbox.engine.coverage import Item, Row
from sendbox.runtime.slot import Slice
from sendbox.services.assumptions import registry
from sendbox.services.coverage.assumptions import UNTOLD
from sendbox.services.coverage.catalog import DIMENSIONS
from sendbox.services.messaging.messaging import Messaging
from tests.box import CONTRACT, KEY, WORLD, Answer, Box, boxed, turns
from tests.scenarios import check

ITEMS: Final = catalog(SERVED).items
ROWS: Final[dict[str, Any]] = {row.operation: row for row in SERVED.routes}
FORM: Final = "application/x-www-form-urlencoded"
#: Items whose request needs a name that another call gave out, a domain of the account, or is denied in no world.
NEED_MORE: Final = {
    "operations": {
        "changeSubKey accepted", "verifyCode accepted", "uploadBulk accepted",
        "verifyProof accepted",  # without a secret
        "legacyRequestStatus accepted", "legacyRequestStatusByQuery accepted",
    },
    "errors": {"legacy denied key"},
    "states": {"key changed"},
    "fields": {
        "listMessages $.cursor", "verifyCode $.code",
        *(item.name for item in ITEMS if item.name.startswith(("changeSubKey $", "verifyProof $"))),
        *(item.name for item in ITEMS if item.name.startswith("legacyRequestStatus") and item.dimension == "fields"),
        *(item.name for item in ITEMS if item.name.endswith("_url.domain")),
        *(item.name for item in ITEMS if item.assumed == "A02" and item.dimension == "fields"),
    },
}  # fmt: skip


def of_form(form: str) -> list[Item]:
    """The items whose snippet has this form; there are some of each."""
    items = [item for item in ITEMS if item.form == form]
    assert items
    return items


async def perform(box: Box, snippet: str, token: str = "TOKEN") -> Answer:
    """A request as a snippet writes it: method, path, body."""
    method, path, *rest = snippet.replace("test-demo", KEY).replace("TOKEN", token).split(" ", 2)
    body = rest[0] if rest else ""
    headers = {"content-type": "application/json" if body[:1] in ("{", "[") else FORM}
    if "apikey=" not in snippet:
        headers["x-api-key"] = KEY
    return await box.call(method, path, body.encode(), headers)


async def tried(box: Box, at: str = f"{WORLD}/coverage") -> dict[str, dict[str, int]]:
    """What was tried, without what was not."""
    told = (await box.get(at)).json
    found = {
        dimension: {name: count for name, count in counts.items() if count}
        for dimension, counts in told["items"].items()
    }
    return {dimension: counts for dimension, counts in found.items() if counts}


# --- snippets


def test_items_have_names_of_their_own() -> None:
    """No two items of a dimension share a name, every dimension has some, and each says where it is written."""
    assert len({(item.dimension, item.name) for item in ITEMS}) == len(ITEMS)
    assert {item.dimension for item in ITEMS} == set(DIMENSIONS)
    assert [item.name for item in ITEMS if not item.section.startswith("§")] == []
    ids = {row.id for row in registry()}
    assert [item.name for item in ITEMS if item.assumed is not None and item.assumed not in ids] == []


@pytest.mark.deep
def test_scenarios_of_snippets_compile() -> None:
    """A snippet that is a scenario is legal in one that extends the default."""
    problems = {
        f"{item.dimension}: {item.name}": [*map(str, check(f"sendbox: 1\nextends: default\n{item.snippet}\n"))]
        for item in of_form("scenario")
    }
    assert {name: lines for name, lines in problems.items() if lines} == {}


def test_lines_of_tests_are_python() -> None:
    """A snippet that is a line of a test can be read as one."""
    for item in of_form("python"):
        compile(item.snippet, item.name, "exec")


def test_requests_of_fields_are_legal() -> None:
    """The request that would try a field has it, and keeps to the contract."""
    rows, checkers = catalog(SERVED), {}
    problems: dict[str, Any] = {}
    for item in of_form("request"):
        if item.dimension == "fields":
            operation = item.name.partition(" ")[0]
            if operation not in checkers:
                checkers[operation] = CONTRACT.checker(ROWS[operation].request or ROWS[operation].query)
            request = _request(rows.rows[operation], item.snippet)
            findings = checkers[operation].findings(request)
            if findings or item.name not in rows.fields(operation, request):
                problems[item.name] = findings or "the request does not have the field"
    assert problems == {}


def _request(row: Row, snippet: str) -> Any:
    _, path, *rest = snippet.split(" ", 2)
    if row.takes == "json":
        return json.loads(rest[0])
    return dict(parse_qsl(path.partition("?")[2] if row.takes == "query" else rest[0], keep_blank_values=True))


@pytest.mark.asyncio
async def test_requests_try_what_they_promise() -> None:
    """Each request that stands as a snippet tries its item, but for those that need what another call gives out."""
    async with boxed() as box:
        session = (await box.post("/v1/validations", {"phoneNumber": "420777000114"}, x_api_key=KEY)).json
        for item in ITEMS:
            if item.form == "request":
                answer = await perform(box, item.snippet, session["token"])
                assert answer.status < 500, item
        await box.advance("1m")
        done = await tried(box)
        never: dict[str, set[str]] = {}
        for item in ITEMS:
            if item.form == "request" and item.name not in done.get(item.dimension, {}):
                never.setdefault(item.dimension, set()).add(item.name)
        assert never == NEED_MORE


# --- worlds


@pytest.mark.asyncio
async def test_the_sum_of_open_worlds() -> None:
    """Coverage of all worlds is that of each, and knows of keys that opened none; a closed world is gone."""
    async with boxed() as box:
        await box.send()
        await box.send(key="test-2")
        await box.post("/v2/message", {}, x_api_key="denied")
        assert (await tried(box))["operations"] == {"sendMessage accepted": 1}
        everything = await tried(box, "/_sandbox/coverage")
        assert everything["operations"] == {"sendMessage accepted": 2}
        assert everything["errors"] == {"sending denied key": 1}
        await box.delete(WORLD)
        assert (await tried(box, "/_sandbox/coverage"))["operations"] == {"sendMessage accepted": 1}
        assert (await box.get(f"{WORLD}/coverage")).status == 404


@pytest.mark.asyncio
async def test_what_ended_is_kept_where_it_is_asked_for() -> None:
    """With `coverage` a reset, a restore and a closing lose nothing, and count nothing twice."""
    async with boxed(coverage=True) as box:
        await box.send()
        await box.put(f"{WORLD}/checkpoints/here")
        await box.send("420777000102")
        await box.post(f"{WORLD}/checkpoints/here")
        await box.send("420777000103")
        assert (await tried(box))["operations"] == {"sendMessage accepted": 3}
        await box.post(f"{WORLD}/reset")
        assert (await tried(box))["operations"] == {"sendMessage accepted": 3}
        await box.send()
        await box.delete(WORLD)
        assert (await tried(box, "/_sandbox/coverage"))["operations"] == {"sendMessage accepted": 4}
        await box.open()
        assert await tried(box) == {}


@pytest.mark.asyncio
async def test_without_it_an_ended_epoch_is_forgotten() -> None:
    """Where coverage was not asked for nothing is kept; a restored journal is told whole."""
    async with boxed() as box:
        await box.send()
        await box.put(f"{WORLD}/checkpoints/here")
        await box.post(f"{WORLD}/checkpoints/here")
        assert (await tried(box))["operations"] == {"sendMessage accepted": 1}
        await box.post(f"{WORLD}/reset")
        assert await tried(box) == {}


@pytest.mark.asyncio
async def test_worlds_are_read_before_they_are_taken_apart() -> None:
    """The sweep reads what was not asked for, and reading it twice at once counts it once."""
    async with boxed(coverage=True) as box:
        runtime = box.runtime
        for number in range(120):
            await box.send(f"420777{number:04}01")
        world = runtime.worlds[KEY].world
        (message, *_) = Messaging.of(world).messages
        await box.delete(WORLD)
        reading = runtime.tried.fold(world)
        next(reading)  # another caller reads it, and pauses
        assert runtime.tried.reads(world)
        runtime._sweep()
        assert message.submission.messages
        for _ in reading:
            pass
        assert not runtime.tried.reads(world)
        runtime._sweep()
        await turns()
        assert not message.submission.messages
        assert (await tried(box, "/_sandbox/coverage"))["operations"] == {"sendMessage accepted": 120}


@pytest.mark.asyncio
async def test_who_asks_waits_for_what_is_being_read() -> None:
    """A world that another caller is just reading is in the sum as well."""
    async with boxed(coverage=True) as box:
        for number in range(120):
            await box.send(f"420777{number:04}01")
        world = box.runtime.worlds[KEY].world
        await box.delete(WORLD)
        reading = box.runtime.tried.fold(world)
        next(reading)
        asked = asyncio.create_task(tried(box, "/_sandbox/coverage"))
        await turns(20)
        assert not asked.done()
        for _ in reading:
            pass
        assert (await asked)["operations"] == {"sendMessage accepted": 120}


@pytest.mark.asyncio
async def test_a_world_that_ends_while_it_is_read_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever adds up all worlds meets one that is closed meanwhile: it counts among those that are gone."""
    monkeypatch.setattr(Slice, "over", property(lambda _self: True))  # pauses wherever it may
    async with boxed(coverage=True) as box:
        for number in range(300):
            await box.send(f"420777{number:04}01")
        hosted = box.runtime.worlds[KEY]
        asked = asyncio.create_task(tried(box, "/_sandbox/coverage"))
        while not hosted.readers:
            await asyncio.sleep(0)
        await box.delete(WORLD)
        assert (await asked)["operations"] == {"sendMessage accepted": 300}


# --- formats


@pytest.mark.asyncio
async def test_formats() -> None:
    """JSON unless asked for text or a page; another format is refused by name."""
    async with boxed() as box:
        await box.send()
        plain = await box.get(f"{WORLD}/coverage")
        assert plain.json.keys() == {"sendbox", "engine", "scope", "total", "dimensions", "items", "leaned"}
        assert list(plain.json["items"]) == list(DIMENSIONS)
        text = await box.get(f"{WORLD}/coverage?format=text")
        assert text.headers["content-type"] == "text/plain; charset=utf-8"
        assert text.body.decode().startswith("4 of ")
        page = await box.get("/_sandbox/coverage?format=html")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.body.startswith(b"<!doctype html>")
        for at in (WORLD, "/_sandbox"):
            wrong = await box.get(f"{at}/coverage?format=xml")
            assert wrong.status == 400
            assert wrong.json["message"] == 'format: "xml" is not known; legal: text, json, html'


@pytest.mark.asyncio
async def test_the_total_is_of_a_scope() -> None:
    """Of the operations that are asked for, that were called, or that the scenario names; the items are all there."""
    async with boxed() as box:
        await box.send()
        everything = (await box.get(f"{WORLD}/coverage")).json
        assert (everything["scope"], everything["total"]["of"]) == (None, len(ITEMS))
        scoped = (await box.get(f"{WORLD}/coverage?scope=createValidation,verifyCode")).json
        assert scoped["scope"] == ["createValidation", "verifyCode"]
        assert scoped["total"]["tried"] == 0 < scoped["total"]["of"] < len(ITEMS)
        assert scoped["items"] == everything["items"]
        used = (await box.get("/_sandbox/coverage?scope=used")).json
        assert (used["scope"], used["total"]["tried"]) == (["sendMessage"], everything["total"]["tried"])
        assert used["dimensions"][0] == {"name": "operations", "heading": "Operations", "tried": 1, "of": 2}
        assert sum(each["of"] for each in used["dimensions"]) == used["total"]["of"]
        wrong = await box.get(f"{WORLD}/coverage?scope=sendMesage")
        assert (wrong.status, wrong.json["message"]) == (
            400,
            'scope: "sendMesage" is not an operation; did you mean "sendMessage"?',
        )
        wrong = await box.get(f"{WORLD}/coverage?scope=everything")
        assert wrong.json["message"] == (
            'scope: "everything" is not an operation; legal: used, or names such as sendMessage'
        )


@pytest.mark.asyncio
async def test_the_items_of_a_dimension() -> None:
    """Each with how often it was tried, or how to try it; what was never tried comes first."""
    async with boxed() as box:
        await box.send()
        shown = (await box.get(f"{WORLD}/coverage/operations?scope=used")).json
        assert (shown["heading"], shown["tried"], shown["of"]) == ("Operations", 1, 2)
        assert [(row["name"], row["count"]) for row in shown["items"]] == [
            ("sendMessage refused", 0),
            ("sendMessage accepted", 1),
        ]
        assert shown["items"][0]["snippet"].startswith("POST /v2/message ")
        wrong = await box.get(f"{WORLD}/coverage/opera")
        assert (wrong.status, wrong.json["error"]) == (400, "bad_argument")
        assert "legal: operations, results" in wrong.json["message"]


@pytest.mark.asyncio
async def test_a_scenario_says_what_is_to_be_tried() -> None:
    """Of a world its own scenario counts, of a server all together, those of closed worlds too where it reads them."""
    async with boxed(coverage=True) as box:
        for number, name in enumerate(("sendMessage", "createValidation")):
            scenario = {"sendbox": 1, "coverage": {"operations": [name]}}
            opening = json.dumps({"id": f"test-{number}", "scenario": scenario})
            await box.call("POST", "/_sandbox/worlds", opening.encode())
            own = (await box.get(f"/_sandbox/worlds/test-{number}/coverage")).json
            assert own["scope"] == [name]
        assert (await box.get("/_sandbox/coverage")).json["scope"] == ["sendMessage", "createValidation"]
        await box.call("DELETE", "/_sandbox/worlds/test-0")
        assert (await box.get("/_sandbox/coverage")).json["scope"] == ["sendMessage", "createValidation"]


@pytest.mark.asyncio
async def test_assumptions_say_what_was_leaned_on() -> None:
    """Every row is listed as before; beside them those that the client's traffic rested on, with entries."""
    async with boxed() as box:
        await box.send(unheard=1)
        told = (await box.get(f"{WORLD}/assumptions")).json
        assert [row["id"] for row in told["assumptions"]] == [row.id for row in registry()]
        assert told["settings"]["webhook_retry"] == [30_000, 60_000, 120_000, 240_000]
        assert told["leaned"] == [{"id": "A57", "count": 1, "entries": [1]}]
        assert told["untold"] == [{"id": id_, "reason": reason} for id_, reason in UNTOLD.items()]
        entry = (await box.get(f"{WORLD}/journal/1")).json
        assert entry["advice"][0]["assumed"] == "A57"
