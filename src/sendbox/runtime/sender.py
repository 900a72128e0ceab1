"""The only product traffic that leaves the process: an HTTP client, made at the first delivery.

Where a webhook may go is asked of `callbacks.py` when a connection is made, about the very addresses that are connected
to: the client's resolver is ours. A kept connection was allowed by the same setting: each setting has its own sender.

Of its clocks only the loop's decides anything, and that one runs on under freezers. aiohttp itself reads
`time.monotonic` for two things: how long a pooled connection has been idle, and the age of a cached address. Under a
frozen clock both are kept longer or dropped sooner; a connection that the receiver closed is not used again either way.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import importlib
import io
import os
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from sendbox.engine.delivery.batches import MAX_ANSWER_BYTES, ReceiverAnswer
from sendbox.runtime.callbacks import Callbacks, NotAllowed, is_local, literal, plain, port_of
from sendbox.runtime.policy import Failure, HttpCall, Outcome

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult


T = TypeVar("T")

#: Bytes of an answer that are read; a longer one costs its connection. Only the status matters (§6).
ANSWER_CAP: Final = 64 * 1024
#: Calls under way at once; the rest wait their turn before their timeout begins.
CONCURRENT: Final = 256
#: Seconds after which an idle connection is closed: well before a usual receiver closes it (2 to 75 s), so that no call
#: meets one just being closed, and soon enough for receivers that serve one connection at a time.
IDLE: Final = 1.0
#: Bodies from this size are handed over as a stream: aiohttp warns of longer ones in one piece.
STREAM_BYTES: Final = 2**20
#: Bytes that a line of the head of an answer may have where the answer is handed on.
LONGEST_LINE: Final = 64 * 1024
#: The greatest number of allowed places that are remembered.
MAX_ALLOWED_PLACES: Final = 1_024


class Sender:
    """Sends calls and reports how they ended; no failure of a receiver is ever an exception.

    `callbacks` says where calls may go, `own` at which places (host, port) this sandbox is called, by any host of this
    machine where the host is "". `ca` is a PEM file of further authorities to trust, `insecure` turns the check of
    certificates off. ValueError where `ca` holds no certificate. To be used on one loop.
    """

    def __init__(
        self,
        callbacks: Callbacks,
        *,
        own: Collection[tuple[str, int]] = (),
        ca: str | None = None,
        insecure: bool = False,
    ) -> None:
        if ca is not None:
            _check(ca)
        self._callbacks = callbacks
        self._own = own
        self._ca = ca
        self._insecure = insecure
        self._slots = asyncio.Semaphore(CONCURRENT)
        #: names, of which the resolver is asked, and addresses that were allowed: the setting of a sender stays
        self._allowed: set[tuple[str, int]] = set()
        self._session: aiohttp.ClientSession | None = None
        self._timers: aiohttp.ClientTimeout | None = None
        self._deadlines = _Deadlines()
        self._opening: asyncio.Task[aiohttp.ClientSession] | None = None
        self._verify: asyncio.Task[bool | ssl.SSLContext] | None = None
        self._closed = False

    async def send(self, call: HttpCall, timeout: float) -> Outcome:
        """Sends `call` and waits for its whole answer, `timeout` real seconds at most; only cancellation is raised."""
        if self._closed:
            return Outcome(None, "closed", "the sender is closed")
        await self._slots.acquire()
        try:
            # What is made once is made before the timeout begins: the receiver has no part in it.
            session = self._session or await self._open()
            verify = await self._verification() if call.url[:5].lower() == "https" else True
            self._allow_literal(call.url)
            answer = await self._deadlines.within(timeout, self._exchange(session, call, verify))
        except Exception as error:  # every error is the outcome of this try
            return Outcome(None, failure(error), str(error) or type(error).__name__)
        finally:
            self._slots.release()
        if 300 <= answer.status < 400:
            return Outcome(answer.status, "redirect", "redirects are not followed", answer)
        return Outcome(answer.status, answer=answer)

    @contextlib.asynccontextmanager
    async def answer(
        self, call: HttpCall, pieces: AsyncIterable[bytes] | None = None, reach: float | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer to `call` as it comes, without a time limit; its body may be `pieces` that come while it is sent.

        The call goes out with its own headers only. With `reach` the server must be reached in so many seconds.
        Raises what goes wrong, for which `failure` has the word.
        """
        session = self._session or await self._open()
        verify = await self._verification() if call.url[:5].lower() == "https" else True
        self._allow_literal(call.url)
        async with session.request(
            call.method,
            importlib.import_module("yarl").URL(call.url, encoded=True),
            data=pieces or _data(call.body),
            headers=call.headers,
            skip_auto_headers=("Accept", "User-Agent", "Content-Type"),
            allow_redirects=False,
            ssl=verify,
            timeout=_http().ClientTimeout(total=None, sock_connect=reach),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        ) as response:
            yield response

    async def close(self) -> None:
        """Closes every connection; calls under way end as `closed`, later ones too."""
        self._closed = True
        self._deadlines.close()
        if self._opening is not None:
            session = await self._opening
            await session.close()
            await asyncio.sleep(0)  # transports report their end on the loop's next turn

    async def _exchange(
        self, session: aiohttp.ClientSession, call: HttpCall, verify: bool | ssl.SSLContext
    ) -> ReceiverAnswer:
        """Makes the call, reads the answer to its end or to the cap, and returns what is kept of it."""
        async with session.request(
            call.method,
            call.url,
            data=_data(call.body),
            headers=call.headers,
            allow_redirects=False,
            ssl=verify,
            timeout=self._timers,
        ) as response:
            size, body = 0, b""
            while chunk := await response.content.readany():
                size += len(chunk)
                if len(body) <= MAX_ANSWER_BYTES:
                    body += chunk
                if size > ANSWER_CAP:
                    response.close()
                    break
            return ReceiverAnswer.of(response.status, response.raw_headers, body)

    async def _open(self) -> aiohttp.ClientSession:
        """The session, made once however many calls wait for it and whichever of them is cancelled."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._make_session())
        return await asyncio.shield(self._opening)

    async def _make_session(self) -> aiohttp.ClientSession:
        # The import takes 190 ms, in which the loop must go on serving.
        http = await asyncio.get_running_loop().run_in_executor(None, _http)
        # No limit here: waiting for a connection would count towards the timeout, and aiohttp then shuffles its queue
        # by the global `random`, which a seeded test would notice.
        resolver = _Resolver(http.ThreadedResolver(), self._callbacks, self._is_own)
        connector = http.TCPConnector(limit=0, keepalive_timeout=IDLE, resolver=resolver)
        # Without `Accept-Encoding`; to skip a header by its name costs each request more.
        request = type("Request", (http.ClientRequest,), {"DEFAULT_HEADERS": {"Accept": "*/*"}})
        session: aiohttp.ClientSession = http.ClientSession(
            connector=connector, cookie_jar=http.DummyCookieJar(), auto_decompress=False, request_class=request
        )
        # A try is one request: GET and PUT would otherwise be repeated when a kept connection breaks. aiohttp's own
        # test client switches it off the same way; there is no public setting.
        session._retry_connection = False
        self._timers = http.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)
        self._session = session
        return session

    def _allow_literal(self, url: str) -> None:
        """Raises `NotAllowed` for an address that may not be connected to; of a name the resolver is asked."""
        place = _place(url)
        if place in self._allowed and place not in self._own and ("", place[1]) not in self._own:
            return
        host, port = place
        address = literal(host)
        if address is not None:
            self._callbacks.check(host, port, [address], own=self._is_own(host, port, [address]))
        if len(self._allowed) < MAX_ALLOWED_PLACES:
            self._allowed.add(place)

    def _is_own(self, host: str, port: int, addresses: Iterable[str]) -> bool:
        """True if a call would reach this sandbox."""
        if (host, port) in self._own:
            return True
        return ("", port) in self._own and any(map(_of_this_machine, addresses))

    async def _verification(self) -> bool | ssl.SSLContext:
        """The value of aiohttp's `ssl`, made once and outside the event loop: reading the authorities takes 19 ms."""
        if self._insecure:
            return False
        if self._ca is None:
            return True
        if self._verify is None:
            self._verify = asyncio.create_task(asyncio.to_thread(_trusting, self._ca))
        return await asyncio.shield(self._verify)


