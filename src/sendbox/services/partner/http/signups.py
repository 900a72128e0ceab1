"""Signup, registration, accounts and numbers (§4.3, A38 to A41)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.remarks import Finding
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Refused
from sendbox.services.partner.http import tokens
from sendbox.services.partner.http.decode import read
from sendbox.services.partner.http.encode import account_record, done, number_record
from sendbox.services.partner.http.errors import missing
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Failure

if TYPE_CHECKING:
    from sendbox.services.partner.records import Signup

#: Optional texts of a signup that the hosted page shows and the account is made from (A38).
DETAILS: Final = ("partner_name", "partner_logo", "partner_finish_url", "name", "email", "website", "country")


def sign_up(exchange: Exchange) -> Answer:
    """`POST /chatapp/signup`: begins a signup; its token and the address of its hosted page come back (A38)."""
    given = read(exchange)
    tokens.loaded(deferred=True)  # before anything is done: what follows cannot be repeated
    signup = Partner.of(exchange.world).sign_up(
        given["phone_number"],
        given.get("partner_client_id"),
        {name: given[name] for name in DETAILS if given.get(name)},
        given["partner_callback_url"],
        exchange.key,
        exchange.content or b"",
    )
    token = tokens.issue(exchange.world, signup)
    return done(token=token, redirect_url=f"{exchange.origin}/signup/{signup.id}")


def register(exchange: Exchange) -> Answer:
    """`POST /chatapp/registration`: completes a signup without the page (A39)."""
    try:
        given = read(exchange)
    except Refused as refused:
        if refused.findings[0].rule == "required":  # as observed, though elsewhere a missing field is a 400 (A39)
            refused.status = 401
        raise
    if "phone_number_id" not in given and "country" not in given:
        raise missing("phone_number_id' or 'country")
    tokens.loaded(deferred=True)
    signup = tokens.check(exchange.world, given["token"])
    if isinstance(signup, str):
        text = f"the token is {signup}: it must be one that a signup of this key gave out less than an hour ago (§8)"
        raise Refused([Finding("$.token", "token", text, "§5", "A39")], 401, "Invalid or expired token")
    details = {name: given[name] for name in ("email", "website", "country") if given.get(name)}
    signup.details = {**signup.details, **details}
    if given.get("client_id") and signup.client_id is None:
        signup.client_id = given["client_id"]
    number = Partner.of(exchange.world).register(
        signup, given["waba_id"], given.get("phone_number_id"), given.get("country")
    )
    return done(phone_number_id=number.id, phone_number=number.phone_number)


def list_accounts(exchange: Exchange) -> Answer:
    """`POST /chatapp/accounts/list`: the connected accounts, those of one client or the one of an id (A40)."""
    given = read(exchange)
    accounts = [
        account
        for account in Partner.of(exchange.world).accounts.values()
        if given.get("client_id") in (None, account.client_id) and given.get("waba_id") in (None, account.id)
    ]
    if not accounts:
        raise Failure("No connected business account was found", "$", "none", assumed="A40")
    return done(accounts=[account_record(account) for account in accounts])


def verify_number(exchange: Exchange) -> Answer:
    """`POST /chatapp/phone_numbers/verify`: sends a number's verification code again (A41)."""
    given = read(exchange)
    code = given.get("code")
    if code is None and Assume.of(exchange.world).verify_code_required:
        raise missing("code")
    Partner.of(exchange.world).verify(given["phone_number"], code, granted(exchange))
    return done(message="The verification code was sent")


def check_number(exchange: Exchange) -> Answer:
    """`POST /chatapp/phone_numbers/check`: whether a number is there and can be used (A41)."""
    given = read(exchange)
    Partner.of(exchange.world).check(given["phone_number"], granted(exchange))
    return done()


def list_numbers(exchange: Exchange) -> Answer:
    """`POST /chatapp/phone_numbers/list`: the numbers of a business account (§4.3, §2.5)."""
    given = read(exchange)
    partner = Partner.of(exchange.world)
    account = partner.account(given["waba_id"], granted(exchange))
    return done(phone_numbers=[number_record(number) for number in partner.numbers_of(account)])


def granted(exchange: Exchange) -> Signup | None:
    """The signup whose token let the call in; None when a key did (§5.3)."""
    signup: Signup | None = exchange.bearer
    return signup
