"""Trace context (W3C): what the tracer of a client says of a call, passed on to the webhooks that the call causes.

It is data of the call, so a replay has it too; names and digests do not know it. What is not legal is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from sendbox.engine.texts import regex

TRACEPARENT: Final = b"traceparent"
TRACESTATE: Final = b"tracestate"
#: Both headers, by their lower-case names.
HEADERS: Final = frozenset({TRACEPARENT, TRACESTATE})
#: Version, trace id, parent id, flags; a later version than 00 may say more behind them.
_FORM: Final = regex(
    rb"(?!ff)(?!00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-[ -~]*)?"
)
#: The flags of version 00: sampled, and (level 2) a random trace id.
_FLAGS: Final = 0b11
#: A longer state is not passed on.
_LONGEST_STATE: Final = 512
_STATE: Final = regex(rb"[\t -~]{1,%d}" % _LONGEST_STATE)
#: A world remembers the contexts of so many requests, the newest.
_MAX_REQUESTS: Final = 10_000

Headers = tuple[tuple[bytes, bytes], ...]


def context_of(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The trace context among headers: `traceparent` if there is a legal one, and with it a legal `tracestate`."""
    trace_headers = [pair for pair in headers if pair[0] in HEADERS]
    parents = [value for name, value in trace_headers if name == TRACEPARENT]
    if len(parents) != 1 or _FORM.fullmatch(parents[0]) is None:
        return ()
    state = b",".join(value for name, value in trace_headers if name == TRACESTATE)
    parent = (TRACEPARENT, parents[0])
    return (parent, (TRACESTATE, state)) if _STATE.fullmatch(state) else (parent,)


class Traces:
    """The trace contexts of the requests of a world, by their ids."""

    __slots__ = ("_contexts",)

    def __init__(self) -> None:
        self._contexts: dict[str, Headers] = {}

    def note(self, request: str, headers: Headers) -> None:
        """A call with these headers made a request."""
        context = context_of(headers)
        if context:
            self._contexts[request] = context
            if len(self._contexts) > _MAX_REQUESTS:
                del self._contexts[next(iter(self._contexts))]

    def onward(self, requests: Iterable[str], delivery: str, number: int) -> list[tuple[str, str]]:
        """The headers of a try of a webhook about these requests: the context of the first that has one.

        The trace id stays, the parent id is derived from the id of the webhook and the number of the try.
        """
        if not self._contexts:
            return []
        context = next((self._contexts[request] for request in requests if request in self._contexts), ())
        headers = []
        for name, value in context:
            if (parts := _FORM.fullmatch(value)) is not None and name == TRACEPARENT:
                parent = blake2b(f"{delivery} {number}".encode(), digest_size=8).hexdigest()
                text = f"00-{parts[1].decode()}-{parent}-{int(parts[2], 16) & _FLAGS:02x}"
            else:
                text = value.decode("latin-1")
            headers.append((name.decode(), text))
        return headers
