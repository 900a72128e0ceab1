"""The application: the one place where everything meets.

It is a Starlette app. The emulated interfaces are one Starlette route of our own, found by a dictionary look-up and
answered without request objects, because they are the hot path; everything else is ordinary Starlette routing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, NoMatchFound, Route as HttpRoute
from starlette.types import Receive, Scope, Send

from sendbox import __version__
from sendbox.contract.openapi import document
from sendbox.contract.validators import Contract, NotLoaded, preload
from sendbox.control.routes import control_routes
from sendbox.core.records import RequestRecord
from sendbox.core.remarks import Finding
from sendbox.interfaces.exchange import Answer, Exchange, Refused, Route
from sendbox.interfaces.legacy.routes import ROUTES as LEGACY
from sendbox.interfaces.sending.errors import DENIED
from sendbox.interfaces.sending.errors import error as sending_error
from sendbox.interfaces.sending.routes import ROUTES as SENDING
from sendbox.interfaces.sending.simple import ROUTES as SIMPLE
from sendbox.page.routes import page_routes
from sendbox.runtime import Hosted, Runtime

log = logging.getLogger("sendbox")

#: Every row of every interface that is served.
ROUTES: Final[tuple[Route, ...]] = (*SENDING, *SIMPLE, *LEGACY)
#: So many different remarks are remembered a world, so that the log says each of them once.
MOST_TOLD: Final = 1_000
#: The longest body that is read; a longer one is refused before it is read whole.
BODY_CAP: Final = 16 * 1024 * 1024


def make_app(runtime: Runtime, contract: Contract) -> Starlette:
    """The whole application over one runtime."""
    emulated = Emulated(runtime, contract, ROUTES)
    app = Starlette(
        routes=[
            emulated,
            HttpRoute("/s/{code}", _short_link(runtime), methods=["GET"]),
            HttpRoute("/openapi.json", _openapi(runtime, contract), methods=["GET"]),
            *control_routes(runtime),
            *page_routes(runtime),
            HttpRoute("/", lambda _request: RedirectResponse("/_sandbox/"), methods=["GET"]),
        ],
        exception_handlers={404: _not_found},
    )
    app.router.redirect_slashes = False
    return app


def origin_of(runtime: Runtime, scope: Scope, headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Scheme and authority that addresses given out begin with."""
    if runtime.settings.public_url:
        return runtime.settings.public_url.rstrip("/")
    host = next((value for name, value in headers if name == b"host"), None)
    if host is None:
        server = scope.get("server") or ("127.0.0.1", runtime.settings.port)
        return f"{scope['scheme']}://{server[0]}:{server[1]}"
    return f"{scope['scheme']}://{host.decode('latin-1')}"


