"""The parts of worlds, and all that the services serve over HTTP."""

from __future__ import annotations

from typing import Final

from sendbox.engine.delivery.injection import log_fault
from sendbox.engine.journal import CODE
from sendbox.engine.part import Part
from sendbox.services.account.account import Account
from sendbox.services.account.http import ROUTES as ACCOUNT
from sendbox.services.http import rest
from sendbox.services.messaging.checks import LOGGED as OF_MESSAGES
from sendbox.services.messaging.http import accepting
from sendbox.services.messaging.http.legacy import ROUTES as LEGACY
from sendbox.services.messaging.http.legacy_queries import ROUTES as QUERIES
from sendbox.services.messaging.http.links import LINK
from sendbox.services.messaging.http.rest.routes import ROUTES as ROWS
from sendbox.services.messaging.http.rest.routes import UPLOAD
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import EMULATED
from sendbox.services.partner.http.routes import routes as partner_routes
from sendbox.services.partner.partner import Partner
from sendbox.services.verify import http as verify
from sendbox.services.verify.http import ROUTES as VERIFY
from sendbox.services.verify.verify import Verify

#: The parts of all services, in the order in which a world opens them.
PARTS: Final[tuple[type[Part], ...]] = (Account, Messaging, Verify, Partner)
#: The rows of all interfaces, in the order in which they are listed.
ROUTES: Final = sorted(
    (*SENDING, *SIMPLE, *LEGACY, *QUERIES, *ROWS, *ACCOUNT, *VERIFY, *partner_routes(accepting.send_template)),
    key=lambda route: EMULATED.index(route.operation),
)
#: The interfaces; one comes before another whose paths include its own.
INTERFACES: Final = (accepting.INTERFACE, verify.INTERFACE, rest.INTERFACE)
UPLOADS: Final = (UPLOAD,)
LINKS: Final = (LINK,)
#: The lines of the log, by the code of the entry.
LOGGED: Final = {CODE[kind]: lines for kind, lines in {"webhook_fault": log_fault, **OF_MESSAGES}.items()}
