"""The answer to an accepted legacy call: one line for each number, `OK|<id>` (§4.1, A13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.services.http.exchange import Answer
from sendbox.services.messaging.http.legacy.errors import BAD_NUMBER, CONTENT_TYPE, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sendbox.services.assume import Assume


def answer(messages: Sequence[str | None], assume: Assume) -> Answer:
    """Lines in the order of the numbers; None is one that the response rejects (A08).

    The status is 200 as soon as one is accepted.
    """
    lines = [line(BAD_NUMBER, assume) if id is None else f"OK|{id}" for id in messages]
    return Answer(200 if any(messages) else 400, "\n".join(lines).encode(), CONTENT_TYPE)
