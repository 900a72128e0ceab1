"""Validation sessions of the Verify interface: their lifecycle as a total table, and the record of one (§3.2, §2.5).

The rules of tables stand in `engine/lifecycle.py`. What is particular here (A72):

A session begins `pending` and becomes `code_sent` when its SMS is on the phone. Some operators give no receipts, so
the right code is taken in both states. Only the last wrong code that is allowed changes the state. `verified`,
`failed` and `expired` are ends: an SMS that arrives late changes nothing, a verified session stays verified, and a
failed one stays failed when its time is over. Expiry is a lapse: the state follows from the clock.
"""

from __future__ import annotations

import hmac
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from sendbox.engine.answer import JsonObject, moment
from sendbox.engine.journal import enter
from sendbox.engine.lifecycle import Lifecycle
from sendbox.services import limits
from sendbox.services.assume import Proof
from sendbox.services.ports import Code, SentMessage

enter("validation", "limited")
PENDING: Final = "pending"
CODE_SENT: Final = "code_sent"
VERIFIED: Final = "verified"
FAILED: Final = "failed"
EXPIRED: Final = "expired"
#: The event by which a session expires, and the kind of the lapse that is it.
VALIDITY_PASSED: Final = "validity_passed"
LAPSE: Final = "code"

VALIDATION: Final = Lifecycle(
    "a validation",
    "§3.2, A72",
    {
        PENDING: {
            "code_arrived": CODE_SENT,
            "code_confirmed": VERIFIED,
            "attempts_used_up": FAILED,
            VALIDITY_PASSED: EXPIRED,
        },
        CODE_SENT: {
            "code_confirmed": VERIFIED,
            "attempts_used_up": FAILED,
            VALIDITY_PASSED: EXPIRED,
        },
        VERIFIED: {},
        FAILED: {},
        EXPIRED: {},
    },
)


class Session(msgspec.Struct, eq=False):
    """One validation session. Instants in virtual milliseconds.

    `key` is the id of the key that it was made with, `message` the SMS that carries the code, `rules` the names of the
    rules that decided about it. `ordinal` counts the sessions that were asked for. `recorded` is the state as events
    left it; the present state follows from the clock too (`state_at`).
    """

    token: str
    phone: str
    code: str
    key: str
    message: SentMessage
    payload: JsonObject
    rules: tuple[str, ...]
    created_at: int
    ordinal: int
    recorded: str = PENDING
    #: wrong codes so far
    attempts: int = 0
    verified_at: int | None = None

    @property
    def expires_at(self) -> int:
        """The instant from which it is expired unless it ended before."""
        return self.created_at + limits.SESSION

    @property
    def remaining(self) -> int:
        """The attempts that remain."""
        return limits.ATTEMPTS - self.attempts

    def state_at(self, now: int) -> str:
        """The state at an instant."""
        if now >= self.expires_at and VALIDITY_PASSED in VALIDATION[self.recorded]:
            return EXPIRED
        return self.recorded

    def lapse(self) -> bool:
        """Records that the session's validity has passed; False if the session ended before."""
        is_open = VALIDITY_PASSED in VALIDATION[self.recorded]
        if is_open:
            self.follow(VALIDITY_PASSED)
        return is_open

    def follow(self, event: str) -> None:
        """Records an event. Raises `IllegalMove`."""
        self.recorded = VALIDATION.after(self.recorded, event)


def code_view(session: Session, now: int) -> Code:
    """One validation session with its code; `sms` is the result of the message that carries it."""
    return Code(
        token=session.token,
        phone=session.phone,
        code=session.code,
        state=session.state_at(now),
        sms=session.message.result,
        message_id=session.message.id,
        attempts=session.attempts,
        attempts_remaining=session.remaining,
        created_at=moment(session.created_at),
        expires_at=moment(session.expires_at),
        verified_at=None if session.verified_at is None else moment(session.verified_at),
        payload=session.payload,
        rules=list(session.rules),
    )


#: How the signature's bytes are written. `base64url` has no padding, as in tokens.
_ENCODE: Final[Mapping[str, Callable[[bytes], str]]] = {
    "hex": bytes.hex,
    "base64": lambda raw: b64encode(raw).decode(),
    "base64url": lambda raw: urlsafe_b64encode(raw).decode().rstrip("="),
}


def sign_proof(secret: str, values: Mapping[str, str], form: Proof) -> str:
    """The proof over `values`, which are `phoneNumber`, `token`, `code` and `timestamp` as they stand in answers."""
    text = form.separator.join(values[name] for name in form.order)
    return _ENCODE[form.encoding](hmac.new(secret.encode(), text.encode(), form.hash).digest())


def proof_holds(proof: str, secret: str | None, values: Mapping[str, str], form: Proof) -> bool:
    """True if a proof is the correct one for `values`; never without a secret."""
    if not secret:
        return False
    # texts of clients may hold anything, and only bytes are compared whatever is in them
    return hmac.compare_digest(proof.encode(), sign_proof(secret, values, form).encode())
