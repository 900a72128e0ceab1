"""The lifecycles of partner management as total tables: template (A43), business number (A44), signup (A46).

They keep the rules of `engine/lifecycle.py`: every state has a row, an end has an empty one, and a pair that is not in
a table raises `IllegalMove`. What happens when, and which way a review goes, is the scenario's to say (`partner:`).

The template (§2.5, A43)
------------------------
A template begins `PENDING` and is used only while `APPROVED` (§2.2). A review approves or rejects it; an edit sends
it to review again, from wherever it can still be edited. The provider may pause an approved one (its readers complain),
and disable it for good unless an appeal is heard. `DELETED` is the only end.

The business number (§2.5, A44)
-------------------------------
A number begins `PENDING` and sends once it is `CONNECTED`. A low quality flags it, which is a warning only; a
restricted or disconnected one sends nothing. Nothing is for good: there is no end. The quality itself has no table, a
rating may follow any other.

The signup (§4.3, A46)
----------------------
The client opens the hosted page, confirms a number, and finishes; a programmatic registration completes at once,
from every state that is no end. Its token lives one hour (§8): what is not completed then is `expired`.
"""

from __future__ import annotations

from typing import Final

from sendbox.engine.lifecycle import Table

TEMPLATE: Final[Table] = {
    "PENDING": {
        "approved": "APPROVED",
        "rejected": "REJECTED",
        "edited": "PENDING",
        "limit_reached": "LIMIT_EXCEEDED",
        "deleted": "DELETED",
    },
    "APPROVED": {
        "edited": "PENDING",
        "paused": "PAUSED",
        "disabled": "DISABLED",
        "rejected": "REJECTED",
        "deletion_began": "PENDING_DELETION",
        "deleted": "DELETED",
    },
    "REJECTED": {"edited": "PENDING", "appealed": "IN_APPEAL", "deleted": "DELETED"},
    "PAUSED": {
        "resumed": "APPROVED",
        "edited": "PENDING",
        "disabled": "DISABLED",
        "deletion_began": "PENDING_DELETION",
        "deleted": "DELETED",
    },
    "DISABLED": {"appealed": "IN_APPEAL", "deleted": "DELETED"},
    "IN_APPEAL": {"approved": "APPROVED", "rejected": "REJECTED", "deleted": "DELETED"},
    "LIMIT_EXCEEDED": {"edited": "PENDING", "approved": "APPROVED", "deleted": "DELETED"},
    "PENDING_DELETION": {"deleted": "DELETED"},
    "DELETED": {},
}

NUMBER: Final[Table] = {
    "PENDING": {"registered": "CONNECTED", "disconnected": "OFFLINE"},
    "CONNECTED": {"flagged": "FLAGGED", "restricted": "RESTRICTED", "disconnected": "OFFLINE"},
    "FLAGGED": {"recovered": "CONNECTED", "restricted": "RESTRICTED", "disconnected": "OFFLINE"},
    "RESTRICTED": {"recovered": "CONNECTED", "flagged": "FLAGGED", "disconnected": "OFFLINE"},
    "OFFLINE": {"registered": "CONNECTED"},
}

SIGNUP: Final[Table] = {
    "created": {
        "page_opened": "opened",
        "registered": "completed",
        "broke_down": "failed",
        "token_lapsed": "expired",
    },
    "opened": {
        "number_confirmed": "number_verified",
        "registered": "completed",
        "broke_down": "failed",
        "token_lapsed": "expired",
    },
    "number_verified": {"registered": "completed", "broke_down": "failed", "token_lapsed": "expired"},
    "completed": {},
    "failed": {},
    "expired": {},
}

#: The tables by what goes through them, and the assumption that each rests on.
TABLES: Final[dict[str, tuple[Table, str]]] = {
    "template": (TEMPLATE, "A43"),
    "number": (NUMBER, "A44"),
    "signup": (SIGNUP, "A46"),
}
#: States in which a number may send: a flag is a warning only.
SENDING_NUMBERS: Final = frozenset({"CONNECTED", "FLAGGED"})
#: Ratings of a number, best first (A44).
QUALITIES: Final = ("GREEN", "YELLOW", "RED", "UNKNOWN")
CATEGORIES: Final = ("MARKETING", "UTILITY", "AUTHENTICATION")
#: Ways in which a client's number comes to it (§4.3).
MODES: Final = ("manual", "preassign", "assigned")


class IllegalMove(Exception):
    """A pair that is not in the table. `kind` of thing, `state`, `wanted` state or event, `legal` states from there."""

    def __init__(self, kind: str, state: str, wanted: str) -> None:
        table, assumed = TABLES[kind]
        self.kind = kind
        self.state = state
        self.wanted = wanted
        self.legal = tuple(dict.fromkeys(table[state].values()))
        allowed = ", ".join(self.legal) or "none, it is an end"
        super().__init__(f'"{wanted}" does not follow "{state}" of a {kind}; legal: {allowed} ({assumed})')


def after(kind: str, state: str, event: str) -> str:
    """The state after an event. Raises `IllegalMove` for a pair that is not in the table."""
    found = TABLES[kind][0][state].get(event)
    if found is None:
        raise IllegalMove(kind, state, event)
    return found


def to(kind: str, state: str, wanted: str) -> str:
    """The state `wanted`, if an event leads there from `state`. Raises `IllegalMove`."""
    if wanted not in TABLES[kind][0][state].values():
        raise IllegalMove(kind, state, wanted)
    return wanted
