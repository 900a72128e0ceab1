"""Clients of a partner for tests of the core: signed up, connected, with a template, in a word."""

from __future__ import annotations

from typing import Any

from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.messaging.records import Message
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, BusinessNumber, Signup
from sendbox.services.partner.rules import PartnerSpec
from sendbox.services.templates.templates import TemplateUse
from tests.core.worlds import HOOK, PHONE, make_world, send_one, step

#: The number that clients bring.
OWN = "420777000555"
BODY = {"type": "BODY", "text": "Hello {{1}}"}


def partner_world(world_id: str = "test-w", *, assume: Any = None, **spec: Any) -> World:
    """A world; keywords are fields of `PartnerSpec`."""
    more = {} if assume is None else {"assume": assume}
    return make_world(world_id, partner=PartnerSpec(**spec), **more)


def sign_up(world: World, mode: str = "manual", client: str | None = "acme", **details: str) -> Signup:
    """A signup that has just begun."""
    content = f"{mode} {client} {sorted(details.items())}".encode()
    return Partner.of(world).sign_up(mode, client, details, HOOK, Account.of(world).keys[world.id], content)


def connect(
    world: World, client: str | None = "acme", phone: str = OWN, **details: str
) -> tuple[BusinessAccount, BusinessNumber]:
    """A client that is connected."""
    signup = sign_up(world, client=client, **details)
    Partner.of(world).complete(signup, phone)
    assert signup.account is not None
    assert signup.number is not None
    return signup.account, signup.number


def form(name: str = "hello", *components: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A template as a call gives it."""
    return {"name": name, "language": "en", "category": "UTILITY", "components": list(components) or [BODY], **fields}


def send_template(world: World, sender: str, name: str = "hello", to: str = PHONE, **fields: Any) -> Message:
    """Sends a template with one value."""
    use = TemplateUse(name, "en", fields.pop("params", ["Jana"]), buttons=fields.pop("buttons", None))
    return send_one(world, to, steps=[step("chatapp_template", None, sender=sender, template=use)], **fields)
