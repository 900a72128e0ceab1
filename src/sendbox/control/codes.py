"""Operations on the codes of the Verify interface: what the user would read on the phone, and what became of it."""

from __future__ import annotations

from typing import Any

from sendbox.control.operation import Call, each, newest, operation, wait_for
from sendbox.services.messaging.views import code_view
from sendbox.services.numbers.normal import normalize
from sendbox.services.verify.session import Session
from sendbox.services.world import ServiceWorld


@operation("GET", "/worlds/{id}/codes")
async def codes(call: Call, phone: str | None = None, wait: Any = None, last: Any = None) -> Any:
    """Verify codes with state, attempts and expiry, newest first; `wait` is a long poll until there is one."""
    hosted = call.here

    async def look() -> tuple[ServiceWorld, list[Session]] | None:
        world = hosted.world
        found = await newest(_sessions(world, phone), lambda session: True, last)
        return (world, found[::-1]) if found else None

    answered = await wait_for(hosted, wait, look)
    if answered is None:
        return {"codes": []}
    world, sessions = answered
    return {"codes": await each(sessions, lambda session: code_view(world, session))}


def _sessions(world: ServiceWorld, phone: str | None) -> list[Session]:
    """Those of a phone, in whatever form its number is given; a session has its number as the client gave it."""
    if phone is None:
        return list(world.verify.sessions.values())
    found = world.verify.of(normalize(phone, world.account.country) or phone) or world.verify.of(phone)
    return list(found)
