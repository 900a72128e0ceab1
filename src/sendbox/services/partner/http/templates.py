"""The template calls (§4.3, A42, A43): list, create, from the library, edit, delete, and the live test."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import success
from sendbox.services.numbers.normal import normalize
from sendbox.services.partner.http.decode import Request
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, Failure
from sendbox.services.ports import Taken, account_of
from sendbox.services.templates.templates import TemplateUse, approved

#: What sends a template for a call: (the call, phone, template, sender) to the answer.
Sends = Callable[[Exchange, str, TemplateUse, str], Taken]


def list_templates(exchange: Exchange, _request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/list`: the templates of a business account."""
    partner = Partner.of(exchange.world)
    return success(templates=[_template_record(partner, record) for record in partner.templates.of(account)])


def create_template(exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/create`: a new template, which a review must approve (A43)."""
    exchange.changes("template", request["template"]["name"])
    templates = Partner.of(exchange.world).templates
    return success(template_id=templates.id_of(templates.create(account, request["template"])))


def create_from_library(exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/library/create`: a new template from the provider's library."""
    exchange.changes("template", request["template"]["name"])
    templates = Partner.of(exchange.world).templates
    record = templates.create_from_library(account, request["template"])
    return success(template_id=templates.id_of(record), status=record["status"], category=record["category"])


def edit_template(exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/edit`: another category or other components; reviewed again (A43).

    A client's token gives access to its own templates only, not to those that the whole account shares.
    """
    templates = Partner.of(exchange.world).templates
    record = templates.by_id(request["template_id"])
    exchange.changes("template id", request["template_id"])  # of one that was just deleted there is no name
    if record is not None:
        exchange.changes("template", record["name"])
    templates.edit(account, request["template_id"], request["template"], own=exchange.bearer is not None)
    return success()


def delete_template(exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/delete`: deletes a template in every language."""
    templates = Partner.of(exchange.world).templates
    exchange.changes("template", request["template_name"])
    for record in templates.of(account):
        if record["name"] == request["template_name"]:
            exchange.changes("template id", templates.id_of(record))
    templates.delete(account, request["template_name"], own=exchange.bearer is not None)
    return success()


def test_template(send: Sends, exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/test`: sends a template to a phone, through the simulator as any message."""
    world = exchange.world
    sender = request["sender"]
    number = Partner.of(world).numbers.get(sender)
    if number is None or number.account_id != account.id:
        raise Failure(f'"{sender}" is not a Phone Number ID of {account.id}', "$.sender", "sender", assumed="A42")
    if not number.sends:
        raise Failure(f'"{sender}" is {number.status} and cannot send', "$.sender", "status", assumed="A42")
    phone = normalize(request["phone_number"], account_of(world).country)
    if phone is None:
        text = f'"{request["phone_number"]}" cannot be normalized to international form'
        raise Failure(text, "$.phone_number", "phone-number", "§7.3", "A14")
    exchange.uses("template", request["template"]["name"])
    use = _use(exchange, account, request["template"])
    template = account_of(world).template(use.name, use.language, sender)
    if template is None or not approved(template):
        status = "not there" if template is None else template.status
        text = f'"{use.name}" ({use.language}) is {status}; only an APPROVED template can be sent'
        raise Failure(text, "$.template", "template-not-approved", "§2.2", "A42")
    accepted = send(exchange, phone, use, sender)
    message_id = accepted.messages[0][0]
    if message_id is None:
        found = accepted.findings[0]
        raise Failure(found.message, "$.template", found.rule, found.section, "A42")
    wamid = b64encode(world.name("wamid", message_id.encode())[:27]).decode()
    return success(message="The template was sent", wamid=f"wamid.{wamid}")


def _use(exchange: Exchange, account: BusinessAccount, values: dict[str, Any]) -> TemplateUse:
    """What a test sends: the given values; without them the body has the samples of the template."""
    name = values["name"]
    named = [record for record in Partner.of(exchange.world).templates.of(account) if record["name"] == name]
    language = values.get("language")
    if language is None:
        if len(named) != 1:
            there = ", ".join(record["language"] for record in named) or "none"
            text = f'"{name}" is there in these languages: {there}; say which'
            raise Failure(text, "$.template.language", "language", assumed="A42")
        language = named[0]["language"]
    params = values.get("params")
    if params is None:
        params = _samples(next((record for record in named if record["language"] == language), {}))
    parts = ("params_header", "params_buttons", "params_carousel", "params_lto")
    return TemplateUse(name, language, params, *(values.get(part) for part in parts))


def _samples(record: dict[str, Any]) -> list[str] | None:
    """The first row of the samples that the template's body was made with, None where there is none (§2.5)."""
    for component in record.get("components") or ():
        rows = (component.get("example") or {}).get("body_text")
        if str(component["type"]).upper() == "BODY" and rows:
            return list(rows[0])
    return None


def _template_record(partner: Partner, record: dict[str, Any]) -> dict[str, Any]:
    """A template of a business account (A42)."""
    return {
        "id": partner.templates.id_of(record),
        "name": record["name"],
        "language": record["language"],
        "status": partner.templates.status(record),
        "category": record["category"],
        "components": record["components"],
    }
