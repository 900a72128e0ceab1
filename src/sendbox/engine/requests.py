"""A call of an emulated interface as a world's journal keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.remarks import Advice, Finding

#: The content type of nearly every request.
JSON_TYPE: Final = b"application/json"


class RequestRecord:
    """One call of an emulated interface: what came, what was answered, and the remarks. `body`, `query` as they came.

    `content_type` is the header's value, None where there was none; JSON's is kept once for all.
    """

    __slots__ = (
        "advice", "answer", "bare", "body", "canonical", "content_type", "fault", "findings", "key", "method",
        "operation", "path", "query", "status",
    )  # fmt: skip

    def __init__(
        self, operation: str, method: str, path: str, key: str, status: int, body: bytes, answer: bytes
    ) -> None:
        self.operation = operation
        self.method = method
        self.path = path
        self.key = key
        self.status = status
        self.body = body
        self.answer = answer
        self.query = b""
        #: whether it came without the key in its header
        self.bare = False
        self.content_type: bytes | None = JSON_TYPE
        self.findings: Sequence[Finding] = ()
        self.advice: Sequence[Advice] = ()
        #: the request as its names were derived from it, None when it was refused
        self.canonical: bytes | None = None
        #: the fault by which a scenario spoiled the answer; `status` and `answer` are what was sent, 0 = nothing was
        self.fault: Applied | None = None
        #: the query as it came; it may hold the key, so no view shows it
        self.query = b""
