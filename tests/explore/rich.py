"""A client that does much in one world, run again under plans: on every channel, with flows, links, replies and codes.

Each phone has its own story, so that a misfortune of one phone can be told from those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import httpx

from sendbox.app import SERVED
from sendbox.exploring.census import Census, ObservedMessage
from sendbox.exploring.families.table import FAMILIES
from sendbox.exploring.misfortune import MAX_MISFORTUNES, Misfortune, Plan, scenarios
from sendbox.exploring.watcher import Watcher
from sendbox.fixture import Sandbox, SandboxServer
from sendbox.scenario.model import errors
from tests.fixture.support import Asgi

START: Final = "2026-03-02T09:00:00Z"
_UNLIKE: Final = ("n", "rules", "order_sensitive", "token", "code", "url")
#: Who gets what.
PLAIN, RICH, SLOW, READER, LOST, REFUSED, TEMPLATE, CODE, SILENT, LATER = (f"42077700995{n}" for n in range(10))
#: On the blacklist of the account.
BLOCKED: Final = "420777009960"
BUSINESS: Final = "109876543210987"
UNCONNECTED: Final = "209876543210987"
SCENARIO: Final[dict[str, Any]] = {
    "sendbox": 1,
    "extends": "default",
    "assume": {"sms_sender": "strict"},
    "account": {
        "senders": {"sms": ["Shop", "Other"], "richmsg": ["Acme"], "chatapp": [UNCONNECTED]},
        "stop_words": ["ENOUGH"],
        "blacklist": [BLOCKED],
        "subkeys": [{"name": "own", "credit": 5, "currency": "EUR"}, {"name": "shares", "shared": True}],
    },
    "partner": {
        "accounts": [
            {
                "waba_id": "102030405060708",
                "numbers": [
                    {"phone_number": "420900000001", "phone_number_id": BUSINESS, "status": "CONNECTED"},
                ],
            }
        ]
    },
    "verify": {"limits": {"number": "2/10m"}},
    "attempts": [
        {"when": {"phone": SLOW, "channel": "richmsg"}, "then": "sent"},
        {"when": {"phone": READER}, "then": "seen"},
        {"when": {"phone": LOST}, "then": "undelivered"},
        {"when": {"phone": REFUSED}, "then": "rejected"},
        {"when": {"phone": SILENT}, "then": "sent"},
    ],
}


class Client:
    """The client of the sample."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._http = httpx.Client(transport=sandbox.transport)

    def call(self, url: str, body: dict[str, Any], *, subkey: str = "") -> httpx.Response:
        """A call of the service."""
        return self._http.post(url, headers={"x-api-key": self._sandbox.api_key + subkey}, json=body)

    def send(self, *phones: str, subkey: str = "", **message: Any) -> None:
        """Sends a message, which is taken."""
        to = [{"phone_number": phone} for phone in phones]
        answer = self.call(f"{self._sandbox.base_url}/message", {"to": to, **message}, subkey=subkey)
        assert answer.status_code == 200, answer.text

    def code(self, phone: str) -> int:
        """Begins a validation session."""
        return self.call(f"{self._sandbox.verify_url}/v1/validations", {"phoneNumber": phone}).status_code


def suite(sandbox: Sandbox) -> None:
    """What the client does; nothing of it depends on what happens to it."""
    receiver = Asgi()
    sandbox.deliver_to(receiver)
    client = Client(sandbox)
    text: dict[str, Any] = {
        "body": "Hello: https://acme.example/offer",
        "params": {"_url": {"type": "full"}},
        "sender": "Shop",
    }
    rich, sms = {"sender": "Acme", "body": "Rich"}, {"sender": "Shop", "body": "Text"}
    client.send(PLAIN, **text)
    client.send(RICH, LATER, flow=[{"richmsg": {**rich, "ttl": 1}}, {"sms": sms}])
    client.send(SLOW, flow=[{"richmsg": {**rich, "ttl": 0.5}}, {"sms": sms}])
    client.send(READER, flow=[{"richmsg": {**rich, "ttl": 1, "ttl_condition": "seen"}}, {"sms": sms}])
    client.send(LOST, flow=[{"sms": {**sms, "ttl": 1}}, {"richmsg": rich}])
    client.send(REFUSED, body="Hello", sender="Shop")
    client.send(SILENT, body="Hello", sender="Shop")
    client.code(CODE)
    client.code(BLOCKED)
    sandbox.advance("20s")
    client.send(PLAIN, body="Again", sender="Shop")
    client.send(PLAIN, body="And again, for a key with credit of its own", sender="Shop", subkey="~own")
    client.send(RICH, body="By a key that shares the credit", sender="Shop", subkey="~shares")
    template = {"template_name": "otp", "language": "en", "params": ["1234"]}
    client.send(TEMPLATE, flow=[{"chatapp_template": {**template, "sender": BUSINESS}}, {"sms": sms}])
    sandbox.advance("10s")
    client.send(TEMPLATE, flow=[{"chatapp_template": {**template, "sender": UNCONNECTED}}])
    client.send(
        SILENT, flow=[{"chatapp_text": {"sender": UNCONNECTED, "body": "Nobody wrote", "ttl": 1}}, {"sms": sms}]
    )
    client.send("12", body="Not a number")
    client.code(CODE)
    client.code(CODE)
    sandbox.advance("4s")
    sandbox.phone(PLAIN).write("Thanks", to="Shop")
    at = {"datetime": "2026-03-02T09:05:00Z"}
    client.send(LATER, body="In five minutes", sender="Shop", **at)
    client.send(LATER, body="At once", sender="Shop")
    sandbox.advance("10m")
    client.code(CODE)
    client.send(READER, body="Nobody waits for it", sender="Shop")
    for number, batch in enumerate(receiver.batches):
        assert batch, number


