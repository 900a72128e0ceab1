"""Command lines to copy: shown by the page and by the banner of `sendbox serve`."""

from __future__ import annotations

import json
import shlex
from typing import Final

#: A number that is delivered, by the magic numbers of the default scenario.
DELIVERED: Final = "420777000101"


def send_line(base_url: str, key: str, *, cacert: str | None = None) -> str:
    """curl sends one message; `cacert` is the file of an authority that curl does not know."""
    trust = () if cacert is None else ("--cacert", cacert)
    headers = ("-H", f"x-api-key: {key}", "-H", "content-type: application/json")
    body = {"to": [{"phone_number": DELIVERED}], "body": "Hello"}
    return _curl(*trust, f"{base_url}/message", *headers, body=body)


def open_line(control_url: str, *, token: bool) -> str:
    """curl opens a world whose clock stands still until it is moved.

    With `token` it sends that of the variable SENDBOX_TOKEN.
    """
    line = _curl(f"{control_url}/worlds", body={"clock": {"mode": "manual"}})
    return f'{line} -H "Authorization: Bearer $SENDBOX_TOKEN"' if token else line


def _curl(*arguments: str, body: object) -> str:
    return shlex.join(("curl", *arguments, "-d", json.dumps(body)))
