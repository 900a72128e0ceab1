"""Coverage of calls whose key opened no world. A server loads this at its start, the other facts later."""

from __future__ import annotations

from typing import Final

from sendbox.services.operations import CALLS

_LEGACY: Final = frozenset(row.path for row in CALLS.values() if row.interface == "legacy")


def denied(path: str, key: str | None) -> str | None:
    """The item of a call whose key opened no world, which is in no journal (§5, §7)."""
    if path.startswith("/v2/"):
        return "sending denied key"
    if path.startswith("/v1/validations"):
        return "verify MISSING_API_KEY" if key is None else "verify INVALID_API_KEY"
    if path.startswith("/v1/"):
        return "partner denied key" if path.startswith("/v1/chatapp/") else "rest denied key"
    return "legacy denied key" if path in _LEGACY else None
