"""Results of an attempt (§3.1, A25): the lifecycle of one flow step tried.

An attempt begins `accepted`. The operator takes it (`sending`) and answers (`sent`); a receipt confirms the handset
(`delivered`) or gives up (`undelivered`). Checks refuse before the hand-over only, so `rejected` leaves `accepted` and
nothing else. A technical failure can occur until an end is reached, so `failed` leaves every state that is not an end.
An operator that confirms at once skips `sending`. Whether the recipient opened the message is known on the rich-message
and messaging-app channels only: they have the event `opened`, sms has not, hence two tables. `delivered` is an end for
sms and not for the others.
"""

from __future__ import annotations

from typing import Final

from sendbox.engine.journal import enter
from sendbox.engine.lifecycle import Table

STATES: Final = ("accepted", "sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed")

ACCEPTED, SENDING, SENT, DELIVERED, SEEN, UNDELIVERED, REJECTED, FAILED = range(8)

#: The kinds of journal for the results: a transition has one kind a result; and back.
ENTRY: Final = enter(*STATES)
STATE_OF: Final = {entry: state for state, entry in enumerate(ENTRY)}
CODES: Final = {state: code for code, state in enumerate(STATES)}

#: How far a state got, by code: sent < delivered < seen; everything else counts as not reached (A64, A65).
REACH: Final = (0, 0, 1, 2, 3, 0, 0, 0)

#: The default way to each result that a scenario may name (A63).
WAYS: Final = {
    "sending": ("sending",),
    "sent": ("sending", "sent"),
    "delivered": ("sending", "sent", "delivered"),
    "seen": ("sending", "sent", "delivered", "seen"),
    "undelivered": ("sending", "sent", "undelivered"),
    "rejected": ("rejected",),
    "failed": ("sending", "failed"),
}

ATTEMPT_READABLE: Final[Table] = {
    "accepted": {
        "handed_over": "sending",
        "operator_accepted": "sent",
        "check_refused": "rejected",
        "broke_down": "failed",
    },
    "sending": {"operator_accepted": "sent", "broke_down": "failed"},
    "sent": {
        "device_confirmed": "delivered",
        "opened": "seen",
        "receipt_failed": "undelivered",
        "broke_down": "failed",
    },
    "delivered": {"opened": "seen"},
    "seen": {},
    "undelivered": {},
    "rejected": {},
    "failed": {},
}

ATTEMPT_SMS: Final[Table] = {
    state: {event: after for event, after in row.items() if event != "opened"}
    for state, row in ATTEMPT_READABLE.items()
}
