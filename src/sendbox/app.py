"""The application: the one place where everything is put together, and the list of what the services register."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute

from sendbox import __version__, data
from sendbox.contract.validators import Contract
from sendbox.control import checkpoints, coverage, leaning, pending, records, refused, time, worlds
from sendbox.control.catalog import catalog
from sendbox.control.export import export
from sendbox.control.export.rows import OWN
from sendbox.control.operation import Control, Served, operations_of
from sendbox.control.routes import control_routes
from sendbox.engine.kinds import own
from sendbox.engine.kinds.rows import Kinds, Observed
from sendbox.engine.part import Part
from sendbox.language import LANGUAGE, SUBJECTS
from sendbox.page.routes import page_routes
from sendbox.runtime.worlds import Runtime
from sendbox.server.application import Application, json_answer
from sendbox.server.gateway import Emulated
from sendbox.server.links import link_route
from sendbox.server.origin import origin_of
from sendbox.server.uploads import upload_route
from sendbox.services.account import control as account
from sendbox.services.account import kinds as account_kinds
from sendbox.services.account.account import Account
from sendbox.services.account.http.routes import ROUTES as ACCOUNT
from sendbox.services.coverage.assumptions import UNTOLD
from sendbox.services.coverage.calls import count_call, denied
from sendbox.services.coverage.catalog import DIMENSIONS, FACTS
from sendbox.services.http import rest
from sendbox.services.http.desk import Desk
from sendbox.services.http.openapi import WEBHOOKS, document
from sendbox.services.messaging import kinds as messaging_kinds
from sendbox.services.messaging.channels import SAMPLES
from sendbox.services.messaging.control import export as messaging_export
from sendbox.services.messaging.control import messages, phones
from sendbox.services.messaging.http.accepting import send_template
from sendbox.services.messaging.http.legacy.routes import ROUTES as LEGACY
from sendbox.services.messaging.http.links import LINK
from sendbox.services.messaging.http.rest.routes import ROUTES as ROWS
from sendbox.services.messaging.http.rest.uploads import UPLOAD
from sendbox.services.messaging.http.sending import errors as sending
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import EMULATED
from sendbox.services.partner import control as partner
from sendbox.services.partner import kinds as partner_kinds
from sendbox.services.partner.http.routes import routes as partner_routes
from sendbox.services.partner.partner import Partner
from sendbox.services.verify import control as verify
from sendbox.services.verify import kinds as verify_kinds
from sendbox.services.verify.http import errors as verify_errors
from sendbox.services.verify.http.routes import ROUTES as VERIFY
from sendbox.services.verify.verify import Verify

#: Any mix of events in one delivery, and the one that is sent alone (A24).
BATCH: Final = "webhooks.json#/$defs/Batch"
ONBOARDING: Final = "webhooks.json#/$defs/Onboarding"

#: The parts of all services, in the order in which a world opens them.
PARTS: Final[tuple[type[Part], ...]] = (Account, Messaging, Verify, Partner)
#: Everything that the services register. The order is that of lists and documents; an interface comes before one whose
#: paths include its own.
SERVED: Final = Served(
    parts=PARTS,
    language=LANGUAGE,
    schemas=(data.folder("schemas"),),
    operations=operations_of(
        verify,
        coverage,
        leaning,
        records,
        export,
        partner,
        pending,
        worlds,
        account,
        checkpoints,
        refused,
        time,
        messages,
        phones,
    ),
    routes=sorted(
        (*SENDING, *SIMPLE, *LEGACY, *ROWS, *ACCOUNT, *VERIFY, *partner_routes(send_template)),
        key=lambda route: EMULATED.index(route.operation),
    ),
    webhooks=WEBHOOKS,
    interfaces=(sending.INTERFACE, verify_errors.INTERFACE, rest.INTERFACE),
    uploads=(UPLOAD,),
    links=(LINK,),
    kinds=Kinds(
        own.OBSERVED,
        messaging_kinds.OBSERVED,
        verify_kinds.OBSERVED,
        partner_kinds.OBSERVED,
        account_kinds.OBSERVED,
        Observed(called=count_call),
    ),
    subjects=SUBJECTS,
    dimensions=DIMENSIONS,
    facts=FACTS,
    samples=SAMPLES,
    untold=UNTOLD,
    denied=denied,
    pending={"codes": verify.open_codes, "lists": account.open_entries},
    exported={**OWN, **messaging_export.EXPORTED, **partner.EXPORTED, **account.EXPORTED, **verify.EXPORTED},
)


def make_app(runtime: Runtime, contract: Contract, served: Served | None = None) -> Starlette:
    """The whole application for one runtime; `served` None means `SERVED`."""
    served = served or SERVED
    runtime.language = served.language
    runtime.desk = desk = Desk(contract, served.routes, served.interfaces, served.uploads, served.links)
    runtime.tried.load = partial(catalog, served)
    runtime.tried.item_of = served.denied
    runtime.logged = served.kinds.logged
    control = Control(runtime, served)
    emulated = Emulated(runtime, desk)
    if runtime.settings.check_answers:
        runtime.check_batch = _batches(contract)
    return Application(
        emulated,
        (
            *(upload_route(runtime, emulated, upload) for upload in served.uploads),
            *(link_route(runtime, emulated.desk, link) for link in served.links),
            HttpRoute("/openapi.json", _openapi(control, contract), methods=["GET"]),
            *control_routes(control),
            *page_routes(control),
        ),
        runtime.settings,
    )


def _batches(contract: Contract) -> Callable[[Any], list[str]]:
    """A function that checks a batch of events, or the notification of a signup, against the contract (§6, A24)."""

    def check(batch: Any) -> list[str]:
        ref = BATCH if isinstance(batch, list) else ONBOARDING
        return [finding.message for finding in contract.checker(ref).findings(batch)]

    return check


def _openapi(control: Control, contract: Contract) -> Any:
    async def show(request: Request) -> Response:
        """The contract of the served interfaces."""
        origin = origin_of(control.runtime, request.scope)
        served = control.served
        made = document(served.routes, contract, origin=origin, version=__version__, webhooks=served.webhooks)
        return json_answer(made)

    return show
