"""A call of an emulated interface as the journal and the record of a world keep it, once for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from sendbox.engine.commands.command import Body, Call, Kept
from sendbox.engine.commands.tracing import context_of

if TYPE_CHECKING:
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.remarks import Advice, Finding

#: The content type of nearly every request.
JSON_TYPE: Final = b"application/json"


class Rebuilder(Protocol):
    """Makes again what is not kept of a call that was accepted."""

    def content(self, body: bytes) -> bytes:
        """The canonical request."""

    def answer(self) -> bytes:
        """The body of the answer."""


def compact(raw: bytes) -> bytes:
    """A copy that takes no more room than it needs: what writes JSON hands out its whole buffer, of 4 kB at least."""
    return bytes(memoryview(raw))


class RequestRecord:
    """One call of an emulated interface: what came, what was answered, and the remarks. `query` as it came.

    `status` and `answer` are what was sent; the status is 0 where nothing was. What can be made again is not kept.
    """

    __slots__ = (
        "_answer", "_kept", "advice", "content", "effects", "fault", "findings", "headers", "key", "method",
        "operation", "origin", "path", "query", "status",
    )  # fmt: skip

    method: str
    path: str
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    #: the body, or what reads it again
    _kept: Body
    origin: str
    key: str

    def __init__(self, operation: str, call: Call, status: int = 0, answer: bytes = b"") -> None:
        self.operation = operation
        self.method, self.path, self.query, self.headers, self._kept, self.origin, self.key = call
        self.status = status
        self._answer: bytes | None = answer
        self.findings: Sequence[Finding] = ()
        self.advice: Sequence[Advice] = ()
        #: the canonical request, or what makes it again; None when the call was refused
        self.content: bytes | Rebuilder | None = None
        #: how many entries the journal got while it was handled: they stand right before its own
        self.effects = 0
        #: the fault by which a scenario spoiled the answer
        self.fault: Applied | None = None

    @property
    def call(self) -> Call:
        """The call as it came. The query may contain the key, so no view shows it."""
        return Call(self.method, self.path, self.query, self.headers, self._kept, self.origin, self.key)

    @property
    def canonical(self) -> bytes | None:
        """The request as its names were derived from it, None when it was refused."""
        content = self.content
        return content if content is None or isinstance(content, bytes) else content.content(self.body)

    @property
    def answer(self) -> bytes:
        """The body of the answer."""
        answer, content = self._answer, self.content
        if answer is None:
            assert content is not None
            assert not isinstance(content, bytes)
            return content.answer()
        return answer

    def answered(self, status: int, answer: bytes | None) -> None:
        """Notes the answer; None if `content` can make it again."""
        self.status = status
        self._answer = None if answer is None else compact(answer)

    @property
    def body(self) -> bytes:
        """The body as it came, empty if it was too long to be read."""
        body = self._kept
        if body is None:
            return b""
        return body if isinstance(body, bytes) else bytes(body)

    def put_away(self, keep: Callable[[bytes], bytes | Kept], longest: int) -> None:
        """Keeps a longer body elsewhere."""
        body = self._kept
        if isinstance(body, bytes) and len(body) > longest:
            self._kept = keep(body)

    @property
    def bare(self) -> bool:
        """True if the header had no key."""
        return self.header(b"x-api-key") is None

    @property
    def content_type(self) -> bytes | None:
        """The content type that the client gave for its body; None if it gave none."""
        return self.header(b"content-type")

    @property
    def traceparent(self) -> str | None:
        """The place of the call in the client's trace; None if the client gave none."""
        context = context_of(self.headers)
        return context[0][1].decode() if context else None

    def header(self, name: bytes) -> bytes | None:
        """The value of a header by its lower-case name; None if it was not sent, or has no part in the answer."""
        return next((value for key, value in self.headers if key == name), None)
