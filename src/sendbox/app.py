"""The application: the one place where everything meets.

It is a Starlette app. The emulated interfaces are one route of their own (`server/gateway.py`); everything else is
ordinary Starlette routing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import punctuation
from typing import Any, Final
from urllib.parse import quote

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Match
from starlette.routing import Route as HttpRoute
from starlette.types import Receive, Scope, Send

from sendbox import __version__
from sendbox.contract.openapi import document
from sendbox.contract.validators import Contract
from sendbox.control.catalog import catalog
from sendbox.control.routes import control_routes
from sendbox.language import LANGUAGE
from sendbox.page.routes import page_routes
from sendbox.runtime.worlds import Runtime
from sendbox.server.gateway import Emulated
from sendbox.server.origin import origin_of
from sendbox.server.uploads import upload_route
from sendbox.services.advice import on_answer
from sendbox.services.kinds import ROWS
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.routes import ROUTES as ROUTES

#: Any mix of events in one delivery, and the one that goes by itself (A24).
BATCH: Final = "webhooks.json#/$defs/Batch"
ONBOARDING: Final = "webhooks.json#/$defs/Onboarding"


def make_app(runtime: Runtime, contract: Contract) -> Starlette:
    """The whole application over one runtime."""
    runtime.language = LANGUAGE
    runtime.remark = on_answer
    runtime.tried.load = catalog
    runtime.logged = ROWS.logged
    emulated = Emulated(runtime, contract, ROUTES)
    app = Application(
        emulated,
        routes=[
            emulated,
            upload_route(runtime, contract, emulated.journal),
            HttpRoute("/s/{code}", _short_link(runtime), methods=["GET"]),
            HttpRoute("/openapi.json", _openapi(runtime, contract), methods=["GET"]),
            *control_routes(runtime),
            *page_routes(runtime),
            HttpRoute("/", _home, methods=["GET"]),
        ],
        exception_handlers={404: _not_found, 405: _wrong_method},
    )
    if runtime.settings.check_answers:
        runtime.check_batch = _batches(contract)
    app.router.redirect_slashes = False
    return app


class Application(Starlette):
    """A Starlette app that hands calls of the emulated interfaces to their route before any middleware.

    What the middleware is for, turning exceptions into answers, that route does itself, in the shape of each interface;
    going round it saves a tenth of what a small call takes.
    """

    def __init__(self, emulated: Emulated, **given: Any) -> None:
        super().__init__(**given)
        self._emulated = emulated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        if self._emulated.takes(scope):
            await self._emulated.handle(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


async def _home(_request: Request) -> Response:
    """The page is elsewhere."""
    return RedirectResponse("/_sandbox/")


async def _not_found(request: Request, _error: Exception) -> Response:
    """A path of no interface and no tool."""
    path = request.url.path
    message = f"{path} is served by nothing here; the interfaces are listed at /openapi.json, control at /_sandbox/"
    return _json({"error": "not_found", "message": message}, 404)


async def _wrong_method(request: Request, _error: Exception) -> Response:
    """A method that a tool does not have; `Allow` says which it has."""
    fitting = [each for each in request.app.routes if each.matches(request.scope)[0] != Match.NONE]
    legal = ", ".join(sorted(set().union(*(each.methods for each in fitting))))
    message = f"{request.method} is not served at {request.url.path}; legal: {legal}"
    return _json({"error": "method_not_allowed", "message": message}, 405, {"allow": legal})


def _json(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(value), status, headers, media_type="application/json")


def _batches(contract: Contract) -> Callable[[Any], list[str]]:
    """What holds a batch of events, or the notification of a signup, against the contract (§6, A24)."""

    def check(batch: Any) -> list[str]:
        ref = BATCH if isinstance(batch, list) else ONBOARDING
        return [finding.message for finding in contract.checker(ref).findings(batch)]

    return check


def _openapi(runtime: Runtime, contract: Contract) -> Any:
    async def show(request: Request) -> Response:
        """The contract of what is served."""
        origin = origin_of(runtime, request.scope)
        return _json(document(ROUTES, contract, origin=origin, version=__version__))

    return show


def _short_link(runtime: Runtime) -> Any:
    async def follow(request: Request) -> Response:
        """A short link: 302 to its target, counted as a click unless it was HEAD; 410 once it expired (A17)."""
        code = request.path_params["code"]
        hosted = runtime.by_tag(code)
        if hosted is None or code not in Messaging.of(hosted.world).links:
            return PlainTextResponse("there is no such link", 404)
        runtime.present(hosted)
        link = Messaging.of(hosted.world).open_link(code, count=request.method == "GET")
        if link is not None and request.method == "GET":
            hosted.world.control("link", {"code": code})
        if link is None:
            return PlainTextResponse("this link has expired", 410)
        target = link.target
        query = request.url.query
        if query:
            base, hash_sign, fragment = target.partition("#")
            target = f"{base}{'&' if '?' in base else '?'}{query}{hash_sign}{fragment}"
        runtime.changed(hosted)
        return Response(status_code=302, headers={"location": quote(target, safe=punctuation)})

    return follow
