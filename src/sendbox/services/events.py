"""The events of all services, by their types: what a delivery can carry."""

from __future__ import annotations

from typing import Final

from sendbox.engine.delivery.events import Events
from sendbox.services.messaging import events as messaging
from sendbox.services.partner import events as partner

EVENTS: Final[Events] = {**messaging.EVENTS, **partner.EVENTS}
