"""The operation of a recorded call is found by the end of its path."""

from __future__ import annotations

import pytest

from sendbox.app import SERVED
from sendbox.comparing.running import find
from sendbox.services.http.exchange import RouteTable

PATHS = RouteTable(SERVED.routes)


@pytest.mark.parametrize(
    ("method", "path", "here", "operation"),
    [
        ("POST", "/v2/message", "/v2/message", "sendMessage"),
        ("POST", "/message", "/v2/message", "sendMessage"),
        ("POST", "/gateway/v2/message", "/v2/message", "sendMessage"),
        ("POST", "/gateway/message/priority", "/v2/message/priority", "sendPriorityMessage"),
        ("GET", "/messages", "/v1/messages", "listMessages"),
        ("POST", "/messages", "/v2/messages", "sendMessages"),
        ("GET", "/api/Send", "/Send", "legacySendByQuery"),
        ("PATCH", "/validations/abc", "/v1/validations/abc", "checkProof"),
        ("POST", "/v1/message", "/v1/message", None),
        ("DELETE", "/api/Send", "/Send", None),
    ],
)
def test_found(method: str, path: str, here: str, operation: str | None) -> None:
    """Versions and what stands before them may be other ones; a path of here is itself, whatever the method."""
    place = find(PATHS, method, path)
    assert place is not None
    assert (place.path, place.route and place.route.operation) == (here, operation)


@pytest.mark.parametrize("path", ["/", "", "/v2/", "/nothing", "/v1/validations/"])
def test_of_no_interface(path: str) -> None:
    """Nothing is guessed."""
    assert find(PATHS, "POST", path) is None
