"""Running the handler of a call: whatever it raises becomes an answer in the shape of its interface."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sendbox.contract.validators import NotLoaded
from sendbox.core.remarks import Finding
from sendbox.interfaces.exchange import Answer, Refused

if TYPE_CHECKING:
    from sendbox.interfaces.exchange import Exchange

log = logging.getLogger("sendbox")


def handled(exchange: Exchange) -> tuple[Answer, Sequence[Finding]]:
    """What the route's handler answers, and the findings that come of it. Raises `NotLoaded`, after which to ask again.

    A handler that breaks answers 500; the log has the reason (§7.1).
    """
    route = exchange.route
    try:
        answer = route.handler(exchange)
        return answer, exchange.made.get("findings", ())
    except Refused as refused:
        said = route.error(refused.status, refused.text) if refused.answer is None else refused.answer
        return said, refused.findings
    except NotLoaded:
        raise
    except Exception:
        log.exception("%s failed while it answered %s", exchange.world.id, route.operation)
        found = Finding("$", "internal", "an error of the sandbox itself; its log has the details", "§7.1")
        return route.error(500, "Internal server error"), [found]
