"""The whole application: the emulated interfaces, and behind them all other tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from sendbox.runtime.worlds import MEMORY_FULL
from sendbox.server.faults import reply
from sendbox.server.hosts import foreign, misaddressed
from sendbox.server.instance import HEADER
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from sendbox.runtime.worlds import Runtime
    from sendbox.server.gateway import Emulated


class Application:
    """An ASGI application that hands calls of the emulated interfaces to their row, and all else to the tools.

    The tools are made when they are first asked for. With `later` that means that much is imported, so it is done
    beside the event loop, and so is the import of rows that are not loaded yet.
    """

    def __init__(
        self, emulated: Emulated, tools: Callable[[], ASGIApp], runtime: Runtime, *, later: bool = False
    ) -> None:
        self._emulated = emulated
        self._paths = emulated.desk.paths
        self._make = tools
        self._made: ASGIApp | None = None
        self._making: asyncio.Future[ASGIApp] | None = None
        self._settings = runtime.settings
        self._runtime = runtime
        #: the header that tells which server answers
        self.mark = (HEADER.encode(), runtime.instance.encode())
        self._later = later
        runtime.application = self

    def quick(self, scope: Scope, body: bytes) -> Answer | None:
        """The answer to a request that came whole, where nothing has to be waited for; None if it must be served."""
        answer = self._emulated.quick(scope, body) if misaddressed(scope) is None else None
        if answer is not None:
            answer.headers = (*answer.headers, self.mark)
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request; the head of the answer tells which server it comes from."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), self.mark]
            await send(message)

        await self._serve(scope, receive, marked)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, unless it is `misaddressed`, or `foreign` to what is not emulated."""
        emulated = self._emulated.takes(scope)
        if scope["type"] == "http":
            refusal = misaddressed(scope)
            if refusal is None and not emulated and not self._emulated.desk.takes(scope["path"]):
                refusal = foreign(scope, self._settings)
            if refusal is not None:
                body = orjson.dumps({"error": refusal.error, "message": refusal.message})
                await reply(send, Answer(refusal.status, body))
                return
        if emulated:
            if self._later and self._paths.lacks(scope["path"]):
                await asyncio.get_running_loop().run_in_executor(None, self._paths.load)
            await self._emulated.handle(scope, receive, send)
        elif scope["type"] == "http" and self._made is None and _asks_for_health(scope):
            await reply(send, self._checked())
        else:
            await (self._made or await self.tools())(scope, receive, send)

    def _checked(self) -> Answer:
        """The answer to a health check, as the operation of control gives it."""
        health = self._runtime.health()
        if (full := self._runtime.full) is None:
            return Answer(200, orjson.dumps(health))
        return Answer(503, orjson.dumps({"error": MEMORY_FULL, "message": full, **health}))

    async def tools(self) -> Any:
        """The application of all that is not emulated."""
        if not self._later:
            self._made = self._make()
        elif self._making is None:
            self._making = asyncio.get_running_loop().run_in_executor(None, self._make)
        if self._making is not None:
            self._made = await asyncio.shield(self._making)
        return self._made


def _asks_for_health(scope: Scope) -> bool:
    """True for the request of a health check, which is answered before control is loaded."""
    return scope["path"] == "/_sandbox/health" and scope["method"] == "GET" and not scope["query_string"]
