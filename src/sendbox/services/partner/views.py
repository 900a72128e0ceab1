"""Answers about partner management, for control and the hosted page; made on request, never kept.

They show signups, business accounts and their numbers, and templates.
"""

from __future__ import annotations

from typing import Annotated, Literal

from sendbox.engine.answer import Answer, Instant, JsonObject, enum, keywords, moment
from sendbox.engine.world import World
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import MODES, NUMBER, QUALITIES, TEMPLATE, BusinessAccount, BusinessNumber, Signup

#: A part of a template as the contract of partner management has it.
TemplatePart = Annotated[JsonObject, keywords(description="A component of a template, as the request had it.")]


class SignupView(Answer):
    """A signup, with the code that the client must enter, and what can be done to it (`legal`)."""

    signup: str
    partner_client_id: str | None
    mode: Annotated[str, enum(MODES)]
    state: str
    finishing: bool
    reason: str | None
    details: dict[str, str]
    phone_number: str | None
    code: str | None
    created_at: Instant
    token_expires_at: Instant
    token_valid: bool
    chatapp_id: str | None
    phone_number_id: str | None
    legal: list[str]


class ListedSignup(SignupView):
    """A signup, with the path of its hosted page while its token is valid."""

    page: str | None


class NumberView(Answer):
    """A number of a business account; `legal` are the statuses that may follow."""

    phone_number_id: str
    chatapp_id: str
    phone_number: str
    name: str | None
    status: str
    quality: Annotated[str, enum(QUALITIES)]
    legal: list[str]


class BusinessView(Answer):
    """A business account."""

    chatapp_id: str
    name: str | None
    partner_client_id: str | None
    currency: str
    country: str | None
    template_analytics: bool
    numbers: list[NumberView]


class TemplateView(Answer):
    """A template; the whole account shares one without `chatapp_id`. `legal` are the statuses that may follow."""

    template_id: str
    chatapp_id: str | None
    name: str
    language: str
    category: str
    status: str
    legal: list[str]
    reason: str | None
    components: list[TemplatePart]


class DeletedTemplate(Answer):
    """A template that is gone."""

    name: str
    language: str
    status: Literal["DELETED"]


class PartnerView(Answer):
    """Signups, business accounts with their numbers, and templates."""

    signups: list[ListedSignup]
    accounts: list[BusinessView]
    templates: list[TemplateView]


def signup_view(world: World, signup: Signup) -> SignupView:
    """A signup: its state, the code that its number waits for, its result, and what can be done to it (`legal`)."""
    return SignupView(
        signup=signup.id,
        partner_client_id=signup.client_id,
        mode=signup.mode,
        state=signup.state,
        finishing=signup.finishing and not signup.ended,
        reason=signup.reason,
        details=signup.details,
        phone_number=signup.phone_number,
        code=signup.code,
        created_at=moment(signup.created_at),
        token_expires_at=moment(signup.expires_at),
        token_valid=Partner.of(world).valid(signup),
        chatapp_id=None if signup.account is None else signup.account.id,
        phone_number_id=None if signup.number is None else signup.number.id,
        legal=signup.legal,
    )


def business_view(world: World, account: BusinessAccount) -> BusinessView:
    """A business account with its numbers."""
    return BusinessView(
        chatapp_id=account.id,
        name=account.name,
        partner_client_id=account.client_id,
        currency=account.currency,
        country=account.country,
        template_analytics=account.analytics,
        numbers=[number_view(number) for number in Partner.of(world).numbers_of(account)],
    )


def number_view(number: BusinessNumber) -> NumberView:
    """A business number; `legal` are the statuses that may follow."""
    return NumberView(
        phone_number_id=number.id,
        chatapp_id=number.account_id,
        phone_number=number.phone_number,
        name=number.name,
        status=number.status,
        quality=number.quality,
        legal=list(NUMBER.following(number.status)),
    )


def template_view(world: World, record: JsonObject) -> TemplateView:
    """A template with its id, its account (None: the whole account shares it), and why it has its status.

    `legal` are the statuses that may follow.
    """
    templates = Partner.of(world).templates
    template_id = templates.id_of(record)
    return TemplateView(
        template_id=template_id,
        chatapp_id=record.get("waba_id"),
        name=record["name"],
        language=record["language"],
        category=record["category"],
        status=templates.status(record),
        legal=list(TEMPLATE.following(templates.status(record))),
        reason=templates.reasons.get(template_id),
        components=record["components"],
    )
