"""Handlers of signup, registration, accounts and numbers (§4.3, A38 to A41)."""

from __future__ import annotations

from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.requests import choose_name
from sendbox.services.http.rest import success
from sendbox.services.numbers.countries import country
from sendbox.services.partner.http import tokens
from sendbox.services.partner.http.decode import Request, missing
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import MODES, BusinessAccount, BusinessNumber, Failure

#: Fields of a signup that the hosted page shows, and from which the account is made (A38).
PAGE_DETAILS: Final = ("partner_name", "partner_logo", "partner_finish_url", "country")
#: Fields of a signup about the client, with the names that they have in the details (A38).
CLIENT_DETAILS: Final = {"ca_name": "name", "ca_email": "email", "ca_website": "website"}
#: Fields of a registration about the client (A39).
REGISTRATION_DETAILS: Final = ("description", "logo", "email", "website", "country")


def sign_up(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/signup`: begins a signup; the answer has its token and the address of its hosted page (A38)."""
    tokens.load_jwt(deferred=True)  # before anything changes, since a change cannot be made twice
    names = {
        detail: choose_name(request, own, detail, "§4.3", exchange.advice) for own, detail in CLIENT_DETAILS.items()
    }
    names |= {detail: detail for detail in PAGE_DETAILS}
    signup = Partner.of(exchange.world).sign_up(
        request.get("phone_number", MODES[0]),
        request.get("partner_client_id"),
        {detail: request[name] for detail, name in names.items() if request.get(name)},
        request.get("partner_callback_url"),
        exchange.key,
        exchange.content or b"",
    )
    token = tokens.issue(exchange.world, signup)
    return success(token=token, redirect_url=f"{exchange.origin}/signup/{signup.id}")


def register(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/registration`: completes a signup without the page (A39)."""
    if "phone_number_id" not in request and "country" not in request:
        raise missing("phone_number_id' or 'country")
    tokens.load_jwt(deferred=True)
    signup = tokens.check(exchange.world, request["token"])
    if isinstance(signup, str):
        text = f"the token is {signup}: it must be one that a signup of this key returned less than an hour ago (§8)"
        raise Failure(text, "$.token", "token", "§5")
    details = {name: request[name] for name in REGISTRATION_DETAILS if request.get(name)}
    signup.details = {**signup.details, **details}
    if request.get("client_id") and signup.client_id is None:
        signup.client_id = request["client_id"]
    number = Partner.of(exchange.world).register(
        signup, request["waba_id"], request.get("phone_number_id"), request.get("country")
    )
    return success(phone_number_id=number.id, phone_number=number.phone_number)


def list_accounts(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/accounts/list`: the connected accounts: all, those of one client, or the one with an id (A40)."""
    accounts = [
        account
        for account in Partner.of(exchange.world).accounts.values()
        if request.get("client_id") in (None, account.client_id or "") and request.get("waba_id") in (None, account.id)
    ]
    if not accounts:
        raise Failure("No connected business account was found", "$", "none", assumed="A40")
    return success(accounts=[_account_record(account) for account in accounts])


def verify_number(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/phone_numbers/verify`: sends a number's verification code again (A41)."""
    code = request.get("code")
    if code is None and Assume.of(exchange.world).verify_code_required:
        raise missing("code")
    Partner.of(exchange.world).verify(request["phone_number"], code, exchange.bearer)
    return success(message="The verification code was sent")


def check_number(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/phone_numbers/check`: fails if a number does not exist or cannot be used (A41)."""
    Partner.of(exchange.world).check(request["phone_number"], exchange.bearer)
    return success()


def list_numbers(exchange: Exchange, _request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/phone_numbers/list`: the numbers of a business account (§4.3, §2.5)."""
    numbers = Partner.of(exchange.world).numbers_of(account)
    return success(phone_numbers=[_number_record(number) for number in numbers])


def _account_record(account: BusinessAccount) -> JsonObject:
    """The object for a connected business account in an answer (A40)."""
    return {
        "client_id": account.client_id or "",
        "chatapp_name": account.name,
        "chatapp_id": account.id,
        "chatapp_currency": account.currency,
        "chatapp_owner_name": account.name,
        "chatapp_owner_id": account.owner_id,
        "country": account.country,
    }


def _number_record(number: BusinessNumber) -> dict[str, str]:
    """The object for a number in an answer (§2.5); the service itself spells `phone_number_formated` so."""
    return {
        "name": number.name,
        "phone_number_id": number.id,
        "phone_number": number.phone_number,
        "phone_number_formated": format_number(number.phone_number),
        "phone_number_status": number.status,
        "phone_number_quality": number.quality,
    }


def format_number(number: str) -> str:
    """A number as people write it: `+`, calling code, the rest in groups of three."""
    place = country(number)
    code = number[:3] if place is None else place.code
    rest = number[len(code) :]
    groups = [rest[at : at + 3] for at in range(0, len(rest), 3)]
    if len(groups) > 1 and len(groups[-1]) == 1:  # no group has only one digit
        groups[-2:] = [groups[-2] + groups[-1]]
    return " ".join([f"+{code}", *groups])
