"""The parcel locker on every room: over HTTP, through the fixture, control and `play`; no room was changed for it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from sendbox.cli.replay import replay
from sendbox.fixture import AsyncSandbox, Sandbox, SandboxServer
from sendbox.playing import Played, play
from sendbox.playing.play_result import objects
from sendbox.playing.text import mermaid, text
from sendbox.runtime.policy import sign
from tests.boundaries import OBSERVERS
from tests.locker.app import SERVED
from tests.test_architecture import imports, inside, ours, under

SERVICE: Final = Path(__file__).parent / "locker"
ANNA: Final = "420777000101"
BORIS: Final = "420777000102"
RULES: Final = """sendbox: 1
name: lockers
account: {default_callback_secret: hush}
lockers:
  - {name: the second is late, when: {locker: "brno-*", nth: 2}, stored: 2h..5h, times: 1}
  - {name: soon, stored: 10m..20m, kept: 1d}
expect:
  - {name: one comes back, that: parcels, where: {state: returned, rule: soon}, count: 1}
  - {that: events, where: {type: parcelStored}, count: 2}
"""
TRAFFIC: Final = """traffic:
  - {at: 0s, name: hers, request: {operation: announceParcel, body: {locker: brno-1, phone: "420777000101"}}}
  - {at: 1m, request: {operation: announceParcel, body: {locker: brno-2, phone: "420777000102"}}}
  - {at: 2m, request: {operation: announceParcel, body: {locker: brno-1}}, expect: {status: 400}}
  - {at: 6h, control: {operation: collect_parcel, arguments: {parcel: "0"}}, expect: {status: 404}}
"""


def played(seed: int = 0) -> Played:
    """The scenario with its traffic, in a world of this process."""
    return play(RULES + TRAFFIC, seed=seed, served=SERVED)


@pytest.fixture(scope="module")
def sendbox_server() -> Iterator[SandboxServer]:
    """A server of lockers, for the fixtures `sendbox` and `async_sendbox` of this module."""
    server = SandboxServer(served=SERVED).start()
    yield server
    server.stop()


@pytest.mark.unmeasured
@pytest.mark.sendbox(scenario={"sendbox": 1, "lockers": [{"stored": "10m", "kept": "1d"}]})
def test_a_parcel_is_stored_and_collected(sendbox: Sandbox) -> None:
    """A client announces a parcel over HTTP; the test moves time, reads the webhook, and collects the parcel."""
    call = httpx.post(
        f"{sendbox.origin}/lockers/parcels",
        headers={"x-api-key": sendbox.api_key},
        json={"locker": "brno-1", "phone": "420777000101"},
    )
    parcel = call.json()["parcel"]
    sendbox.advance("10m")
    assert [event["type"] for event in sendbox.events] == ["parcelStored"]
    assert sendbox.collect(parcel=parcel).state == "collected"  # type: ignore[attr-defined] # the service offers it
    sendbox.advance("2d")
    assert len(sendbox.events) == 1


def announce(sandbox: Any, phone: str = ANNA, locker: str = "brno-1", **more: str) -> httpx.Response:
    """A call by a socket."""
    body = {"locker": locker, "phone": phone, **more}
    return httpx.post(f"{sandbox.origin}/lockers/parcels", headers={"x-api-key": sandbox.api_key}, json=body)


class Shop:
    """A receiver of webhooks, which refuses the first one."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str, bytes]] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        body = environ["wsgi.input"].read()
        self.got.append((environ["HTTP_X_REQUEST_ID"], environ["HTTP_X_REQUEST_SIGNATURE"], body))
        start_response("500 Oh" if len(self.got) == 1 else "200 OK", [])
        return []


