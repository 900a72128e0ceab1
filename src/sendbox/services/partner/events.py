"""The notification of a signup: one object by itself, for each of its states (§6, A24)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.cases import Case
from sendbox.engine.delivery.events import EventKind
from sendbox.services.partner.records import Onboarding

if TYPE_CHECKING:
    from sendbox.engine.world import World


def _case(onboarding: Onboarding) -> Case:
    phone = str(onboarding.fields.get("phone_number") or "")
    return Case("partnerOnboarding", phone, fields={"event": "partnerOnboarding", "gateway": "", "phone": phone})


def _key(world: World, onboarding: Onboarding, _at: int) -> str:
    name = onboarding.signup.id.removeprefix(world.tag)  # equal salts give equal ids, in any world
    return f"onboarding {name} {onboarding.number}"


EVENTS: Final[dict[type, EventKind]] = {
    Onboarding: EventKind(
        _case,
        lambda _onboarding: None,
        lambda onboarding: onboarding.signup,
        _key,
        lambda _world, onboarding, _until: onboarding.fields,
        single=True,
    )
}
