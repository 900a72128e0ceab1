"""The HTTP request for a batch of events, and the meaning of its answer. Pure: the sender carries it out.

The form of a batch depends on its target alone (§6, A01, A21, A69), so that every try of it has the same bytes:

| method           | content type | body               | signed               |
|------------------|--------------|--------------------|----------------------|
| POST, PUT, PATCH | JSON         | the array          | where a secret is set |
| POST, PUT, PATCH | form         | `events=<array>`   | where a secret is set |
| GET              | -            | none, in the query | never: nothing to sign |
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from msgspec import Struct

from sendbox import __version__
from sendbox.engine.delivery.batches import ReceiverAnswer, Target, succeeded
from sendbox.engine.delivery.faults.fault import NOT_SPOILT, Spoilt
from sendbox.engine.delivery.faults.requests import rewrite

FORM: Final = "application/x-www-form-urlencoded"
#: The header of the signature, how it is made, and of what (A21).
SIGNATURE: Final = "X-Request-Signature"
ALGORITHM: Final = "HMAC-SHA256 in lower-case hexadecimal, under the key's default_callback_secret"
SIGNED: Final = "the body, byte for byte"
USER_AGENT: Final = f"Sendbox/{__version__}"
#: Headers of a callback object that are left out: what frames the message, what only the service may say (A01, A21).
RESERVED: Final = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-request-id",
        "x-request-signature",
    }
)

#: Why a try failed without a usable answer. `unreachable` is also the word for an address no request can be made of;
#: `not_allowed` says that nothing was sent, because of the setting `callbacks`; `not_fetched` that no client asked for
#: it where deliveries are pulled.
Failure = Literal[
    "timeout", "refused", "unreachable", "redirect", "tls", "invalid-answer", "closed", "not_allowed", "not_fetched"
]


class HttpCall(Struct):
    """One HTTP request, complete but for what the connection adds (`Host`, `Accept`, `Content-Length`)."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    #: the answer to a request waits for it (the faults `overtake` and `before_answer`)
    urgent: bool = False


class Outcome(Struct, eq=False):
    """The result of a try: the status of a complete answer, or the failure; a redirect has both.

    An answer that breaks off has no status, whichever part of it arrived: that depends on packets. `detail` and
    `answer` are for people and differ between machines, so that they are not compared and have no place in a digest.
    """

    status: int | None
    error: Failure | None = None
    detail: str | None = None
    answer: ReceiverAnswer | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcome):
            return NotImplemented
        return (self.status, self.error) == (other.status, other.error)

    @property
    def ok(self) -> bool:
        """True if the batch counts as delivered: a complete answer with any 2xx (A20)."""
        return succeeded(self.status, self.error)


def encode(
    target: Target,
    events: bytes,
    request_id: str,
    spoilt: Spoilt = NOT_SPOILT,
    *,
    urgent: bool = False,
    trace: Iterable[tuple[str, str]] = (),
) -> HttpCall:
    """The request that delivers `events`, an encoded JSON array, to `target` (§6, A01, A21, A69).

    `request_id` is that of the delivery, the same on every try; `spoilt` is what a fault of a scenario makes wrong;
    `trace` are the headers of a trace context, which those of the target replace.
    """
    own = [("User-Agent", USER_AGENT), ("X-Request-Id", request_id), *trace]
    wrong: list[tuple[str, str]] = []
    url, body = target.url, b""
    if spoilt.way:
        events = rewrite(events, spoilt.way)
    if target.method == "GET":
        url = _with_query(url, _field(events))
    else:
        body = _field(events).encode() if target.content_type == FORM else events
        own.append(("Content-Type", target.content_type))
        if target.secret:
            secret = f"not {target.secret}" if spoilt.bad_signature else target.secret
            own.append((SIGNATURE, sign(secret, body)))
        if spoilt.content_type is not None:
            wrong.append(("Content-Type", spoilt.content_type))
    if not target.headers and not wrong:
        return HttpCall(target.method, url, own, body, urgent)
    left_out = {*RESERVED, *(name.lower() for name, _ in wrong)}
    extra = [*((name, value) for name, value in target.headers if name.lower() not in left_out), *wrong]
    names = {name.lower() for name, _ in extra}
    if "authorization" in names:
        url = _without_credentials(url)
    return HttpCall(
        target.method, url, [(name, value) for name, value in own if name.lower() not in names] + extra, body, urgent
    )


def sign(secret: str, body: bytes) -> str:
    """The signature of a raw body: HMAC-SHA256 in lower-case hexadecimal (A21)."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _field(events: bytes) -> str:
    # %20 and not +, which some readers of queries take for a plus sign.
    return "events=" + quote(events, safe="")


def _with_query(url: str, query: str) -> str:
    """`url` with one more field; what follows a `#` is never sent."""
    url = url.partition("#")[0]
    if "?" not in url:
        return f"{url}?{query}"
    return f"{url}{query}" if url.endswith(("?", "&")) else f"{url}&{query}"


def _without_credentials(url: str) -> str:
    """`url` without `user:password@`: an `Authorization` header beside it says the same, and says it last."""
    if "@" not in url:
        return url
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
