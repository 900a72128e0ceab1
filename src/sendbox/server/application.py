"""The Starlette application around the emulated interfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from sendbox.server.gateway import Emulated
from sendbox.server.hosts import foreign, misaddressed
from sendbox.services.http.exchange import Answer
from sendbox.settings import Settings


class Application(Starlette):
    """A Starlette app that hands calls of the emulated interfaces to their route before any middleware.

    What the middleware is for, turning exceptions into answers, that route does itself, in the shape of each interface;
    going round it saves a tenth of what a small call takes.
    """

    def __init__(self, emulated: Emulated, routes: Sequence[BaseRoute], settings: Settings) -> None:
        all_routes = (*routes, Route("/", _home, methods=["GET"]))
        super().__init__(routes=all_routes, exception_handlers={404: _not_found, 405: _wrong_method})
        self.router.redirect_slashes = False
        self._emulated = emulated
        self._settings = settings

    def quick(self, scope: Scope, body: bytes) -> Answer | None:
        """The answer to a request that came whole, where nothing has to be waited for; None where it must be served."""
        return self._emulated.quick(scope, body) if misaddressed(scope) is None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, unless it is `misaddressed`, or `foreign` to what is not emulated."""
        emulated = self._emulated.takes(scope)
        if scope["type"] == "http":
            refusal = misaddressed(scope)
            if refusal is None and not emulated and not self._emulated.desk.takes(scope["path"]):
                refusal = foreign(scope, self._settings)
            if refusal is not None:
                answer = json_answer({"error": refusal.error, "message": refusal.message}, refusal.status)
                await answer(scope, receive, send)
                return
        if emulated:
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
    return json_answer({"error": "not_found", "message": message}, 404)


async def _wrong_method(request: Request, _error: Exception) -> Response:
    """A method that a tool does not have; `Allow` says which it has."""
    fitting = [route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE]
    legal = ", ".join(sorted(set().union(*(route.methods for route in fitting))))
    message = f"{request.method} is not served at {request.url.path}; legal: {legal}"
    return json_answer({"error": "method_not_allowed", "message": message}, 405, {"allow": legal})


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(orjson.dumps(value), status, headers, media_type="application/json")
