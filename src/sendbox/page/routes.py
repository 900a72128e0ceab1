"""The page over HTTP: `/_sandbox/` lists the open worlds, `/_sandbox/?world=ID` shows one. It changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sendbox.control.operation import Control, ControlError
from sendbox.control.routes import PREFIX, origin_of
from sendbox.page import view
from sendbox.page.answers import page
from sendbox.page.signup import signup_routes

if TYPE_CHECKING:
    from starlette.requests import Request

#: Seconds between two reloads of a page.
REFRESH: Final = range(1, 61)


def page_routes(control: Control) -> list[Route]:
    """The routes of the page."""

    async def ask(origin: str, name: str, world_id: str | None = None, **arguments: Any) -> Any:
        return await control.perform(origin, name, world_id, arguments)

    async def listed(origin: str, name: str, world_id: str, most: int) -> Any:
        """The newest of what an operation lists under its own name; None where no service has it."""
        if name not in control.served.by_name:
            return None
        return (await ask(origin, name, world_id, last=most))[name]

    async def show(request: Request) -> Response:
        origin = origin_of(control.runtime, request.scope)
        world_id = request.query_params.get("world")
        version = (health := await ask(origin, "health"))["version"]
        if world_id is None:
            worlds = (await ask(origin, "worlds", last=view.WORLDS))["worlds"]
            refused = (await ask(origin, "refused"))["refused"]
            return await page(lambda: view.overview(worlds, health["worlds"], refused, origin, version))
        try:
            shown = await ask(origin, "world", world_id)
            messages = await listed(origin, "messages", world_id, view.MESSAGES)
            codes = await listed(origin, "codes", world_id, view.CODES)
            deliveries = (await ask(origin, "deliveries", world_id, last=view.DELIVERIES))["deliveries"]
            entries = (await ask(origin, "journal", world_id, kind="request,advice,fault,outage", last=view.SEARCHED))[
                "entries"
            ]
            lists = [
                (listing, (await ask(origin, listing.operation, world_id))[listing.items][-view.LISTED :])
                for listing in control.served.views
            ]
        except ControlError as error:  # closed meanwhile, or never opened
            data = {"message": error.message, "version": version, "origin": origin, "refresh": 0}
            return await page(lambda: view.html("missing.html", data), error.status)
        refresh = _seconds(request.query_params.get("refresh"))
        words = control.served.kinds.words
        return await page(
            lambda: view.world(words, shown, messages, codes, lists, deliveries, entries, refresh, origin, version)
        )

    async def home(request: Request) -> Response:
        query = request.url.query
        return RedirectResponse(f"{PREFIX}/{f'?{query}' if query else ''}")

    return [
        Route(f"{PREFIX}/", show, methods=["GET"], name="page"),
        Route(PREFIX, home, methods=["GET"], name="page_home"),
        *signup_routes(control),
    ]


def _seconds(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 3 and int(text) in REFRESH else 0
