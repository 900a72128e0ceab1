"""Every row of every interface that is served, in the order of the table of operations.

It is what serving, documenting and coverage read.
"""

from __future__ import annotations

from typing import Final

from sendbox.services.account.http.routes import ROUTES as ACCOUNT
from sendbox.services.http.exchange import Route
from sendbox.services.messaging.http.legacy.routes import ROUTES as LEGACY
from sendbox.services.messaging.http.rest.routes import ROUTES as ROWS
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.operations import EMULATED
from sendbox.services.partner.http.routes import ROUTES as PARTNER
from sendbox.services.verify.http.routes import ROUTES as VERIFY

_SERVED: Final = (*SENDING, *SIMPLE, *LEGACY, *ROWS, *ACCOUNT, *VERIFY, *PARTNER)
ROUTES: Final[tuple[Route, ...]] = tuple(sorted(_SERVED, key=lambda row: EMULATED.index(row.operation)))
