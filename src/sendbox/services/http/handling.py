"""Running the handler of a call: each exception becomes an answer in the shape of its interface."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from sendbox.contract.validators import NotLoaded
from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Refused

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange

log = logging.getLogger("sendbox")


def handled(exchange: Exchange) -> tuple[Answer, Sequence[Finding]]:
    """The answer of the route's handler, and its findings. Raises `NotLoaded`; after loading, call it again.

    A handler that breaks answers 500; the log has the reason (§7.1).
    """
    try:
        return exchange.route.handler(exchange), exchange.findings
    except Exception as error:
        return _failed(exchange, error)


def worked(
    exchange: Exchange, work: Generator[None, None, Answer]
) -> Generator[None, None, tuple[Answer, Sequence[Finding]]]:
    """The same for a handler that works in slices; pauses now and then."""
    try:
        return (yield from work), exchange.findings
    except Exception as error:
        return _failed(exchange, error)


def _failed(exchange: Exchange, error: Exception) -> tuple[Answer, Sequence[Finding]]:
    route = exchange.route
    if isinstance(error, NotLoaded):
        raise error
    if isinstance(error, Refused):
        return route.error(error.status, error.text) if error.answer is None else error.answer, error.findings
    log.error("%s failed while it answered %s", exchange.world.id, route.operation, exc_info=error)
    finding = Finding("$", "internal", "an error of the sandbox itself; its log has the details", "§7.1")
    return route.error(500, "Internal server error"), [finding]
