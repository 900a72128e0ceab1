"""Pages as answers: their headers, and how they are rendered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from starlette.responses import HTMLResponse, Response

#: A browser may only show a page. A script that a client put into its texts cannot run.
HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'",
    # not `no-referrer`: with that the forms of a page have the origin `null`, which is foreign (`server/hosts.py`)
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


async def page(render: Callable[[], str], status: int = 200, headers: Mapping[str, str] = HEADERS) -> Response:
    """Rendered off the loop: a full page takes longer than anything may hold it."""
    text = await asyncio.get_running_loop().run_in_executor(None, render)
    return HTMLResponse(text, status, headers)
