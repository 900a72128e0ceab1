"""Makes recorded calls again, in a fresh world for each key. The clocks stand, and are moved to the time of each call.

Names that answers gave out (ids, tokens, addresses) are other names here: each is learnt from the pair of answers, and
put into the calls that follow. Webhooks are answered in this process with 200. The operation of a call is found by the
end of its path, since the service's addresses begin differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import orjson

from sendbox.comparing.differences import StatusAndBody, is_id
from sendbox.comparing.names import Names
from sendbox.comparing.recording import RecordedCall
from sendbox.contract.findings import MISSING, differing
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.coverage import Catalog, Collector
from sendbox.engine.timeline import Goal
from sendbox.playing.player import ORIGIN
from sendbox.playing.sample_client import call_app
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.slot import HostedWorld
from sendbox.server.application import Application
from sendbox.server.origin import key_field
from sendbox.services.http.exchange import Route, RouteTable
from sendbox.services.verify.verify import Verify

#: The key of calls whose own was never accepted: it opens no world.
UNKNOWN: Final = "unknown-key"
#: The reason why a call is passed over whose path or method the specification does not have.
OUTSIDE: Final = "it is outside the specification"
#: The statuses of a denial, besides the one that the interface has (§5.6, §7.1).
_DENIALS: Final = (401, 403)
#: The interface whose requests repeat values of its answers that have no form of their own (§5.4).
_REPEATING: Final = "verify"
_CODE: Final = "code"
#: The word after `OK` in a line of the legacy interface (A13).
_OK: Final = "OK"
#: What holds a name, whatever its form: a new sub-key (A32), a legacy id; a shorter id could be any word.
_NAMING: Final = frozenset({"apikey", _OK})
_SHORTEST: Final = 6
#: Where a name may stand in a text.
_WORD: Final = re.compile(r"""https?://[^\s"'<>\\]+|[\w.~-]+""")


class CallOutcome(NamedTuple):
    """A recorded call that was made here: where, the answer, and the assumptions that it relied on.

    `why` says why it was not made; then there is no answer. `reason` is the first finding of a call that was refused.
    """

    place: Place | None
    answer: StatusAndBody | None = None
    leaned: tuple[str, ...] = ()
    why: str = ""
    reason: str = ""


