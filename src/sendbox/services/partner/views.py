"""Partner management as plain objects, for control and the hosted page; made on request, never kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.answer import moment
from sendbox.services.partner import answers
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.states import NUMBER, TEMPLATE

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.partner.records import BusinessAccount, BusinessNumber, Signup


def signup_view(world: World, signup: Signup) -> answers.SignupView:
    """A signup: its state, the code that its number waits for, its result, and what can be done to it (`legal`)."""
    return answers.SignupView(
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


def business_view(world: World, account: BusinessAccount) -> answers.BusinessView:
    """A business account with its numbers."""
    return answers.BusinessView(
        chatapp_id=account.id,
        name=account.name,
        partner_client_id=account.client_id,
        currency=account.currency,
        country=account.country,
        template_analytics=account.analytics,
        numbers=[number_view(number) for number in Partner.of(world).numbers_of(account)],
    )


def number_view(number: BusinessNumber) -> answers.NumberView:
    """A business number; `legal` are the statuses that may follow."""
    return answers.NumberView(
        phone_number_id=number.id,
        chatapp_id=number.account_id,
        phone_number=number.phone_number,
        name=number.name,
        status=number.status,
        quality=number.quality,
        legal=list(NUMBER.following(number.status)),
    )


def template_view(world: World, record: dict[str, Any]) -> answers.TemplateView:
    """A template with its id, its account (None: the whole account shares it), and why it has its status.

    `legal` are the statuses that may follow.
    """
    templates = Partner.of(world).templates
    template_id = templates.id_of(record)
    return answers.TemplateView(
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