class Emulated(BaseRoute):
    """All rows of the emulated interfaces as one route."""

    def __init__(self, runtime: Runtime, contract: Contract, routes: Sequence[Route]) -> None:
        self._runtime = runtime
        self._contract = contract
        self._table: dict[str, dict[str, Route]] = {}
        for route in routes:
            self._table.setdefault(route.path, {})[route.method] = route

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Every path of the table, and everything else below the prefixes of the interfaces."""
        if scope["type"] != "http":
            return Match.NONE, {}
        path = scope["path"]
        if path in self._table or path.startswith(("/v2/", "/v1/")):
            return Match.FULL, {}
        return Match.NONE, {}

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Emulated rows have no names to be looked up by."""
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one call of an emulated interface."""
        path: str = scope["path"]
        row = self._table.get(path)
        if row is None:
            await _reply(send, _unknown_path(path))
            return
        route = row.get(scope["method"])
        if route is None:
            legal = ", ".join(sorted(row))
            some = next(iter(row.values()))
            answer = some.error(405, f"{scope['method']} is not served at {path}; legal: {legal}")
            answer.headers = ((b"allow", legal.encode()),)
            await _reply(send, answer)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        key: str | None = None
        if route.auth != "form":
            for name, value in headers:
                if name == b"x-api-key":
                    key = value.decode("latin-1")
                    break
            if key is None and route.auth == "header-or-query":
                key = _field(scope["query_string"], "apikey")
        hosted = None
        body: bytes | None = None
        if route.auth == "form":
            body = await _read(receive)
            if body is not None:
                key = _field(body if route.method == "POST" else scope["query_string"], "apikey")
        if key is not None:
            hosted = self._runtime.find(key, path)
        else:
            self._runtime.refuse(None, path, "no API key came with the call", "send it in the header x-api-key")
        if hosted is None or key is None:
            status = 401 if route.auth == "form" else 400
            answer = route.error(status, DENIED)
            if self._runtime.settings.hints:
                answer.headers = ((b"sendbox-journal", _origin_bytes(self._runtime, scope) + b"/_sandbox/refused"),)
            await _reply(send, answer)
            return
        hosted.open += 1
        try:
            if body is None:
                body = await _read(receive)
            if body is None:
                text = f"the body is longer than {BODY_CAP} bytes, the most that is read"
                await _reply(send, route.error(413, text))
                return
            try:
                answer = self._answer(scope, route, hosted, key, body)
            except NotLoaded:  # the first refusal: nothing was done yet, and the loop must not wait for an import
                await asyncio.get_running_loop().run_in_executor(None, preload)
                answer = self._answer(scope, route, hosted, key, body)
            await _reply(send, answer)
        finally:
            hosted.request_ended()
            self._runtime.changed(hosted)

    def _answer(self, scope: Scope, route: Route, hosted: Hosted, key: str, body: bytes) -> Answer:
        """Runs the handler and journals the call."""
        runtime = self._runtime
        runtime.present(hosted)
        world = hosted.world
        origin = origin_of(runtime, scope, scope["headers"])
        exchange = Exchange(
            route, world, world.keys[key], scope["headers"], scope["query_string"], body, origin, self._contract
        )
        findings: list[Finding] = []
        try:
            answer = route.handler(exchange)
        except Refused as refused:
            findings = refused.findings
            answer = route.error(refused.status, refused.text)
        except NotLoaded:
            raise
        except Exception:
            log.exception("%s failed while it answered %s", world.id, route.operation)
            findings = [Finding("$", "internal", "an error of the sandbox itself; its log has the details", "§7.1")]
            answer = route.error(500, "Internal server error")
        record = RequestRecord(route.operation, route.method, scope["path"], key, answer.status, body, answer.body)
        if findings:
            record.findings = findings
        elif "findings" in exchange.made:
            record.findings = exchange.made["findings"]
        record.advice = exchange.advice
        record.canonical = exchange.content
        number = world.request(record)
        if record.findings or record.advice:
            _log_remarks(runtime, hosted, record)
        if runtime.settings.hints:
            address = f"{origin}/_sandbox/worlds/{world.id}/journal/{number}"
            answer.headers = (*answer.headers, (b"sendbox-journal", address.encode("latin-1", "replace")))
        if runtime.settings.check_answers:
            self._check(route, answer)
        return answer

    def _check(self, route: Route, answer: Answer) -> None:
        """In tests: what goes out keeps to the contract too."""
        ref = route.responses.get(answer.status)
        if ref is None:
            return
        value: object = answer.body.decode()
        if answer.content_type.startswith(b"application/json"):
            import orjson

            value = orjson.loads(answer.body)
        found = self._contract.checker(ref).findings(value)
        if found:
            self._runtime.violations.append(f"{route.operation} answered {answer.body!r}: {found[0].message}")


def _log_remarks(runtime: Runtime, hosted: Hosted, record: RequestRecord) -> None:
    """A line for each finding, and for each advice that this world was not told before."""
    world_id = hosted.world.id
    for finding in record.findings:
        word = "refused" if record.status >= 400 else "rejected"
        runtime.log(world_id, f"{word} {record.operation}: {finding.message} at {finding.path}")
    for advice in record.advice:
        if advice in hosted.told:
            continue
        if len(hosted.told) < MOST_TOLD:
            hosted.told.add(advice)
        runtime.log(world_id, f"advice {advice.code} on {record.operation}: {advice.message} at {advice.path}")


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None when it is longer than what is read."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body
    chunks = [body]
    size = len(body)
    while message.get("more_body", False):
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > BODY_CAP:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


async def _reply(send: Send, answer: Answer) -> None:
    headers = [
        (b"content-type", answer.content_type),
        (b"content-length", b"%d" % len(answer.body)),
        *answer.headers,
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _field(raw: bytes, name: str) -> str | None:
    """The last value of a form or query field; None when it is absent or the text cannot be read."""
    values = parse_qs(raw.decode("latin-1"), keep_blank_values=True).get(name)
    return values[-1] if values else None


def _origin_bytes(runtime: Runtime, scope: Scope) -> bytes:
    return origin_of(runtime, scope, scope["headers"]).encode("latin-1", "replace")


def _unknown_path(path: str) -> Answer:
    """A path that no interface serves, in the shape of the interface it lies under (A75)."""
    if path.startswith("/v2/"):
        return sending_error(404, f"{path} is no path of the sending interface")
    import orjson

    text = f"{path} is not served: the REST and Verify interfaces are not built in this version"
    return Answer(404, orjson.dumps({"message": text}))


async def _not_found(request: Request, _error: Exception) -> Response:
    """A path of no interface and no tool."""
    path = request.url.path
    message = f"{path} is served by nothing here; the interfaces are listed at /openapi.json, control at /_sandbox/"
    return JSONResponse({"error": "not_found", "message": message}, 404)


def _openapi(runtime: Runtime, contract: Contract) -> Any:
    async def show(request: Request) -> Response:
        """The contract of what is served."""
        origin = origin_of(runtime, request.scope, request.scope["headers"])
        return JSONResponse(document(ROUTES, contract, origin=origin, version=__version__))

    return show


def _short_link(runtime: Runtime) -> Any:
    async def follow(request: Request) -> Response:
        """A short link: 302 to its target, counted as a click unless it was HEAD; 410 once it expired (A17)."""
        code = request.path_params["code"]
        hosted = runtime.by_tag(code)
        if hosted is None or code not in hosted.world.links:
            return PlainTextResponse("there is no such link", 404)
        runtime.present(hosted)
        link = hosted.world.open_link(code, count=request.method == "GET")
        if link is None:
            return PlainTextResponse("this link has expired", 410)
        target = link.target
        query = request.url.query
        if query:
            base, hash_sign, fragment = target.partition("#")
            target = f"{base}{'&' if '?' in base else '?'}{query}{hash_sign}{fragment}"
        runtime.changed(hosted)
        return Response(status_code=302, headers={"location": target})

    return follow
