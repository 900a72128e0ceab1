"""Work on what is long: bounded, or done beside the event loop. Counted in bytes, parts and threads, never by time."""

from __future__ import annotations

import asyncio
import re
import threading
import tracemalloc
from typing import Any, Final

import orjson
import pytest

from sendbox.app import SERVED
from sendbox.control import routes
from sendbox.control.reading import run_in_slices
from sendbox.engine import bounds
from sendbox.engine.bounds import ESCAPES, PARAMETERS
from sendbox.engine.kept import ITEMS_PER_PAUSE, empty
from sendbox.language import LANGUAGE
from sendbox.runtime.bounds import MAX_WAITING_BUILDS
from sendbox.runtime.slot import CHECKPOINTS, Slice
from sendbox.scenario.language import Language
from sendbox.scenario.model import MAX_PROBLEM_LINES, PROBLEMS, SIZE
from sendbox.server.origin import key_field, read_body
from tests.box import KEY, WORLD, boxed

pytestmark = pytest.mark.asyncio
FORM = {"content-type": "application/x-www-form-urlencoded"}


#: What stands for the parameters of a path.
PLACES: Final = {"id": KEY, "name": "c1", "number": "420777000101"}


async def test_bodies_of_control_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation with a body has its bound in its row: one byte more is refused before the body is looked at."""
    read: list[int] = []

    def body(raw: bytes, **_: Any) -> Any:
        read.append(len(raw))
        return {}

    async with boxed() as box:
        await box.open()
        monkeypatch.setattr(routes, "_body", body)
        broken = {}
        for row in SERVED.operations:
            if row.method in ("GET", "DELETE"):
                continue
            path = re.sub(r"\{(\w+)\}", lambda name: PLACES.get(name[1], "1"), f"/_sandbox{row.path}")
            refused = await box.call(row.method, path, b"1" * (row.longest + 1))
            taken = await box.call(row.method, path, b"1" * row.longest)
            words = f"the body is longer than {row.longest} bytes, the most that is read here"
            if refused.json != {"error": "too_long", "message": words} or taken.status == 413 or read != [row.longest]:
                broken[row.name] = refused, taken, read[:]
            read.clear()
        assert broken == {}


async def test_only_scenarios_and_their_parts_may_be_long() -> None:
    """The operations whose bodies may be longer than 64 KiB take a scenario, or a part of one."""
    long = {row.name for row in SERVED.operations if row.longest > bounds.SHORT_BODY}
    assert long == {"check", "open_world", "ensure_world", "load_scenario", "put_rule", "happen", "change_account"}
    assert {row.longest for row in SERVED.operations} == {bounds.SHORT_BODY, bounds.LONG_BODY}


async def test_a_client_that_still_sends_sees_that_its_body_is_too_long() -> None:
    """The rest of the body is received and dropped, up to 16 MiB, and the answer comes behind it."""
    pieces = [{"type": "http.request", "body": b"1" * 40_000, "more_body": True} for _ in range(2_000)]

    async def receive() -> Any:
        return pieces.pop()

    assert await read_body(receive, 1_000, routes.MAX_DROPPED_BYTES) is None
    assert (2_000 - len(pieces)) * 40_000 in range(routes.MAX_DROPPED_BYTES, routes.MAX_DROPPED_BYTES + 80_000)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{WORLD}/rules"),
        ("PUT", f"{WORLD}/scenario"),
        ("PATCH", f"{WORLD}/account"),
        ("POST", "/_sandbox/check"),
    ],
)
async def test_the_values_of_a_body_are_counted_before_it_is_read(
    method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body of lists takes thirty times its bytes once it is read; texts in it have no values."""
    async with boxed() as box:
        await box.open()
        loads = orjson.loads
        monkeypatch.setattr("sendbox.control.routes.orjson.loads", lambda _raw: pytest.fail("it is read"))
        many = b'{"text": [' + b"1," * bounds.VALUES + b"1]}"
        answer = await box.call(method, path, many)
        monkeypatch.setattr("sendbox.control.routes.orjson.loads", loads)
        text = f"{bounds.VALUES + 3} values are too many; legal: up to {bounds.VALUES}"
        assert (answer.status, answer.json) == (400, {"error": "out_of_bounds", "message": text})
        answer = await box.call(method, path, b'{"text": "' + b"1," * 2 * bounds.VALUES + b'"}')
        assert "values" not in answer.json.get("message", "")


