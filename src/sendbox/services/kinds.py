"""The rows of all that can be observed in a world: the list of all services. Only those who observe import it."""

from __future__ import annotations

from typing import Final

from sendbox.engine.kinds import own
from sendbox.engine.kinds.rows import Kinds, Observed
from sendbox.services.account import kinds as account
from sendbox.services.coverage.calls import called
from sendbox.services.messaging import kinds as messaging
from sendbox.services.partner import kinds as partner
from sendbox.services.verify import kinds as verify

ROWS: Final = Kinds(
    own.OBSERVED,
    messaging.OBSERVED,
    verify.OBSERVED,
    partner.OBSERVED,
    account.OBSERVED,
    Observed(called=called),
)
