"""Origins: scheme, host and port of an address, as they are compared. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from sendbox.runtime.callbacks import PORTS, host_name, literal


class Origin(NamedTuple):
    """An origin over http or https. Its text has the usual form, without the port that is usual for the scheme."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


@lru_cache(maxsize=1024)
def origin(text: str) -> Origin | None:
    """The origin that a text is; None for one with a path, a query or a user, and for anything else."""
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    place = authority(rest.removesuffix("/"), scheme) if separator and scheme in PORTS else None
    return None if place is None else Origin(scheme, *place)


@lru_cache(maxsize=1024)
def authority(text: str, scheme: str) -> tuple[str, int] | None:
    """The host as it is compared, and the port; None if it is not `host` or `host:port`."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        return None
    if "@" in text or parts.netloc != text or port == 0:
        return None
    name = literal(host) or host_name(host)
    return None if name is None else (name, PORTS.get(scheme, PORTS["http"]) if port is None else port)