RULE: Final = "- {when: {tag: a}, then: undelivered}\n"
KEYS: Final = "".join(f"k{number}: 1\n" for number in range(PROBLEMS + 1))
TOO_LARGE: Final = {
    "bytes": (
        f"name: {'ž' * (bounds.TEXT // 2)}\n",
        f"{bounds.TEXT + 18} bytes are too many to be sent; legal: up to {bounds.TEXT}",
    ),
    "values": (
        f"name: [{'1,' * bounds.VALUES}]\n",
        f"more than {bounds.VALUES} values are too many; legal: up to {bounds.VALUES}",
    ),
    "aliases": (
        f"name: &a [{'1,' * 1_000}]\nother: [{'*a,' * 30}]\n",
        f"more than {bounds.VALUES} values are too many; legal: up to {bounds.VALUES}",
    ),
    "rules": (
        f"attempts:\n{RULE * (bounds.RULES + 1)}",
        f"{bounds.RULES + 1} rules and other entries of lists are too many to be sent; legal: up to {bounds.RULES}",
    ),
    "depth": (
        f"name: {'[' * bounds.DEEPEST}{']' * bounds.DEEPEST}\n",
        f"the value is nested deeper than {bounds.DEEPEST} levels; legal: {bounds.LEVELS}",
    ),
    "path": (
        f"name: {{{'a' * bounds.PATH}: [1]}}\n",
        f"a path of {bounds.PATH + 7} characters is too long, $.name.{'a' * 33}…; legal: up to {bounds.PATH}",
    ),
    "problems": (KEYS, f"the scenario has more than {PROBLEMS} problems; the first of them are shown"),
}


@pytest.mark.parametrize(("text", "message"), [pytest.param(*row, id=name) for name, row in TOO_LARGE.items()])
async def test_a_scenario_that_is_sent_is_bounded(text: str, message: str) -> None:
    """Checked or opened, what is too large says how large it is and what is legal, and nothing is built of it."""
    async with boxed() as box:
        checked = (await box.post("/_sandbox/check", {"text": f"sendbox: 1\n{text}", "line": 2})).json
        assert message in [problem["message"] for problem in checked["problems"]]
        assert (checked["ok"], len(checked["problems"]) <= PROBLEMS + 1) == (False, True)
        opened = await box.post("/_sandbox/worlds", {"scenario": f"sendbox: 1\n{text}"})
        assert (opened.status, opened.json["error"]) == (422, "bad_scenario")
        assert message in [problem["message"] for problem in opened.json["problems"]]
        assert box.runtime.worlds == {}


@pytest.mark.deep
async def test_the_bounds_of_what_is_sent_do_not_hold_for_own_files() -> None:
    """A scenario of the user's own may have more rules: who starts the server decides about its memory."""
    text = f"sendbox: 1\nattempts:\n{RULE * (bounds.RULES + 1)}"
    assert LANGUAGE.check(text, sent=False)[0].rule != SIZE
    assert [problem.rule for problem in LANGUAGE.check(text, sent=True)] == [SIZE]


