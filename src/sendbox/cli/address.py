"""Where a sandbox is that a command talks to, and how it is called without anything that a start would miss."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from sendbox.cli.outcome import USAGE, Failure
from sendbox.settings import PORT

#: What Kubernetes and Docker's links put into SENDBOX_PORT for a service that is called sendbox: not our setting.
FOREIGN: Final = "tcp://"


def default(environment: Mapping[str, str] = os.environ) -> str:
    """The sandbox of this machine, as `serve` would start it under the same environment."""
    port = environment.get("SENDBOX_PORT", "")
    if not port or port.startswith(FOREIGN):
        port = str(PORT)
    secure = environment.get("SENDBOX_TLS") or environment.get("SENDBOX_TLS_CERT")
    return f"{'https' if secure else 'http'}://127.0.0.1:{port}"


def origin(url: str) -> str:
    """Scheme and authority of an address. Raises `Failure` for what is none."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not close
        good = False
    if not good:
        raise Failure(USAGE, f"{url} is not an address over http or https: http://127.0.0.1:{PORT} is one")
    return f"{parts.scheme}://{parts.netloc}"
