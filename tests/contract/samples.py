"""Legal values to begin with, and ways to spoil them."""

from __future__ import annotations

from typing import Any, Final

from sendbox.services.messaging.channels import ROWS

TYPICAL: Final[dict[str, Any]] = {
    "body": "Your order is on its way and will be there tomorrow: https://shop.example/t/1234",
    "to": [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}, {"phone_number": "420777000103"}],
    "sender": "Acme",
    "callback": "https://client.example/hooks?id=12",
    "tag": "transactional,orders",
    "payload": {"order": 12345, "customer": {"id": "c-99"}, "items": ["a", None]},
    "flow": [
        {
            "richmsg": {
                "sender": "Acme",
                "ttl": 2,
                "ttl_condition": "delivered",
                "buttons": [{"title": "Track", "url": "https://shop.example/t/1234"}],
            }
        },
        {"sms": {"gateway": "high", "ttl": 5, "type": "utf"}},
    ],
}

#: Every field there is.
FULL: Final[dict[str, Any]] = {
    "body": "Hello",
    "to": [{"phone_number": "420777000101"}],
    "sender": "420900000001",
    "callback": {
        "url": "https://client.example/hooks",
        "method": "PUT",
        "content_type": "application/json",
        "headers": {"X-Token": "abc"},
        "batch_size": 10,
        "timeout_ms": 2000,
    },
    "tag": "a,b",
    "messageTag": "c",
    "payload": {},
    "params": {"_url": {"type": "all", "domain": "go.example", "get_enhance": "id", "get_name": "m", "expires_at": 9}},
    "datetime": "2030-03-01T09:00:00Z",
    "delivery_time": {"days": ["monday"], "start": "08:00", "end": "20:00", "tz": "Europe/Prague"},
    "flow": [
        {"chatapp_text": {"body": "Hi", "sender": "109876543210987", "ttl": 0.5, "ttl_condition": "seen"}},
        {
            "chatapp_template": {
                "template_name": "otp",
                "language": "en",
                "sender": "109876543210987",
                "params": ["1234", {"name": "Jan"}],
                "params_header": [{"document": {"link": "https://cdn.example/a.pdf", "filename": "a.pdf"}}],
                "params_buttons": [
                    None,
                    "x",
                    {"flow": None},
                    {"voice_call": {"ttl_minutes": 15}},
                    {"mpm": {"p": [{"title": "New", "product_items": [{"product_retailer_id": "q"}]}]}},
                ],
                "params_carousel": [{"product": {"product_retailer_id": "p", "catalog_id": "c"}}],
                "params_lto": ["1893456000000"],
                "parameters_header": [{"location": {"latitude": "1", "longitude": "2", "name": "n", "address": "a"}}],
            }
        },
        {"sms": {"body": "Hi", "sender": "Acme", "gateway": "gsm", "ttl": 1, "ttl_condition": "sent", "type": "sms"}},
    ],
}

#: What takes the place of a part: every type, the edges of the limits, and what engines are known to differ on.
ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 0.5, 0.49, 1.0, 500, 501, 10000, 1e300, 2**53, 2**63, 0.07, "", " ", "a", "12",
    "12\n", "١٢", "12:30", "08:00\n", "monday", "sms", "high", "seen", "id", "full", "GET",
    "https://x.example/a?b=c#d", "ftp://x", "http://", "http://x\n", "https://x/%zz", "a:b", "2030-02-30T00:00:00Z",
    "2030-03-01T09:00:00.1+01:00", "2030-03-01 09:00:00", "ElevenChars", "TwelveChars1", "\U0001f600" * 11,
    "\U0001f600" * 12, "e\u0301" * 6, "\u2028", "\x7f", "\x85", "a" * 2049, "Europe/Prague", "X-Header", "a\tb",
    "a\r\nb", [], {}, [None], [{}], ["a", "b"], {"a": "b"}, {"a": None}, {"a": 1}, {"sms": {}}, {"sms": {},
    "richmsg": {}}, {"url": "http://a"}, {"phone_number": "1"}, {"": ""}, {"a b": "c"}, [{"phone_number": "1"}] * 11,
    {str(i): "v" for i in range(21)},
)  # fmt: skip


def sent_message(gateway: str) -> dict[str, Any]:
    """A legal `sentMessage` event (§6)."""
    bill: dict[str, Any] = {
        "gateway": "high", "sender": "Acme", "country": 230, "operator": 1,
        "price_czk": 1.2, "price_eur": 0.05, "count": 1,
    }  # fmt: skip
    if ROWS[gateway].gateway is None:
        del bill["gateway"]
    return {
        "request_id": "r",
        "message_id": "m-0",
        "gateway": gateway,
        "timestamp": 1893456000,
        "payload": {"order": 5},
        "type": "outgoing",
        "to": {"phone_number": "420777000101"},
        "result": "delivered",
        "result_info": "[0] Delivered",
        ROWS[gateway].details: bill,
    }


def incoming(*, reply: bool) -> dict[str, Any]:
    """A legal `incomingReplyMessage` or `incomingMessage` event (§6)."""
    event: dict[str, Any] = {
        "gateway": "chatapp", "timestamp": 1893456000, "type": "incoming", "sender": "420777000101",
        "recipient": "Acme", "body": "YES",
    }  # fmt: skip
    return {"request_id": "r", "message_id": "m", "payload": {}, **event} if reply else event