async def test_long_scenarios_are_built_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of one is enough for many callers. More than so many do not wait, and are told so."""
    building: list[int] = []
    most: list[int] = []
    check = Language.check

    def watched(*given: Any, **more: Any) -> Any:
        building.append(1)
        most.append(len(building))
        problems = check(*given, **more)
        building.pop()
        return problems

    monkeypatch.setattr(Language, "check", watched)
    async with boxed() as box:
        answers = await asyncio.gather(
            *(box.post("/_sandbox/check", {"text": "sendbox: 1"}) for _ in range(MAX_WAITING_BUILDS + 3)),
        )
        assert sorted(answer.status for answer in answers) == [200] * (MAX_WAITING_BUILDS + 1) + [503] * 2
        assert {answer.json["error"] for answer in answers if answer.status == 503} == {"busy"}
        assert most == [1] * (MAX_WAITING_BUILDS + 1)
        assert box.runtime.builder.waiting == 0


@pytest.mark.deep
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"attempts:\n{RULE * bounds.RULES}", id="rules"),
        pytest.param(f"name: [{'1,' * (bounds.VALUES - 10)}]\n", id="values"),
        pytest.param(f"name: {'[' * 190}{'1,' * (bounds.VALUES - 400)}{']' * 190}\n", id="deep"),
        pytest.param(KEYS, id="problems"),
    ],
)
async def test_the_memory_of_a_scenario_at_its_bounds(text: str) -> None:
    """What Python allocates for the largest scenario, with all that is wrong in it, is less than 64 MB."""
    LANGUAGE.check("sendbox: 1\nx: 1", sent=True)  # loads what explains
    tracemalloc.start()
    try:
        LANGUAGE.check(f"sendbox: 1\n{text}", sent=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize("name", ["salt", "seed"])
async def test_texts_that_names_come_from_are_bounded(name: str) -> None:
    """A salt of megabytes would be hashed, and shown again and again."""
    async with boxed() as box:
        answer = await box.post("/_sandbox/worlds", {"id": KEY, name: "x" * 1001})
        assert answer.json["message"] == f"{name}: 1001 characters are too many; legal: at most 1000"


@pytest.mark.parametrize(
    ("value", "large"),
    [
        ({"a": [1] * (bounds.LARGE - 1)}, False),
        ({"a": [1] * bounds.LARGE}, True),
        ([[[1] * 100], [2] * 100], True),
        ("x" * bounds.LONG, False),
        ({"a": ["x" * (bounds.LONG + 1)]}, True),
    ],
)
async def test_what_is_large(value: Any, large: bool) -> None:
    """Parts count, and characters of one text."""
    assert bounds.large(value) is large


@pytest.mark.unmeasured
@pytest.mark.parametrize("count", [1, 400])
async def test_long_scenarios_and_accounts_are_compiled_beside_the_loop(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With thousands of unknown keys, rules, or numbers the loop has its turns; short ones do not change the thread."""
    beside: list[bool] = []
    for name in ("load", "compile_patch", "compile_rule"):
        compiled = getattr(Language, name)

        def watched(*given: Any, _compiled: Any = compiled, **more: Any) -> Any:
            beside.append(threading.current_thread() is not threading.main_thread())
            return _compiled(*given, **more)

        monkeypatch.setattr(Language, name, watched)
    async with boxed() as box:
        await box.open()
        beside.clear()
        unknown = {"sendbox": 1, **{f"key{number}": 1 for number in range(count)}}
        problems = (await box.put(f"{WORLD}/scenario", unknown)).json
        assert len(problems["problems"]) == count
        lines = problems["message"].split("\n")
        assert len(lines) == min(count, MAX_PROBLEM_LINES + 1)
        assert lines[MAX_PROBLEM_LINES:] == (
            [f"{count - MAX_PROBLEM_LINES} more problems"] if count > MAX_PROBLEM_LINES else []
        )
        numbers = [f"420777{number:06}" for number in range(count)]
        answer = await box.patch(f"{WORLD}/account", {"optout": numbers})
        assert (answer.status, answer.json["optout"]) == (200, numbers)
        for field, status in (("body", 201), ("bodie", 422)):
            rule = {"when": {field: "x" * 12 * count}, "then": "failed"}
            assert (await box.post(f"{WORLD}/rules", rule)).status == status
        assert beside == [count > 1] * 4


