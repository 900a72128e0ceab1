"""`/messaging/url`: an address to upload a bulk file to (§4.2; A35)."""

from __future__ import annotations

from typing import Final

from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import read_body, refused, success
from sendbox.services.messaging.bulk import FILETYPES
from sendbox.services.messaging.messaging import Messaging

_MISSING: Final = "Missing 'bulk_id' or 'filetype' in request data"


def upload_url(exchange: Exchange) -> Answer:
    """`POST /messaging/url`: the address works once, for a minute of the world's time (§4.2)."""
    request = read_body(exchange, _MISSING, "bulk_id", "filetype")
    filetype: str = request["filetype"]
    if filetype not in FILETYPES:
        raise refused("Unsupported filetype", "$.filetype", "filetype", "§4.2", "A35")
    bulks = Messaging.of(exchange.world).bulks
    bulk = bulks.issue(request["bulk_id"], filetype, exchange.key, exchange.content or b"", exchange.origin)
    return success(url=f"{exchange.origin}/upload/{bulk.address}")
