"""The world of the emulated services: the engine's world with the part of each."""

from __future__ import annotations

from typing import Final

from sendbox.engine.world import Part
from sendbox.services.account.account import Account
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.partner.partner import Partner
from sendbox.services.verify.verify import Verify

#: The parts of all services, in the order in which a world opens them.
PARTS: Final[tuple[type[Part], ...]] = (Account, Messaging, Verify, Partner)
