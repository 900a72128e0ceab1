"""The template calls (§4.3, A42, A43): list, create, from the library, edit, delete, and the live test."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import success
from sendbox.services.numbers.notation import normalize
from sendbox.services.partner.http.decode import Request
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, Failure
from sendbox.services.partner.templates import with_handles
from sendbox.services.ports import AcceptedMessages, account_of
from sendbox.services.templates.templates import Template, TemplateUse, approved

#: What sends a template for a call: (the call, phone, template, sender) to the answer.
Sends = Callable[[Exchange, str, TemplateUse, str], AcceptedMessages]


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
    return success(message="The template was changed and is reviewed again")


def delete_template(exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/delete`: deletes a template in every language."""
    templates = Partner.of(exchange.world).templates
    exchange.changes("template", request["template_name"])
    for record in templates.of(account):
        if record["name"] == request["template_name"]:
            exchange.changes("template id", templates.id_of(record))
    count = templates.delete(account, request["template_name"], own=exchange.bearer is not None)
    return success(message=f"The template was deleted in {count} language{'' if count == 1 else 's'}")


def test_template(send: Sends, exchange: Exchange, request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/templates/test`: sends a template to a phone, through the simulator as any message.

    Its parameters are the examples of the components in the request (A42).
    """
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
    name, language = request["template"]["name"], request["template"]["language"]
    exchange.uses("template", name)
    template = account_of(world).template(name, language, sender)
    if template is None or not approved(template):
        status = "not there" if template is None else template.status
        text = f'"{name}" ({language}) is {status}; only an APPROVED template can be sent'
        raise Failure(text, "$.template", "template-not-approved", "§2.2", "A42")
    components = with_handles(request["template"]["components"], "$.template.components")
    accepted = send(exchange, phone, by_examples(template, components), sender)
    message_id = accepted.messages[0][0]
    if message_id is None:
        finding = accepted.findings[0]
        raise Failure(finding.message, "$.template", finding.rule, finding.section, "A42")
    wamid = b64encode(world.name("wamid", message_id.encode())[:27]).decode()
    return success(message="The template was sent", wamid=f"wamid.{wamid}")


def _template_record(partner: Partner, record: JsonObject) -> JsonObject:
    """A template of a business account (A42)."""
    return {
        "id": partner.templates.id_of(record),
        "name": record["name"],
        "language": record["language"],
        "status": partner.templates.status(record),
        "category": record["category"],
        "components": record["components"],
    }


Record = JsonObject

#: Where the provider keeps what a handle stands for.
_MEDIA: Final = "https://media.chatapp.example/"


def by_examples(template: Template, components: list[Record]) -> TemplateUse:
    """A use of the template with the examples of these components as values; a part without example gets no value."""
    parts: dict[str, Record] = {}
    for component in components:
        parts.setdefault(str(component["type"]).upper(), component)
    body, header, buttons = (parts.get(kind, {}) for kind in ("BODY", "HEADER", "BUTTONS"))
    return TemplateUse(
        template.name,
        template.language,
        _of_body(template, body.get("example") or {}),
        _of_header(str(header.get("format") or "TEXT").lower(), header.get("example") or {}),
        [_of_button(button) for button in buttons.get("buttons") or ()],
    )


def _of_body(template: Template, example: Record) -> list[str | JsonObject] | None:
    """The first row of samples; where the variables have names, each sample under its name."""
    rows = example.get("body_text")
    if not rows:
        return None
    values = list(rows[0])
    if template.named and len(values) == len(template.variables):
        return [{name: value} for name, value in zip(template.variables, values, strict=True)]
    return values


def _of_header(kind: str, example: Record) -> list[str | JsonObject] | None:
    if kind == "text":
        return example.get("header_text", [])[:1] or None
    for handle in example.get("header_handle", ())[:1]:
        link = handle if handle.lower().startswith(("http://", "https://")) else f"{_MEDIA}{handle}"
        named = {"filename": link.rpartition("/")[2]} if kind == "document" else {}
        return [{kind: {"link": link, **named}}]
    return None


def _of_button(button: Record) -> str | None:
    """The text that is appended to the address of a dynamic URL; its example may be the whole address."""
    example = button.get("example")
    if str(button["type"]).upper() != "URL" or not example:
        return None
    base = str(button.get("url") or "").partition("{{")[0]
    value: str = example if isinstance(example, str) else example[0]
    return value.removeprefix(base)
