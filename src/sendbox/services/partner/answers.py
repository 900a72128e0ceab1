"""Answers about partner management: signups, business accounts and their numbers, templates."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sendbox.engine.answer import Answer, Instant, enum, keywords
from sendbox.services.partner.states import MODES, QUALITIES

#: A part of a template as the contract of partner management has it.
TemplatePart = Annotated[dict[str, Any], keywords(description="A component of a template, as the request had it.")]


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
