"""Faults of calls from many threads: who is hit never depends on who comes first, or the journal says so."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sendbox.fixture.server import SandboxServer
from sendbox.settings import Settings
from tests.box import START

CONTROL = "/_sandbox/worlds/test-t"
#: Two calls to each of forty phones, equal ones: nobody can tell which of them came first.
REQUESTS = [{"body": "Hi", "to": [{"phone_number": f"42077700{n:02}01"}]} for n in range(40)] * 2

#: Each with a share, so that some calls go wrong and others do not.
FAULTS: dict[str, dict[str, Any]] = {
    "status": {"fault": {"status": 500}},
    "status-processed": {"fault": {"status": 500}, "processed": True},
    "delay": {"fault": {"delay": "1ms..9ms"}},
    "disconnect": {"fault": "disconnect"},
    "disconnect-middle": {"fault": {"disconnect": "middle"}},
    "garbage": {"fault": "garbage"},
    "bad-json": {"fault": "bad_json"},
    "trickle": {"fault": {"trickle": "1ms..9ms"}},
    "timeout": {"fault": "timeout"},
}


def run(rule: dict[str, Any], threads: int) -> dict[str, Any]:
    """Sends all requests from so many threads, backwards by several, and answers which were hit, and the digest."""
    server = SandboxServer(Settings(port=0, mode="manual", start=START, public_url=None)).start()
    patience = httpx.Timeout(60, read=1 if rule["fault"] == "timeout" else 60)
    try:
        with httpx.Client(base_url=server.origin, trust_env=False, timeout=60) as http:
            assert http.post("/_sandbox/worlds", json={"id": "test-t"}).status_code == 201
            http.put(f"{CONTROL}/scenario", json={"sendbox": 1, "extends": "default", "api": [rule]})

            def post(message: dict[str, Any]) -> None:
                with contextlib.suppress(httpx.TransportError):
                    http.post("/v2/message", json=message, headers={"x-api-key": "test-t"}, timeout=patience)

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(post, REQUESTS if threads == 1 else REQUESTS[::-1]))
            http.post(f"{CONTROL}/clock/advance", json={"by": "1h"})
            entries = http.get(f"{CONTROL}/journal", params={"kind": "fault", "limit": 1000}).json()["entries"]
            hit = sorted((entry["phone"], str(entry["fault"])) for entry in entries)
            return {"hit": hit, **http.get(f"{CONTROL}/digest").json()}
    finally:
        server.stop()


@pytest.mark.sample(9)
@pytest.mark.parametrize("rule", FAULTS.values(), ids=FAULTS)
def test_a_share_hits_the_same_calls_from_many_threads(rule: dict[str, Any]) -> None:
    """Every fault whose draw counts no calls: the same phones, times and digest, and nothing order-sensitive."""
    drawn = {"name": "some", **rule, "when": {"share": "5%" if rule["fault"] == "timeout" else "40%"}}
    one, many = run(drawn, 1), run(drawn, 8)
    assert one == many
    assert one["order_sensitive"] is False
    assert 0 < len(one["hit"]) < len(REQUESTS)


COUNTING: dict[str, dict[str, Any]] = {
    "call": {"when": {"call": 3}, "fault": {"status": 500}},
    "every": {"when": {"every": 3}, "fault": {"status": 500}},
    "times": {"fault": {"status": 500}, "times": 3},
    "rate-limit": {"fault": {"rate_limit": "10/s"}},
}


@pytest.mark.parametrize("rule", COUNTING.values(), ids=COUNTING)
def test_what_counts_calls_is_marked(rule: dict[str, Any]) -> None:
    """What depends on who comes first says so."""
    assert run(rule, 8)["order_sensitive"] is True
