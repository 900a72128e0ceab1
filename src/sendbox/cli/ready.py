"""`sendbox ready`: asks a sandbox for its health, until it answers or the time is over."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sendbox.cli import address
from sendbox.cli.outcome import NO, Failure, one_line
from sendbox.runtime import wall

if TYPE_CHECKING:
    import http.client

#: Real seconds an answer may take, and between two questions.
ANSWER: Final = 5.0
PAUSE: Final = 0.05


def wait_ready(url: str, wait_ms: int = 0) -> dict[str, Any]:
    """The health of the sandbox at `url`, as soon as it is good. Raises `Failure` after `wait_ms` of real time."""
    origin = address.origin(url)
    deadline = wall.monotonic_ns() + wait_ms * 1_000_000
    never = threading.Event()
    while True:
        remaining = (deadline - wall.monotonic_ns()) / 1e9
        health, why = ask(origin, min(ANSWER, remaining) if remaining > 0 and wait_ms else ANSWER)
        if health is not None:
            return health
        if wall.monotonic_ns() >= deadline:
            raise Failure(NO, one_line(f"{origin} is not ready: {why}"))
        # There is no notification when a port begins to listen. The event is never set: this is only a timer.
        never.wait(min(PAUSE, max(0.0, (deadline - wall.monotonic_ns()) / 1e9)))


def ask(origin: str, timeout: float) -> tuple[dict[str, Any] | None, str]:
    """One request: the health, or None and the reason."""
    import http.client

    connection = _connection(origin, timeout)
    try:
        connection.request("GET", "/_sandbox/health")
        response = connection.getresponse()
        body = response.read(64 * 1024)
    except TimeoutError:
        return None, "it does not answer"
    except (OSError, http.client.HTTPException) as error:
        return None, getattr(error, "strerror", None) or str(error) or type(error).__name__
    finally:
        connection.close()
    try:
        health = json.loads(body)
    except ValueError:
        health = None
    if response.status == 200 and isinstance(health, dict) and health.get("status") == "ok":
        return health, ""
    return None, f"it answers {response.status}, and is not a Sendbox" if health is None else f"it answers {health}"


def _connection(origin: str, timeout: float) -> http.client.HTTPConnection:
    import http.client

    address = urlsplit(origin)
    assert address.hostname is not None
    if address.scheme == "http":
        return http.client.HTTPConnection(address.hostname, address.port, timeout=timeout)
    import ssl

    # Readiness is not a secret, and the certificate may come from an authority made at the start (`--tls self`).
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(address.hostname, address.port, timeout=timeout, context=context)