@dataclass(frozen=True)
class Ran:
    """A run: its census, and its journal."""

    census: Census
    journal: list[dict[str, Any]]

    def entries(self, kind: str, at: int | None = None) -> list[dict[str, Any]]:
        """The entries of a kind, at an instant of the world if one is given."""
        return [entry for entry in self.journal if entry["kind"] == kind and at in (None, entry["offset"])]

    def message(self, phone: str, ordinal: int) -> ObservedMessage:
        """A message."""
        return next(each for each in self.census.messages if (each.phone, each.ordinal) == (phone, ordinal))


class Rich:
    """The sample client on a server of its own."""

    def __init__(self) -> None:
        self._server = SandboxServer().start()
        self._watcher = self._server.runtime.hooks = Watcher(SERVED)

    def close(self) -> None:
        """Stops the server."""
        self._server.stop()

    def run(
        self,
        plan: Plan = (),
        do: Callable[[Sandbox], None] = suite,
        scenario: Mapping[str, Any] = SCENARIO,
    ) -> Ran:
        """One run under a plan: what the sample client does, or another one."""
        server, watcher = self._server, self._watcher
        laid = scenarios(plan)
        server.thread.call(lambda: watcher.begin(laid, observing=True))
        sandbox = server.sandbox("rich", scenario=dict(scenario), clock={"mode": "manual", "start": START})
        try:
            do(sandbox)
            start = datetime.fromisoformat(START)
            journal = [
                {**entry, "offset": round((entry.at - start).total_seconds() * 1000)} for entry in sandbox.journal
            ]
            (observed,) = server.thread.call(lambda: watcher.end(server.runtime))
        finally:
            sandbox.close()
        assert server.runtime.violations == []
        return Ran(observed.census, journal)


def misfortunes(census: Census, family: str) -> Iterator[Misfortune]:
    """Every value of every spot of a family."""
    for kind in FAMILIES[family]:
        for spot in kind.spots(kind, census):
            yield from (Misfortune(spot, number) for number in range(len(spot.values)))


def told_by(misfortune: Misfortune) -> str:
    """The phone that a misfortune of messages or people is about."""
    return misfortune.spot.about.split()[2]


def together(found: Iterable[Misfortune]) -> Iterator[Plan]:
    """Plans of misfortunes of different phones, so that fewer runs do; in each of them some phones have none."""
    plans: list[list[Misfortune]] = []
    for item in found:
        phone = told_by(item)
        fits = (plan for plan in plans if len(plan) < MAX_MISFORTUNES and phone not in map(told_by, plan))
        plan = next(fits, None)
        if plan is None:
            plans.append([item])
        else:
            plan.append(item)
    yield from map(tuple, plans)


def problems(misfortune: Misfortune) -> list[str]:
    """What is wrong with the scenario of a misfortune."""
    (scenario,) = scenarios((misfortune,)).values()
    if "found" in scenario:  # its file names the test too
        scenario["found"]["test"] = "test_it"
    return [str(problem) for problem in errors(SERVED.language.check({**scenario, "extends": "default"}))]


def phone_of(entry: dict[str, Any]) -> str | None:
    """The phone that an entry is about, None where it is about none or about several."""
    return next((entry[key] for key in ("phone", "from", "number") if isinstance(entry.get(key), str)), None)


def others(ran: Ran, *phones: str) -> list[Any]:
    """What happened to all phones but these, without what counts entries, names rules or holds the id of the world."""
    told: list[Any] = []
    for entry in ran.journal:
        at, kind = entry["offset"], entry["kind"]
        if kind == "delivery":
            told += [(at, kind, dict(event)) for event in entry["events"] if phone_of(event) not in (None, *phones)]
        elif phone_of(entry) not in (None, *phones) and kind != "timeline":
            told.append((at, kind, {key: entry[key] for key in entry if key not in _UNLIKE}))
    return told
