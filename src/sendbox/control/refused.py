"""The operation that tells which keys were denied."""

from __future__ import annotations

from typing import Annotated

from sendbox.control.arguments import Size, described
from sendbox.control.operation import Call, ControlError, operation
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
async def refused(
    call: Call, shard: Annotated[Size | None, described("the process that is asked, by its number (`--shard`)")] = None
) -> RefusedKeys:
    """Keys that opened no world, and why; newest last.

    Another process than the one that is asked answers 421: a proxy has sent the call to the wrong one.
    """
    own = call.runtime.settings.shard
    if shard not in (None, own):
        raise ControlError(421, "other_process", f"this is process {own}, and {shard} is asked (--shard)")
    return RefusedKeys(
        refused=[
            RefusedKey(at=moment(item.at), key=item.key, path=item.path, why=item.why, what_to_do=item.what_to_do)
            for item in call.runtime.refused
            if call.token.covers(item.key or "")
        ],
    )
