"""Statistics (§4.3, A45): messages, conversations, templates, and the switch for those of templates."""

from __future__ import annotations

from typing import Any

from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.numbers.normal import normalize
from sendbox.services.numbers.plan import codes
from sendbox.services.partner import analytics as analytics
from sendbox.services.partner.http.decode import moment, read
from sendbox.services.partner.http.encode import done
from sendbox.services.partner.http.errors import refusal
from sendbox.services.partner.http.signups import granted
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, Failure
from sendbox.services.ports import account_of


def message_statistics(exchange: Exchange) -> Answer:
    """`POST /chatapp/analytics/messages`: what was sent and what arrived."""
    given = read(exchange)
    asked = _asked(exchange, given)
    world = exchange.world
    numbers = [number.phone_number for number in Partner.of(world).numbers_of(asked.account)]
    counted = [number for number in numbers if asked.phone_numbers is None or number in asked.phone_numbers]
    countries = analytics.countries_of(world, asked) if asked.countries is None else sorted(asked.countries)
    points = analytics.messages(world, asked)
    return done(granularity=given["granularity"], phone_numbers=counted, country_codes=countries, data_points=points)


def conversation_statistics(exchange: Exchange) -> Answer:
    """`POST /chatapp/analytics/conversations`: how many began, and what they cost."""
    given = read(exchange)
    return done(data_points=analytics.conversations(exchange.world, _asked(exchange, given)))


def template_statistics(exchange: Exchange) -> Answer:
    """`POST /chatapp/analytics/templates`: what became of each template, by day; only once that was enabled."""
    given = read(exchange)
    world = exchange.world
    asked = _asked(exchange, given)
    if not asked.account.analytics:
        text = (
            f"statistics of templates are not enabled for {asked.account.id}; call /chatapp/analytics/templates/enable"
        )
        raise Failure(text, "$.waba_id", "not-enabled", assumed="A45")
    data = []
    for template_id in given["template_ids"]:
        record = Partner.of(world).templates.get(asked.account, template_id)
        points = analytics.templates(world, asked, record)
        data.append({"template_id": template_id, "granularity": "DAILY", "data_points": points})
    return done(data=data)


def enable_template_statistics(exchange: Exchange) -> Answer:
    """`POST /chatapp/analytics/templates/enable`: statistics of templates can be asked for from now on."""
    given = read(exchange)
    Partner.of(exchange.world).account(given["waba_id"], granted(exchange)).analytics = True
    return done(result={"success": True})


def _asked(exchange: Exchange, given: dict[str, Any]) -> analytics.Asked:
    """What is asked for. Raises `Refused` for a time that ends before it begins, `Failure` for another's account."""
    start, end = moment(given["start"], "$.start"), moment(given["end"], "$.end")
    if end <= start:
        text = f"{given['end']} is not after the start, {given['start']} (§4.3, A45)"
        raise refusal([Finding("$.end", "order", text, "§4.3", "A45")])
    account: BusinessAccount = Partner.of(exchange.world).account(given["waba_id"], granted(exchange))
    numbers, countries = given.get("phone_numbers"), given.get("country_codes")
    prefix = account_of(exchange.world).country
    return analytics.Asked(
        account,
        start,
        end,
        given.get("granularity", "DAILY"),
        frozenset(normalize(each, prefix) or each for each in numbers) if numbers else None,
        frozenset(_iso(each) for each in countries) if countries else None,
    )


def _iso(given: str) -> str:
    """The ISO code of a country that is given by it, or by its calling code."""
    text = given.strip().lstrip("+").upper()
    code = codes().get(text)
    return text if code is None else code.country
