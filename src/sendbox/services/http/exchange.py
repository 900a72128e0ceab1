"""One call of an emulated interface, as its handler sees it, and what the handler answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sendbox.engine.requests import JSON_TYPE
from sendbox.services.http.advising import remark_accepted
from sendbox.services.messaging.messaging import Messaging

if TYPE_CHECKING:
    from sendbox.contract.validators import Contract
    from sendbox.engine.faults.calls import Applied
    from sendbox.engine.remarks import Advice, Finding
    from sendbox.engine.world import World
    from sendbox.services.messaging.model import Send
    from sendbox.services.messaging.records import Accepted
    from sendbox.services.partner.records import Signup
    from sendbox.services.ports import Key


class Refused(Exception):
    """The request is illegal: `findings` go to the journal, `status` and the first finding to the client."""

    def __init__(
        self, findings: list[Finding], status: int = 400, text: str | None = None, answer: Answer | None = None
    ) -> None:
        super().__init__(text or findings[0].message)
        self.findings = findings
        self.status = status
        self.text = text or findings[0].message
        #: the whole answer, where status and text are not all that it says
        self.answer = answer


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The value of a header by its lower-case name, the first one given; None where there is none."""
    for key, value in headers:
        if key == name:
            return value
    return None


@dataclass(slots=True)
class Exchange:
    """One call: what came in, where it landed, and the remarks made on the way.

    `headers` as ASGI gives them (lower-case names), `query` raw, `origin` the scheme and authority that addresses
    given out begin with. Handlers append to `advice`; a refusal is raised as `Refused`.
    """

    route: Route
    world: World
    key: Key
    headers: list[tuple[bytes, bytes]]
    query: bytes
    body: bytes
    origin: str
    contract: Contract
    #: what stands in the path, by the names in the route's
    params: Mapping[str, str] = field(default_factory=dict)
    advice: list[Advice] = field(default_factory=list)
    #: identifiers of what the call made, for the journal (`request_id` …)
    made: dict[str, Any] = field(default_factory=dict)
    #: the canonical request without callback, once it was accepted
    content: bytes | None = None
    #: the signup whose token let the call in, in place of the key (§5.3)
    signup: Signup | None = None

    def header(self, name: bytes) -> bytes | None:
        """The value of a header by its lower-case name, or None."""
        return header(self.headers, name)

    def accept(self, sends: list[Send], content: bytes) -> Accepted:
        """Hands decoded Message objects to the world, and leaves what it made for the journal.

        `content` is the canonical request without callback: names are derived from it, and the digest reads it.
        """
        accepted = Messaging.of(self.world).accept(self.route.operation, sends, self.key, content, self.origin)
        self.made["request_id"] = accepted.request_id
        self.content = content
        remarks = remark_accepted(self.world, sends, self.key)
        if remarks:
            self.advice += remarks
        if accepted.findings:
            self.made["findings"] = accepted.findings
        return accepted


@dataclass(slots=True)
class Answer:
    """What goes back: status, body and content type.

    A handler with much to do gives back `work`, which pauses now and then and returns the answer proper.
    """

    status: int
    body: bytes
    content_type: bytes = JSON_TYPE
    headers: tuple[tuple[bytes, bytes], ...] = ()
    work: Generator[None, None, Answer] | None = None
    #: what a rule of `api:` does to the connection on which this goes back
    fault: Applied | None = None


def in_slices(work: Generator[None, None, Answer]) -> Answer:
    """What a handler with much to do gives back."""
    return Answer(0, b"", work=work)


Handler = Callable[[Exchange], Answer]
#: which credentials a route takes: header; header or `apikey` query; header or `token` in the body (§5.3);
#: `apikey` form field (legacy); none (`Route.whose`)
Auth = Literal["header", "header-or-query", "header-or-token", "form", "none"]


@dataclass(frozen=True, slots=True)
class Route:
    """A row of an interface: everything that serving, documenting and checking it needs.

    `request`, `query` and the values of `responses` are schema references (`sending.json#/$defs/Message`), None where
    there is nothing to check. `error` encodes a refusal: (status, text) to an Answer in the interface's shape. `deny`
    answers a key that opens no world, told whether one came with the call; None = as the sending interface does.
    A part of the path in braces is a parameter: `/v1/validations/{token}`.
    """

    method: str
    path: str
    operation: str
    summary: str
    section: str
    handler: Handler
    error: Callable[[int, str], Answer]
    auth: Auth = "header"
    request: str | None = None
    request_type: str = "application/json"
    query: str | None = None
    responses: Mapping[int, str | None] = field(default_factory=dict)
    interface: str = "sending"
    assumed: tuple[str, ...] = ()
    #: the answer to a call whose key is missing (False) or not admitted (True); None: `error` with the usual text
    deny: Callable[[bool], Answer] | None = None
    #: of a route that takes no credentials: from the body, a name that carries the tag of its world
    whose: Callable[[bytes], str] | None = None
