"""Statistics of a business account, computed from what its numbers really sent (§4.3, A45).

Nothing is counted while messages go out: each call walks the world's messages. A point stands for a stretch of UTC,
half an hour, a day or a month, and is there only when something happened in it. Instants in virtual milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.bounds import END
from sendbox.engine.durations import DAY, MINUTE, instant, iso
from sendbox.services.numbers.countries import country
from sendbox.services.partner.partner import Partner
from sendbox.services.ports import account_of, sending_of

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.partner.records import BusinessAccount
    from sendbox.services.ports import Tried

#: How long messages of one kind to one phone are one conversation.
CONVERSATION_MS: Final = DAY
#: What a free text is counted as: an answer to somebody who wrote.
SERVICE: Final = "SERVICE"


class Asked:
    """What a call asks for: a stretch of time (`end` is outside), its granularity, and whose messages.

    `phone_numbers` and `countries` (ISO codes) None mean all.
    """

    __slots__ = ("account", "countries", "end", "granularity", "phone_numbers", "start")

    def __init__(
        self,
        account: BusinessAccount,
        start: int,
        end: int,
        granularity: str = "DAY",
        phone_numbers: frozenset[str] | None = None,
        countries: frozenset[str] | None = None,
    ) -> None:
        self.account = account
        self.start = start
        self.end = end
        self.granularity = granularity
        self.phone_numbers = phone_numbers
        self.countries = countries


def messages(world: World, asked: Asked) -> list[dict[str, Any]]:
    """`{start, end, sent, delivered}`, oldest first."""
    points = _Points(asked, lambda: {"sent": 0, "delivered": 0})
    for attempt in _attempts(world, asked):
        points.add(attempt.sent_at, "sent")
        points.add(attempt.arrived_at, "delivered")
    return points.listed()


def conversations(world: World, asked: Asked) -> list[dict[str, Any]]:
    """`{start, end, conversation, cost, conversation_category, conversation_type, conversation_direction}`.

    What was delivered to one phone in one category within a day of the first is one conversation, of the time of that
    first. `cost` in the account's currency.
    """
    opened: dict[tuple[str, str], int] = {}
    found: dict[tuple[int, int, str], list[int]] = {}
    arrived = [(at, attempt) for attempt in _attempts(world, asked) if (at := attempt.arrived_at) is not None]
    for at, attempt in sorted(arrived, key=lambda pair: (pair[0], pair[1].message.ordinal, pair[1].number)):
        category = _category(world, attempt)
        key = (attempt.message.phone, category)
        first = opened.get(key)
        new = first is None or at >= first + CONVERSATION_MS
        begun = opened[key] = at if new or first is None else first
        if asked.start <= begun < asked.end:
            counts = found.setdefault((*stretch(begun, asked.granularity), category), [0, 0])
            counts[0] += new
            eur, czk = attempt.price or (0, 0)
            counts[1] += eur if account_of(world).currency == "EUR" else czk
    return [
        {
            "start": start // 1000,
            "end": end // 1000,
            "conversation": count,
            "cost": cost / 1_000_000,
            "conversation_category": category,
            "conversation_type": "REGULAR",
            "conversation_direction": "USER_INITIATED" if category == SERVICE else "BUSINESS_INITIATED",
        }
        for (start, end, category), (count, cost) in sorted(found.items())
    ]


def templates(world: World, asked: Asked, record: dict[str, Any]) -> list[dict[str, Any]]:
    """`{start, end, sent, delivered, read, clicked}` of one template, by day."""
    points = _Points(asked, lambda: {"sent": 0, "delivered": 0, "read": 0, "clicked": {}})
    used = {}
    for attempt in _attempts(world, asked):
        use = attempt.template
        if use is not None and (use.name, use.language) == (record["name"], record["language"]):
            points.add(attempt.sent_at, "sent")
            points.add(attempt.arrived_at, "delivered")
            points.add(attempt.seen_at, "read")
            used[attempt.message.id] = attempt
    for inbound in sending_of(world).written():
        pressed = None if inbound.message is None else used.get(inbound.message.id)
        if pressed is not None and (title := _pressed(world, pressed, inbound.body)) is not None:
            points.add(inbound.at, "clicked", title)
    return points.listed()


def stretch(at: int, granularity: str) -> tuple[int, int]:
    """Begin and end of the half hour, day or month of UTC in which an instant lies."""
    if granularity.startswith("MONTH"):
        year, month = int(iso(at)[:4]), int(iso(at)[5:7])
        begin = instant(f"{year:04}-{month:02}-01T00:00:00Z")
        later = begin + 31 * DAY  # always in the next month
        return begin, END + 1 if later > END else instant(f"{iso(later)[:7]}-01T00:00:00Z")
    size = 30 * MINUTE if granularity == "HALF_HOUR" else DAY
    return at // size * size, at // size * size + size


class _Points:
    """Counts by stretch of time."""

    def __init__(self, asked: Asked, empty: Callable[[], dict[str, Any]]) -> None:
        self._asked = asked
        self._empty = empty
        self._found: dict[tuple[int, int], dict[str, Any]] = {}

    def add(self, at: int | None, what: str, title: str | None = None) -> None:
        """Counts something that happened at an instant, if it did and the instant was asked for."""
        if at is None or not self._asked.start <= at < self._asked.end:
            return
        point = self._found.setdefault(stretch(at, self._asked.granularity), self._empty())
        if title is None:
            point[what] += 1
        else:
            point[what][title] = point[what].get(title, 0) + 1

    def listed(self) -> list[dict[str, Any]]:
        """The points, oldest first; clicks as a list."""
        listed = []
        for (start, end), point in sorted(self._found.items()):
            shown = {"start": start // 1000, "end": end // 1000, **point}
            if "clicked" in shown:
                shown["clicked"] = [
                    {"type": "quick_reply_button", "button_content": title, "count": count}
                    for title, count in shown["clicked"].items()
                ]
            listed.append(shown)
        return listed


def _attempts(world: World, asked: Asked) -> Iterator[Tried]:
    """Every attempt that numbers of the account made and that was handed over, of those asked for."""
    mine = {
        number.id
        for number in Partner.of(world).numbers_of(asked.account)
        if asked.phone_numbers is None or number.phone_number in asked.phone_numbers
    }
    for attempt in sending_of(world).tried("chatapp", mine):
        if asked.countries is None or _iso(attempt.message.phone) in asked.countries:
            yield attempt


def countries_of(world: World, asked: Asked) -> list[str]:
    """The ISO codes of the countries to which the account sent, in order."""
    return sorted({_iso(attempt.message.phone) for attempt in _attempts(world, asked)})


def _iso(phone: str) -> str:
    place = country(phone)
    return "" if place is None else place.iso


def _category(world: World, attempt: Tried) -> str:
    """The category of a conversation: the template's, or an answer."""
    use = attempt.template
    if use is None:
        return SERVICE
    template = account_of(world).template(use.name, use.language, attempt.sender)
    return "UTILITY" if template is None else template.category


def _pressed(world: World, attempt: Tried, body: str) -> str | None:
    """The title of the quick reply whose press this text is, None when it is none."""
    use = attempt.template
    template = None if use is None else account_of(world).template(use.name, use.language, attempt.sender)
    if use is None or template is None:
        return None
    given = use.buttons or []
    for at, button in enumerate(template.buttons):
        value = given[at] if at < len(given) else None
        payload = value.get("payload") if isinstance(value, dict) else None
        if button.type == "QUICK_REPLY" and body == (payload or button.text):
            return button.text
    return None
