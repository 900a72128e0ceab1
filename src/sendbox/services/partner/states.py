"""The lifecycles of partner management as total tables: template (A43), business number (A44), signup (A46).

They keep the rules of `engine/lifecycle.py`: every state has a row, an end has an empty one, and a pair that is not in
a table raises `IllegalMove`. The scenario says when things happen and how a review ends (`partner:`).

The template (§2.5, A43)
------------------------
A template begins `PENDING` and is used only while `APPROVED` (§2.2). A review approves or rejects it; an edit sends
it to review again, from each state in which it can be edited. The provider may pause an approved one (its readers
complain), and disable it; after that only an appeal can approve it again. `DELETED` is the only end.

The business number (§2.5, A44)
-------------------------------
A number begins `PENDING` and sends once it is `CONNECTED`. A low quality flags it, which is a warning only; a
restricted or disconnected one sends nothing. There is no end. The quality itself has no table: any rating may follow
any other.

The signup (§4.3, A46)
----------------------
The client opens the hosted page, confirms a number, and finishes; a programmatic registration completes at once,
from every state that is not an end. Its token lives one hour (§8): a signup that is not completed by then is `expired`.
"""

from __future__ import annotations

from typing import Final

from sendbox.engine.lifecycle import Lifecycle

TEMPLATE: Final = Lifecycle(
    "a template",
    "A43",
    {
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
    },
)

NUMBER: Final = Lifecycle(
    "a number",
    "A44",
    {
        "PENDING": {"registered": "CONNECTED", "disconnected": "OFFLINE"},
        "CONNECTED": {"flagged": "FLAGGED", "restricted": "RESTRICTED", "disconnected": "OFFLINE"},
        "FLAGGED": {"recovered": "CONNECTED", "restricted": "RESTRICTED", "disconnected": "OFFLINE"},
        "RESTRICTED": {"recovered": "CONNECTED", "flagged": "FLAGGED", "disconnected": "OFFLINE"},
        "OFFLINE": {"registered": "CONNECTED"},
    },
)

SIGNUP: Final = Lifecycle(
    "a signup",
    "A46",
    {
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
    },
)

#: States in which a number may send: a flag is a warning only.
SENDING_NUMBERS: Final = frozenset({"CONNECTED", "FLAGGED"})
#: Ratings of a number, best first (A44).
QUALITIES: Final = ("GREEN", "YELLOW", "RED", "UNKNOWN")
CATEGORIES: Final = ("MARKETING", "UTILITY", "AUTHENTICATION")
#: Ways in which a client gets its number (§4.3), the usual one first.
MODES: Final = ("manual", "preassign", "assigned")
