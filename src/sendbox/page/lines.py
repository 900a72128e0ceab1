"""Command lines to copy: shown by the page and by the banner of `sendbox serve`."""

from __future__ import annotations

import json
import shlex
from typing import Final

#: A number that is delivered, by the magic numbers of the default scenario.
DELIVERED: Final = "420777000101"


def send_line(base_url: str, key: str, *, cacert: str | None = None) -> str:
    """curl sends one message; `cacert` is the file of an authority that curl does not know."""
    body = json.dumps({"to": [{"phone_number": DELIVERED}], "body": "Hello"})
    trust = "" if cacert is None else f"--cacert {shlex.quote(cacert)} "
    return (
        f"curl {trust}{shlex.quote(f'{base_url}/message')} -H {shlex.quote(f'x-api-key: {key}')} "
        f"-H 'content-type: application/json' -d {shlex.quote(body)}"
    )


def advance_line(world_url: str, by: str) -> str:
    """curl moves the clock of the world that control has at `world_url`."""
    body = json.dumps({"by": by})
    return f"curl {shlex.quote(f'{world_url}/clock/advance')} -d {shlex.quote(body)}"


def open_line(control_url: str) -> str:
    """curl opens a world whose clock stands still until it is moved."""
    body = json.dumps({"clock": {"mode": "manual"}})
    return f"curl {shlex.quote(f'{control_url}/worlds')} -d {shlex.quote(body)}"