def test_what_is_refused(sendbox: Sandbox) -> None:
    """The schema judges the body, the interface answers for what is not its own, and refusals are journaled."""
    assert announce(sendbox, locker="").status_code == 400
    assert announce(sendbox, phone="12").json() == {
        "error": '"12" is not a legal phone; legal: 8 to 15 digits (§1) at $.phone'
    }
    url = f"{sendbox.origin}/lockers/parcels"
    assert httpx.post(url).json() == {"error": "X-API-Key is not a key of a sandbox"}
    assert httpx.get(url, headers={"x-api-key": sendbox.api_key}).status_code == 405
    lost = httpx.get(f"{url}/1", headers={"x-api-key": sendbox.api_key})
    assert lost.json()["error"].startswith("/lockers/parcels/1 is not a path of the lockers interface, it is outside")
    assert [entry.status for entry in sendbox.perform("journal", kind="request").entries] == [400, 400, 405, 404]
    paths = httpx.get(f"{sendbox.origin}/openapi.json").json()["paths"]
    assert list(paths) == ["/lockers/parcels"]


@pytest.mark.sendbox(scenario=RULES)
def test_webhooks_are_signed_and_tried_again(sendbox: Sandbox) -> None:
    """Both are the engine's: the second try has the same bytes, id and signature, which the account's secret makes."""
    shop = Shop()
    sendbox.deliver_to(shop)
    announce(sendbox, callback="https://shop.example/hook")
    sendbox.advance("1h")
    first, second = shop.got
    assert first == second
    assert first[1] == sign("hush", first[2])
    sendbox.advance("2d")
    assert [json.loads(body)[0]["type"] for _, _, body in shop.got[1:]] == ["parcelStored", "parcelExpired"]


def test_a_handle_says_what_there_is(sendbox: Any) -> None:
    """A name that no service registered is not an attribute; those that are private are not looked for."""
    with pytest.raises(AttributeError, match=r'^"colect" is not an attribute of Sandbox; legal: .*advice, .*collect, '):
        _ = sendbox.colect
    with pytest.raises(AttributeError, match=r"^_collect$"):
        _ = sendbox._collect


def test_the_page_shows_parcels(sendbox: Any) -> None:
    """The shell names its list, with the operation that answers it; messages are not served."""
    shell = httpx.get(f"{sendbox.origin}/_sandbox/?world={sendbox.api_key}").text
    served = json.loads(unescape(re.findall('data-served="([^"]*)"', shell)[0]))
    columns = {"Locker": "locker", "Phone": "phone", "State": "state"}
    assert served["lists"] == [{"title": "Parcels", "path": "parcels", "items": "parcels", "columns": columns}]
    assert "messages" not in served["operations"]


@pytest.mark.asyncio
async def test_an_awaiting_handle_has_the_same(async_sendbox: AsyncSandbox) -> None:
    """What the service offers on a handle is awaited there."""
    handle: Any = async_sendbox
    parcel = announce(handle).json()["parcel"]
    await handle.advance("1h")
    assert (await handle.collect(parcel=parcel)).state == "collected"


@pytest.mark.sendbox(scenario=RULES)
def test_control_knows_parcels(sendbox: Sandbox, tmp_path: Path) -> None:
    """View, act, rules put in front, verdict, coverage, exports and replay are those of every world."""
    put = sendbox.rule(in_="lockers", when={"phone": BORIS}, stored="5m")
    ids = [announce(sendbox, phone).json()["parcel"] for phone in (ANNA, BORIS)]
    sendbox.advance("5m")
    assert put == "l1"
    assert [parcel.state for parcel in sendbox.perform("parcels").parcels] == ["announced", "stored"]
    sendbox.collect(parcel=ids[1])  # type: ignore[attr-defined] # the service offers it
    with pytest.raises(Exception, match=f'"{ids[0]}" is not in a locker; a stored parcel can be collected'):
        sendbox.collect(parcel=ids[0])  # type: ignore[attr-defined] # the service offers it
    sendbox.advance("3d")
    assert [each.passed for each in sendbox.verdict.expectations] == [True, True]
    assert sendbox.coverage["items"]["parcels"] == {
        "announced": 2, "stored": 2, "collected": 1, "expired": 1, "returned": 1,
    }  # fmt: skip
    kept = tmp_path / "world.record.json"
    kept.write_text(sendbox.export("record"))
    lines, code = replay(kept, SERVED)
    assert (code, lines[0]) == (
        0,
        f"{sendbox.api_key}: equal, {len(sendbox.journal)} entries, digest {sendbox.digest}",
    )
    assert play(sendbox.export("scenario"), served=SERVED).digest == sendbox.digest
    assert 'sendbox.perform("collect_parcel"' in sendbox.export("pytest")


