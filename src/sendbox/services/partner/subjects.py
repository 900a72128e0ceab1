"""The facts about templates and signups that a scenario may expect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.expect.subjects import Field, Subject
from sendbox.services.operations import CALLS
from sendbox.services.partner.records import CATEGORIES, MODES, SIGNUP, TEMPLATE

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


def _field_of(name: str) -> Callable[[World, JsonObject], object]:
    return lambda _world, change: change.get(name)


def _words(_world: World, change: JsonObject) -> str:
    return ", ".join(f"{name} {value}" for name, value in change.items() if value is not None)


def named_template(_world: World, record: RequestRecord) -> str | None:
    """The template that a call of template management names in full; None for other calls."""
    if not record.operation.endswith("Template"):
        return None
    try:
        template = orjson.loads(record.body)["template"]
        return f"{template['name']}/{template['language']}"
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return None


#: The fields of calls that name the client of a signup.
_CLIENT: Final = ("client_id", "partner_client_id")


def named_signups(world: World, record: RequestRecord) -> tuple[str, ...]:
    """The ids of the signups that a call of partner management names: by the client, the account or the number."""
    from sendbox.services.partner.partner import Partner  # a check of a scenario has no world

    if record.operation not in CALLS or CALLS[record.operation].interface != "partner":
        return ()
    try:
        fields = orjson.loads(record.body)
    except orjson.JSONDecodeError:
        return ()
    if not isinstance(fields, dict):
        return ()
    return tuple(
        signup.id
        for signup in Partner.of(world).signups.values()
        if (signup.client_id is not None and signup.client_id in map(fields.get, _CLIENT))
        or (signup.account is not None and signup.account.id == fields.get("waba_id"))
        or (signup.phone_number is not None and signup.phone_number == fields.get("phone_number"))
    )


#: Types of its events.
EVENTS: Final = ("partnerOnboarding",)
SUBJECTS: Final[dict[str, Subject]] = {
    "templates": Subject(
        "a template that entered a status",
        {
            "name": Field("text", "the template's name", _field_of("name")),
            "language": Field("text", "its language", _field_of("language")),
            "category": Field("text", "its category", _field_of("category"), CATEGORIES),
            "status": Field("text", "its status", _field_of("status"), tuple(TEMPLATE)),
        },
        _words,
        ("template",),
        about={"template": lambda _world, change: f"{change.get('name')}/{change.get('language')}"},
    ),
    "signups": Subject(
        "a signup that entered a state",
        {
            "status": Field("text", "its state", lambda _world, event: event.fields["status"], tuple(SIGNUP)),
            "mode": Field("text", "its mode", lambda _world, event: event.signup.mode, MODES),
            "phone": Field("phone", "the business number", lambda _world, event: event.fields.get("phone_number")),
        },
        lambda _world, event: f"signup: {event.fields['status']}",
        ("signup",),
        about={"signup": lambda _world, event: event.signup.id},
    ),
}
