"""`/credit`, `/credit/services`, `/credit/order`: credit, and services that can be ordered (§2.5, §4.4; A31, A94)."""

from __future__ import annotations

from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.regex import regex
from sendbox.services.account import orders
from sendbox.services.account.account import Account
from sendbox.services.account.http.keys import may_change, tax_and_zone
from sendbox.services.account.orders import NoCredit, NoSender, Service, fee_of
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import decimal, lacks, read_body, refuse, success
from sendbox.services.numbers import normal as numbers

#: A sender name: at most 11 characters (§8), a letter among them, or it would be a number.
_NAME: Final = regex(r"(?=[^A-Za-z]*[A-Za-z])[^+\x00-\x1f][^\x00-\x1f]{0,10}")
_MISSING: Final = "Missing required service fields in request data"


def balance(exchange: Exchange) -> Answer:
    """`GET /credit`: the credit of the key that calls, in the currency of its balance (A94)."""
    billing = Account.of(exchange.world).billing_of(exchange.key)
    amounts = {
        f"credit_{currency}": decimal(billing.balance if currency.upper() == billing.currency else 0)
        for currency in ("czk", "eur")
    }
    credit = {"priceLevels": {}, **amounts, "billing_id": billing.subid, **tax_and_zone(billing)}
    return success(credit=credit)


def services(_exchange: Exchange) -> Answer:
    """`GET /credit/services`: the catalog (§4.4)."""
    return success(services=orders.tree())


def order(exchange: Exchange) -> Answer:
    """`POST /credit/order`: a service by its flat id; with `dryrun` only its fee (§4.4, A31)."""
    may_change(exchange)
    request = read_body(exchange, _MISSING, "service_id", "period")
    service = orders.services().get(request["service_id"])
    if service is None:
        raise refuse("Invalid service id", "$.service_id", "service", "§4.4", "A31", 500)
    billing = Account.of(exchange.world).billing_of(exchange.key)
    subject = _subject(exchange, service, request)
    if request.get("dryrun"):
        return success(
            order={
                "dryrun": True,
                "total_fee": fee_of(service, billing.currency) / 1_000_000,
                "currency": billing.currency.lower(),
                "subject": subject,
                "service_id": service.id,
            }
        )
    period: str = request["period"]
    try:
        placed = Account.of(exchange.world).orders.place(service, subject, period, billing, exchange.content or b"")
    except NoCredit:
        exchange.order_sensitive = True
        raise refuse("Insufficient credit", "$.service_id", "credit", "§4.4", "A31", 500) from None
    return success(order={"subject": placed.subject, "subject_id": placed.subject, "status": placed.state})


def _subject(exchange: Exchange, service: Service, request: JsonObject) -> str:
    """The subject of the order: supplied by the customer, or a number of the pool (§2.5). Raises `Refused`."""
    if service.subject == "assigned":
        try:
            return Account.of(exchange.world).orders.next_number(service)
        except NoSender:
            text = "No available sender for this service"
            raise refuse(text, "$.service_id", "sender", "§4.4", "A31", 500) from None
    subject: str = request.get("subject") or ""
    if not subject:
        raise lacks(exchange, ["subject"], _MISSING)
    if service.kind == "number":
        number = numbers.normalize(subject, Account.of(exchange.world).country)
        if number is None:
            raise refuse("Invalid 'subject': a phone number is expected", "$.subject", "subject", "§2.5", "A31")
        return number
    if _NAME.fullmatch(subject) is None:
        text = "Invalid 'subject': a sender name of at most 11 characters is expected"
        raise refuse(text, "$.subject", "subject", "§8", "A31")
    return subject
