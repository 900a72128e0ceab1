"""The receiver of a world's webhooks: an ASGI application that answers by a script, and may call the sandbox back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Final

#: Statuses of answers, and words for no answer.
Script = Sequence[int | str]

#: So often it calls back: its message may be answered, and that be told to it.
CALLS: Final = 3


class Receiver:
    """Answers each webhook by its id and by how often it came, so that the order of webhooks changes nothing."""

    def __init__(self, script: Script, called_back: Callable[[], object] | None = None) -> None:
        self._script = script
        self._came: Counter[str] = Counter()
        self._called_back = called_back
        self._calls_left = CALLS

    def outcome(self, webhook: str) -> int | str:
        """How the next try of a webhook ends."""
        first = blake2b(webhook.encode(), digest_size=2).digest()[0]
        self._came[webhook] += 1
        return self._script[(first + self._came[webhook] - 1) % len(self._script)]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One webhook."""
        body = (await receive())["body"]
        named = next((value.decode() for name, value in scope["headers"] if name == b"x-request-id"), scope["path"])
        if self._called_back is not None and self._calls_left and b'"type":"incoming"' in body:
            self._calls_left -= 1
            self._called_back()
        ended = self.outcome(named)
        if isinstance(ended, str):  # it hangs up in the middle of its answer
            await send({"type": "http.response.start", "status": 200, "headers": []})
            return
        await send({"type": "http.response.start", "status": ended, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})
