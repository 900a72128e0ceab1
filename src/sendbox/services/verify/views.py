"""Validation sessions as plain objects, for control; made when asked, never kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.durations import iso

if TYPE_CHECKING:
    from sendbox.services.verify.session import Session


def code_view(session: Session, now: int) -> dict[str, Any]:
    """One validation session with its code; `sms` is the result of the message that carries it."""
    return {
        "token": session.token,
        "phone": session.phone,
        "code": session.code,
        "state": session.state_at(now),
        "sms": session.message.result,
        "message_id": session.message.id,
        "attempts": session.attempts,
        "attempts_remaining": session.remaining,
        "created_at": iso(session.created_at),
        "expires_at": iso(session.expires_at),
        "verified_at": None if session.verified_at is None else iso(session.verified_at),
        "payload": session.payload,
        "rules": list(session.rules),
    }
