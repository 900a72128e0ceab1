"""A world: it takes calls, lets time pass, and keeps what becomes of each message."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, Final

from tests.model import lifecycle, money, numbers, requests, texts, windows
from tests.model.lifecycle import BAD, RANKS, REFUSALS, Move
from tests.model.requests import Json
from tests.model.rows import Attempt, Message, event
from tests.model.webhooks import NO_ANSWER, Batch, Target, carry_out, split
from tests.model.windows import EPOCH

PAUSES: Final = [30_000, 60_000, 120_000, 240_000]


def channel_of(gateway: str) -> str:
    """The channel of a step; both steps of the messaging app are one."""
    return gateway.partition("_")[0]


class World:
    """The second opinion. `reached` counts what happened in it, by words of the specification."""

    def __init__(self, scenario: Json, start: int) -> None:
        self.account: Json = scenario["account"]
        self.assume: Json = scenario["assume"]
        self.scenario = scenario
        self.now = start
        currency = self.account["currency"].lower()
        self.balance = money.Balance(currency, Decimal(str(self.account["credit"][currency])))
        self.timing = dict(lifecycle.USUAL)
        self.timing |= {state: lifecycle.duration(time) for state, time in self.assume.get("timing", {}).items()}
        self.messages: list[Message] = []
        self.batches: list[Batch] = []
        self.reached: Counter[str] = Counter()
        self._lists = {"blacklist": self._listed("blacklist"), "optout": self._listed("optout")}
        self._calls = 0
        self._steps: list[tuple[int, int, int, int, Callable[[], None]]] = []
        self._place = count()
        self._outgoing: dict[Target, list[Json]] = {}

    def _listed(self, name: str) -> dict[str, int]:
        return dict.fromkeys(self.account.get(name, []), self.now)

    # -- calls

    def send(self, body: Any) -> Json:
        """A call of `/message` (an object) or `/messages` (a list): the status of the answer, and its keys."""
        several = isinstance(body, list)
        objects = body if several else [body]
        call, self._calls = self._calls, self._calls + 1
        if not 1 <= len(objects) <= 10 or not all(requests.legal(message) for message in objects):
            self.reached["400"] += 1
            return {"status": 400}
        answer: Json = {"status": 200, "accepted": [], "rejected": []}
        by_object = several and self.assume.get("messages_accepted") != "recipient"
        for index, message in enumerate(objects):
            taken = []
            for place, recipient in enumerate(message["to"]):
                key = f"{index}-{place}" if several else str(place)
                refused = self._accept(message, recipient["phone_number"], f"{call}/{index}-{place}")
                taken.append(not refused)
                if not by_object:
                    answer["rejected" if refused else "accepted"].append(key)
                if refused:
                    self.reached[f"in the response: {refused}"] += 1
            if by_object:
                answer["accepted" if any(taken) else "rejected"].append(str(index))
        return answer

    def _accept(self, request: Json, to: str, name: str) -> str | None:
        """A recipient is accepted, unless the answer says at once that it is not (A08)."""
        phone, steps = numbers.normalized(to), requests.flow_of(request)
        if any(gateway == "chatapp_template" and not requests.fits(step, self.templates) for gateway, step in steps):
            return "variables"
        if phone is None and (self.assume.get("invalid_number") == "response" or not to.strip()):
            return "number"
        tags = requests.tags_of(request)
        target = Target.of(request.get("callback"), self.account["default_callback_url"])
        message = Message(
            name, len(self.messages), phone or to, phone, numbers.country(phone), request, tags, steps, target
        )
        self.messages.append(message)
        self._at(self._first(request, tags, message), message, 0, lambda: self._begin(message, 0))
        return None

    def _hours(self, tags: list[str], message: Message) -> Json | None:
        """The hours that a promotional message keeps, if there are any for its country and channel (A84)."""
        hours = self.assume.get("promotional_window")
        if hours is None or "promotional" not in tags:
            return None
        named = hours if isinstance(hours, dict) else {"hours": hours}
        if message.country not in named.get("countries", [message.country]):
            return None
        first = message.steps[0][0]
        if first not in named.get("channels", [first]):
            return None
        self.reached["hours of countries and channels"] += hours is named
        start, end = named["hours"].split("-")
        return {"start": start, "end": end, "tz": named.get("tz", "UTC")}

    def _first(self, request: Json, tags: list[str], message: Message) -> int:
        """When a message is handed over: `datetime`, then the windows (§2.1, A18, A84)."""
        now = EPOCH + timedelta(milliseconds=self.now)
        planned = windows.due(now, request.get("datetime"))
        hours = self._hours(tags, message)
        open_in: list[Json] = [request["delivery_time"]] if "delivery_time" in request else []
        if hours is not None:
            open_in.append(hours)
        moment = windows.allowed(planned, open_in)
        if moment is None:  # the window is the law's (§2.1)
            self.reached["hours that its window never meets"] += 1
            moment = windows.opening(request["delivery_time"], planned)
        ends = {end for window in open_in for _, end in windows.spans(window, planned)}
        self.reached["a window ends at this instant"] += planned in ends
        self.reached["scheduled"] += planned > now
        self.reached["past datetime"] += "datetime" in request and planned == now
        self.reached["held by its window"] += "delivery_time" in request and moment > planned
        self.reached["held by quiet hours"] += moment > planned and len(open_in) > ("delivery_time" in request)
        self.reached["held by both"] += moment > planned and len(open_in) == 2
        return (moment - EPOCH) // timedelta(milliseconds=1)

    def listing(self, name: str, to: str) -> Json:
        """A call of `/blacklist` or `/optout`: in force after a while (A81)."""
        lines = [line for line in to.split("\n") if line.strip()]
        phones = [numbers.normalized(line) for line in lines]
        delay = lifecycle.duration(self.assume.get("list_delay", "1000ms"))
        for phone in phones:
            if phone is not None:
                known = self._lists[name].get(phone)
                self._lists[name][phone] = self.now + delay if known is None else min(known, self.now + delay)
        invalid = [line for line, phone in zip(lines, phones, strict=True) if phone is None]
        return {"status": 200, "accepted": len(lines) - len(invalid), "invalid": invalid}

    def top_up(self, credit: Json) -> None:
        """The account gets another credit."""
        self.balance.left = Decimal(str(credit[self.balance.currency]))

    @property
    def templates(self) -> list[Json]:
        """Those of the account."""
        templates: list[Json] = self.account["templates"]
        return templates

    # -- time

    def _at(self, at: int, message: Message, kind: int, action: Callable[[], None]) -> None:
        """At one instant a cause goes before its effect, a receipt before a ttl (A64), the older message first."""
        heapq.heappush(self._steps, (at, kind, message.order, next(self._place), action))

    def advance(self, by: int | None) -> None:
        """Time passes: so many milliseconds, or until nothing is left to do."""
        until = None if by is None else self.now + by
        while self._steps and (until is None or self._steps[0][0] <= until):
            if self._steps[0][0] > self.now:
                self._settle()
            self.now, *_, action = heapq.heappop(self._steps)
            action()
        self._settle()
        self.now = self.now if until is None else until

    def _settle(self) -> None:
        """The events of an instant leave, together by target (A22)."""
        for target, events in self._outgoing.items():
            self.batches += split(target, self.now, events, bundle=self.assume.get("bundle", True))
        self._outgoing = {}

    def deliver(self) -> None:
        """All webhooks are tried, which changes nothing else (A20)."""
        retry = self.assume.get("webhook_retry")
        carry_out(self.batches, PAUSES if retry is None else [lifecycle.duration(pause) for pause in retry])
        for batch in self.batches:
            ends = [end for _, end in batch.tries]
            self.reached["webhook: no answer"] += NO_ANSWER in ends
            self.reached["webhook: waited for another"] += batch.tries[0][0] > batch.at
            self.reached["webhook: delivered" if str(ends[-1]).startswith("2") else "webhook: given up"] += 1

    # -- attempts

    def _begin(self, message: Message, index: int) -> None:
        """An attempt is about to be handed over: it is checked, charged, and goes its way (A61)."""
        gateway, step = message.steps[index]
        sender: str = {**message.request, **step}["sender"]  # the drawn worlds always name one
        body = self._body(message, gateway, step)
        attempt = Attempt(index, step, gateway, sender, body, self.now)
        message.attempts.append(attempt)
        moves = self._way(message, gateway, len(message.attempts))
        parts = texts.segments(body) if gateway == "sms" else 1
        cost = money.price(self.assume["prices"], channel_of(gateway), message.phone or "", parts)
        if moves[0].state == "rejected":  # what is never sent costs nothing (§7.3)
            parts, cost = 0, money.FREE
        refusal = self._refusal(message, attempt) or (None if self.balance.pays(cost) else "credit")
        if refusal is not None:
            info, ends = REFUSALS[refusal]
            self.reached[f"refused: {refusal}"] += 1
            self.reached["credit ends inside a request"] += refusal == "credit" and not message.name.endswith("-0")
            message.over = ends
            self._happens(message, attempt, Move("rejected", 0, info), refused=True)
            return
        self.balance.charge(cost)
        attempt.cost, attempt.count = cost, parts
        self.reached[f"segments: {min(parts, 3)}"] += gateway == "sms" and parts > 0
        self._follow(message, attempt, moves)

    def _follow(self, message: Message, attempt: Attempt, moves: list[Move]) -> None:
        """What is left of the way of an attempt: each state so long after the one before."""

        def arrive() -> None:
            self._happens(message, attempt, moves[0])
            self._follow(message, attempt, moves[1:])

        if moves:
            self._at(self.now + moves[0].after, message, 0, arrive)

    def _body(self, message: Message, gateway: str, step: Json) -> str:
        """The text of a step: its own, else the root's (§2.1)."""
        if gateway == "chatapp_template":
            return requests.filled(step, self.templates)
        body = texts.cut({**message.request, **step}["body"])
        return texts.reduced(body) if gateway == "sms" and step.get("type") == "sms" else body

    def _way(self, message: Message, gateway: str, attempt: int) -> list[Move]:
        """The first rule that fits; without one the message is delivered."""
        channel = channel_of(gateway)
        for rule in self.scenario["attempts"]:
            if lifecycle.fits(rule.get("when", {}), message.to, channel, attempt, message.tags):
                return lifecycle.way(rule["then"], channel, self.timing)
        return lifecycle.way("delivered", channel, self.timing)

    def _phone(self, number: str, field: str, default: Any) -> Any:
        """What the scenario says of a phone."""
        entry: Json = next((phone for phone in self.scenario["phones"] if fnmatchcase(number, phone["number"])), {})
        return entry.get(field, default)

    def _refusal(self, message: Message, attempt: Attempt) -> str | None:
        """The check that refuses an attempt, but for the credit: those of the message first, then of the step (A62)."""
        phone, step, channel = message.phone, attempt.step, channel_of(attempt.gateway)
        if phone is None:
            return "number"
        if not any(fnmatchcase(phone, pattern) for pattern in self.assume.get("allowed", ["*"])):
            return "not allowed"
        lists = ("blacklist", "optout") if "promotional" in message.tags else ("blacklist",)
        if any(self._lists[name].get(phone, self.now + 1) <= self.now for name in lists):
            return "listed"
        strict = channel != "sms" or self.assume.get("sms_sender") == "strict"  # A59
        if strict and attempt.sender not in self.account["senders"][channel]:
            return "sender"
        if channel not in self._phone(phone, "channels", (channel,)):
            return "no app"
        if attempt.gateway == "chatapp_template":
            template = requests.template_of(step, self.templates)
            return None if template is not None and template["status"] == "APPROVED" else "template"
        closed = attempt.gateway == "chatapp_text" and self._phone(phone, "conversation", "closed") == "closed"
        return "conversation" if closed else None

    def _happens(self, message: Message, attempt: Attempt, move: Move, *, refused: bool = False) -> None:
        """An attempt comes to a state: an event is sent, and the flow may go on (§2.2, A04, A64)."""
        met = self._met(attempt)
        attempt.timeline.append((self.now, move.state, move.info))
        self.reached[f"{attempt.gateway}: {move.state}"] += 1
        self.reached["late receipt"] += attempt.left  # A05: reported all the same
        self.reached["receipt at the instant of its ttl"] += attempt.ends == self.now and not met and self._met(attempt)
        self._outgoing.setdefault(message.target, []).append(event(message, attempt, *attempt.timeline[-1]))
        if len(attempt.timeline) == 1 and "ttl" in attempt.step:  # `sending`, or what stands in its place
            attempt.ends = self.now + round(attempt.step["ttl"] * 60_000)
            self._at(attempt.ends, message, 1, lambda: self._go_on(message, attempt, "ttl"))
        at_once = refused or self.assume.get("fallback_on_failure", "at_once") == "at_once"
        if move.state in BAD and at_once:
            self._go_on(message, attempt, "refused step" if refused else "bad end")

    @staticmethod
    def _condition(attempt: Attempt) -> str:
        """The `ttl_condition` of a step, or its default (§2.2, A03)."""
        condition: str = attempt.step.get("ttl_condition", "sent" if attempt.gateway == "sms" else "delivered")
        return condition

    def _met(self, attempt: Attempt) -> bool:
        """A condition is met by its state or a later one (A64)."""
        return attempt.rank >= RANKS[self._condition(attempt)]

    def _go_on(self, message: Message, attempt: Attempt, why: str) -> None:
        """The next step is used, once, unless the condition is met or the message is over."""
        last = attempt.number + 1 == len(message.steps)
        if attempt.left or last or message.over:
            return
        if self._met(attempt):
            self.reached[f"{why}, but {self._condition(attempt)} was met"] += 1
            return
        attempt.left = True
        self.reached[f"the flow goes on: {why}"] += 1
        self.reached[f"not met: {self._condition(attempt)}"] += why == "ttl"
        self.reached["the flow goes on after a bad end by its ttl"] += why == "ttl" and attempt.state in BAD
        self._begin(message, attempt.number + 1)