@pytest.mark.unmeasured
def test_arrival_has_no_part_unless_rules_count(sendbox_server: SandboxServer) -> None:
    """Parcels of two phones in either order have one digest; a rule with `nth` goes by arrival, and says so."""
    scenario = {"sendbox": 1, "lockers": [{"when": {"share": "50%"}, "stored": "1h..9h"}]}
    digests = set()
    for phones in ((ANNA, BORIS), (BORIS, ANNA)):
        sandbox = sendbox_server.sandbox(f"order {phones}", scenario=scenario)
        assert [announce(sandbox, phone).status_code for phone in phones] == [201, 201]
        sandbox.advance("9d")
        digests.add(sandbox.digest)
    assert len(digests) == 1
    assert not play(f"sendbox: 1\nlockers: [{{stored: 1h..9h}}]\n{TRAFFIC}", served=SERVED).order_sensitive
    assert play(RULES + TRAFFIC, served=SERVED).order_sensitive


def test_it_is_played() -> None:
    """The same seed gives the same digest, another seed another one; table, diagram and objects tell it."""
    assert played().digest == played().digest
    assert played().digest != played(seed=1).digest
    assert played().passed, text(played())
    assert "420777000101  parcel at brno-1: stored" in text(played())
    assert "webhook: parcelStored phone 420777000101, locker brno-1 → 200" in text(played())
    assert "parcel at brno-1: stored" in mermaid(played())
    assert objects(played())["messages"] == []
    assert play("sendbox: 1", served=SERVED).asked == []


def test_its_key_is_checked_like_all() -> None:
    """Shape and meaning of its rules are said in the words of the language, and what is doubtful is a warning."""
    lines = [
        "lockers: [{kep: 1h}]",
        "lockers: [{stored: 5h..2h}]",
        "lockers: [{kept: 1h}, {kept: 2h}]",
        "expect: [{that: parcels, where: {state: lost}}]",
        "verify: {limits: off}",
        "timeline: [{at: 1s, inbound: {channel: sms, from: '420777000101', body: Hi}}]",
    ]
    said = [str(SERVED.language.check(f"sendbox: 1\n{line}")[0]).partition(": ")[2] for line in lines]
    assert said == [
        '"kep" is not a key of a locker rule; legal: name, when, stored, kept, times; did you mean "kept"?',
        '"5h..2h" ends before it begins: 2h..5h is legal',
        'warning: {"kept":"2h"} never decides: the entry on line 2 comes first and matches whenever it does',
        '"lost" is not a value of state; legal: announced, stored, expired, collected, returned',
        f'"verify" is not a key of this language; it has: {", ".join(SERVED.language.keys)}',
        '"inbound" does not happen here; legal: account, clock',
    ]


#: What each file of the service imports of the package. Only where it is put together stands what is beside it.
IMPORTS: Final = {
    "__init__.py": "",
    "parcels.py": "engine",
    "observed.py": "engine",
    "language.py": "engine scenario",
    "http.py": "engine services.http services.operations",
    "control.py": "control.operation",
    "app.py": "contract control engine scenario services.account services.http.openapi services.language",
}


@pytest.mark.parametrize("name", IMPORTS)
def test_the_service_knows_no_other_one(name: str) -> None:
    """What happens to parcels knows the engine only, and no file knows a service beside it."""
    tree = ast.parse((SERVICE / name).read_text("utf-8"))
    taken = [part for each in imports(tree) if (part := ours(each.name)) is not None]
    assert [part for part in taken if not any(under(part, room) for room in IMPORTS[name].split())] == []
    assert not name.startswith("parcels") or not any(inside(part, OBSERVERS) for part in taken)


def test_the_service_is_small() -> None:
    """All its files are in the table above, beside its contract, and have 400 lines together."""
    files = [*(SERVICE / name for name in IMPORTS), SERVICE / "locker.json"]
    assert {path for path in SERVICE.iterdir() if path.is_file()} == set(files)
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= 400
