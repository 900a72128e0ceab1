"""The page for a short link that leads nowhere: it has expired, or it never was one (§2.1, A17)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.page import answers

if TYPE_CHECKING:
    from starlette.responses import Response


async def lost(status: int, message: str) -> Response:
    """The page; `message` is the text that a client gets that is not a browser."""
    data = {"expired": status == 410, "message": message}
    return await answers.page("link.html", lambda: data, status)