class _Deadlines:
    """Ends the calls of a sender in time, with one timer for all: `asyncio.timeout` would double the work of `send`.

    The timer stays when a call has ended, and looks at those that are under way then.
    """

    def __init__(self) -> None:
        self._deadlines: dict[asyncio.Task[Any], float] = {}
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def within(self, seconds: float, work: Awaitable[T]) -> T:
        """The result of `work`, which the present task waits for. Raises TimeoutError if it takes longer."""
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        loop = task.get_loop()
        self._deadlines[task] = deadline = loop.time() + seconds
        if self._timer is None or deadline < self._timer.when():
            self.close()
            self._timer = loop.call_at(deadline, self._end, loop)
        try:
            return await work
        except asyncio.CancelledError:
            if task in self._late and task.cancelling() <= cancelling + 1:
                raise TimeoutError from None
            raise
        finally:
            del self._deadlines[task]
            if task in self._late:
                self._late.remove(task)
                task.uncancel()

    def close(self) -> None:
        """No timer runs any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends what has come to its deadline, and sets the timer for the next one."""
        now = loop.time()
        for task, deadline in self._deadlines.items():
            if deadline <= now and task not in self._late:
                self._late.add(task)
                task.cancel()
        next_deadline = min((deadline for deadline in self._deadlines.values() if deadline > now), default=None)
        self._timer = None if next_deadline is None else loop.call_at(next_deadline, self._end, loop)


