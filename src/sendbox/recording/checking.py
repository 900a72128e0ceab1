"""The differences of a recorded call from the contract, in the words in which a request is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlsplit

import orjson

from sendbox.assembly import BATCH, ONBOARDING
from sendbox.comparing.running import find
from sendbox.contract.schemas import name_of
from sendbox.contract.validators import contract_of
from sendbox.engine.durations import iso
from sendbox.interfaces import LINKS, ROUTES, UPLOADS
from sendbox.recording.exchange import media_type
from sendbox.services.http.exchange import Route, RouteTable
from sendbox.services.http.forms import FORM
from sendbox.services.http.requests import line

if TYPE_CHECKING:
    from sendbox.recording.exchange import MaskedExchange

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
