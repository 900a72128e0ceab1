"""All that is served beside the emulated interfaces: uploads, links, documents, metrics, control and the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.routing import Route as HttpRoute

from sendbox import __version__
from sendbox.control.operation import Control
from sendbox.control.routes import control_routes
from sendbox.page.answers import lost
from sendbox.page.routes import page_routes
from sendbox.server.metrics import metrics_route
from sendbox.server.origin import origin_of
from sendbox.server.tools import json_answer, link_route, upload_route
from sendbox.server.tools import tools as tools_of
from sendbox.services.http.openapi import document

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from sendbox.contract.validators import Contract
    from sendbox.control.operation import Served
    from sendbox.runtime.worlds import Runtime
    from sendbox.server.gateway import Emulated


def tools(runtime: Runtime, contract: Contract, emulated: Emulated, served: Served) -> Starlette:
    """The application of all that is not emulated: uploads, links, documents, metrics, control and the pages."""
    control = Control(runtime, served)
    return tools_of(
        (
            *(upload_route(runtime, emulated, upload) for upload in served.uploads),
            *(link_route(runtime, emulated.desk, link, lost) for link in served.links),
            metrics_route(runtime),
            HttpRoute("/openapi.json", _openapi(control, contract), methods=["GET"]),
            *control_routes(control),
            *page_routes(control),
        )
    )


def _openapi(control: Control, contract: Contract) -> Any:
    async def show(request: Request) -> Response:
        """The contract of the served interfaces."""
        origin = origin_of(control.runtime, request.scope)
        served = control.served
        openapi = document(served.routes, contract, origin=origin, version=__version__, webhooks=served.webhooks)
        return json_answer(openapi)

    return show