def _data(body: bytes) -> io.BytesIO | bytes | None:
    return io.BytesIO(body) if len(body) >= STREAM_BYTES else body or None


class _Resolver:
    """The resolver of aiohttp, which answers only with addresses that may be connected to."""

    def __init__(
        self, resolver: AbstractResolver, callbacks: Callbacks, is_own: Callable[[str, int, Iterable[str]], bool]
    ) -> None:
        self._resolver = resolver
        self._callbacks = callbacks
        self._is_own = is_own

    async def resolve(self, host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
        """The addresses of a host. Raises `NotAllowed` if one may not be connected to."""
        self._callbacks.resolves(host, port)
        name = "localhost" if is_local(host) else host  # also where the resolver would ask the network for it
        answers = await self._resolver.resolve(name, port, family)
        addresses = [str(answer["host"]) for answer in answers]
        self._callbacks.check(host, port, addresses, own=self._is_own(host, port, addresses))
        return answers

    async def close(self) -> None:
        """Nothing is open."""


@functools.lru_cache(maxsize=MAX_ALLOWED_PLACES)
def _place(url: str) -> tuple[str, int]:
    """Host and port of an address, as aiohttp reads them; ("", 0) where it cannot."""
    try:
        read = importlib.import_module("yarl").URL(url)
    except ValueError:
        return "", 0
    return read.raw_host or "", read.port or 0


def _of_this_machine(address: str) -> bool:
    """True if an address belongs to this machine: a socket can be bound to no other."""
    parsed = plain(address)
    if parsed.is_loopback:
        return True
    with socket.socket(socket.AF_INET if parsed.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(parsed), 0))
        except OSError:
            return False
    return True


@functools.cache
def _http() -> Any:
    """aiohttp, the same module for a session and its errors: tests that run tests take modules out of Python's list."""
    return importlib.import_module("aiohttp")


def failure(error: Exception) -> Failure:
    """The word for what aiohttp, or the loop, raised."""
    aiohttp = _http()
    match error:
        case NotAllowed():
            return "not_allowed"
        case TimeoutError():
            return "timeout"
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return "tls"
        case aiohttp.ClientConnectorError():
            return "refused" if _is_refused(error.os_error) else "unreachable"
        case aiohttp.ClientResponseError():
            return "invalid-answer"
        case aiohttp.ClientPayloadError():
            cause = error.__cause__
            early = cause is None or isinstance(cause, aiohttp.http_exceptions.ContentLengthError | OSError)
            return "closed" if early else "invalid-answer"
        case aiohttp.ClientConnectionError() | OSError():
            return "closed"
        case _:
            return "unreachable"


def never_sent(error: Exception) -> bool:
    """True if a call did not leave, because nobody was reached."""
    aiohttp = _http()
    return isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


def _is_refused(error: OSError) -> bool:
    # A name with several addresses (localhost) may fail with one error for all of them, which has no number.
    return error.errno == errno.ECONNREFUSED or (error.errno is None and f"[Errno {errno.ECONNREFUSED}]" in str(error))


def _check(ca: str) -> None:
    """Check that a file has certificates. Raises ValueError."""
    requirement = "it must be a PEM file with the certificates to trust"
    if not os.path.isfile(ca):
        raise ValueError(f"{ca} is not a file: {requirement}")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(ca)
    except OSError as error:  # ssl.SSLError is one
        raise ValueError(f"{ca} holds no certificate ({error.strerror or error}): {requirement}") from None


def _trusting(ca: str) -> ssl.SSLContext:
    """The system's authorities and those of the file."""
    context = ssl.create_default_context()
    context.load_verify_locations(ca)
    return context


class Senders:
    """The senders of a server. `callbacks` is the setting of worlds without their own; the rest is as for `Sender`."""

    def __init__(
        self, callbacks: Callbacks, *, public_url: str | None = None, ca: str | None = None, insecure: bool = False
    ) -> None:
        self._public = urlsplit(public_url or "")
        self._ca = ca
        self._insecure = insecure
        #: where this server itself is called: (host, port), the host "" for any of this machine's
        self._own: set[tuple[str, int]] = set()
        #: by the text of the setting: each webhook asks, and the hash of its networks takes longer than the rest
        self._senders: dict[str, Sender] = {}
        self.of(callbacks)  # what is wrong in the settings is said at the start

    def serves_at(self, port: int) -> None:
        """The server listens here: only an item with a port lets webhooks go here, or to its public address."""
        self._own.add(("", port))
        public = self._public
        if public.hostname:
            self._own.add((public.hostname, port_of(public)))

    def of(self, callbacks: Callbacks) -> Sender:
        """The sender for a setting."""
        sender = self._senders.get(callbacks.text)
        if sender is None:
            sender = Sender(callbacks, own=self._own, ca=self._ca, insecure=self._insecure)
            self._senders[callbacks.text] = sender
        return sender

    async def close(self) -> None:
        """Closes every connection."""
        for sender in self._senders.values():
            await sender.close()