async def test_a_world_keeps_so_many_checkpoints() -> None:
    """One more is refused; one that is there is taken again."""
    async with boxed() as box:
        await box.open()
        for number in range(CHECKPOINTS):
            assert (await box.put(f"{WORLD}/checkpoints/c{number}")).status == 201
        answer = await box.put(f"{WORLD}/checkpoints/more")
        assert (answer.status, answer.json["error"]) == (409, "too_many_checkpoints")
        assert (await box.put(f"{WORLD}/checkpoints/c0")).status == 201


async def test_the_key_of_a_long_form_is_looked_up_before_the_rest_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many fields it has, a short piece of it is parsed for the key."""
    parsed: list[int] = []

    def parse(text: str, **_: Any) -> dict[str, list[str]]:
        parsed.append(len(text))
        return {"apikey": [text]}

    monkeypatch.setattr("sendbox.server.origin.parse_qs", parse)
    many = b"a=1&" * 100_000
    assert key_field(many + b"apikey=test-1&b=2") == "apikey=test-1"
    assert key_field(b"apikey=test-2&" + many) == "apikey=test-2"
    key_field(many)
    assert max(parsed) <= 8 * 1024


async def test_the_escapes_of_a_form_are_bounded() -> None:
    """They are what takes long in a form whose number of fields is bounded."""
    async with boxed() as box:
        await box.open()
        start = b"apikey=test-1&number=420777000101&message="
        assert (await box.call("POST", "/Send", start + b"%41" * 1_000, FORM)).status == 200
        await box.call("POST", "/Send", start + b"%41" * (ESCAPES + 1), FORM)
        requests = (await box.get(f"{WORLD}/requests")).json["requests"]
        assert [[finding["message"] for finding in request["findings"]] for request in requests] == [
            [], [f"more than {ESCAPES} escapes (%XX) are not read"],
        ]  # fmt: skip


@pytest.mark.parametrize("crowd", [b"a=1&" * PARAMETERS, b"%41" * (ESCAPES + 1)], ids=["parameters", "escapes"])
@pytest.mark.parametrize("path", ["/v2/message", "/v2/simple/message", "/Send"])
@pytest.mark.unmeasured
async def test_what_has_too_many_parameters_is_parsed_nowhere(
    path: str, crowd: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for the rules of `api`, nor for the diagnosis of the refusal, nor for coverage."""
    parsed: list[int] = []

    def parse(text: str, **_: Any) -> dict[str, list[str]]:
        parsed.append(len(text))
        return {}

    places = {
        "services.http.numbers": "parse_qs",
        "services.http.requests": "parse_qs",
        "engine.kinds.engine_kinds": "parse_qsl",
    }
    for place, name in places.items():
        monkeypatch.setattr(f"sendbox.{place}.{name}", parse)
    async with boxed() as box:
        await box.open()
        await box.post(f"{WORLD}/rules", {"in": "api", "when": {"phone": "420777000199"}, "fault": 503})
        headers = FORM if path != "/v2/message" else {}
        answer = await box.call("POST", path, b"apikey=test-1&a=" + crowd, {"x-api-key": KEY, **headers})
        assert answer.status == 400
        assert (await box.get(f"{WORLD}/coverage")).status == 200
        assert max(parsed, default=0) == 0


async def test_what_is_large_is_freed_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """To free all of a large collection at once would hold the loop: it has its turn after each part."""
    monkeypatch.setattr(Slice, "over", True)
    parts = 3
    items, names = list(range(parts * ITEMS_PER_PAUSE)), dict.fromkeys(range(parts * ITEMS_PER_PAUSE))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while items or names:
            turns += 1
            await asyncio.sleep(0)

    await asyncio.gather(run_in_slices(empty(items, names)), count())
    assert turns >= 2 * parts - 1
