"""Statistics of a business account, computed from the messages that its numbers sent (§4.3, A45).

Nothing is counted while messages go out: each call reads the messages of the world. A point stands for a period of
UTC, half an hour, a day or a month, and exists only when something happened in it. Instants in virtual milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.bounds import END
from sendbox.engine.durations import DAY, MINUTE, instant, iso
from sendbox.engine.world import World
from sendbox.services.numbers.countries import country
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import BusinessAccount
from sendbox.services.ports import SentAttempt, account_of, sending_of

#: How long messages of one kind to one phone are one conversation.
CONVERSATION_MS: Final = DAY
#: The category of a free text: an answer to a person who wrote.
SERVICE: Final = "SERVICE"
#: What can be asked for, each with its field of a point.
OF_CONVERSATIONS: Final = {"CONVERSATION": "conversation", "COST": "cost"}
OF_TEMPLATES: Final = {"SENT": "sent", "DELIVERED": "delivered", "READ": "read", "CLICKED": "clicked"}
#: What conversations are told apart by, where a call says nothing, and what else there is.
USUAL: Final = {
    "CONVERSATION_CATEGORY": "conversation_category",
    "CONVERSATION_TYPE": "conversation_type",
    "CONVERSATION_DIRECTION": "conversation_direction",
}
DIMENSIONS: Final = {**USUAL, "COUNTRY": "country", "PHONE": "phone_number"}


class Query(msgspec.Struct, frozen=True):
    """The query of a call: a period (`end` is outside), its granularity, and the account whose messages count.

    `phone_numbers` and `countries` (ISO codes) None mean all. `metrics` and `dimensions` are fields of the points, and
    `only` are the legal values of some dimensions.
    """

    account: BusinessAccount
    start: int
    end: int
    granularity: str = "DAY"
    phone_numbers: frozenset[str] | None = None
    countries: frozenset[str] | None = None
    metrics: tuple[str, ...] = (*OF_CONVERSATIONS.values(), *OF_TEMPLATES.values())
    dimensions: tuple[str, ...] = tuple(USUAL.values())
    only: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)


def messages(world: World, query: Query) -> list[JsonObject]:
    """`{start, end, sent, delivered}`, oldest first."""
    points = _Points(query, lambda: {"sent": 0, "delivered": 0})
    for attempt in _attempts(world, query):
        points.add(attempt.sent_at, "sent")
        points.add(attempt.arrived_at, "delivered")
    return points.listed()


def conversations(world: World, query: Query) -> list[JsonObject]:
    """`{start, end}` with the metrics and the dimensions of the query.

    What a number delivered to one phone in one category within a day of the first is one conversation, at the time of
    the first. `cost` in the account's currency.
    """
    numbers = Partner.of(world).numbers
    opened: dict[tuple[str | None, str, str], int] = {}
    totals: dict[tuple[tuple[int, int], tuple[str, ...]], list[int]] = {}
    arrived = [(at, attempt) for attempt in _attempts(world, query) if (at := attempt.arrived_at) is not None]
    for at, attempt in sorted(arrived, key=lambda pair: (pair[0], pair[1].message.ordinal, pair[1].number)):
        category = _category(world, attempt)
        key = (attempt.sender, attempt.message.phone, category)
        opening = opened.get(key)
        begins = opening is None or at >= opening + CONVERSATION_MS
        began = opened[key] = at if begins or opening is None else opening
        about = {
            "conversation_category": category,
            "conversation_type": "REGULAR",
            "conversation_direction": "USER_INITIATED" if category == SERVICE else "BUSINESS_INITIATED",
            "country": _iso(attempt.message.phone),
            "phone_number": numbers[attempt.sender or ""].phone_number,
        }
        if query.start <= began < query.end and all(about[name] in legal for name, legal in query.only.items()):
            named = tuple(about[name] for name in query.dimensions)
            counts = totals.setdefault((stretch(began, query.granularity), named), [0, 0])
            counts[0] += begins
            eur, czk = attempt.price or (0, 0)
            counts[1] += eur if account_of(world).currency == "EUR" else czk
    points = []
    for ((start, end), values), (count, cost) in sorted(totals.items()):
        metrics = {"conversation": count, "cost": cost / 1_000_000}
        chosen = {name: value for name, value in metrics.items() if name in query.metrics}
        points.append({
            "start": start // 1000, "end": end // 1000, **chosen, **dict(zip(query.dimensions, values, strict=True)),
        })  # fmt: skip
    return points


def templates(world: World, query: Query, record: JsonObject) -> list[JsonObject]:
    """`{start, end}` of one template with the metrics of the query (`sent`, `delivered`, `read`, `clicked`), by day."""
    counters = [name for name in OF_TEMPLATES.values() if name in query.metrics]
    points = _Points(query, lambda: {name: {} if name == "clicked" else 0 for name in counters})
    sent_with = {}
    for attempt in _attempts(world, query):
        use = attempt.template
        if use is not None and (use.name, use.language) == (record["name"], record["language"]):
            points.add(attempt.sent_at, "sent")
            points.add(attempt.arrived_at, "delivered")
            points.add(attempt.seen_at, "read")
            sent_with[attempt.message.id] = attempt
    for inbound in sending_of(world).written():
        origin = None if inbound.message is None else sent_with.get(inbound.message.id)
        if origin is not None and (title := _pressed(world, origin, inbound.body)) is not None:
            points.add(inbound.at, "clicked", title)
    return points.listed()


def stretch(at: int, granularity: str) -> tuple[int, int]:
    """Start and end of the half hour, day or month of UTC in which an instant lies."""
    if granularity.startswith("MONTH"):
        year, month = int(iso(at)[:4]), int(iso(at)[5:7])
        begin = instant(f"{year:04}-{month:02}-01T00:00:00Z")
        later = begin + 31 * DAY  # always in the next month
        return begin, END + 1 if later > END else instant(f"{iso(later)[:7]}-01T00:00:00Z")
    size = 30 * MINUTE if granularity == "HALF_HOUR" else DAY
    return at // size * size, at // size * size + size


class _Points:
    """Counts by period."""

    def __init__(self, query: Query, empty: Callable[[], JsonObject]) -> None:
        self._query = query
        self._empty = empty
        self._points: dict[tuple[int, int], JsonObject] = {}

    def add(self, at: int | None, counter: str, title: str | None = None) -> None:
        """Counts what happened at an instant, None = it did not happen.

        An event outside the query, by its instant or its metric, is left out.
        """
        if at is None or not self._query.start <= at < self._query.end or counter not in self._query.metrics:
            return
        point = self._points.setdefault(stretch(at, self._query.granularity), self._empty())
        if title is None:
            point[counter] += 1
        else:
            point[counter][title] = point[counter].get(title, 0) + 1

    def listed(self) -> list[JsonObject]:
        """The points, oldest first; clicks as a list."""
        listed = []
        for (start, end), point in sorted(self._points.items()):
            view = {"start": start // 1000, "end": end // 1000, **point}
            if "clicked" in view:
                view["clicked"] = [
                    {"type": "quick_reply_button", "button_content": title, "count": count}
                    for title, count in view["clicked"].items()
                ]
            listed.append(view)
        return listed


def _attempts(world: World, query: Query) -> Iterator[SentAttempt]:
    """Every attempt of the query that was handed over."""
    senders = {
        number.id
        for number in Partner.of(world).numbers_of(query.account)
        if query.phone_numbers is None or number.phone_number in query.phone_numbers
    }
    for attempt in sending_of(world).tried("chatapp", senders):
        if query.countries is None or _iso(attempt.message.phone) in query.countries:
            yield attempt


def countries_of(world: World, query: Query) -> list[str]:
    """The ISO codes of the countries to which the account sent, in order."""
    return sorted({_iso(attempt.message.phone) for attempt in _attempts(world, query)})


def _iso(phone: str) -> str:
    place = country(phone)
    return "" if place is None else place.iso


def _category(world: World, attempt: SentAttempt) -> str:
    """The category of a conversation: the template's, or an answer."""
    use = attempt.template
    if use is None:
        return SERVICE
    template = account_of(world).template(use.name, use.language, attempt.sender)
    return "UTILITY" if template is None else template.category


def _pressed(world: World, attempt: SentAttempt, body: str) -> str | None:
    """The title of the quick reply that sends this text when it is pressed, None if there is none."""
    use = attempt.template
    template = None if use is None else account_of(world).template(use.name, use.language, attempt.sender)
    if use is None or template is None:
        return None
    values = use.buttons or []
    for position, button in enumerate(template.buttons):
        value = values[position] if position < len(values) else None
        payload = value.get("payload") if isinstance(value, dict) else None
        if button.type == "QUICK_REPLY" and body == (payload or button.text):
            return button.text
    return None
