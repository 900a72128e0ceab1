"""Statistics (§4.3, A45): messages, conversations, templates, and the switch for those of templates."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.engine.durations import DAY
from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Exchange
from sendbox.services.http.rest import success
from sendbox.services.numbers.countries import every
from sendbox.services.numbers.notation import normalize
from sendbox.services.partner import analytics
from sendbox.services.partner.http.decode import Request, moment, refusal
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount, Failure
from sendbox.services.ports import account_of

Fields = tuple[str, ...]

#: How far back statistics go where a call says nothing.
USUAL_MS: Final = 30 * DAY
#: Filters of conversations, each with the field that it looks at.
_FILTERS: Final = {
    "conversation_categories": "conversation_category",
    "conversation_types": "conversation_type",
    "conversation_directions": "conversation_direction",
}


def message_statistics(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/analytics/messages`: the counts of sent and delivered messages."""
    query = _query(exchange, request, "DAY")
    world = exchange.world
    numbers = [number.phone_number for number in Partner.of(world).numbers_of(query.account)]
    counted = [number for number in numbers if query.phone_numbers is None or number in query.phone_numbers]
    countries = analytics.countries_of(world, query) if query.countries is None else sorted(query.countries)
    points = analytics.messages(world, query)
    return success(granularity=query.granularity, phone_numbers=counted, country_codes=countries, data_points=points)


def conversation_statistics(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/analytics/conversations`: the number of conversations that began, and their cost."""
    query = replace(
        _query(exchange, request, "DAILY"),
        metrics=_fields(request, "metric_types", analytics.OF_CONVERSATIONS),
        dimensions=_fields(request, "dimensions", analytics.DIMENSIONS, analytics.USUAL),
        only={name: frozenset(legal) for key, name in _FILTERS.items() if (legal := request.get(key))},
    )
    return success(data_points=analytics.conversations(exchange.world, query))


def template_statistics(exchange: Exchange, request: Request) -> Answer:
    """`POST /chatapp/analytics/templates`: the results of each template by day, once that is enabled."""
    world = exchange.world
    metrics = _fields(request, "metric_types", analytics.OF_TEMPLATES)
    query = replace(_query(exchange, request, "DAILY"), metrics=metrics)
    if not query.account.analytics:
        text = (
            f"statistics of templates are not enabled for {query.account.id}; call /chatapp/analytics/templates/enable"
        )
        raise Failure(text, "$.waba_id", "not-enabled", assumed="A45")
    data = []
    for template_id in request["template_ids"]:
        record = Partner.of(world).templates.get(query.account, template_id)
        points = analytics.templates(world, query, record)
        data.append({"template_id": template_id, "granularity": query.granularity, "data_points": points})
    before, after = (b64encode(str(at).encode()).decode() for at in (0, len(data) - 1))
    return success(data=data, paging={"cursors": {"before": before, "after": after}})


def enable_template_statistics(_exchange: Exchange, _request: Request, account: BusinessAccount) -> Answer:
    """`POST /chatapp/analytics/templates/enable`: statistics of templates can be asked for from now on."""
    account.analytics = True
    return success(result={"success": True})


def _query(exchange: Exchange, request: Request, granularity: str) -> analytics.Query:
    """The query that a request asks for; its period is the last 30 days unless the request gives another.

    Raises `Refused` for a time that ends before it begins, `Failure` for another's account and an unknown country.
    """
    now = exchange.world.clock.now
    start = moment(request["start"], "$.start") if "start" in request else now - USUAL_MS
    end = moment(request["end"], "$.end") if "end" in request else now + 1  # what happens now is inside
    if end <= start:
        period = request.get("end", "now"), request.get("start", "30 days ago")
        text = f"{period[0]} is not after the start, {period[1]} (§4.3, A45)"
        raise refusal([Finding("$.end" if "end" in request else "$.start", "order", text, "§4.3", "A45")])
    account: BusinessAccount = Partner.of(exchange.world).account(request["waba_id"], exchange.bearer)
    numbers, countries = request.get("phone_numbers"), request.get("country_codes")
    prefix = account_of(exchange.world).country
    return analytics.Query(
        account,
        start,
        end,
        request.get("granularity", granularity),
        frozenset(normalize(number, prefix) or number for number in numbers) if numbers else None,
        frozenset(map(_iso, countries)) if countries else None,
    )


def _iso(country: str) -> str:
    """A country code, in capitals. Raises `Failure` if it is not one of ISO 3166."""
    code = country.strip().upper()
    if code not in {place.iso for place in every()}:
        text = f"{show(country)} is not a country code of ISO 3166, such as CZ"
        raise Failure(text, "$.country_codes", "country", assumed="A45")
    return code


def _fields(request: Request, name: str, legal: Mapping[str, str], usual: Mapping[str, str] | None = None) -> Fields:
    """The fields of points that a call asks for, by default the usual ones. Raises `Failure`."""
    words: list[str] = request.get(name, list(legal if usual is None else usual))
    for at, word in enumerate(words):
        if word not in legal:
            text = f"{show(word)} is not one of the {name}; legal: {', '.join(legal)}"
            raise Failure(text, f"$.{name}[{at}]", "word", assumed="A45")
    return tuple(dict.fromkeys(legal[word] for word in words))
