"""The address of the sandbox that a command talks to, and calls of its control interface."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from sendbox.cli.outcome import CANNOT, NO, USAGE, Failure, one_line
from sendbox.settings import PORT

#: Kubernetes and Docker's links put such an address into SENDBOX_PORT for a service that is called sendbox.
FOREIGN: Final = "tcp://"


def default(environment: Mapping[str, str] = os.environ) -> str:
    """The sandbox of this machine, as `serve` would start it under the same environment."""
    port = environment.get("SENDBOX_PORT", "")
    if not port or port.startswith(FOREIGN):
        port = str(PORT)
    secure = environment.get("SENDBOX_TLS") or environment.get("SENDBOX_TLS_CERT")
    return f"{'https' if secure else 'http'}://127.0.0.1:{port}"


def origin(url: str) -> str:
    """Scheme and authority of an address. Raises `Failure` for anything else."""
    try:
        address = urlsplit(url)
        good = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # a port that is not a number, brackets that do not close
        good = False
    if not good:
        raise Failure(USAGE, f"{url} is not an address over http or https: http://127.0.0.1:{PORT} is one")
    return f"{address.scheme}://{address.netloc}"


def call(origin: str, operation: str, world: str, arguments: Mapping[str, Any], refused: int = NO) -> Any:
    """What the sandbox at an origin answers. Raises `Failure`, with the code `refused` where the sandbox refuses."""
    from sendbox.app import SERVED
    from sendbox.control.carriers import Client
    from sendbox.control.operation import ControlError

    client = Client(origin, SERVED)
    try:
        return client.call(operation, world, arguments)
    except ControlError as error:
        raise Failure(CANNOT if error.error == "no_sandbox" else refused, one_line(error.message)) from None
    finally:
        client.close()
