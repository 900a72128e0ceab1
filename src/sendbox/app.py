"""The list of everything that is served: what the services register. `assembly.py` makes the application of it."""

from __future__ import annotations

from typing import Final

from sendbox import data
from sendbox.control import access, checkpoints, coverage, pending, records, refused, scenarios, time, worlds
from sendbox.control.exchanges import deliveries, holds, requests
from sendbox.control.export import export
from sendbox.control.export.rows import OWN
from sendbox.control.operation import Served, operations_of
from sendbox.control.replicas import compare, leaning
from sendbox.control.reports import report
from sendbox.engine.kinds import engine_kinds
from sendbox.engine.kinds.rows import KindTable, ObservationRows
from sendbox.exploring import control as exploring
from sendbox.interfaces import INTERFACES, LINKS, PARTS, ROUTES, UPLOADS
from sendbox.language import LANGUAGE, SUBJECTS
from sendbox.page.answers import document
from sendbox.playing import control as playing
from sendbox.services.account import control as account
from sendbox.services.account import kinds as account_kinds
from sendbox.services.coverage.assumptions import UNTOLD, count_call
from sendbox.services.coverage.catalog import DIMENSIONS, FACTS
from sendbox.services.coverage.denied import denied
from sendbox.services.http.openapi import WEBHOOKS
from sendbox.services.messaging import kinds as messaging_kinds
from sendbox.services.messaging.channels import SAMPLES
from sendbox.services.messaging.control import export as messaging_export
from sendbox.services.messaging.control import messages, outages, phones, story
from sendbox.services.partner import control as partner
from sendbox.services.partner import kinds as partner_kinds
from sendbox.services.verify import control as verify
from sendbox.services.verify import kinds as verify_kinds

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
        holds,
        export,
        partner,
        pending,
        worlds,
        scenarios,
        account,
        checkpoints,
        refused,
        access,
        time,
        outages,
        messages,
        phones,
        playing,
        exploring,
        story,
    ),
    routes=ROUTES,
    webhooks=WEBHOOKS,
    interfaces=INTERFACES,
    uploads=UPLOADS,
    links=LINKS,
    kinds=KindTable(
        engine_kinds.OBSERVED,
        messaging_kinds.OBSERVED,
        verify_kinds.OBSERVED,
        partner_kinds.OBSERVED,
        account_kinds.OBSERVED,
        ObservationRows(request_counter=count_call),
    ),
    subjects=SUBJECTS,
    dimensions=DIMENSIONS,
    facts=FACTS,
    samples=SAMPLES,
    untold=UNTOLD,
    denied=denied,
    document=document,
    phones_by_id=messages.phones_by_id,
    pending={"codes": verify.open_codes, "lists": account.open_entries},
    exported={
        **OWN,
        **time.EXPORTED,
        **messaging_export.EXPORTED,
        **outages.EXPORTED,
        **partner.EXPORTED,
        **account.EXPORTED,
        **verify.EXPORTED,
    },
)
