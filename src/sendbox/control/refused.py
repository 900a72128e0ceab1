"""The operation that tells which keys were denied."""

from __future__ import annotations

from typing import Any

from sendbox.control.operation import Call, operation
from sendbox.engine.durations import iso


@operation("GET", "/refused")
async def refused(call: Call) -> Any:
    """Keys that opened no world, and why; newest last."""
    return {
        "refused": [
            {"at": iso(item.at), "key": item.key, "path": item.path, "why": item.why, "what_to_do": item.what_to_do}
            for item in call.runtime.refused
        ]
    }
