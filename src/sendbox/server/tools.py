"""The Starlette application of all that is served except the emulated interfaces: control, pages and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from starlette.applications import Starlette
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route

if TYPE_CHECKING:
    from starlette.requests import Request


def tools(routes: Sequence[BaseRoute]) -> Starlette:
    """The application with these routes; another path or method is refused as control refuses."""
    application = Starlette(
        routes=[*routes, Route("/", _home, methods=["GET"])],
        exception_handlers={404: _not_found, 405: _wrong_method},
    )
    application.router.redirect_slashes = False
    return application


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
