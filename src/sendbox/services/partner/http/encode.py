"""Records of partner management as the wire has them (§2.5, §4.3, A40, A42)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from sendbox.services.http.exchange import Answer
from sendbox.services.numbers.countries import country
from sendbox.services.partner.partner import Partner

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.partner.records import BusinessAccount, BusinessNumber


def done(**fields: Any) -> Answer:
    """200 with `success` and what else there is to say."""
    return Answer(200, orjson.dumps({"success": True, **fields}))


def account_record(account: BusinessAccount) -> dict[str, Any]:
    """A connected business account (A40)."""
    return {
        "client_id": account.client_id,
        "chatapp_name": account.name,
        "chatapp_id": account.id,
        "chatapp_currency": account.currency,
        "chatapp_owner_name": account.name,
        "chatapp_owner_id": account.owner_id,
        "country": account.country,
    }


def number_record(number: BusinessNumber) -> dict[str, str]:
    """A number of a business account (§2.5); `phone_number_formated` is spelled as the service spells it."""
    return {
        "name": number.name,
        "phone_number_id": number.id,
        "phone_number": number.phone_number,
        "phone_number_formated": formatted(number.phone_number),
        "phone_number_status": number.status,
        "phone_number_quality": number.quality,
    }


def formatted(number: str) -> str:
    """A number as people write it: `+`, calling code, the rest in groups of three."""
    place = country(number)
    code = number[:3] if place is None else place.code
    rest = number[len(code) :]
    groups = [rest[at : at + 3] for at in range(0, len(rest), 3)]
    if len(groups) > 1 and len(groups[-1]) == 1:  # no digit stands alone
        groups[-2:] = [groups[-2] + groups[-1]]
    return " ".join([f"+{code}", *groups])


def template_record(world: World, record: dict[str, Any]) -> dict[str, Any]:
    """A template of a business account (A42)."""
    return {
        "id": Partner.of(world).templates.id_of(record),
        "name": record["name"],
        "language": record["language"],
        "status": Partner.of(world).templates.status(record),
        "category": record["category"],
        "components": record["components"],
    }
