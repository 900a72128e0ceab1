"""The sandbox by Testcontainers for Python, in pytest."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

PORT = 7357
KEY = "test-python"


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    container = DockerContainer("registry.example/sendbox:1").with_exposed_ports(PORT)
    with container.waiting_for(HttpWaitStrategy(PORT, "/_sandbox/health")) as started:
        yield f"http://{started.get_container_host_ip()}:{started.get_exposed_port(PORT)}"


def call(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"x-api-key": KEY, "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        return json.load(answer)


def test_a_message(sandbox: str) -> None:
    world = f"{sandbox}/_sandbox/worlds/{KEY}"
    call(f"{sandbox}/_sandbox/worlds", {"id": KEY, "clock": {"mode": "manual"}})
    call(f"{sandbox}/v2/message", {"to": [{"phone_number": "420777000101"}], "body": "Hello"})
    call(f"{world}/clock/advance", {"by": "1m"})
    assert [event["result"] for event in call(f"{world}/hook")["events"]] == ["sending", "sent", "delivered"]
