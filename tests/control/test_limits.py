"""Work on what is long: bounded, or done beside the event loop. Counted in bytes, parts and threads, never by time."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from sendbox.control import routes
from sendbox.engine import bounds
from sendbox.engine.bounds import ESCAPES, PARAMETERS
from sendbox.runtime.slot import CHECKPOINTS
from sendbox.scenario.language import Language
from sendbox.scenario.model import TOLD
from sendbox.server.origin import key_field
from sendbox.services.http.exchange import BODY_CAP
from tests.box import KEY, WORLD, boxed

pytestmark = pytest.mark.asyncio
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("method", "path", "longest"),
    [
        ("POST", "/_sandbox/worlds", BODY_CAP),
        ("PUT", f"{WORLD}/scenario", BODY_CAP),
        ("PATCH", f"{WORLD}/account", BODY_CAP),
        ("POST", f"{WORLD}/clock/advance", routes.LONGEST),
        ("POST", f"{WORLD}/inbound", routes.LONGEST),
    ],
)
async def test_bodies_of_control_are_bounded(method: str, path: str, longest: int) -> None:
    """One more byte than is read is refused before it is looked at."""
    async with boxed() as box:
        await box.open()
        answer = await box.call(method, path, b" " * (longest + 1))
        assert (answer.status, answer.json["error"]) == (413, "too_long")
        assert answer.json["message"] == f"the body is longer than {longest} bytes, the most that is read here"
        assert (await box.call(method, path, b" " * longest)).status != 413


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


@pytest.mark.parametrize("count", [1, 1_000])
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
        assert len(lines) == min(count, TOLD + 1)
        assert lines[TOLD:] == ([f"{count - TOLD} more problems"] if count > TOLD else [])
        numbers = [f"420777{number:06}" for number in range(count)]
        answer = await box.patch(f"{WORLD}/account", {"optout": numbers})
        assert (answer.status, answer.json["optout"]) == (200, numbers)
        for field, status in (("body", 201), ("bodie", 422)):
            rule = {"when": {field: "x" * 5 * count}, "then": "failed"}
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
async def test_what_has_too_many_parameters_is_parsed_nowhere(
    path: str, crowd: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for the rules of `api`, nor for the diagnosis of the refusal, nor for coverage."""
    parsed: list[int] = []

    def parse(text: str, **_: Any) -> dict[str, list[str]]:
        parsed.append(len(text))
        return {}

    places = {
        "services.http.addressee": "parse_qs",
        "services.http.diagnosis": "parse_qs",
        "engine.kinds.own": "parse_qsl",
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
