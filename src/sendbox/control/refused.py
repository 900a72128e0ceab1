"""The operation that tells which keys were denied."""

from __future__ import annotations

from typing import Any, TypedDict

from sendbox.control.contract.answers import Instant
from sendbox.control.operation import Call, operation
from sendbox.engine.durations import iso


class RefusedKey(TypedDict):
    """A key that opened no world; only its beginning is shown."""

    at: Instant
    key: str | None
    path: str
    why: str
    what_to_do: str


class RefusedKeys(TypedDict):
    """Keys that opened no world, newest last."""

    refused: list[RefusedKey]


@operation("GET", "/refused", answers=RefusedKeys)
async def refused(call: Call) -> Any:
    """Keys that opened no world, and why; newest last."""
    return {
        "refused": [
            {"at": iso(item.at), "key": item.key, "path": item.path, "why": item.why, "what_to_do": item.what_to_do}
            for item in call.runtime.refused
        ]
    }