class Run:
    """One run of all calls under one scenario; `number` tells its worlds from those of other runs."""

    def __init__(
        self, app: Application, catalog: Catalog, calls: Sequence[RecordedCall], blueprint: Blueprint, number: int
    ) -> None:
        self._runtime = runtime = app.runtime
        self._app = app
        self._catalog = catalog
        self._calls = calls
        self.names = Names()
        self._values: dict[tuple[str, object], object] = {}
        #: where the journal has each call, by its number
        self._entries: dict[int, str] = {}
        self._worlds: dict[str, HostedWorld] = {}
        for position, key in enumerate(accepted_keys(calls, app.executor.paths), 1):
            hosted = runtime.open(
                f"test-compare-{number}-{position}",
                blueprint=blueprint,
                start=calls[0].at,
                mode="manual",
                salt=str(position),
            )
            runtime.deliver_to(hosted, _taken)
            self._worlds[key] = hosted
            self.names.learn(key, hosted.world.id)

    async def make_calls(self) -> list[CallOutcome]:
        """Makes all calls, and closes the worlds."""
        try:
            outcomes = [await self._repeat_call(call) for call in self._calls]
            return self._leaning(outcomes)
        finally:
            for hosted in self._worlds.values():
                self._runtime.close(hosted)

    async def _repeat_call(self, call: RecordedCall) -> CallOutcome:
        url = self._replaced(call.url)
        given_out = url != call.url and url.startswith(ORIGIN)
        path = urlsplit(url).path
        place = Place(path, None) if given_out else find(self._app.executor.paths, call.method, path, call.fields)
        if place is None or (place.route is None and not given_out):
            return CallOutcome(None, why=OUTSIDE)
        if call.incomplete:
            return CallOutcome(place, why=call.incomplete)
        query = urlsplit(url).query
        if call.headers is None and place.route is not None and place.route.query is not None:
            return CallOutcome(place, why="the recording does not have its query")
        await self._move(call.at, call.key)
        body = self._body(call, place)
        target = f"{place.path}?{query}" if query else place.path
        try:
            status, headers, answer = await call_app(
                self._app, ORIGIN, call.method, target, self._headers(call, place), body
            )
        except Exception as error:  # a fault of the scenario breaks the connection
            return CallOutcome(place, why=f"it has no answer here: {str(error) or type(error).__name__}")
        self._learn(call, answer)
        self._entries[call.number] = headers.get(b"sendbox-journal", b"").decode()
        return CallOutcome(place, StatusAndBody(status, answer))

    async def _move(self, at: int, key: str | None) -> None:
        """Moves the world of a key to an instant; all worlds where the key is that of none."""
        mine = self._worlds.get(key or "")
        for hosted in self._worlds.values() if mine is None else (mine,):
            if at > hosted.world.now:
                await self._runtime.advance(hosted, Goal("to", at))
                if hosted.world.clock.mode != "manual":
                    hosted.world.clock.switch("manual")

    # -- what is sent

    def _headers(self, call: RecordedCall, place: Place) -> dict[str, str]:
        """The headers, with our key in place of the recorded one."""
        headers = dict(call.headers or {})
        route = place.route
        if call.headers is None and route is not None:  # what a client of this operation sends
            headers["content-type"] = route.request_type
            if call.key is not None and route.auth not in ("form", "none"):
                headers["x-api-key"] = call.key
        if "x-api-key" in headers:
            headers["x-api-key"] = self.names.ours(headers["x-api-key"]) or UNKNOWN
        return headers

    def _body(self, call: RecordedCall, place: Place) -> bytes:
        try:
            text = self._replaced(call.body.decode())
        except UnicodeDecodeError:
            return call.body
        if place.route is None or place.route.interface != _REPEATING:
            return text.encode()
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text.encode()
        if not isinstance(value, dict):
            return text.encode()
        code = value.get(_CODE)
        if place.route.operation == "verifyCode" and call.status == 200 and isinstance(code, str):
            self._values[_CODE, code] = self._code(place.path) or code
        return orjson.dumps(
            {name: self._values.get((name, item), item) if _plain(item) else item for name, item in value.items()}
        )

    def _code(self, path: str) -> str | None:
        """The code of the session that a path names."""
        for hosted in self._worlds.values():
            for token, session in Verify.of(hosted.world).sessions.items():
                if token in path:
                    return session.code
        return None

    def _replaced(self, text: str) -> str:
        """A text with our names in place of recorded ones."""
        return _WORD.sub(self._ours, text)

    def _ours(self, word: re.Match[str]) -> str:
        """Our name for a word; an address that was not given out may hold names."""
        text = word[0]
        ours = self.names.ours(text)
        if ours is None and "://" in text:
            return "/".join(map(self._replaced, text.split("/")))
        return text if ours is None else ours

    # -- what is learnt

    def _learn(self, call: RecordedCall, here: bytes) -> None:
        """Notes what an answer gave out, and ours in its place; what the client sent itself was not given out."""
        try:
            pairs = list(differing(orjson.loads(call.answer), orjson.loads(here), pair=self.names.same))
        except orjson.JSONDecodeError:
            pairs = list(_words(call.answer, here))
        sent = {*_WORD.findall(call.url), *_WORD.findall(call.body.decode("utf-8", "replace"))}
        for path, a, b in pairs:
            if MISSING in (a, b) or not (_plain(a) and _plain(b)) or type(a) is not type(b):
                continue
            name = next((step for step in reversed(path) if isinstance(step, str)), "")
            self._values[name, a] = b
            if isinstance(a, str) and a not in sent and ((a and name in _NAMING) or is_id(name, a)):
                self.names.learn(a, b)

    # -- what was relied on

    def _leaning(self, outcomes: list[CallOutcome]) -> list[CallOutcome]:
        """The calls, with the assumptions and the first finding that the entries of the journals name."""
        noted: dict[str, tuple[tuple[str, ...], str]] = {}
        for hosted in self._worlds.values():
            collector = Collector(hosted.world, self._catalog)
            for entry in range(len(hosted.world.journal)):
                collector.leaned = {}
                collector.look(entry, counting=True)
                subject = hosted.world.journal.entry(entry)[2]
                findings = subject.findings if isinstance(subject, RequestRecord) else ()
                noted[f"/_sandbox/worlds/{hosted.world.id}/journal/{entry}"] = (
                    tuple(collector.leaned),
                    findings[0].message if findings else "",
                )
        places = (self._entries.get(call.number, "").removeprefix(ORIGIN) for call in self._calls)
        return [
            one._replace(leaned=leaned, reason=reason)
            for one, place in zip(outcomes, places, strict=True)
            for leaned, reason in [noted.get(place, ((), ""))]
        ]


