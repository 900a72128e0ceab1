"""A sandbox of parcel lockers. Of the shipped services it has the account only, which knows the keys."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from sendbox.control import checkpoints, coverage, pending, records, refused, time, worlds
from sendbox.control.export import export
from sendbox.control.export.rows import OWN
from sendbox.control.operation import Served, View, operations_of
from sendbox.engine.coverage import Item
from sendbox.engine.expect import engine_subjects as expectable
from sendbox.engine.kinds import engine_kinds
from sendbox.engine.kinds.rows import KindTable
from sendbox.scenario.language import Language
from sendbox.services.account.account import Account
from sendbox.services.account.language import account_vocabulary
from sendbox.services.http.openapi import Webhook
from sendbox.services.language import compile_assume, country_of
from tests.locker import control
from tests.locker.http import CALL, INTERFACE, ROUTE
from tests.locker.language import LOCKERS
from tests.locker.observed import OBSERVED, SUBJECT
from tests.locker.parcels import PARCEL, TOLD, Locker

EVENTS: Final = tuple(TOLD.values())
SUBJECTS: Final = expectable.subjects(operations=(CALL.name,), events=EVENTS, results=(), gateways=(), advice=())
SUBJECTS["parcels"] = SUBJECT
SERVED: Final = Served(
    parts=(Account, Locker),
    language=Language(
        (account_vocabulary({}), LOCKERS),
        assume=compile_assume,
        country=country_of,
        subjects=SUBJECTS,
        calls={CALL.name: CALL},
        emulated=(CALL.name,),
    ),
    schemas=(Path(__file__).parent,),
    operations=operations_of(control, coverage, records, export, pending, worlds, checkpoints, refused, time),
    routes=(ROUTE,),
    interfaces=(INTERFACE,),
    kinds=KindTable(engine_kinds.OBSERVED, OBSERVED),
    subjects=SUBJECTS,
    dimensions={"operations": "Operations", "fields": "Fields", "parcels": "States of parcels"},
    facts=[Item("parcels", state, "", "scenario", "lockers: [{kept: 1h}]") for state in PARCEL],
    exported=OWN,
    attributes={"collect": lambda sandbox: partial(sandbox.perform, "collect_parcel")},
    views=(View("Parcels", "parcels", "parcels", {"Locker": "locker", "Phone": "phone", "State": "state"}),),
    webhooks={word: Webhook("locker.json#/$defs/Events", word) for word in EVENTS},
    scenario="sendbox: 1",
    samples={"locker": "brno-1", "phone": "420777000101"},
)
