"""Validation sessions of the Verify interface: their lifecycle as a total table, and the record of one (§3.2, §2.5).

The rules of tables stand in `engine/lifecycle.py`. What is particular here (A72):

A session begins `pending` and becomes `code_sent` when its SMS is on the phone. Some operators give no receipts, so
the right code is taken in both states. A wrong code moves nothing until it was the last that was allowed. `verified`,
`failed` and `expired` are ends: an SMS that arrives late changes nothing any more, time passes over a verified session,
and a failed one stays failed when its time is over. Expiry is a lapse: what the state is follows from the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.journal import enter
from sendbox.engine.lifecycle import Table
from sendbox.services import limits

if TYPE_CHECKING:
    from sendbox.services.ports import Sent

enter("validation", "limited")
PENDING: Final = "pending"
CODE_SENT: Final = "code_sent"
VERIFIED: Final = "verified"
FAILED: Final = "failed"
EXPIRED: Final = "expired"

VALIDATION: Final[Table] = {
    PENDING: {
        "code_arrived": CODE_SENT,
        "code_confirmed": VERIFIED,
        "attempts_used_up": FAILED,
        "validity_passed": EXPIRED,
    },
    CODE_SENT: {
        "code_confirmed": VERIFIED,
        "attempts_used_up": FAILED,
        "validity_passed": EXPIRED,
    },
    VERIFIED: {},
    FAILED: {},
    EXPIRED: {},
}


class IllegalEvent(Exception):
    """A pair of state and event that is not in the table; `legal` are the events of that state."""

    def __init__(self, state: str, event: str) -> None:
        self.state = state
        self.event = event
        self.legal = tuple(VALIDATION[state])
        allowed = ", ".join(self.legal) or "none, it is an end"
        super().__init__(f'"{event}" does not happen to a validation that is "{state}"; legal: {allowed} (§3.2, A72)')


def follow(state: str, event: str) -> str:
    """The state after an event. Raises `IllegalEvent` for a pair that is not in the table."""
    after = VALIDATION[state].get(event)
    if after is None:
        raise IllegalEvent(state, event)
    return after


class Session:
    """One validation session. Instants in virtual milliseconds.

    `recorded` is the state as events left it; what it is now follows from the clock too (`state_at`).
    """

    __slots__ = (
        "attempts", "code", "created_at", "key", "message", "payload", "phone", "recorded", "rules", "token",
        "verified_at",
    )  # fmt: skip

    def __init__(
        self,
        token: str,
        phone: str,
        code: str,
        key: str,
        message: Sent,
        payload: dict[str, Any],
        rules: tuple[str, ...],
        at: int,
    ) -> None:
        self.token = token
        self.phone = phone
        self.code = code
        #: id of the key it was made with
        self.key = key
        #: the SMS that carries the code
        self.message = message
        self.payload = payload
        #: names of the rules that decided about it
        self.rules = rules
        self.created_at = at
        self.recorded = PENDING
        #: wrong codes so far
        self.attempts = 0
        self.verified_at: int | None = None

    @property
    def expires_at(self) -> int:
        """The instant from which it is expired unless it came to another end."""
        return self.created_at + limits.SESSION

    @property
    def remaining(self) -> int:
        """Attempts that are left."""
        return limits.ATTEMPTS - self.attempts

    def state_at(self, now: int) -> str:
        """The state at an instant."""
        if now >= self.expires_at and "validity_passed" in VALIDATION[self.recorded]:
            return EXPIRED
        return self.recorded

    def lapse(self) -> bool:
        """Its validity has passed; False where it came to another end before."""
        open_still = "validity_passed" in VALIDATION[self.recorded]
        if open_still:
            self.follow("validity_passed")
        return open_still

    def follow(self, event: str) -> None:
        """Something happened to it. Raises `IllegalEvent`."""
        self.recorded = follow(self.recorded, event)
