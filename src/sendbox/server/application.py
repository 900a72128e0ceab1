"""The Starlette application: which requests are served at all, and routes that are slow to import."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sendbox.engine.texts import nearest
from sendbox.runtime.store.sharing import MOVED, Elsewhere
from sendbox.runtime.store.store import STORE_FAILED
from sendbox.runtime.worlds import Runtime
from sendbox.server.gateway import Emulated
from sendbox.server.instance import HEADER
from sendbox.server.origin import foreign, has_wrong_host, heading_of
from sendbox.server.wire import reply
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from sendbox.runtime.store.persistence import Persistence
    from sendbox.server.handover import Handover


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(orjson.dumps(value), status, headers, media_type="application/json")


#: The header of the last answer on a connection.
CLOSE: Final = ((b"connection", b"close"),)


class Application(Starlette):
    """All that is served over HTTP: the emulated interfaces, which come first, and the other `routes`.

    The head of each answer tells which server it comes from. `control` are the operations over this application
    (`control/operation.py`); `make_control` makes them when they are first asked for, and may take long.
    """

    #: the persistence of its worlds, None if they end with the process
    persistence: Persistence | None = None
    #: the way to worlds that other processes have, None if there are none
    _handover: Handover | None = None

    def __init__(
        self,
        runtime: Runtime,
        emulated: Emulated,
        routes: Sequence[BaseRoute],
        make_control: Callable[[Application], object],
    ) -> None:
        super().__init__(routes=[emulated, *routes], exception_handlers=REFUSALS)
        self.router.redirect_slashes = False
        self.runtime = runtime
        self.emulated = emulated
        self.executor = emulated.executor
        self._make_control = make_control
        #: the header that tells which server answers
        self.mark = (HEADER.encode(), runtime.instance.encode())
        self.persistence = runtime.persistence
        if self.persistence is not None and self.persistence.sharing is not None:
            # few servers share a database: the others start without it
            from sendbox.server.handover import Handover

            self._handover = Handover(runtime, self.persistence.sharing, self._serve, self._unavailable)

    @cached_property
    def control(self) -> Any:
        """The operations of control over this application."""
        return self._make_control(self)

    def answer_at_once(self, scope: Scope, body: bytes) -> Answer | None:
        """The answer to a request that came whole; None if it must be served as every other one."""
        heading = heading_of(scope)
        # the usual way refuses a wrong host, and knows that HTTP/1.0 needs none
        if heading.hosts != 1 or (self.persistence is not None and self.persistence.failure is not None):
            return None
        answer = self.emulated.answer_at_once(scope, heading, body)
        if answer is not None:
            answer.headers = (*answer.headers, self.mark)
        return answer

    def unavailable(self, scope: Scope, why: str) -> Answer:
        """The answer while nothing can be kept: 503 in the shape of the interface, or of control."""
        answer = self.emulated.unavailable(scope, why)
        if answer is None:
            answer = Answer(503, orjson.dumps({"error": STORE_FAILED, "message": why}))
        answer.headers = (*answer.headers, self.mark)
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, here or where its world is."""
        if self._handover is not None and scope["type"] == "http" and scope["path"] not in ALWAYS:
            await self._handover(scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    def _unavailable(self, scope: Scope, why: str) -> ASGIApp:
        """An application that refuses a call."""
        return lambda _scope, _receive, send: reply(send, self.unavailable(scope, why))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request here, unless it `has_wrong_host`, or is `foreign` to what is not emulated."""

        persistence = None if scope.get("path") in ALWAYS else self.persistence
        losses = 0 if persistence is None else persistence.losses
        lost = False

        async def marked(message: Message) -> None:
            nonlocal lost
            if message["type"] == "http.response.start":
                ends = CLOSE if self.runtime.leaving else ()
                message["headers"] = [*message.get("headers", ()), self.mark, *ends]
                why = None if persistence is None else await persistence.commit()
                if persistence is not None and persistence.losses != losses:
                    why = MOVED
                if why is not None:
                    lost = True
                    await reply(send, self.unavailable(scope, why))
            elif not (lost or persistence is None):
                await persistence.persist()  # a stream shows what has come in since its head
            if not lost:
                await send(message)

        if scope["type"] == "http":
            if scope["path"] == "/":
                self.emulated.readdress(scope)
            if persistence is not None and persistence.failure is not None:
                await reply(send, self.unavailable(scope, persistence.failure))
                return
            refusal = has_wrong_host(scope, heading_of(scope))
            if refusal is None and not self.executor.takes(scope["path"]):
                refusal = foreign(scope, self.runtime.settings)
            if refusal is not None:
                body = orjson.dumps({"error": refusal.error, "message": refusal.message})
                await reply(marked, Answer(refusal.status, body))
                return
        await super().__call__(scope, receive, marked)


class LazyApplication:
    """An application that is imported and made on a worker thread, when it is first asked for.

    `loaded` says that nothing must be imported for it.
    """

    def __init__(self, make: Callable[[], Starlette], *, loaded: bool) -> None:
        self._make = make
        self._loaded = loaded
        self._making: asyncio.Future[Starlette] | None = None

    @cached_property
    def application(self) -> Starlette:
        """The application, made where it is asked for."""
        return self._make()

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes of the application."""
        return self.application.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if not self._loaded:
            if self._making is None:
                self._making = asyncio.get_running_loop().run_in_executor(None, lambda: self.application)
            await asyncio.shield(self._making)
        await self.application(scope, receive, send)


#: The path of the health check, and all that is answered while nothing can be kept.
HEALTH: Final = "/_sandbox/health"
ALWAYS: Final = (HEALTH, "/metrics")


class OpenRoute(Route):
    """A route that needs no token of control: it shows nothing of a world."""


class HealthRoute(OpenRoute):
    """A health check, answered as the operation of control does, before control is imported.

    One with a query goes to control, which knows its argument.
    """

    def __init__(self, runtime: Runtime) -> None:
        async def check(_request: Request) -> Response:
            health, problem = runtime.health(), runtime.health_problem()
            if problem is None:
                return json_answer(health)
            error, why = problem
            return json_answer({"error": error, "message": why, **health}, 503)

        super().__init__(HEALTH, check, methods=["GET"])

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Full only for a request without a query."""
        return (Match.NONE, {}) if scope.get("query_string") else super().matches(scope)


def with_refusals(routes: Sequence[BaseRoute]) -> Starlette:
    """An application with these routes; another path or method is refused as control refuses."""
    application = Starlette(routes=routes, exception_handlers=REFUSALS)
    application.router.redirect_slashes = False
    return application


async def _not_found(request: Request, _error: Exception) -> Response:
    """A path of no interface and no tool."""
    path = request.url.path
    near = _nearest_path(request.app.routes, path, request.scope.get("root_path", ""))
    hint = f"; the nearest path is {near}" if near else ""
    places = "the interfaces are listed at /openapi.json, control at /_sandbox/"
    return json_answer({"error": "not_found", "message": f"{path} is served by nothing here{hint}; {places}"}, 404)


def _nearest_path(routes: Sequence[BaseRoute], path: str, root: str) -> str | None:
    """The served path that is most like an unknown one, and begins as it does; None if no path is like it."""
    sent = path.removeprefix(root).split("/")
    begun: dict[int, list[str]] = {}
    for route in routes:
        if isinstance(route, Route):
            parts = route.path.split("/")
            pairs = zip(parts, sent, strict=False)
            common = len([*takewhile(lambda pair: pair[0] == pair[1] or pair[0].startswith("{"), pairs)])
            begun.setdefault(common, []).append("/".join(parts[common:]))
    at = max(begun, default=0)
    end = "/".join(sent[at:])
    legal = [rest for rest in begun.get(at, ()) if "{" not in rest]
    near = next((rest for rest in legal if rest.endswith(f"/{end}")), None) or nearest(end, legal)
    return f"{root}{'/'.join([*sent[:at], near])}" if near else None


async def _wrong_method(request: Request, _error: Exception) -> Response:
    """A method that a route does not have; `Allow` says which it has."""
    fitting = [route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE]
    legal = ", ".join(sorted(set().union(*(route.methods for route in fitting))))
    message = f"{request.method} is not served at {request.url.path}; legal: {legal}"
    return json_answer({"error": "method_not_allowed", "message": message}, 405, {"allow": legal})


async def _elsewhere(request: Request, error: Exception) -> Response:
    """A call for another process, which only servers with a `Handover` have."""
    from sendbox.server.handover import note_elsewhere

    return await note_elsewhere(request, error)


#: The answers to a path or a method that is not served.
REFUSALS: Final = {404: _not_found, 405: _wrong_method, Elsewhere: _elsewhere}
