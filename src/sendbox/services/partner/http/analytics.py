"""Statistics (§4.3, A45): messages, conversations, templates, and the switch for those of templates."""

from __future__ import annotations

from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import success
from sendbox.services.numbers.normal import normalize
from sendbox.services.numbers.plan import codes
from sendbox.services.partner import analytics as analytics
from sendbox.services.partner.http.decode import Request, moment, refusal
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, Failure
from sendbox.services.ports import account_of


def message_statistics(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/analytics/messages`: what was sent and what arrived."""
    query = _query(exchange, request)
    world = exchange.world
    numbers = [number.phone_number for number in Partner.of(world).numbers_of(query.account)]
    counted = [number for number in numbers if query.phone_numbers is None or number in query.phone_numbers]
    countries = analytics.countries_of(world, query) if query.countries is None else sorted(query.countries)
    points = analytics.messages(world, query)
    return success(
        granularity=request["granularity"], phone_numbers=counted, country_codes=countries, data_points=points
    )


def conversation_statistics(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/analytics/conversations`: how many began, and what they cost."""
    return success(data_points=analytics.conversations(exchange.world, _query(exchange, request)))


def template_statistics(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/analytics/templates`: the results of each template by day, once that is enabled."""
    world = exchange.world
    query = _query(exchange, request)
    if not query.account.analytics:
        text = (
            f"statistics of templates are not enabled for {query.account.id}; call /chatapp/analytics/templates/enable"
        )
        raise Failure(text, "$.waba_id", "not-enabled", assumed="A45")
    data = []
    for template_id in request["template_ids"]:
        record = Partner.of(world).templates.get(query.account, template_id)
        points = analytics.templates(world, query, record)
        data.append({"template_id": template_id, "granularity": "DAILY", "data_points": points})
    return success(data=data)


def enable_template_statistics(_exchange: Exchange, _request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/analytics/templates/enable`: statistics of templates can be asked for from now on."""
    account.analytics = True
    return success(result={"success": True})


def _query(exchange: Exchange, request: Request) -> analytics.Query:
    """What is asked for. Raises `Refused` for a time that ends before it begins, `Failure` for another's account."""
    start, end = moment(request["start"], "$.start"), moment(request["end"], "$.end")
    if end <= start:
        text = f"{request['end']} is not after the start, {request['start']} (§4.3, A45)"
        raise refusal([Finding("$.end", "order", text, "§4.3", "A45")])
    account: BusinessAccount = Partner.of(exchange.world).account(request["waba_id"], exchange.bearer)
    numbers, countries = request.get("phone_numbers"), request.get("country_codes")
    prefix = account_of(exchange.world).country
    return analytics.Query(
        account,
        start,
        end,
        request.get("granularity", "DAILY"),
        frozenset(normalize(each, prefix) or each for each in numbers) if numbers else None,
        frozenset(_iso(each) for each in countries) if countries else None,
    )


def _iso(country: str) -> str:
    """The ISO code of a country that is named by it, or by its calling code."""
    text = country.strip().lstrip("+").upper()
    code = codes().get(text)
    return text if code is None else code.country
