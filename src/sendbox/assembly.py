"""The assembly: one application, made of all parts, for servers, commands and tests.

A server imports only this to start. `app.py` has the list of everything that is served; it is imported, with control,
the pages and the language of scenarios, when one of them is first asked for: to import all of that first would make a
start cost 2.7 times as much processor time as that of a bare server, in place of 1.7 times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from sendbox import __version__
from sendbox.contract.validators import Contract
from sendbox.interfaces import INTERFACES, LINKS, LOGGED, PARTS, ROUTES, UPLOADS
from sendbox.runtime.coverage import Tried
from sendbox.runtime.interface import LogLine
from sendbox.runtime.store.store import Store
from sendbox.runtime.wall import monotonic_ns
from sendbox.runtime.worlds import Runtime
from sendbox.server.addresses import link_route, upload_route
from sendbox.server.application import Application, HealthRoute, LazyApplication, OpenRoute, json_answer, with_refusals
from sendbox.server.gateway import Emulated
from sendbox.server.origin import origin_of
from sendbox.services.coverage.denied import denied
from sendbox.services.http.executor import CallExecutor

if TYPE_CHECKING:
    from sendbox.control.operation import Control, Served
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.coverage import Catalog
    from sendbox.runtime.store.persistence import Records
    from sendbox.settings import Settings


#: Any mix of events in one delivery, and the one that is sent alone (A24).
BATCH: Final = "webhooks.json#/$defs/Batch"
ONBOARDING: Final = "webhooks.json#/$defs/Onboarding"


def make_app(
    settings: Settings,
    blueprint: Blueprint,
    contract: Contract,
    served: Served | None = None,
    *,
    on_log: Callable[[LogLine], None] = lambda line: None,
    dropped: Callable[[], int] = lambda: 0,
    reading: Callable[[], int] = monotonic_ns,
    store: Store | None = None,
) -> Application:
    """The application, with the runtime of its worlds. Raises `ValueError` for settings that cannot be.

    `served` None means `app.SERVED`, which is imported when more than an interface is asked for. Everything else is as
    for `Runtime`. Long, as the whole assembly is to be read in one place.
    """
    if served is None:
        executor, parts, logged = CallExecutor(contract, ROUTES, INTERFACES, UPLOADS, LINKS), PARTS, LOGGED
    else:
        executor = CallExecutor(contract, served.routes, served.interfaces, served.uploads, served.links)
        parts, logged = tuple(served.parts), served.kinds.logged
    load = partial(_load, served)
    tried = Tried(partial(_catalog, load), served.denied if served else denied, keeping=settings.coverage)
    runtime = Runtime(
        settings,
        blueprint,
        parts,
        tried=tried,
        logged=logged,
        on_log=on_log,
        dropped=dropped,
        check_batch=partial(_check_batch, contract) if settings.check_answers else None,
        reading=reading,
        store=store,
        load_records=lambda: _records(app),
    )
    emulated = Emulated(runtime, executor, lambda: load().language.load({"sendbox": 1}))

    def later(make: Callable[[Control], Starlette]) -> ASGIApp:
        return LazyApplication(lambda: make(app.control), loaded=served is not None)

    app = Application(
        runtime,
        emulated,
        [
            *(upload_route(runtime, emulated, upload) for upload in executor.uploads),
            *(link_route(runtime, executor, link, _lost) for link in executor.links),
            OpenRoute("/metrics", _metrics, methods=["GET"]),
            OpenRoute("/openapi.json", later(partial(_contract, contract)), methods=["GET"]),
            HealthRoute(runtime),
            Mount("/_sandbox", later(_control)),
            Mount("/signup", later(_signup)),
            OpenRoute("/_sandbox", _page, methods=["GET"]),
            OpenRoute("/", _page, methods=["GET"]),
        ],
        lambda app: _control_of(app, load()),
    )
    return app


def _load(served: Served | None) -> Served:
    if served is not None:
        return served
    from sendbox.app import SERVED

    return SERVED


def _catalog(load: Callable[[], Served]) -> Catalog:
    from sendbox.control.catalog import whole_catalog

    return whole_catalog(load())


def _check_batch(contract: Contract, batch: object) -> list[str]:
    """The problems of a batch of events, or of the notification of a signup, against the contract (§6, A24)."""
    ref = BATCH if isinstance(batch, list) else ONBOARDING
    return [finding.message for finding in contract.checker(ref).findings(batch)]


def _control_of(app: Application, served: Served) -> Control:
    from sendbox.control.operation import Control
    from sendbox.control.replicas.past import read

    return Control(app, served, read)


def _records(app: Application) -> Records:
    from sendbox.control.replicas.stored import StoredRecords

    return StoredRecords(app.control)


def _control(control: Control) -> Starlette:
    """Control and the pages, below `/_sandbox`."""
    from sendbox.control.routes import control_routes
    from sendbox.page.routes import page_routes

    application = with_refusals([*control_routes(control.served), *page_routes(control)])
    application.state.control = control
    return application


def _signup(control: Control) -> Starlette:
    """The hosted pages of signups, below `/signup`."""
    from sendbox.page.signup import signup_routes

    return with_refusals(signup_routes(control))


def _contract(contract: Contract, control: Control) -> Starlette:
    """The contract of the interfaces."""
    from sendbox.services.http.openapi import document

    served = control.served

    async def show(request: Request) -> Response:
        """The contract of the served interfaces."""
        origin = origin_of(control.runtime, request.scope)
        return json_answer(
            document(served.routes, contract, origin=origin, version=__version__, webhooks=served.webhooks)
        )

    return with_refusals([Route("/openapi.json", show, methods=["GET"])])


async def _page(request: Request) -> Response:
    """The page is elsewhere."""
    query = request.url.query if request.url.path != "/" else ""
    return RedirectResponse(f"/_sandbox/{f'?{query}' if query else ''}")


async def _metrics(request: Request) -> Response:
    """The metrics, in the form that the client asks for."""
    from sendbox.server.metrics import show

    return await show(request)


async def _lost(status: int, message: str) -> Response:
    """The page for a link that leads nowhere."""
    from sendbox.page.answers import lost

    return await lost(status, message)
