"""`/push/device`: push devices, each of one key (§2.5, §4.4; A34)."""

from __future__ import annotations

from sendbox.core.devices import register
from sendbox.interfaces.exchange import Answer, Exchange
from sendbox.interfaces.rest.decode import read_body
from sendbox.interfaces.rest.encode import success
from sendbox.interfaces.rest.errors import may_change, refused


def push_device(exchange: Exchange) -> Answer:
    """`POST /push/device`: registers a device, or gives it another token (§4.4)."""
    may_change(exchange)
    request = read_body(exchange, "Missing 'id' or 'token' in request data", "id", "token")
    if not register(exchange.world, exchange.key, request["id"], request["token"]):
        raise refused("Device is owned by another apikey", "$.id", "owner", "§2.5", "A34", 403)
    return success()
