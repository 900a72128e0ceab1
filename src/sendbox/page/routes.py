"""The page over HTTP: `/_sandbox/` is one shell, whose scripts show what control answers; and the files of the page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from sendbox.control.answers import addresses
from sendbox.control.routes import PREFIX, OpenRoute, compressed, json_answer, origin_of
from sendbox.page import answers, lines
from sendbox.page.answers import assets

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import Route

    from sendbox.control.operation import Control

#: A file keeps its address only while it stays the same.
KEPT: Final = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}


def page_routes(control: Control) -> list[Route]:
    """The routes of the page below `PREFIX`."""

    async def show_shell(request: Request) -> Response:
        origin = origin_of(control.runtime, request.scope)
        health = await control.perform(origin, "health")
        data = {
            "version": health["version"],
            "origin": origin,
            "addresses": addresses(origin).json,
            "lines": {
                "Open a world": lines.open_line(
                    f"{origin}{PREFIX}", token=bool(control.runtime.settings.control_tokens)
                ),
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