async def _taken(_call: HttpCall) -> Outcome:
    return Outcome(200, None)


def accepted_keys(calls: Sequence[RecordedCall], paths: RouteTable) -> list[str]:
    """The keys that were not denied, in order; not those that an answer gave out, which their parents make again."""
    keys: dict[str, None] = {}
    given_out: list[bytes] = []
    for call in calls:
        key = call.key or ""
        if key and not _denied(call, paths) and not any(key.encode() in answer for answer in given_out):
            keys[key] = None
        if b"key" in call.answer.lower() and call.status < 400:
            given_out.append(call.answer)
    return list(keys)


def _denied(call: RecordedCall, paths: RouteTable) -> bool:
    """True if a call was refused because of its key.

    Another status than 401 can mean something else too, so the answer must have the words of our refusal (A11, A37).
    A status that is not the interface's own is a denial with the words of any of them (§5.6).
    """
    place = find(paths, call.method, call.path, call.fields)
    if place is None or place.route is None:
        return True
    denial = place.route.deny(True)
    if call.status == denial.status:
        return call.status == 401 or _has(call.answer, denial.body)
    return call.status in _DENIALS and any(_has(call.answer, route.deny(True).body) for route in paths.routes)


def _has(answer: bytes, denial: bytes) -> bool:
    """True if an answer has the words of a denial."""
    try:
        texts = orjson.loads(denial).values()
    except orjson.JSONDecodeError:
        texts = [denial.decode()]
    return all(text.encode() in answer for text in texts if isinstance(text, str))


def _words(recorded: bytes, here: bytes) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The words of plain texts in pairs, line by line, as places with both values; none where one has more lines."""
    lines, others = (text.decode("utf-8", "replace").splitlines() for text in (recorded, here))
    for left, right in zip(lines, others, strict=False) if len(lines) == len(others) else ():
        a, b = left.split("|"), right.split("|")
        naming = a[0] == b[0] == _OK and len("".join(a[1:2])) >= _SHORTEST
        for index, (word, other) in enumerate(zip(a, b, strict=False)):
            yield (_OK,) if index == 1 and naming else (), word, other


def _plain(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


#: What may stand before the end of a path here, where an address of the service does not have it.
_BEFORE: Final = ("", "/v2", "/v1")


class Place(NamedTuple):
    """The place of a recorded call here: the path, and the row of its operation, None if the method has none."""

    path: str
    route: Route | None


def find(paths: RouteTable, method: str, path: str, fields: bytes = b"") -> Place | None:
    """The place of a call, None if its path is of no interface: the path itself, else its longest end that fits.

    A call to `/` whose `fields`, the query or a form, have a key is one of a row that is served there too (A13).
    """
    route = paths.at_root.get(method) if path in ("", "/") and key_field(fields) is not None else None
    if route is not None:
        return Place(route.path, route)
    other: Place | None = None
    for candidate in _candidates(path):
        rows, _ = paths.find(candidate)
        if rows is not None and (method in rows or candidate == path):
            return Place(candidate, rows.get(method))
        if rows is not None and other is None:
            other = Place(candidate, None)
    return other


def _candidates(path: str) -> Iterator[str]:
    for end in (path[place:] for place, char in enumerate(path) if char == "/"):
        yield from (f"{before}{end}" for before in _BEFORE)
