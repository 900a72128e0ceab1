"""The tables of faults: a row is all that a fault needs, to be written, checked, carried out, told and documented."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import httpx
import pytest
import yaml

from sendbox import language
from sendbox.engine.delivery import injection, rules
from sendbox.engine.delivery.batches import Outlet, Target
from sendbox.engine.delivery.faults import fault as deliveries
from sendbox.engine.delivery.faults.fault import FaultyDelivery, Spoilt, Way
from sendbox.engine.delivery.faults.ways import Split
from sendbox.engine.faults import calls as api_rules
from sendbox.engine.faults import fault as calls
from sendbox.engine.faults.fault import AT_ONCE, Act, End, Fault, Piece, Wait
from sendbox.engine.faults.table import CALLS, DELIVERIES
from sendbox.engine.forms import span
from sendbox.scenario.keys import faults as scenario_faults
from sendbox.scenario.model import ScenarioError
from sendbox.scenario.shape import _without_patterns
from sendbox.server import wire as server_faults
from sendbox.services.coverage.catalog import _faults
from tests.box import WORLD
from tests.documentation.faults import faults_of_calls, faults_of_deliveries
from tests.documentation.language import LANGUAGE, with_tables
from tests.documentation.markdown import text_of
from tests.faulty import faulty, results
from tests.house import WAYS, House, housed
from tests.scenarios import compile_rule


class Stutter(calls.Timed, frozen=True):
    """A fault of calls that the product does not have: half of the body, a pause, and the other half."""

    kind: ClassVar = "stutter"
    bare: ClassVar = False
    value: ClassVar = span("The answer stops in the middle for so long.")
    examples: ClassVar = {"{stutter: 20ms}": "half of the answer, and the rest later"}

    def acts(self, size: int, time: int) -> tuple[Act, ...]:
        return Piece(0, size // 2), Wait(time), Piece(size // 2, size)


class Echo(deliveries.Timed, frozen=True):
    """A fault of deliveries that the product does not have: the batch comes again, and is another one."""

    kind: ClassVar = "echo"
    value: ClassVar = span("How long after the batch it comes again.")
    examples: ClassVar = {"{echo: 30s}": "the batch comes again", "echo": "at once"}

    def send(self, way: Way, faulty: FaultyDelivery, after: int) -> None:
        way.world.outlets.queue(faulty)
        way.then(after, faulty, "echo")

    def due(self, way: Way, faulty: FaultyDelivery, what: Any) -> None:
        again = way.another(faulty, faulty.events)
        again.mark = what
        way.world.outlets.queue(again)

    def upcoming(self, _faulty: FaultyDelivery) -> str:
        return "echoes,"


class Silence(calls.ApiFault, frozen=True):
    """Another one, with nothing to say but what happens."""

    kind: ClassVar = "silence"
    examples: ClassVar = {"silence": "nothing"}

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (End(b""),)


class Slam(calls.ApiFault, frozen=True):
    """One that resets the connection."""

    kind: ClassVar = "slam"
    examples: ClassVar = {"slam": "a reset"}

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (End(reset=True),)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables with four more rows, and the language's schema as it is written then."""
    shape = language.LANGUAGE.shape
    assert shape.schema
    assert shape._checked  # made before anything is changed: it stays when the test is over
    for fault in (Stutter, Silence, Slam):
        monkeypatch.setitem(CALLS, fault.kind, fault)
    monkeypatch.setitem(DELIVERIES, Echo.kind, Echo)
    written = json.loads(with_tables(text_of(LANGUAGE)))
    monkeypatch.setattr(shape, "schema", written)
    monkeypatch.setattr(shape, "_checked", _without_patterns(written))
    monkeypatch.setattr(shape, "_validators", {})


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with housed() as made:
        yield made


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("way", WAYS)
def test_a_new_fault_of_calls(house: House, way: str) -> None:
    """Its row alone: it is compiled, applied, carried out by every way to the sandbox, journaled, and told."""
    key = f"test-tables-{way}"
    house.control("POST", "/worlds", json={"id": key})
    rule = house.control("POST", f"/worlds/{key}/rules", json={"in": "api", "fault": {"stutter": "20ms"}})["id"]
    assert "accepted" in house.send(way, key).text
    (told,) = house.control("GET", f"/worlds/{key}/journal", params={"kind": "fault"})["entries"]
    assert (told["fault"], told["processed"]) == ({"stutter": "20ms"}, True)
    house.control("DELETE", f"/worlds/{key}/rules/{rule}")
    house.control("POST", f"/worlds/{key}/rules", json={"in": "api", "fault": "silence"})
    with pytest.raises(httpx.RemoteProtocolError):
        house.send(way, key)
    noted = house.control("GET", f"/worlds/{key}/journal", params={"kind": "request"})["entries"][-1]
    assert (noted["status"], noted["fault"]) == (0, "silence")


