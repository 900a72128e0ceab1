"""Numbers and depths beyond every bound, at every place where something comes in: no 500, and every view still answers.

What comes in is put at each place of each request, of each operation of control and of the scenario language; then
all that a world shows is asked for. Several values share a world, and its views are asked for once.

It is long because all doors are here, so that they are seen to take the same: requests, control, scenarios, clocks.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import quote

import orjson
import pytest

from sendbox.app import SERVED
from sendbox.control.operation import ControlError
from sendbox.engine.bounds import DEEPEST, END, FASTEST, HIGHEST, LOWEST, SLOWEST
from sendbox.engine.durations import instant, iso
from sendbox.language import LANGUAGE
from sendbox.scenario import shape
from sendbox.scenario.model import errors
from sendbox.services.operations import CALLS
from tests.box import CONTRACT, KEY, WORLD, Answer, Box, Reading, boxed
from tests.contract.samples import FULL
from tests.scenarios import check
from tests.tiers import turn

pytestmark = pytest.mark.asyncio

HEADERS: Final = {"x-api-key": KEY, "content-type": "application/json"}
#: Stands in a value for the JSON that is put at its place.
HERE: Final = "\ue000here"
#: Integers and fractions at the bounds and beyond, as JSON and YAML write them.
NUMBERS: Final = (str(HIGHEST), str(HIGHEST + 1), str(LOWEST - 1), str(2**64), str(10**30), "1e30", "1e308", "-1e308")
DEPTHS: Final = (199, 200, 201, 252, 253, 300, 1000, 100_000)

#: What a world shows.
VIEWS: Final = (
    "", "/messages", "/hook", "/journal", "/journal?form=canonical", "/requests", "/digest", "/deliveries", "/phones",
    "/assumptions", "/clock", "/pending", "/advice", "/codes", "/coverage", "/verdict", "/account", "/partner",
    "/export?as=pytest", "/export?as=scenario",
)  # fmt: skip


def nested(levels: int) -> str:
    """JSON with so many levels, objects and lists in turn."""
    return '{"a":[' * (levels // 2) + "[]" * (levels % 2) + "]}" * (levels // 2)


async def shown(box: Box, world: str = KEY) -> None:
    """Everything that the world shows can be shown, and the list of worlds with it."""
    paths = [f"/_sandbox/worlds/{world}{view}" for view in VIEWS]
    for path in ["/_sandbox/worlds", f"/_sandbox/?world={world}", "/_sandbox/refused", *paths]:
        answer = await box.get(path)
        assert answer.status == 200, (path, answer)


def refused(answer: Answer) -> bool:
    """Whether a call was refused in the shape of control; it must have been answered."""
    assert answer.status < 500, answer
    if answer.status >= 400:
        assert {"error", "message"} <= answer.json.keys()
    return answer.status >= 400


def places(value: Any) -> Iterator[Any]:
    """The value with `HERE` in place of each of its parts in turn, and beside each entry of its objects."""
    yield HERE
    if isinstance(value, dict):
        yield {**value, "unknown": HERE}
        for name, item in value.items():
            yield from ({**value, name: each} for each in places(item))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from ([*value[:at], each, *value[at + 1 :]] for each in places(item))


def put(place: Any, raw: str) -> bytes:
    """The JSON of a place with a value put there."""
    return orjson.dumps(place).replace(orjson.dumps(HERE), raw.encode())


#: Bodies for operations whose handlers would not be reached else.
BODIES: Final[dict[str, Any]] = {
    "sendPriorityMessage": {"body": "x", "to": [{"phone_number": "420777000101"}]},
    "sendMessages": [{"body": "x", "to": [{"phone_number": "420777000101"}], "payload": {"a": 1}}],
    "createValidation": {"phoneNumber": "420777000101", "payload": {"a": 1}},
}


def body_of(operation: str, schema: str | None) -> Any:
    """A body of an operation: its own, or each field of its schema with a text."""
    if operation in BODIES:
        return BODIES[operation]
    node = CONTRACT.definitions[(schema or "").rpartition("/")[2]]
    return dict.fromkeys(node.get("properties", {}), "x")


async def test_every_place_of_every_request() -> None:
    """Whatever number or depth stands anywhere in a body: 4xx or a good answer, and afterwards every view."""
    async with boxed() as box:
        await box.open()
        for row in SERVED.routes:
            if CALLS[row.operation].part != "body" or row.operation == "sendMessage":
                continue
            path = row.path.replace("{token}", "0" * 64)
            for number, place in enumerate(places(body_of(row.operation, row.request))):
                for raw in turn(("9223372036854775808", "1e308"), number, 2):
                    answer = await box.call(row.method, path, put(place, raw), HEADERS)
                    assert answer.status < 500, (row.operation, place, raw[:40], answer)
            for depth in (200, 201, 300):
                answer = await box.call(row.method, path, put({"x": HERE}, nested(depth - 1)), HEADERS)
                assert answer.status < 500, (row.operation, depth, answer)
                assert depth <= DEEPEST or answer.status >= 400
        await box.advance("1m")
        await shown(box)


async def test_every_place_of_a_message() -> None:
    """The same of a message with every field, also once it was delivered and its flow came to an end."""
    async with boxed() as box:
        await box.open()
        for number, place in enumerate(places(FULL)):
            for raw in turn(("9223372036854775808", "1e308"), number, 2):
                answer = await box.call("POST", "/v2/message", put(place, raw), HEADERS)
                assert answer.status < 500, (place, raw, answer)
        await box.advance("1m")
        await box.advance("400d")
        await shown(box)


@pytest.mark.parametrize("depth", DEPTHS)
async def test_a_message_with_a_deep_payload(depth: int) -> None:
    """What is accepted can be shown, delivered and exported; what is not is refused as too deep, with its place."""
    async with boxed() as box:
        body = put({"to": [{"phone_number": "420777000101"}], "body": "x", "payload": HERE}, nested(depth - 1))
        answer = await box.call("POST", "/v2/message", body, HEADERS)
        assert answer.status == (200 if depth <= DEEPEST else 400)
        if depth > DEEPEST:
            (request,) = (await box.get(f"{WORLD}/requests")).json["requests"]
            (finding,) = request["findings"]
            assert finding["rule"] == "depth"
            assert finding["path"] == ("$.payload" if depth <= 1000 else "$")
            assert "the value is nested deeper than 200 levels; legal: up to 200 levels" in answer.json["Message"]
        await box.advance("1m")
        await shown(box)


async def test_integers_of_a_request() -> None:
    """64 bits with a sign are legal in a payload and come back as they were; one more is refused by name and place."""
    async with boxed() as box:
        await box.send(payload={"high": HIGHEST, "low": LOWEST})
        await box.advance("1m")
        (event, *_) = await box.events()
        assert event["payload"] == {"high": HIGHEST, "low": LOWEST}
        for number in (HIGHEST + 1, LOWEST - 1, 2**64, 10**30):
            body = put({"to": [{"phone_number": "420777000101"}], "body": "x", "payload": {"id": HERE}}, str(number))
            answer = await box.call("POST", "/v2/message", body, HEADERS)
            legal = "-9223372036854775808 to 9223372036854775807 (64 bits)"
            message = f"{number} is outside the range of integers; legal: {legal} (§4) at $.payload.id"
            assert (answer.status, answer.json) == (400, {"Message": message})


async def test_lines_of_a_bulk_file_and_callbacks_of_a_form() -> None:
    """JSON that travels inside of something else is held to the same bounds."""
    async with boxed() as box:
        given = await box.post("/v1/messaging/url", {"bulk_id": "b", "filetype": "jsonl"}, x_api_key=KEY)
        place = {"to": [{"phone_number": "420777000101"}], "body": "x", "payload": {"a": HERE}}
        lines = [put(place, raw) for raw in ("1", str(2**64), nested(198), nested(199), nested(1000))]
        path = given.json["url"].partition("7357")[2]
        stored = await box.call("PUT", path, b"\n".join(lines), {"content-type": "application/jsonl"})
        assert stored.status == 200, stored
        await box.advance("1m")
        assert len((await box.get(f"{WORLD}/messages")).json["messages"]) == 2
        headers = {**HEADERS, "content-type": "application/x-www-form-urlencoded"}
        for raw, status in (('{"a":1}', 200), (nested(200), 400), (str(2**64), 400)):
            callback = put({"url": "http://127.0.0.1:1/", "body": HERE}, raw).decode()
            form = f"number=420777000101&body=x&callback={quote(callback)}"
            answer = await box.call("POST", "/v2/simple/message", form.encode(), headers)
            assert answer.status == status, answer
        await shown(box)


# -- control


#: Texts of a query or of JSON that are near to numbers.
NEARLY: Final = ('"9"', '" 9"', '"1e30"', '"\u0663"', "true", "null")
#: Values of other types, and long ones: parts, names and a text.
SHAPES: Final = (
    '""', "false", "[]", "{}", "[null]", "[[]]", "[{}]", '{"": null}', '{"a": []}', '"\\u0000"', "-0.0", '[1, "a", {}]',
    "[" + "1," * 5_000 + "1]", '{"' + "n" * 10_000 + '": 1}', '"' + "x" * 70_000 + '"',
    "[" + '"420777000101",' * 9_000 + "1]",
)  # fmt: skip


async def test_every_argument_of_every_operation_of_control() -> None:
    """Whatever stands in path, query or body: an answer, or a 4xx that says why; the world can still be shown."""
    async with boxed(patience=0.01) as box:  # nothing fetches what the outbox holds once a call has asked for it
        await box.open()
        await box.send()
        await box.advance("1m")
        values = (*NUMBERS, *NEARLY, *SHAPES, *(f'"{number}"' for number in NUMBERS), *map(nested, DEPTHS))
        for row in SERVED.by_name.values():
            if row.name == "close_world":
                continue
            for name, raw in ((name, raw) for at, name in enumerate(row.takes) for raw in turn(values, at, 24)):
                asked = row.method in ("GET", "DELETE") or (row.raw and name != "raw")
                if len(raw) > 3000 and (asked or row.in_path(name)):
                    continue
                text = quote(raw.strip('"'), safe="") if len(raw) <= 3000 else "long"
                path = "/_sandbox" + row.path.replace("{id}", KEY).replace(f"{{{name}}}", text)
                for other in row.takes:
                    path = path.replace(f"{{{other}}}", "420777000101" if other == "number" else "x")
                if row.in_path(name):
                    body = b"" if asked else b"{}"
                elif asked:
                    path, body = f"{path}?{name}={text}", b'{"sendbox": 1}' if row.raw else b""
                elif row.raw:
                    body = raw.encode()
                else:
                    body = put({"id": "test-other", name: HERE} if row.name == "open_world" else {name: HERE}, raw)
                answer = await box.call(row.method, path, body, HEADERS)
                assert row.name == "open_world" or not refused(answer) or answer.status < 500
                if "test-other" in box.runtime.worlds:
                    await shown(box, "test-other")
                    await box.delete("/_sandbox/worlds/test-other")
        await shown(box)


@pytest.mark.parametrize(
    ("error", "said", "method", "target", "body"),
    [
        ("out_of_bounds", "$.seed: 18446744073709551616 is outside", "POST", "", b'{"seed": 18446744073709551616}'),
        ("out_of_bounds", "$.seed: 9223372036854775808 is outside", "POST", "", b'{"seed": 9223372036854775808}'),
        ("out_of_bounds", "$.scenario: the value is nested", "POST", "", put({"scenario": HERE}, nested(300))),
        ("out_of_bounds", "the value is nested deeper than 200", "POST", "", put(HERE, nested(10_000))),
        ("out_of_bounds", "150000 values are too many; legal: up to ", "POST", "", put(HERE, nested(100_000))),
        (
            "bad_argument",
            f"to: {END + 1} is not an RFC 3339 instant: 2026-03-01T09:00:00Z or ",
            "POST",
            "/clock/advance",
            b'{"to": %d}' % (END + 1),
        ),
        ("bad_argument", f"by: '{9**30}' is not a duration", "POST", "/clock/advance", b'{"by": "%d"}' % 9**30),
        ("bad_argument", "by: '40000d' is longer than a", "POST", "/clock/advance", b'{"by": "40000d"}'),
        ("bad_clock", "rate: 1e+308 is not a rate of a clock; legal:", "PATCH", "/clock", b'{"rate": 1e308}'),
        ("bad_clock", "rate: 1000001 is not a rate", "PATCH", "/clock", b'{"rate": 1000001}'),
        ("bad_argument", f"limit: {9**30} is outside the range of integers", "GET", f"/journal?limit={9**30}", b""),
        ("bad_argument", "after: -9223372036854775809 is", "GET", "/journal?after=-9223372036854775809", b""),
        ("bad_argument", "n: 18446744073709551616 is outside", "GET", "/journal/18446744073709551616", b""),
        ("bad_argument", "last: '1.5' is not a whole number", "GET", "/messages?last=1.5", b""),
        ("bad_argument", "status: true is not a whole number", "POST", "/outbox/x", b'{"status": true}'),
    ],
)
async def test_what_control_says(error: str, said: str, method: str, target: str, body: bytes) -> None:
    """An error begins with the value, and says the rule and what is legal."""
    async with boxed() as box:
        await box.open()
        outbox: dict[str, Any] = box.runtime.worlds[KEY].outbox
        outbox["x"] = (None, None, asyncio.get_running_loop().create_future(), 5.0)
        answer = await box.call(method, f"{WORLD}{target}" if target else "/_sandbox/worlds", body, HEADERS)
        assert (answer.status, answer.json["error"]) == (400, error)
        assert answer.json["message"].startswith(said)
        outbox.clear()
        assert len(box.runtime.worlds) == 1


async def test_arguments_in_process_are_held_to_the_same_bounds() -> None:
    """The carrier of the fixture hands values over as they are, which may be what JSON cannot write."""
    async with boxed() as box:
        control = box.app.control
        endless: list[Any] = []
        endless.append(endless)
        for name, arguments in (
            ("open_world", {"seed": 2**64}),
            ("open_world", {"seed": math.nan}),
            ("open_world", {"clock": {"rate": math.inf}}),
            ("open_world", {"clock": {"start": 10**5000}}),
            ("open_world", {"id": endless}),
            ("open_world", {"scenario": {"sendbox": 1, "seed": 2**64}}),
            ("open_world", {"scenario": {"sendbox": 1, "seed": 10**5000}}),
            ("open_world", {"scenario": {"sendbox": endless}}),
        ):
            with pytest.raises(ControlError) as caught:
                await control.perform("http://box", name, None, arguments)
            assert caught.value.status in (400, 422)
            assert orjson.dumps(caught.value.as_json())
        await box.open()
        with pytest.raises(ControlError, match="nested deeper"):
            await control.perform("http://box", "hook_receive", KEY, {"raw": endless})
        await shown(box)


# -- scenarios


def spots(part: dict[str, Any], wrap: Callable[[Any], Any], within: frozenset[Any]) -> Iterator[Any]:
    """Scenarios with `HERE` at each place of the language where a number may stand, or anything."""
    for branch in LANGUAGE.shape.branches([part]):
        kinds = branch.get("type", ("integer",))
        if {"integer", "number"}.intersection([kinds] if isinstance(kinds, str) else kinds):
            yield wrap(HERE)
        title = branch.get("title") or id(branch)
        if title in within:
            continue
        inner = within | {title}
        for name, item in branch.get("properties", {}).items():
            yield from spots(item, partial(_in_mapping, wrap, branch, name), inner)
        if isinstance(branch.get("additionalProperties"), dict):
            yield from spots(branch["additionalProperties"], partial(_with_any_key, wrap), inner)
        if isinstance(branch.get("items"), dict):
            yield from spots(branch["items"], partial(_in_list, wrap), inner)


def _with_any_key(wrap: Callable[[Any], Any], value: Any) -> Any:
    return wrap({"x": value})


def _in_list(wrap: Callable[[Any], Any], value: Any) -> Any:
    return wrap([value])


def _in_mapping(wrap: Callable[[Any], Any], branch: dict[str, Any], name: str, value: Any) -> Any:
    """A mapping with one key, and what it must have besides."""
    needed = branch.get("required", ()) if name in _DECIDES else shape.required_keys(branch)
    others = {key: _LANGUAGE.least(branch["properties"][key]) for key in needed if key != name}
    return wrap({**others, name: value})


_LANGUAGE: Final = shape.Shape()
#: Keys of which a mapping has one.
_DECIDES: Final = frozenset(
    "account channel clock country inbound mix mode number operator outage phone rate reply result template "
    "then".split()
)
SPOTS: Final = list(spots(shape.schema(), lambda value: value, frozenset()))


async def test_every_number_of_a_scenario_is_in_range_or_a_problem_with_its_line() -> None:
    """At every place of the language: no exception, and a problem for what no place takes."""
    assert len(SPOTS) > 200
    values = (str(HIGHEST + 1), nested(199), str(10**30), nested(201), "1e308")
    for number, place in enumerate(SPOTS):
        for raw in turn(values, number, 5):
            text = "# a scenario\n" + put(place, raw).decode()
            found = errors(check(text, name="a.yaml"))
            assert all(problem.line == 2 for problem in found), text
            if raw.isdigit():
                (first, *_) = (problem for problem in found if problem.rule == "range")
                assert first.message.startswith(f"{raw} is outside the range of integers; legal: ")


async def test_every_number_of_a_scenario_that_is_taken_can_be_lived_with() -> None:
    """A world with the highest integer where the language takes it: messages, codes, time, and every view."""
    places = turn(SPOTS, 0, 9)  # an ordinary run lives in every ninth
    taken = [text for place in places if not errors(check(text := put(place, str(HIGHEST)).decode()))]
    assert len(taken) > 5
    async with boxed() as box:
        for number, text in enumerate(taken):
            key = f"test-{number}"
            await box.open(key, scenario=text)
            if '"api"' not in text:  # whose faults break connections
                await box.send("420777000101", "420777000108", key=key, payload={"x": 1})
                answer = await box.post("/v1/validations", {"phoneNumber": "420777000102"}, x_api_key=key)
                assert answer.status < 500
            await box.advance("1h", key=key)
            await shown(box, key)


async def test_a_seed_beyond_the_range_opens_no_world() -> None:
    """What was a 500 for every user is a problem with its line, and no world is left behind."""
    async with boxed() as box:
        answer = await box.post("/_sandbox/worlds", {"id": KEY, "scenario": "sendbox: 1\nseed: 18446744073709551616\n"})
        assert (answer.status, answer.json["error"]) == (422, "bad_scenario")
        (problem,) = answer.json["problems"]
        assert (problem["line"], problem["column"], problem["path"], problem["rule"]) == (2, 7, "$.seed", "range")
        assert (await box.get("/_sandbox/worlds")).json == {"worlds": []}


# -- the end of time


LAST: Final = "9999-12-31T23:59:59.999Z"
SCENARIO: Final = {
    "sendbox": 1,
    "extends": "default",
    "timeline": [
        {"at": "10s", "outage": {"channel": "richmsg", "for": "36500d"}},
        {"at": "1h", "outage": {"channel": "sms", "for": "1h"}},
    ],
    "partner": {"accounts": [{"waba_id": "1020304", "name": "Bakery", "numbers": [{"phone_number": "420900000001"}]}]},
}
#: What makes messages that reach beyond the end of time.
FAR: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"flow": [{"richmsg": {"sender": "Acme", "ttl": 1e308}}, {"sms": {}}]},
    {"delivery_time": {"days": ["monday"], "start": "08:00", "end": "20:00", "tz": "Europe/Prague"}},
    {"params": {"_url": {"type": "all", "expires_at": HIGHEST}}},
    {"params": {"_url": {"type": "all", "expires_at": 1_772_355_600_000}}},
    {"params": {"_url": {"type": "all", "expires_at": LOWEST}}},
    {"datetime": "9999-12-31T23:59:59Z"},
    {"datetime": "0001-01-01T00:00:00Z"},
)


@pytest.mark.parametrize("start", ["9999-12-31T23:59:00Z", "9999-11-30T12:00:00Z", "0001-01-01T00:00:00Z", LAST])
async def test_a_world_at_the_ends_of_the_calendar(start: str) -> None:
    """Everything that reaches beyond is accepted, and shown as an instant that can be read."""
    async with boxed() as box:
        await box.open(scenario=SCENARIO, clock={"mode": "manual", "start": start})
        for fields in FAR:
            await box.send("420777000108", "420777000101", body="See https://a.example/b", **fields)
        assert (await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)).status == 200
        month = {"waba_id": "1020304", "granularity": "MONTH", "start": 1, "end": 32503680000}
        assert (await box.post("/v1/chatapp/analytics/messages", month, x_api_key=KEY)).status == 200
        for move in ({"by": "30s"}, {"to": LAST}, {"until": "idle"}, {"next": 3}, {"by": "400d"}):
            answer = await box.post(f"{WORLD}/clock/advance", move)
            assert answer.status == 200 or answer.json["error"] == "too_far"
        await shown(box)
        for message in (await box.get(f"{WORLD}/messages")).json["messages"]:
            assert all(instant(link["expires_at"]) <= END for link in message["links"])
            assert (await box.get(f"{WORLD}/explain?message_id={message['message_id']}")).status == 200


async def test_no_world_goes_past_the_last_instant() -> None:
    """An advance to it is legal, one millisecond more is refused by its name, whatever falls due later."""
    async with boxed() as box:
        await box.open(clock={"mode": "manual", "start": "9999-12-31T23:59:00Z"})
        await box.send("420777000108")
        assert (await box.advance(to=LAST))["to"] == LAST
        assert (await box.clock())["next_due"] is None
        answer = await box.post(f"{WORLD}/clock/advance", {"by": "1ms"})
        message = f"1ms after {LAST} is past {LAST}, the last instant of every world"
        assert (answer.status, answer.json) == (409, {"error": "too_far", "message": message})


async def test_a_clock_that_runs_stops_at_the_last_instant() -> None:
    """At the fastest rate, years pass in a minute; then the clock stands, and the world answers on."""
    reading = Reading()
    async with boxed(reading=reading) as box:
        clock = {"mode": "real", "rate": 1_000_000, "start": "9999-12-31T23:00:00Z"}
        await box.open(clock=clock)
        await box.send()
        reading.passes(60)
        await box.send()
        assert (await box.clock())["now"] == LAST
        await shown(box)


@pytest.mark.parametrize("start", ["0000-12-31T23:59:59Z", "9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01"])
async def test_an_instant_outside_the_calendar_is_refused(start: str) -> None:
    """With what is legal, by control and in a scenario with its line."""
    said = "lies outside the calendar: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z are legal"
    async with boxed() as box:
        answer = await box.post("/_sandbox/worlds", {"clock": {"start": start}})
        assert (answer.status, answer.json["message"]) == (400, f"start: '{start}' {said}")
    (problem,) = check(f'sendbox: 1\nclock: {{start: "{start}"}}\n', name="a.yaml")
    assert str(problem) == f'a.yaml:2:16: "{start}" {said}'


async def test_the_schemas_say_the_same_range() -> None:
    """Where a number has no bound of its own, editors and clients are told that of all integers."""
    bounds: set[float] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            bounds.update(node[word] for word in ("minimum", "maximum") if isinstance(node.get(word), int | float))
            for item in node.values():
                walk(item)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    walk(shape.schema())
    assert {bound for bound in bounds if abs(bound) > 1e13} == {HIGHEST, LOWEST}
    assert FASTEST in bounds
    assert SLOWEST in bounds
    url = CONTRACT.definitions["Url"]["properties"]
    for name in ("expires_at", "expires"):
        assert (url[name]["minimum"], url[name]["maximum"]) == (LOWEST, HIGHEST)
    assert iso(END) == LAST
