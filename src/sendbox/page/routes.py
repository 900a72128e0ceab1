"""The page over HTTP: `/_sandbox/` is one shell, whose scripts show what control answers; and the files of the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sendbox.control.answers import addresses
from sendbox.control.operation import Control
from sendbox.control.routes import PREFIX, OpenRoute, compressed, json_answer, origin_of
from sendbox.page import answers, lines
from sendbox.page.answers import assets

#: A file keeps its address only while it stays the same.
KEPT: Final = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}
#: The view that a world begins with.
START: Final = "phones"
#: The first rows of a view, below the address of a world, as `js/list/panel.js` asks for them.
FIRST_ROWS: Final = {
    view: f"{query}order=newest&limit=50&form=short&total=true"
    for view, query in {
        START: "phones?sort=activity&",
        "messages": "messages?",
        "webhooks": "deliveries?",
        "requests": "requests?",
    }.items()
}
#: The characters that `encodeURIComponent` leaves as they are, beside letters and digits.
_UNESCAPED: Final = "-_.!~*'()"


def preloads(query: Mapping[str, str]) -> list[str]:
    """The addresses that the scripts of the page ask first, for a browser to fetch them while the scripts come."""
    rows = FIRST_ROWS.get(query.get("view", START))
    if rows is None or not query.get("world") or not query.keys() <= {"world", "view"}:
        return []
    world = f"{PREFIX}/worlds/{quote(query['world'], safe=_UNESCAPED)}"
    return [world, f"{world}/{rows}"]


def page_routes(control: Control) -> list[Route]:
    """The routes of the page below `PREFIX`."""

    async def show_shell(request: Request) -> Response:
        origin = origin_of(control.runtime, request.scope)
        health = await control.perform(origin, "health")
        # a browser that fetches by itself sends no token
        has_tokens = bool(control.runtime.settings.control_tokens)
        data = {
            "preloads": [] if has_tokens else preloads(request.query_params),
            "version": health["version"],
            "origin": origin,
            "addresses": addresses(origin).json,
            "lines": {
                "Open a world": lines.open_line(f"{origin}{PREFIX}", token=has_tokens),
                "Send a first message": lines.send_line(f"{origin}/v2", "test-demo"),
            },
            "served": {
                "operations": sorted(control.served.by_name),
                "lists": [
                    {
                        "title": row.title,
                        "path": control.served.by_name[row.operation].path.removeprefix("/worlds/{id}/"),
                        "items": row.items,
                        "columns": dict(row.columns),
                    }
                    for row in control.served.views
                ],
            },
        }
        return compressed(request, await answers.page("shell.html", lambda: data, headers=answers.SHELL))

    return [
        OpenRoute("/", show_shell, methods=["GET"], name="page"),
        OpenRoute("/page/{stamp}/{path:path}", _file, methods=["GET"], name="page_file"),
    ]


async def _file(request: Request) -> Response:
    """A file of the page. An old stamp is answered too, by a browser that has an old shell, and not kept."""
    page_files = await asyncio.get_running_loop().run_in_executor(None, assets)
    path = request.path_params["path"]
    if path not in page_files.files:
        return json_answer({"error": "not_found", "message": f'"{path}" is not a file of the page'}, 404)
    file = page_files.files[path]
    current = request.path_params["stamp"] == page_files.stamp
    headers = {**(KEPT if current else answers.HEADERS), "vary": "accept-encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.content, media_type=file.kind, headers=headers)
    return Response(file.compressed, media_type=file.kind, headers={**headers, "content-encoding": "gzip"})
