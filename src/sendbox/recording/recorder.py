"""The thread beside the proxy that masks calls, compares them with the contract, writes them and prints lines.

Nothing waits for it.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import orjson

from sendbox.assembly import BATCH, ONBOARDING
from sendbox.comparing.running import find
from sendbox.contract.schemas import name_of
from sendbox.contract.validators import contract_of
from sendbox.engine.durations import iso
from sendbox.interfaces import LINKS, ROUTES, UPLOADS
from sendbox.recording.exchange import Budget, Exchange, MaskedExchange, NotRecorded, media_type
from sendbox.recording.har import FileFull, HarFile, entry_of
from sendbox.recording.standins import StandIns
from sendbox.services.http.exchange import Route, RouteTable
from sendbox.services.http.requests import FORM, line

#: So many differences of one side of a call get a line.
MAX_LINES: Final = 10
#: The parameter with the events of a webhook by GET or as a form (A69).
_EVENTS: Final = "events"
#: Addresses that answers give out; what is sent there is in no schema.
_GIVEN_OUT: Final = tuple(row.path.partition("{")[0] for row in (*UPLOADS, *LINKS))


class Checker:
    """Checks calls against the contract of all interfaces."""

    def __init__(self) -> None:
        self._contract = contract_of()
        self._paths = RouteTable(ROUTES)

    def parameters(self, method: str, url: str) -> Mapping[str, str]:
        """The parameters that stand in the path of a call."""
        place = find(self._paths, method, urlsplit(url).path)
        return {} if place is None else self._paths.find(place.path)[1]

    def differences(self, exchange: MaskedExchange) -> Iterator[str]:
        """A line for each difference, which begins with the time and the place of the call."""
        path, query = urlsplit(exchange.url).path, urlsplit(exchange.url).query
        if exchange.webhook:
            sides = {"webhook": self._of_webhook(exchange)}
        elif (place := find(self._paths, exchange.method, path, (query or exchange.body).encode())) and place.route:
            path = place.route.path
            sides = {
                "request": self._of_request(exchange, place.route),
                "answer": self._of_answer(exchange, place.route),
            }
        elif exchange.method != "OPTIONS" and not any(head in path for head in _GIVEN_OUT):
            sides = {"request": iter(["it is outside the specification"])}
        else:
            return
        for side, messages in sides.items():
            yield from (
                f"{iso(exchange.at)} {exchange.method} {path}: {side}: {message}"
                for message in islice(messages, MAX_LINES)
            )

    def _of_request(self, exchange: MaskedExchange, route: Route) -> Iterator[str]:
        if route.query is not None:
            yield from self._findings(route.query, _fields(urlsplit(exchange.url).query))
        if route.request is not None and route.request_type == FORM:
            yield from self._findings(route.request, _fields(exchange.body))
        elif route.request is not None:
            yield from self._of_json(route.request, exchange.body)

    def _of_answer(self, exchange: MaskedExchange, route: Route) -> Iterator[str]:
        if exchange.status == 0:
            return
        if exchange.status not in route.responses:
            legal = ", ".join(map(str, sorted(route.responses)))
            yield f"{exchange.status} is not a status of {route.operation}; legal: {legal}"
            return
        schema = route.responses[exchange.status]
        if schema is not None and self._contract.definitions[name_of(schema)].get("type") == "string":
            yield from self._findings(schema, exchange.answer, recorded=True)
        elif schema is not None:
            yield from self._of_json(schema, exchange.answer, recorded=True)

    def _of_webhook(self, exchange: MaskedExchange) -> Iterator[str]:
        parameters = urlsplit(exchange.url).query if exchange.method == "GET" else exchange.body
        form = exchange.method == "GET" or media_type(exchange.headers).startswith(FORM)
        yield from self._of_json(None, _fields(parameters).get(_EVENTS, "") if form else exchange.body, recorded=True)

    def _of_json(self, schema: str | None, text: str, *, recorded: bool = False) -> Iterator[str]:
        """The findings in a text of JSON; without a schema, in that of a webhook."""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            yield f"the body is no JSON: {error}"
            return
        yield from self._findings(
            schema or (BATCH if isinstance(value, list) else ONBOARDING), value, recorded=recorded
        )

    def _findings(self, schema: str, value: object, *, recorded: bool = False) -> Iterator[str]:
        yield from map(line, self._contract.checker(schema, recorded=recorded).findings(value))


def _fields(parameters: str) -> dict[str, str]:
    """The parameters of a query or a form; an empty one counts as absent."""
    return dict(parse_qsl(parameters))


#: So many calls and lines wait to be written.
MAX_WAITING: Final = 1_000
#: Real seconds that the end waits for the last calls to be written.
FLUSH_TIMEOUT: Final = 30.0


class Recorder:
    """Writes calls into a file; `write` gets the lines, and may block or raise OSError or ValueError.

    `make_checker` is called in the thread: to load the contract takes its time.
    """

    def __init__(
        self,
        file: HarFile,
        make_checker: Callable[[], Checker],
        write: Callable[[str], object],
        waiting: int = MAX_WAITING,
    ) -> None:
        self.budget = Budget()
        self.file = file
        #: lines about the contract, and calls that are not in the file
        self.differences = 0
        self.missing = 0
        self._make_checker = make_checker
        self._write = write
        self._stand_ins = StandIns()
        self._queue: queue.Queue[Exchange | str | None] = queue.Queue(waiting)
        self._refused = self._reported = 0
        self._full = False
        self._thread = threading.Thread(target=self._run, name="sendbox-record", daemon=True)
        self._thread.start()

    def say(self, line: str) -> None:
        """Prints a line, masked, after those that wait. Never waits; drops it where too many wait."""
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(line)

    def add(self, exchange: Exchange) -> None:
        """Records a call. Never waits; drops it where too many wait, which a line then says."""
        try:
            self._queue.put_nowait(exchange)
        except queue.Full:
            self._refused += 1
            _release(exchange)

    def close(self, within: float = FLUSH_TIMEOUT) -> None:
        """Writes what waits, for at most `within` real seconds, and closes the file."""
        try:
            self._queue.put(None, timeout=within)
        except queue.Full:
            return
        self._thread.join(within)
        self.missing += self._refused
        self.file.close()

    def _run(self) -> None:
        checker = self._make_checker()
        while (item := self._queue.get()) is not None:
            if self._refused > self._reported:
                count, self._reported = self._refused - self._reported, self._refused
                self._print(f"{count} calls are not recorded: too many waited to be written")
            if isinstance(item, str):
                self._print_masked(item)
                continue
            try:
                self._record(item, checker)
            except Exception as error:  # whatever is wrong with a call, the next ones are recorded
                self.missing += 1
                self._explain(item, error)
            finally:
                _release(item)

    def _record(self, exchange: Exchange, checker: Checker) -> None:
        for name, value in checker.parameters(exchange.method, exchange.url).items():
            self._stand_ins.field(value, name, ())
        masked = exchange.masked(self._stand_ins)
        for difference in checker.differences(masked):
            self.differences += 1
            self._print(difference)
        if self._full:
            raise FileFull
        self.file.add(entry_of(masked))

    def _explain(self, exchange: Exchange, error: Exception) -> None:
        if isinstance(error, FileFull | OSError):
            if not self._full:
                self._full = True
                why = "is full (--max-size)" if isinstance(error, FileFull) else f"cannot be written: {error.strerror}"
                self._print(f"the file {why}; further calls are handed on, and not recorded")
            return
        why = str(error) if isinstance(error, NotRecorded) else f"it cannot be read ({type(error).__name__})"
        self._print_masked(f"{exchange.method} {urlsplit(exchange.url).path} is not recorded: {why}")

    def _print_masked(self, line: str) -> None:
        with contextlib.suppress(RecursionError):  # JSON in an address
            self._print(self._stand_ins.text(line))

    def _print(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # standard output is closed
            self._write(line)


def _release(exchange: Exchange) -> None:
    exchange.body.release()
    exchange.answer.release()
