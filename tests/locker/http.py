"""The interface of the service: `POST /lockers/parcels`."""

from __future__ import annotations

from typing import Final

import orjson

from sendbox.engine.delivery.batches import Target
from sendbox.services.http.exchange import Answer, Exchange, Interface, Route
from sendbox.services.http.requests import canonical, parsed, refusal
from sendbox.services.operations import Operation
from tests.locker.parcels import Locker

CALL: Final = Operation("lockers", "announceParcel", "POST", "/lockers/parcels", "body", sends=False)
REQUEST: Final = "locker.json#/$defs/Announcement"


def error(status: int, text: str) -> Answer:
    """How the interface refuses."""
    return Answer(status, orjson.dumps({"error": text}))


def announce(exchange: Exchange) -> Answer:
    """Announces a parcel. Without a callback its webhooks go to the built-in receiver of the world."""
    body = parsed(exchange)
    if findings := exchange.contract.checker(REQUEST).findings(body):
        raise refusal(findings)
    target = Target(body.pop("callback", ""), secret=exchange.key.default_callback_secret)
    exchange.content = canonical(body)
    parcel = Locker.of(exchange.world).announce(body["locker"], body["phone"], target, exchange.content)
    return Answer(201, orjson.dumps(parcel.view()))


ROUTE: Final = Route(
    CALL.method, CALL.path, CALL.name, "Announce a parcel", "§1", announce, error,
    deny=lambda _given: error(401, "X-API-Key is not a key of a sandbox"),
    request=REQUEST, responses={201: "locker.json#/$defs/Parcel", 400: "locker.json#/$defs/LockerError"},
    interface=CALL.interface,
)  # fmt: skip
INTERFACE: Final = Interface("lockers", ("/lockers/",), error)