@pytest.mark.unmeasured
@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("way", WAYS)
def test_a_fault_that_resets_the_connection(house: House, way: str) -> None:
    """However the sandbox is reached, a client of httpx gets the error of a reset; OpenSSL may tell an end instead."""
    key = f"test-slam-{way}"
    house.control("POST", "/worlds", json={"id": key})
    house.control("POST", f"/worlds/{key}/rules", json={"in": "api", "fault": "slam"})
    with pytest.raises((httpx.ReadError, *([httpx.RemoteProtocolError] if way == "tls" else []))):
        house.send(way, key)


@pytest.mark.unmeasured
@pytest.mark.usefixtures("registered")
def test_what_follows_from_the_row_of_a_call() -> None:
    """An answer that comes in the end has its effect; the words of a problem name the new fault."""
    with pytest.raises(ScenarioError, match="false leaves stutter no answer"):
        compile_rule("api", {"fault": {"stutter": "1s"}, "processed": False})
    with pytest.raises(ScenarioError, match=r'stuttr.*did you mean "stutter"'):
        compile_rule("api", {"fault": {"stuttr": "1s"}})
    assert compile_rule("api", {"fault": {"stutter": "1s"}}).key == (
        '{"fault":{"kind":"stutter","time":{"low":1000,"high":1000}},"processed":null,"when":{}}'
    )
    assert "api: [{fault: {stutter: 20ms}}]" in [item.snippet for item in _faults()]
    assert "| `{stutter: 20ms}` | half of the answer, and the rest later | yes |" in faults_of_calls()


@pytest.mark.unmeasured
@pytest.mark.usefixtures("registered")
@pytest.mark.asyncio
async def test_a_new_fault_of_deliveries() -> None:
    """Its row alone: it is compiled, applied, scheduled and announced, carried out, and told."""
    async with faulty({"name": "twice", "when": {"result": "sent"}, "fault": {"echo": "30s"}}) as (box, receiver):
        await box.send()
        await box.advance("5s")
        (step,) = (await box.get(f"{WORLD}/pending")).json["steps"]
        assert step["what"].endswith('/hook echoes, by the rule "twice"')
        await box.advance("1h")
        assert results(receiver.calls) == [["sending"], ["sent"], ["delivered"], ["sent"]]
        assert len({headers["x-request-id"] for headers in receiver.headers}) == 4
        (told,) = (await box.get(f"{WORLD}/journal?kind=webhook_fault")).json["entries"]
        assert told["fault"] == "echo 30s"
    assert compile_rule("webhooks", {"fault": "echo"}).fault == Echo()
    assert "webhooks: [{fault: {echo: 30s}}]" in [item.snippet for item in _faults()]
    assert "| `echo` | at once |" in faults_of_deliveries()


def test_a_row_without_more() -> None:
    """What a row does not say is as usual: no time, no rate; nothing is announced."""
    assert (Silence().time, Silence().rate, Silence().per) == (AT_ONCE, None, "key")
    assert (Split().after, Split().ending, Split().spoilt) == (AT_ONCE, None, Spoilt())
    outlet = Outlet(Target(""), builtin=True)
    assert Split().upcoming(FaultyDelivery(0, outlet, (), 0, compile_rule("webhooks", {"fault": "split"}))) is None


@pytest.mark.parametrize(
    "module", [server_faults, scenario_faults, injection, rules, api_rules], ids=lambda each: each.__name__
)
def test_whoever_handles_faults_knows_none_by_name(module: ModuleType) -> None:
    """Compiling, deciding and carrying out go by rows: a fault is not named there."""
    tree = ast.parse(inspect.getsource(module))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    # what ASGI calls the status of an answer, and a condition about what a call carries
    assert texts & {*CALLS, *DELIVERIES} <= {"status", "content_type"}


@pytest.mark.parametrize("table", [CALLS, DELIVERIES], ids=["calls", "deliveries"])
def test_every_row_says_what_it_must(table: dict[str, type[Fault]]) -> None:
    """A word or a value, examples that are themselves legal, and values for all of its fields."""
    key = "api" if table is CALLS else "webhooks"
    for kind, fault in table.items():
        assert fault.bare or fault.value is not None
        assert fault().kind == kind
        assert {type(compile_rule(key, {"fault": yaml.safe_load(form)}).fault) for form in fault.examples} == {fault}
