"""The application: the one place where everything is put together, and the list of what the services register."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sendbox import data
from sendbox.control import checkpoints, coverage, pending, records, refused, scenarios, time, worlds
from sendbox.control.beside import compare, leaning, past
from sendbox.control.catalog import catalog
from sendbox.control.exchanges import deliveries, requests
from sendbox.control.export import export
from sendbox.control.export.rows import OWN
from sendbox.control.operation import Served, operations_of
from sendbox.control.reports import report
from sendbox.engine.kinds import own
from sendbox.engine.kinds.rows import Kinds, Observed
from sendbox.language import LANGUAGE, SUBJECTS
from sendbox.page.answers import document
from sendbox.playing import control as playing
from sendbox.server.application import Application
from sendbox.server.gateway import Emulated
from sendbox.services.account import control as account
from sendbox.services.account import kinds as account_kinds
from sendbox.services.coverage.assumptions import UNTOLD
from sendbox.services.coverage.calls import count_call
from sendbox.services.coverage.catalog import DIMENSIONS, FACTS
from sendbox.services.coverage.denied import denied
from sendbox.services.http.desk import Desk
from sendbox.services.http.openapi import WEBHOOKS
from sendbox.services.messaging import kinds as messaging_kinds
from sendbox.services.messaging.channels import SAMPLES
from sendbox.services.messaging.control import export as messaging_export
from sendbox.services.messaging.control import messages, phones, story
from sendbox.services.partner import control as partner
from sendbox.services.partner import kinds as partner_kinds
from sendbox.services.verify import control as verify
from sendbox.services.verify import kinds as verify_kinds
from sendbox.start import INTERFACES, LINKS, UPLOADS, rows
from sendbox.start import PARTS as PARTS
from sendbox.tools import tools

if TYPE_CHECKING:
    from sendbox.contract.validators import Contract
    from sendbox.runtime.worlds import Runtime

#: Any mix of events in one delivery, and the one that is sent alone (A24).
BATCH: Final = "webhooks.json#/$defs/Batch"
ONBOARDING: Final = "webhooks.json#/$defs/Onboarding"

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
        compare,
        records,
        report,
        requests,
        deliveries,
        export,
        partner,
        pending,
        worlds,
        scenarios,
        account,
        checkpoints,
        refused,
        time,
        messages,
        phones,
        playing,
        story,
    ),
    routes=rows(),
    webhooks=WEBHOOKS,
    interfaces=INTERFACES,
    uploads=UPLOADS,
    links=LINKS,
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
    document=document,
    pending={"codes": verify.open_codes, "lists": account.open_entries},
    exported={**OWN, **messaging_export.EXPORTED, **partner.EXPORTED, **account.EXPORTED, **verify.EXPORTED},
)


def make_app(runtime: Runtime, contract: Contract, served: Served | None = None) -> Application:
    """The whole application for one runtime; `served` None means `SERVED`."""
    served = served or SERVED
    runtime.load_language = lambda: served.language
    runtime.desk = desk = Desk(contract, served.routes, served.interfaces, served.uploads, served.links)
    runtime.past = past.read
    runtime.tried.load = partial(catalog, served)
    runtime.tried.item_of = served.denied
    runtime.logged = served.kinds.logged
    emulated = Emulated(runtime, desk)
    if runtime.settings.check_answers:
        runtime.check_batch = _batches(contract)
    return Application(emulated, partial(tools, runtime, contract, emulated, served), runtime)


def _batches(contract: Contract) -> Callable[[Any], list[str]]:
    """A function that checks a batch of events, or the notification of a signup, against the contract (§6, A24)."""

    def check(batch: Any) -> list[str]:
        ref = BATCH if isinstance(batch, list) else ONBOARDING
        return [finding.message for finding in contract.checker(ref).findings(batch)]

    return check
