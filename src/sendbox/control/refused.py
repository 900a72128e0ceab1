"""The operation that tells which keys were denied."""

from __future__ import annotations

from sendbox.control.operation import Call, operation
from sendbox.engine.answer import Answer, Instant, moment


class RefusedKey(Answer):
    """A key that opened no world; only its beginning is shown."""

    at: Instant
    key: str | None
    path: str
    why: str
    what_to_do: str


class RefusedKeys(Answer):
    """Keys that opened no world, newest last."""

    refused: list[RefusedKey]


@operation("GET", "/refused", answers=RefusedKeys, own_scope="worlds")
async def refused(call: Call) -> RefusedKeys:
    """Keys that opened no world, and why; newest last."""
    return RefusedKeys(
        refused=[
            RefusedKey(at=moment(item.at), key=item.key, path=item.path, why=item.why, what_to_do=item.what_to_do)
            for item in call.runtime.refused
            if call.token.covers(item.key or "")
        ],
    )
