"""The parts of a call that are read before its world is known: its key, its body, its origin.

They also say which requests are served at all: HTTP has a rule about `Host`, and a page of a foreign site can make a
browser send requests to this machine. By a name of its own that resolves to this machine (DNS rebinding) it can read
the answers too. So everything but the emulated services takes only hosts that a foreign site cannot have, and only
origins of its own; a browser that sends no origin says which site asks, in `Sec-Fetch-Site`. A page that a link of
another site leads to is shown. `docs/security.md` says from whom this protects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from msgspec import Struct
from msgspec.structs import replace
from starlette.types import Receive, Scope

from sendbox.engine.commands.command import Body, Call
from sendbox.engine.commands.tracing import HEADERS as TRACING
from sendbox.engine.commands.tracing import context_of
from sendbox.engine.texts import regex
from sendbox.runtime.callbacks import authority, literal, origin
from sendbox.runtime.worlds import Runtime
from sendbox.services.http.exchange import BODY_CAP, header
from sendbox.services.http.executor import HEADERS
from sendbox.services.http.requests import BoundedCache

if TYPE_CHECKING:
    from sendbox.settings import Settings


Headers = tuple[tuple[bytes, bytes], ...]


class ClientLeft(Exception):
    """The client closed its connection before its request was whole."""


class CallHeaders(Struct, frozen=True):
    """The relevant headers of a call, the API key among them, None if there is none, and what `Host` says.

    Relevant are the headers that influence the answer, and the trace context of the call. `origin` is None if `Host`
    names none; `hosts` is how often it came.
    """

    headers: Headers
    key: str | None
    origin: str | None
    hosts: int


#: A body of more bytes is put together on a worker thread.
_JOINED: Final = 1024 * 1024
#: A form or query up to so many bytes is read whole for its key.
_SHORT: Final = 8 * 1024
#: Nearly all calls have the same scheme and headers: to read them each time takes 4 to 10 % of a call.
_HEADINGS: Final[BoundedCache[tuple[str, Headers], CallHeaders]] = BoundedCache()
_READ: Final = HEADERS | TRACING | {b"host"}
#: The header in which a process says whose call it hands on, and what of it is shown.
CALLER: Final = b"sendbox-caller"
_CALLER: Final = regex(rb"[ -~]{1,200}")
#: What a `Host` is written with (RFC 9110 7.2): nothing that ends it, and nothing that a page could take for markup.
_HOST: Final = regex(rb"[^\x00-\x20\x7f\"'<>\\^`{|}/?#@]+")


def origin_of(runtime: Runtime, scope: Scope, heading: CallHeaders | None = None) -> str:
    """Scheme and authority that addresses given out begin with; `heading` is that of the call, if it was read."""
    if runtime.settings.public_url:
        return runtime.settings.public_url.rstrip("/")
    origin = (heading or heading_of(scope)).origin
    if origin is None:  # that of the socket
        server = scope.get("server") or ("127.0.0.1", runtime.settings.port)
        return f"{scope['scheme']}://{server[0]}:{server[1]}"
    return origin


def heading_of(scope: Scope) -> CallHeaders:
    """The relevant headers of a call: one object for all calls with the same headers."""
    scheme, headers = scope["scheme"], tuple([pair for pair in scope["headers"] if pair[0] in _READ])
    heading = _HEADINGS.get((scheme, headers))
    if heading is None:
        plain = tuple(pair for pair in headers if pair[0] not in TRACING)
        heading = _HEADINGS.get((scheme, plain)) or _HEADINGS.store((scheme, plain), _read_heading(scheme, plain))
        if len(plain) < len(headers):  # a tracer gives each call another context: it is not remembered
            return replace(heading, headers=heading.headers + context_of(headers))
    return heading


def _read_heading(scheme: str, headers: Headers) -> CallHeaders:
    hosts = [value for name, value in headers if name == b"host"]
    legal = bool(hosts) and _HOST.fullmatch(hosts[0]) is not None  # it is given out, so it must be one
    origin = f"{scheme}://{hosts[0].decode('latin-1')}" if legal else None
    relevant = tuple(pair for pair in headers if pair[0] in HEADERS)
    return CallHeaders(relevant, _key_of(relevant), origin, len(hosts))


def _key_of(headers: Headers) -> str | None:
    value = header(headers, b"x-api-key")
    return None if value is None else value.decode("latin-1").strip(" \t")  # RFC 9110 5.5


def headers_of(scope: Scope, more: frozenset[bytes]) -> Headers:
    """The headers of a call that have a part in its answer, others by their names, and its trace context."""
    headers: Headers = tuple(scope["headers"])
    return tuple(pair for pair in headers if pair[0] in HEADERS or pair[0] in more - TRACING) + context_of(headers)


def call_of(
    runtime: Runtime,
    scope: Scope,
    key: str,
    body: Body,
    headers: Headers | None = None,
    heading: CallHeaders | None = None,
) -> Call:
    """A call as a command; `headers` if not those of its heading, `heading` if it was read before."""
    heading = heading or heading_of(scope)
    origin = heading.origin
    if origin is None or runtime.settings.public_url:
        origin = origin_of(runtime, scope, heading)
    headers = heading.headers if headers is None else headers
    return Call(scope["method"], scope["path"], scope["query_string"], headers, body, origin, key)


def caller_of(scope: Scope) -> str:
    """The address of a client; where a process has handed its call on, its own follows: only that one is certain."""
    client = scope.get("client")
    address = "a local socket" if client is None else f"{client[0]}:{client[1]}"
    first = header(scope["headers"], CALLER)
    return address if first is None or not _CALLER.fullmatch(first) else f"{first.decode()} by {address}"


async def read_body(receive: Receive, longest: int = BODY_CAP, dropped: int = 0) -> bytes | None:
    """The whole body; None when it is longer than what is read. Raises `ClientLeft`.

    Of a longer one so many bytes more are received and `dropped`: a client that still sends does not see its answer.
    """
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > longest:
            if not message.get("more_body", False) or size > longest + dropped:
                return None
            chunks.clear()
            continue
        if not message.get("more_body", False) and not chunks:
            return chunk
        chunks.append(chunk)
        if not message.get("more_body", False):
            if size <= _JOINED:
                return b"".join(chunks)
            return await asyncio.get_running_loop().run_in_executor(None, b"".join, chunks)


def key_field(raw: bytes) -> str | None:
    """The last value of `apikey` in a form or query; None when it is absent.

    Of a long one only that field is read, whose name must then stand there without escapes.
    """
    if len(raw) > _SHORT:
        raw = raw[max(raw.rfind(b"&apikey=") + 1, 0) :].partition(b"&")[0][:_SHORT]
    values = parse_qs(raw.decode("latin-1"), keep_blank_values=True).get("apikey")
    return values[-1] if values else None


#: Names under these are of one machine or one network: no site of the internet has one (RFC 6761, RFC 6762).
LOCAL: Final = (".localhost", ".internal", ".local", ".test", ".svc", ".cluster.local")


#: What browsers call the site that asks, where it is not this one (Fetch Metadata Request Headers).
FOREIGN_SITES: Final = ("cross-site", "same-site")


class Refusal(Struct, frozen=True):
    """Why a request is not served, as an error of control."""

    status: int
    error: str
    message: str


def has_wrong_host(scope: Scope, heading: CallHeaders) -> Refusal | None:
    """A request that HTTP/1.1 does not allow: none or several `Host` (RFC 9112 3.2)."""
    if heading.hosts == 1 or (not heading.hosts and scope["http_version"] == "1.0"):
        return None
    return Refusal(400, "bad_host", f"{heading.hosts} Host headers came; HTTP/1.1 requires exactly one")


def foreign(scope: Scope, settings: Settings) -> Refusal | None:
    """A request to control or a page under a foreign host (421), or from a page of a foreign origin or site (403)."""
    public = origin(settings.public_url or "")
    host = (_values(scope, b"host") or [""])[0]
    name, port = authority(host, scope["scheme"]) or ("", 0)
    named = _is_local(name) or name in settings.hosts or (public is not None and name == public.host)
    if not named and (host or scope["http_version"] != "1.0"):  # HTTP/1.0 without Host comes from no browser
        return Refusal(
            421,
            "foreign_host",
            f"{host!r} is not a host of this sandbox; legal are IP addresses, names without a dot, names under "
            f"{', '.join(LOCAL)}, the host of --public-url, and those that --hosts (SENDBOX_HOSTS) lists",
        )
    for text in _values(scope, b"origin"):
        asking = origin(text)
        if asking is None or (asking != public and asking[1:] != (name, port)):
            return Refusal(
                403,
                "foreign_origin",
                f"{text!r} is not the origin of this sandbox; legal are {scope['scheme']}://{host}, the origin of "
                "--public-url, and requests without Origin, which come from no foreign page",
            )
    for site in _values(scope, b"sec-fetch-site"):
        if site.strip().lower() in FOREIGN_SITES and not _follows_link(scope):
            return Refusal(
                403,
                "foreign_origin",
                f"{site!r} in Sec-Fetch-Site is not legal: a page of another origin asks; legal are same-origin, none, "
                "requests without that header, and a link that is followed",
            )
    return None


def _follows_link(scope: Scope) -> bool:
    """True if a browser shows the answer as a page of its own: a link does that, and nothing that a site embeds."""
    mode, destination = (_values(scope, name) for name in (b"sec-fetch-mode", b"sec-fetch-dest"))
    return scope["method"] == "GET" and mode == ["navigate"] and destination == ["document"]


def _values(scope: Scope, name: bytes) -> Sequence[str]:
    """All values of a header; bytes that are not UTF-8 are escaped."""
    return [value.decode("utf-8", "backslashreplace") for key, value in scope["headers"] if key == name]


def _is_local(name: str) -> bool:
    """True if no foreign site can have such a host."""
    return bool(name) and ("." not in name or name.endswith(LOCAL) or literal(name) is not None)
