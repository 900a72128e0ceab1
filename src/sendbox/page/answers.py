"""Pages as answers: their headers, and how they are rendered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from starlette.responses import HTMLResponse, Response

from sendbox.page.rendering import assets, html

if TYPE_CHECKING:
    from starlette.responses import Response

#: What a browser may do with any page: nothing comes from another host, and no script or style stands in a page, so a
#: script that a client put into its texts cannot run.
_POLICY: Final = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
HEADERS: Final = {
    "cache-control": "no-store",
    # not `no-referrer`: with that the forms of a page have the origin `null`, which is foreign (`server/hosts.py`)
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


def headers(more: str) -> dict[str, str]:
    """The headers of a page with further rights."""
    return {**HEADERS, "content-security-policy": f"{_POLICY}; {more}"}


#: The page itself: its own scripts, which ask control.
SHELL: Final = headers("script-src 'self'; worker-src 'self'; connect-src 'self'; form-action 'self'")
#: Pages for clients of an emulated service: forms at most.
HOSTED: Final = headers("form-action 'self'")
#: The address of the files of the page.
FILES: Final = "/_sandbox/page"


async def page(
    template: str, data: Callable[[], Mapping[str, object]], status: int = 200, headers: Mapping[str, str] = HOSTED
) -> Response:
    """A template rendered off the loop: the first takes longer than anything may hold it."""

    def render() -> str:
        files = assets()
        return html(template, {"files": f"{FILES}/{files.stamp}", "styles": files.styles, **data()})

    text = await asyncio.get_running_loop().run_in_executor(None, render)
    return HTMLResponse(text, status, headers)


async def lost(status: int, message: str) -> Response:
    """The page; `message` is the text that a client gets that is not a browser."""
    data = {"expired": status == 410, "message": message}
    return await page("link.html", lambda: data, status)
