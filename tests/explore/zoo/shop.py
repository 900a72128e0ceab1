"""The correct client of the zoo: a shop that notifies its customers, and takes what they answer.

It keeps its own records, and works off its own queue: `work` is what its timer calls. What a bug of the zoo gets wrong
is a method of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

import httpx

PRAGUE: Final = ZoneInfo("Europe/Prague")
#: Offers go out from eight in the morning until ten in the evening, by the customers' clock.
OPENS: Final = time(8)
CLOSES: Final = time(22)
#: So long a call that got no answer is left alone, before the shop asks what became of it.
ASKS: Final = timedelta(seconds=30)
#: The results of an attempt, from the first to the furthest.
RESULTS: Final = ("sending", "sent", "undelivered", "rejected", "failed", "delivered", "seen")
ARRIVED: Final = ("delivered", "seen")
#: Answers that a question waits for.
ANSWERS: Final = ("YES", "NO")
STOP: Final = "STOP"
#: The secret with which the service signs its webhooks, where it has one.
SECRET: Final = "s3cret"


@dataclass(slots=True)
class Notice:
    """A message of the shop: `state` is queued, unsure, taken, refused or dropped.

    `results` are the furthest by channel; of an announcement, which goes to several `phones`, by phone.
    """

    order: str
    phones: tuple[str, ...]
    body: str
    kind: str
    due: datetime
    state: str = "queued"
    results: dict[str, str] = field(default_factory=dict)
    tried: datetime | None = None


@dataclass(slots=True)
class Login:
    """A customer who is asked for a code; without a token the code has yet to be asked for."""

    phone: str
    due: datetime
    token: str = ""
    expires: datetime | None = None


class Shop:
    """The shop: it calls the service by `http`, is a WSGI application for webhooks, and asks `now` for the time."""

    def __init__(self, http: httpx.Client, now: Callable[[], datetime]) -> None:
        self.http = http
        self.now = now
        self.notices: dict[str, Notice] = {}
        self.logins: dict[str, Login] = {}
        self.stopped: set[str] = set()
        #: what each customer wrote
        self.said: dict[str, list[str]] = {}
        #: the number of receipts of each order
        self.receipts: Counter[str] = Counter()
        #: True if the service signs its webhooks
        self.signed = False
        self._seen: set[str] = set()
        self._told: set[str] = set()

    # -- what its owner does

    def notify(self, order: str, phone: str) -> None:
        """Tells a customer that an order is on its way: by rich message, else by SMS."""
        self._put(order, (phone,), f"Order {order} is on its way.", "notice")

    def ask(self, order: str, phone: str) -> None:
        """Asks a customer who answers YES or NO, and is thanked."""
        self._put(order, (phone,), f"Order {order} comes at noon. Are you at home? YES or NO.", "question")

    def offer(self, order: str, phone: str) -> None:
        """Sends an offer, by day, to who wants it."""
        if phone not in self.stopped:
            self._put(order, (phone,), f"Offer {order} is for you. STOP ends offers.", "offer")

    def remind(self, order: str, phone: str) -> None:
        """Reminds a customer of an order, by the simple interface."""
        self._put(order, (phone,), f"Order {order} waits for you.", "reminder")

    def announce(self, order: str, phones: Iterable[str]) -> None:
        """Tells several customers of an order at once, by SMS."""
        self._put(order, tuple(phones), f"Order {order} has a new day.", "announcement")

    def log_in(self, phone: str) -> None:
        """Has a code sent to a customer."""
        self.logins[phone] = self.login(phone)
        self.work()

    def enter(self, phone: str, code: str) -> str:
        """A customer enters a code: welcome, wrong, or later where nobody knows yet."""
        login = self.logins[phone]
        if not login.token:
            return "later"
        answer = self._call("POST", f"/v1/validations/{login.token}/verify", json={"code": code})
        if answer is None or not (answer.is_success or answer.status_code == 400):
            return "later"
        return "welcome" if answer.is_success else "wrong"

    # -- what its pages show

    def state(self, order: str) -> str:
        """What became of a message: waiting, arrived, or lost."""
        notice = self.notices[order]
        if self.channels(order):
            return "arrived"
        last = notice.results.get("sms")
        return "lost" if notice.state == "refused" or last in RESULTS[2:] else "waiting"

    def channels(self, order: str) -> set[str]:
        """The channels by which a message arrived; the shop pays for each."""
        return {channel for channel, result in self.notices[order].results.items() if self.has_it(result)}

    def missed(self, order: str) -> set[str]:
        """The customers whom an announcement cannot reach."""
        notice = self.notices[order]
        if notice.state == "refused":
            return set(notice.phones)
        return {phone for phone, result in notice.results.items() if result in ("rejected", "failed", "undelivered")}

    def code_is_valid(self, phone: str) -> bool:
        """Whether the page still asks for the code."""
        expires = self.logins[phone].expires
        return expires is not None and self.is_open(expires)

    # -- what its timer does

    @property
    def due(self) -> datetime | None:
        """When `work` has something to do, None where it has not."""
        notices = (notice.due for notice in self.notices.values() if notice.state in ("queued", "unsure"))
        logins = (login.due for login in self.logins.values() if not login.token)
        return min((*notices, *logins), default=None)

    def work(self) -> None:
        """Sends what is due, and asks what became of calls that got no answer."""
        now = self.now()
        for notice in list(self.notices.values()):
            if notice.kind == "offer" and notice.state == "queued":
                notice.due = max(notice.due, self.opening(now))
                if not self.is_wanted(notice):
                    notice.state = "dropped"
            if notice.due > now:
                continue
            if notice.state == "unsure":
                self._ask_about(notice)
            elif notice.state == "queued":
                self._send(notice)
        for login in self.logins.values():
            if not login.token and login.due <= now:
                self._ask_for_code(login)

    # -- what a bug gets wrong

    def is_new(self, delivery: str) -> bool:
        """Whether a delivery of webhooks did not come before."""
        if delivery in self._seen:
            return False
        self._seen.add(delivery)
        return True

    def is_new_event(self, event: Mapping[str, Any]) -> bool:
        """Whether an event did not come before, in another delivery."""
        text = json.dumps(event, sort_keys=True)
        if text in self._told:
            return False
        self._told.add(text)
        return True

    def is_genuine(self, body: bytes, signature: str) -> bool:
        """Whether a delivery comes from the service."""
        return hmac.compare_digest(hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest(), signature)

    def count(self, orders: Iterable[str]) -> None:
        """Counts the receipts of a delivery."""
        self.receipts.update(orders)

    def notice_of(self, event: Mapping[str, Any]) -> Notice | None:
        """The notice that an event is about."""
        payload = event.get("payload") or {}
        return self.notices.get(payload.get("order") or payload.get("customID") or "")

    def taken(self, notice: Notice, answer: httpx.Response) -> None:
        """The service has taken a message, its webhooks may have come already."""
        notice.state = "taken"
        if notice.kind == "announcement":
            self.refuse(notice, answer)

    def refuse(self, notice: Notice, answer: httpx.Response) -> None:
        """Takes down the customers of an announcement whom the answer refuses."""
        for entry in answer.json()["rejected"]:
            notice.results[notice.phones[int(entry["key"])]] = "rejected"

    def is_wanted(self, notice: Notice) -> bool:
        """Whether an offer that has waited is still wanted."""
        return self.stopped.isdisjoint(notice.phones)

    def login(self, phone: str) -> Login:
        """A customer who is asked for a code of its own."""
        return Login(phone, self.now())

    def events(self, body: bytes) -> Iterable[Mapping[str, Any]]:
        """The events of a delivery."""
        events: list[Mapping[str, Any]] = json.loads(body)
        return events

    def record(self, notice: Notice, channel: str, result: str) -> None:
        """Takes a result down: of a channel the furthest counts, whatever came first."""
        before = notice.results.get(channel, RESULTS[0])
        notice.results[channel] = max(before, result, key=RESULTS.index)

    def has_it(self, result: str) -> bool:
        """Whether a result says that the customer has it."""
        return result in ARRIVED

    def unanswered(self, notice: Notice, answer: httpx.Response | None) -> None:
        """A call got no answer, or an error: it may have had its effect."""
        notice.state = "unsure"
        notice.due = self.now() + ASKS

    def wrote(self, phone: str, notice: Notice | None, text: str) -> None:
        """A customer writes, most often to answer a message."""
        said = self.said.setdefault(phone, [])
        said.append(text)
        if notice is not None and notice.kind == "question" and text.strip().upper() in ANSWERS:
            number = len(said)  # no two messages have the same text: it is how `_ask_about` knows them
            self._put(f"{notice.order} thanks {number}", (phone,), f"Thank you for answer {number}.", "thanks")

    def wants_no_more(self, text: str) -> bool:
        """Whether a customer wants no more offers."""
        return text.strip().upper() == STOP

    def too_many(self, notice: Notice, answer: httpx.Response) -> None:
        """The service has refused a call, as there were too many: it says how long it is to be left alone."""
        notice.due = self.now() + timedelta(seconds=int(answer.headers.get("Retry-After", "1")))

    def was_taken(self, answer: httpx.Response) -> bool:
        """Whether the service has taken a message: a status of 200 is not enough."""
        told = answer.json()
        return answer.is_success and bool(told.get("accepted"))

    def is_open(self, expires: datetime) -> bool:
        """Whether a code that expires then is still taken."""
        return self.now() < expires

    def local(self, instant: datetime) -> datetime:
        """An instant by the customers' clock."""
        return instant.astimezone(PRAGUE)

    # -- sending

    def opening(self, now: datetime) -> datetime:
        """The first instant from this one on at which offers may go out."""
        local = self.local(now)
        if OPENS <= local.time() < CLOSES:
            return now
        day = local.date() + timedelta(days=1 if local.time() >= CLOSES else 0)
        zone: tzinfo | None = local.tzinfo
        return datetime.combine(day, OPENS, zone).astimezone(UTC)

    def _put(self, order: str, phones: tuple[str, ...], body: str, kind: str) -> None:
        self.notices[order] = Notice(order, phones, body, kind, self.now())
        if kind != "thanks":  # those are sent by the timer: their webhook is to be answered first
            self.work()

    def _send(self, notice: Notice) -> None:
        notice.tried = self.now()
        answer = self.submit(notice)
        if answer is not None and answer.status_code == 429:
            self.too_many(notice, answer)
        elif answer is None or answer.status_code >= 500:
            if notice.state == "queued":  # a webhook may have come already, and said that it was taken
                self.unanswered(notice, answer)
        elif self.was_taken(answer):
            self.taken(notice, answer)
        else:
            notice.state = "refused"

    def submit(self, notice: Notice) -> httpx.Response | None:
        """Makes the call for a message."""
        if notice.kind == "reminder":
            form = {"phone_number": notice.phones[0], "message": notice.body, "customID": notice.order}
            return self._call("POST", "/v2/simple/message", data=form)
        message: dict[str, Any] = {
            "to": [{"phone_number": phone} for phone in notice.phones],
            "body": notice.body,
            "payload": {"order": notice.order},
            "callback": "https://shop.example/webhooks",
            "tag": "promotional" if notice.kind == "offer" else "transactional",
        }
        if notice.kind == "notice":
            message["flow"] = [{"richmsg": {"sender": "Shop", "ttl": 1}}, {"sms": {"sender": "Shop"}}]
        return self._call("POST", "/v2/message", json=message)

    def _ask_about(self, notice: Notice) -> None:
        """Looks in the service's list whether a message was taken; it is sent again where it was not."""
        assert notice.tried is not None
        missing = []
        for phone in notice.phones:
            answers = [self._list(day, phone) for day in sorted({_day(notice.tried), _day(self.now())})]
            if any(answer is None or not answer.is_success for answer in answers):
                notice.due = self.now() + ASKS
                return
            rows = [row for answer in answers if answer is not None for row in answer.json()["messages"]]
            if not any(row["body"] == notice.body for row in rows):
                missing.append(phone)
        notice.state = "taken" if len(missing) < len(notice.phones) else "queued"
        if notice.state == "taken":
            notice.results.update(dict.fromkeys(missing, "rejected"))

    def _list(self, day: str, phone: str) -> httpx.Response | None:
        return self._call("GET", "/v1/messages", params={"date": day, "phone_number": phone})

    def _ask_for_code(self, login: Login) -> None:
        answer = self._call("POST", "/v1/validations", json={"phoneNumber": login.phone})
        if answer is None or not answer.is_success:
            login.due = self.now() + ASKS
            return
        told = answer.json()
        login.token, login.expires = told["token"], datetime.fromisoformat(told["expiresAt"])

    def _call(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """The answer to a call; None where none came."""
        try:
            return self.http.request(method, path, **more)
        except httpx.TransportError:
            return None

    # -- webhooks

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Takes a delivery of webhooks."""
        body = environ["wsgi.input"].read()
        if self.signed and not self.is_genuine(body, environ.get("HTTP_X_REQUEST_SIGNATURE", "")):
            start_response("401 Unauthorized", [])
            return []
        if self.is_new(environ["HTTP_X_REQUEST_ID"]):
            events = [event for event in self.events(body) if self.is_new_event(event)]
            notices = [notice for event in events if event["type"] == "outgoing" and (notice := self.notice_of(event))]
            self.count(notice.order for notice in notices)
            for event in events:
                self._take(event)
        start_response("200 OK", [])
        return []

    def _take(self, event: Mapping[str, Any]) -> None:
        notice = self.notice_of(event)
        if event["type"] == "outgoing":
            if notice is not None:
                notice.state = "taken"  # also where the call got no answer
                of = event["to"]["phone_number"] if notice.kind == "announcement" else event["gateway"]
                self.record(notice, of, event["result"])
            return
        if self.wants_no_more(event["body"]):
            self.stopped.add(event["sender"])
        self.wrote(event["sender"], notice, event["body"])


def _day(instant: datetime) -> str:
    return instant.astimezone(UTC).date().isoformat()
