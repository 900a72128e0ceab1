"""Links that worlds give out, open to everyone (`services/http/interfaces.py`), as Starlette routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from sendbox.server.origin import call_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from sendbox.runtime.worlds import Runtime
    from sendbox.services.http.desk import Desk
    from sendbox.services.http.exchange import Answer
    from sendbox.services.http.interfaces import Link


def link_route(
    runtime: Runtime, desk: Desk, link: Link, page: Callable[[int, str], Awaitable[Response]] | None = None
) -> Route:
    """The route of a kind of links. A browser that follows one that leads nowhere gets the page that `page` makes."""

    async def follow(request: Request) -> Response:
        """A link is followed."""
        code = request.path_params["code"]
        hosted = runtime.by_tag(code)
        if hosted is not None:
            await hosted.free()
        if hosted is None or hosted.gone or not link.known(hosted.world, code):
            return await answered(request, link.lost)
        runtime.present(hosted)
        answer = desk.follow(hosted.world, call_of(runtime, request.scope, hosted.world.id, b"", ()), link)
        if answer.status < 400:
            runtime.changed(hosted)
        return await answered(request, answer)

    async def answered(request: Request, answer: Answer) -> Response:
        if page is not None and answer.status >= 400 and "text/html" in request.headers.get("accept", ""):
            return await page(answer.status, answer.body.decode())
        return response(answer)

    return Route(link.path, follow, methods=["GET"])


def response(answer: Answer) -> Response:
    """An answer as Starlette sends it."""
    headers = {name.decode(): value.decode("latin-1") for name, value in answer.headers}
    return Response(answer.body, answer.status, headers, media_type=answer.content_type.decode() or None)
