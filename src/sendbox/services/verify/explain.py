"""Why a validation session got its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.rules.tried import tried
from sendbox.services.verify.verify import Verify

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.verify.session import Session


def explain_session(world: World, session: Session) -> dict[str, Any]:
    """Why a validation session got its code: `{phone, code, state, rules, decided_by}`."""
    verify = Verify.of(world)
    return {
        "phone": session.phone,
        "code": session.code,
        "state": session.state_at(world.now),
        "rules": tried(verify.book, verify.book.rules, verify.book.case(session.phone, session.created_at)),
        "decided_by": list(session.rules),
    }
