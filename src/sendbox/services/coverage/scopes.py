"""Which operations an item of coverage is about: a client that calls none of them cannot try it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.engine.coverage import Item

#: Interfaces and operations by which messages are sent; a code of Verify is a message of the service.
_MESSAGES: Final = "sending legacy uploadBulk"
#: Dimension, how the name begins, and names of operations and interfaces; the first row that fits counts. An item
#: without a row is about every operation.
ROWS: Final = (
    ("results|transitions|flows|refusals|infos|outages|phones", "", _MESSAGES),
    ("errors", "simple ", "sendSimpleMessage sendSimpleMessageByQuery"),
    ("errors", "(sending|legacy|rest|partner|verify) ", r"\1"),
    ("events", "partnerOnboarding", "partnerSignup"),
    ("events", "", _MESSAGES),
    ("webhooks|webhook faults", "", f"{_MESSAGES} partnerSignup"),
    ("states", "validation", "verify"),
    ("states", "signup", "partnerSignup partnerRegistration"),
    ("states", "template|number", "partner"),
    ("states", "order", "orderService"),
    ("states", "bulk", "requestUpload uploadBulk"),
    ("states", "key added", "addSubKey"),
    ("states", "key changed", "changeSubKey"),
    ("states", "key updated", "updateKey"),
    ("limits", ".*Verify", "verify"),
    ("limits", "upload", "requestUpload uploadBulk"),
    ("limits", "signup", "partnerSignup"),
    ("limits", "media", "createTemplate editTemplate"),
    ("limits", ".* a call", "sendMessages"),
    ("limits", "", _MESSAGES),
)


def about(item: Item) -> Item:
    """The item with the operations that it is about."""
    for dimension, name, words in ROWS:
        if re.fullmatch(dimension, item.dimension) and (match := re.match(name, item.name)):
            return item._replace(of=tuple(match.expand(words).split()))
    return item
