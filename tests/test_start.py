"""What a server starts with: the kept scenario, the interfaces, and all else when it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sendbox import compiled
from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.contract.validators import Contract
from sendbox.control.catalog import catalog
from sendbox.control.operation import Served
from sendbox.control.stream import STREAMED
from sendbox.language import LANGUAGE, language
from sendbox.settings import Settings
from tests.boundaries import NOT_TO_START
from tests.box import KEY, START, Box
from tests.documentation.kept import KEPT, text
from tests.routes import listed
from tests.test_architecture import inside

#: Prints what is imported once a server could listen, and its worlds open.
IMPORTED = """
import sys
import sendbox.cli.main, sendbox.cli.serve, sendbox.contract.validators, sendbox.server.listener
from sendbox import assembly, compiled, interfaces
from sendbox.engine.world import World

World("test-w", compiled.default(), start=0, services=interfaces.PARTS)
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
    assert compiled.encode_blueprint(kept) == compiled.encode_blueprint(made)
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
        compiled.encode_blueprint(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, 1.5, "x", (1, ("a",)), frozenset({"a"}), [1, {"a": [2]}], {"a": (1, 2)}])
def test_a_kept_value_is_the_same_again(value: object) -> None:
    """Tuples, lists, sets and objects stay apart."""
    again = compiled.read(compiled.node(value))
    assert again == value
    assert type(again) is type(value)


# --- imports ----------------------------------------------------------------------------------------------------------


@pytest.mark.unmeasured
def test_a_start_imports_little() -> None:
    """A server with the default scenario and a world imports nothing of what comes later."""
    ran = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert [name for name in ran.stdout.split() if inside(name, NOT_TO_START)] == []


# --- the server -------------------------------------------------------------------------------------------------------


def server(served: Served | None = None) -> Box:
    """A sandbox as `sendbox serve` starts it, or one of which everything is loaded."""
    settings = Settings(mode="manual", start=START, public_url=None)
    return Box(make_app(settings, compiled.default(), Contract(deferred=True), served))


@pytest.mark.asyncio
async def test_what_is_loaded_later_is_served_from_the_first_call() -> None:
    """The first call of each kind finds its row, or what control and the pages answer."""
    for method, path in (
        ("POST", "/v2/message"),
        ("PATCH", "/v1/validations/none"),
        ("GET", "/api-send.php"),
        ("GET", "/v1/none"),
        ("GET", "/_sandbox/health"),
        ("GET", "/_sandbox/health?a=b"),
        ("GET", "/openapi.json"),
        ("GET", "/signup/none"),
        ("GET", "/none"),
        ("DELETE", "/_sandbox/health"),
    ):
        boxes = server(), server(SERVED)
        answers = [await each.call(method, path, b"{}", {"x-api-key": KEY}) for each in boxes]
        assert answers[0].status == answers[1].status, path
        assert path != "/openapi.json" or answers[0].json == answers[1].json
        for box in boxes:
            await box.runtime.aclose()


@pytest.mark.asyncio
async def test_a_server_has_the_same_as_one_of_which_everything_is_loaded() -> None:
    """The lines of the log, the language, the catalog and the operations are those of the list."""
    box = server()
    assert box.runtime.logged == SERVED.kinds.logged
    assert box.app.control.served is SERVED
    assert box.runtime.tried.load() == catalog(SERVED)
    assert box.runtime.tried.item_of("/v2/message", None) == "sending denied key"
    await box.runtime.aclose()


@pytest.mark.asyncio
async def test_a_health_check_loads_nothing() -> None:
    """What asks again and again whether a server answers is answered without control."""
    box = server()
    answer = await box.call("GET", "/_sandbox/health")
    assert (answer.status, answer.json) == (200, box.runtime.health())
    assert "control" not in vars(box.app)
    await box.runtime.aclose()


@pytest.mark.asyncio
@pytest.mark.parametrize("served", [None, SERVED], ids=["loaded later", "loaded"])
async def test_the_routes_of_the_application_show_all_that_is_served(served: Served | None) -> None:
    """The emulated interfaces come first; after them everything else that answers has its path and its method."""
    box = server(served)
    routes = listed(box.app.routes)
    await box.runtime.aclose()
    emulated = [(route.path, route.method) for route in SERVED.routes]
    assert routes[: len(emulated)] == emulated
    control = [(f"/_sandbox{row.path}", row.method) for row in (*SERVED.operations, *STREAMED)]
    others = "/ /_sandbox /_sandbox/ /_sandbox/openapi.json /_sandbox/page/{stamp}/{path:path} /metrics /openapi.json"
    given_out = [(upload.path, "PUT") for upload in SERVED.uploads] + [(link.path, "GET") for link in SERVED.links]
    signups = [("/signup/{signup}", "GET"), ("/signup/{signup}", "POST")]
    pages = [(path, "GET") for path in others.split()]
    assert set(routes) == {*emulated, *control, *given_out, *signups, *pages}
