"""Every row of every interface that is served: the table that serving, documenting and coverage read."""

from __future__ import annotations

from typing import Final

from sendbox.interfaces.exchange import Route
from sendbox.interfaces.legacy.routes import ROUTES as LEGACY
from sendbox.interfaces.partner.routes import ROUTES as PARTNER
from sendbox.interfaces.rest.routes import ROUTES as REST
from sendbox.interfaces.sending.routes import ROUTES as SENDING
from sendbox.interfaces.sending.simple import ROUTES as SIMPLE
from sendbox.interfaces.verify.routes import ROUTES as VERIFY

ROUTES: Final[tuple[Route, ...]] = (*SENDING, *SIMPLE, *LEGACY, *REST, *VERIFY, *PARTNER)
