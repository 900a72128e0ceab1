"""What a server starts with: the kept scenario, the rows for messages, and all else when it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sendbox import compiled
from sendbox.app import PARTS, SERVED, make_app
from sendbox.contract.validators import Contract
from sendbox.control.catalog import catalog
from sendbox.language import LANGUAGE, language
from sendbox.runtime.worlds import Runtime
from sendbox.settings import Settings
from sendbox.start import LOGGED, make_server
from tests.boundaries import NOT_TO_START
from tests.box import KEY, START, Box
from tests.documentation.kept import KEPT, text
from tests.test_architecture import inside

MESSAGE = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
#: Prints what is imported once a server could listen, and its worlds open.
IMPORTED = """
import sys
import sendbox.cli.main, sendbox.cli.serve, sendbox.contract.validators, sendbox.server.listener
from sendbox import compiled, start
from sendbox.engine.world import World

World("test-w", compiled.default(), start=0, services=start.PARTS)
print(*sys.modules)
"""


# --- the default scenario ---------------------------------------------------------------------------------------------


def test_the_kept_scenario_is_up_to_date() -> None:
    """The file is what the language makes of the scenario; `scripts/docs` writes it."""
    assert KEPT.read_bytes() == text(), f"{KEPT.name} is stale: run scripts/docs"


def test_the_kept_scenario_is_the_compiled_one() -> None:
    """Read again, it is the blueprint that the language compiles, also in what is not compared."""
    made, kept = language().load(compiled.NAME), compiled.default()
    assert kept == made
    assert compiled.written(kept) == compiled.written(made)
    assert kept.source == made.source


def test_the_kept_scenario_is_used() -> None:
    """The language of the services has it, alone or in a list; one with further keys compiles its own."""
    assert LANGUAGE.load(compiled.NAME) is LANGUAGE.load([compiled.NAME]) is compiled.default()
    assert language().load(compiled.NAME) is not compiled.default()


def test_only_classes_of_the_package_are_kept() -> None:
    """A file can name no class of another package, and a value of one cannot be written."""
    with pytest.raises(ValueError, match=r"os:system is not a class of this package"):
        compiled.read({"of": "os:system", "command": "true"})
    with pytest.raises(TypeError, match="cannot be kept"):
        compiled.written(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, 1.5, "x", (1, ("a",)), frozenset({"a"}), [1, {"a": [2]}], {"a": (1, 2)}])
def test_a_kept_value_is_the_same_again(value: object) -> None:
    """Tuples, lists, sets and objects stay apart."""
    again = compiled.read(compiled.node(value))
    assert again == value
    assert type(again) is type(value)


# --- imports ----------------------------------------------------------------------------------------------------------


def test_a_start_imports_little() -> None:
    """A server with the default scenario and a world imports nothing of what comes later."""
    ran = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert [name for name in ran.stdout.split() if inside(name, NOT_TO_START)] == []


# --- the server -------------------------------------------------------------------------------------------------------


def server(**settings: object) -> Box:
    runtime = Runtime(Settings(mode="manual", start=START, public_url=None, **settings), compiled.default(), PARTS)  # type: ignore[arg-type]
    return Box(runtime, make_server(runtime, Contract(deferred=True), lambda: SERVED))


@pytest.mark.asyncio
async def test_what_is_loaded_later_is_served_from_the_first_call() -> None:
    """The first call of each kind finds its row, or what control and the pages answer."""
    for method, path in (
        ("POST", "/v2/message"),
        ("POST", "/v1/validations"),
        ("PATCH", "/v1/validations/none"),
        ("GET", "/v1/credit/services"),
        ("GET", "/api-send.php"),
        ("GET", "/v1/none"),
        ("GET", "/_sandbox/health"),
        ("GET", "/openapi.json"),
        ("GET", "/none"),
        ("DELETE", "/_sandbox/health"),
    ):
        box = server()
        eager = Box(box.runtime, make_app(Runtime(box.runtime.settings, compiled.default(), PARTS), Contract()))
        try:
            answers = [await each.call(method, path, b"{}", {"x-api-key": KEY}) for each in (box, eager)]
            assert answers[0].status == answers[1].status, path
            assert path != "/openapi.json" or answers[0].json == answers[1].json
        finally:
            await box.runtime.aclose()
            await eager.runtime.aclose()


@pytest.mark.asyncio
async def test_the_log_has_the_lines_of_all_kinds_from_the_start() -> None:
    """What a server logs before it loads the kinds of entries is what these have."""
    assert SERVED.kinds.logged == LOGGED


@pytest.mark.asyncio
async def test_a_server_that_starts_has_language_and_catalog() -> None:
    """The language, and what coverage counts, are there when they are asked for."""
    box = server()
    try:
        assert box.runtime.language is LANGUAGE
        assert box.runtime.tried.load() == catalog(SERVED)
        assert box.runtime.tried.item_of("/v2/message", None) == "sending denied key"
    finally:
        await box.runtime.aclose()


@pytest.mark.asyncio
async def test_a_health_check_loads_nothing() -> None:
    """What asks again and again whether a server answers is answered without control."""
    box = server()
    try:
        answer = await box.call("GET", "/_sandbox/health")
        assert (answer.status, answer.json) == (200, box.runtime.health())
        assert box.app._made is None
    finally:
        await box.runtime.aclose()
