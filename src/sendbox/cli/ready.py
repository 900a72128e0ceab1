"""`sendbox ready`: the health of a sandbox, until it answers or the time is over."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from typing import Final
from urllib.parse import urlsplit

import click

from sendbox.cli import address
from sendbox.cli.options import DURATION, URL, WholeNumber, option_sources
from sendbox.cli.outcome import NO, USAGE, Failure, one_line
from sendbox.engine.answer import JsonObject
from sendbox.engine.kinds.masking import MASK
from sendbox.runtime import wall
from sendbox.settings import LAST_PORT

#: Real seconds an answer may take, and between two questions.
ANSWER_TIMEOUT: Final = 5.0
PAUSE: Final = 0.05


@click.command()
@URL
@click.option("--port", type=WholeNumber(1, LAST_PORT), help="The sandbox of this machine at this port.")
@click.option("--tls", type=click.Choice(["self"]), help="The sandbox of this machine over https.")
@click.option("--wait", **DURATION, default="0s", help="How long to try again.  [default: ask once]")
def ready_command(url: str | None, port: int | None, tls: str | None, wait: int) -> None:
    """Exit code 0 when it is, 1 when it is not. Without --url it asks the sandbox of this machine, where serve would
    listen under the same SENDBOX_HOST, SENDBOX_PORT, SENDBOX_TLS and SENDBOX_TLS_CERT, unless
    --port or --tls are given.

    \b
    Example:
      sendbox ready --wait 10s && run-the-tests
    """
    this_machine = port is not None or tls is not None
    if this_machine and option_sources().get("url") == "--url":
        raise Failure(USAGE, "--url says the port and whether it is https: leave out --port and --tls")
    where = url if url and not this_machine else address.default(port=port, secure=True if tls else None)
    health = wait_ready(where, wait)
    click.echo(one_line(f"{MASK.text(address.origin(where))} is ready: Sendbox {health.get('version')}"))


def wait_ready(url: str, wait_ms: int = 0) -> JsonObject:
    """The health of the sandbox at `url`, as soon as it is good. Raises `Failure` after `wait_ms` of real time."""
    where = address.origin(url)
    deadline = wall.monotonic_ns() + wait_ms * 1_000_000
    never = threading.Event()
    while True:
        remaining = (deadline - wall.monotonic_ns()) / 1e9
        health, why = ask(where, min(ANSWER_TIMEOUT, remaining) if remaining > 0 and wait_ms else ANSWER_TIMEOUT)
        if health is not None:
            return health
        if wall.monotonic_ns() >= deadline:
            raise Failure(NO, one_line(f"{MASK.text(where)} is not ready: {why}"))
        # There is no notification when a port begins to listen. The event is never set: this is only a timer.
        never.wait(min(PAUSE, max(0.0, (deadline - wall.monotonic_ns()) / 1e9)))


def ask(origin: str, timeout: float) -> tuple[JsonObject | None, str]:
    """One request: the health, or None and the reason."""
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
    parts = urlsplit(origin)
    assert parts.hostname is not None
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    # Readiness is not a secret, and the certificate may come from an authority made at the start (`--tls self`).
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)
