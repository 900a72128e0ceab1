"""Answers of the Verify interface (§4.5; A47, A48, A50, A51). Times are ISO 8601 with milliseconds and `Z`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from sendbox.engine.durations import iso
from sendbox.services.http.exchange import Answer

if TYPE_CHECKING:
    from sendbox.services.verify.session import Session
    from sendbox.services.verify.verify import ProofOutcome, Verify


def created(verify: Verify, session: Session) -> Answer:
    """A session that was begun (A47)."""
    return _proved(
        verify,
        session,
        {
            "token": session.token,
            "status": session.recorded,
            "expiresAt": iso(session.expires_at),
            "timestamp": iso(session.created_at),
        },
    )


def verified(verify: Verify, session: Session) -> Answer:
    """The right code, each time it is given (A48, A72)."""
    return _proved(
        verify, session, {"verified": True, **verify.values(session), "verifiedAt": iso(session.verified_at or 0)}
    )


def confirmed(session: Session | None) -> Answer:
    """What a proof says about a session: None = it does not hold (A50, A74)."""
    if session is None:
        return _json({"valid": False})
    return _json({"valid": True, "phoneNumber": session.phone, "verifiedAt": iso(session.verified_at or 0)})


def checked(outcome: ProofOutcome) -> Answer:
    """What a proof says by itself (A51)."""
    return _json({"valid": outcome == "valid", **({"expired": True} if outcome == "expired" else {})})


def _proved(verify: Verify, session: Session, body: dict[str, Any]) -> Answer:
    """With the proof where the account has a secret: every validation response has it then (§4.5)."""
    proof = verify.proof(session)
    return _json(body if proof is None else {**body, "proof": proof})


def _json(value: Any) -> Answer:
    return Answer(200, orjson.dumps(value))
