"""The refusals of the sending interface: 400 and other statuses with `{Message}` (§7.2, A11, A75)."""

from __future__ import annotations

import re
from typing import Final

import orjson

from sendbox.contract.findings import QUOTED, show
from sendbox.engine.regex import regex
from sendbox.services.http.exchange import Answer, Interface
from sendbox.services.http.requests import line, refusal

__all__ = ["DENIED", "INTERFACE", "QUOTED", "avoid_denial_words", "deny", "error", "line", "refusal", "show"]

#: The text by which a client tells a denied or missing key from a bad request, both 400 (§5.6, A11).
DENIED: Final = "User is not authorized to access this resource with an explicit deny"

_DENIAL = regex(r"(not|explicit)\s+(authorized|deny)", re.IGNORECASE)


def error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{Message: text}` under `status` (§7.2, A75)."""
    return Answer(status, orjson.dumps({"Message": avoid_denial_words(text)}))


def avoid_denial_words(text: str) -> str:
    """A text quotes what the client sent, so the words of `DENIED` are hyphenated in every other text (A11)."""
    return text if text == DENIED else _DENIAL.sub(r"\1-\2", text)


def deny(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A11)."""
    return error(400, DENIED)


INTERFACE: Final = Interface("sending", ("/v2/",), error)
