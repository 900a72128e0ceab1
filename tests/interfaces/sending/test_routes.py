"""The rows of the JSON endpoints (§4.1)."""

from __future__ import annotations

from sendbox.services.messaging.http.sending.routes import ROUTES


def test_s4_1_endpoints() -> None:
    """Three endpoints take JSON by POST with the key in the header, and answer MessageResponse or `{Message}`."""
    assert [(row.method, row.path, row.operation) for row in ROUTES] == [
        ("POST", "/v2/message", "sendMessage"),
        ("POST", "/v2/message/priority", "sendPriorityMessage"),
        ("POST", "/v2/messages", "sendMessages"),
    ]
    assert {row.auth for row in ROUTES} == {"header"}
    assert [row.request for row in ROUTES] == [
        "sending.json#/$defs/Message",
        "sending.json#/$defs/Message",
        "sending.json#/$defs/Messages",
    ]
    for row in ROUTES:
        error = "sending.json#/$defs/Error"
        assert row.responses == {200: "sending.json#/$defs/MessageResponse", 400: error, 415: error}
        assert row.assumed == tuple(sorted(set(row.assumed)))
