"""Every row of every interface that is served: the table that serving, documenting and coverage read."""

from __future__ import annotations

from typing import Final

from sendbox.services.account.http.routes import ROUTES as REST
from sendbox.services.http.exchange import Route
from sendbox.services.messaging.http.legacy.routes import ROUTES as LEGACY
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.partner.http.routes import ROUTES as PARTNER
from sendbox.services.verify.http.routes import ROUTES as VERIFY

ROUTES: Final[tuple[Route, ...]] = (*SENDING, *SIMPLE, *LEGACY, *REST, *VERIFY, *PARTNER)
