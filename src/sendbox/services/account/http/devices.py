"""`/push/device`: push devices, each of one key (§2.5, §4.4; A34)."""

from __future__ import annotations

from sendbox.services.account.devices import register
from sendbox.services.account.http.errors import may_change
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import read_body, refused, success


def push_device(exchange: Exchange) -> Answer:
    """`POST /push/device`: registers a device, or gives it another token (§4.4)."""
    may_change(exchange)
    request = read_body(exchange, "Missing 'id' or 'token' in request data", "id", "token")
    if not register(exchange.world, exchange.key, request["id"], request["token"]):
        raise refused("Device is owned by another apikey", "$.id", "owner", "§2.5", "A34", 403)
    return success()
