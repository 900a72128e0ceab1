"""What is shown of a message: an event (§6), its row (§2.4, A65, A71), and its codes (A30)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from tests.model.lifecycle import BAD, RANKS
from tests.model.money import FREE
from tests.model.webhooks import Target
from tests.model.windows import EPOCH

DELIVERED: Final = {"delivered": "201", "seen": "202"}
#: The states in which an attempt counts as further than another (A64, A65).
FURTHER: Final = {"sent": 1, "delivered": 2, "seen": 3}


@dataclass
class Attempt:
    """One step of the flow that is tried."""

    number: int
    step: dict[str, Any]
    gateway: str
    sender: str
    body: str
    began: int
    timeline: list[tuple[int, str, str | None]] = field(default_factory=list)
    cost: dict[str, Decimal] = field(default_factory=lambda: dict(FREE))
    count: int = 0
    #: when its ttl has run out, once that is known
    ends: int | None = None
    #: the flow has gone on to the next step
    left: bool = False

    @property
    def state(self) -> str:
        """The last state."""
        return self.timeline[-1][1] if self.timeline else "accepted"

    @property
    def rank(self) -> int:
        """How far it got."""
        return max((RANKS.get(state, 0) for _, state, _ in self.timeline), default=0)


@dataclass
class Message:
    """One recipient's message."""

    name: str
    order: int
    to: str
    phone: str | None
    country: int
    request: dict[str, Any]
    tags: list[str]
    steps: list[tuple[str, dict[str, Any]]]
    target: Target
    attempts: list[Attempt] = field(default_factory=list)
    over: bool = False

    @property
    def shown(self) -> Attempt:
        """The attempt that a row shows: the last, or an earlier one that got further (A65)."""
        return max(reversed(self.attempts), key=lambda attempt: FURTHER.get(attempt.state, 0))


def event(message: Message, attempt: Attempt, at: int, state: str, info: str | None) -> dict[str, Any]:
    """The `sentMessage` event of a state (§6, A67)."""
    details: dict[str, Any] = {"sender": attempt.sender, "country": message.country, "count": attempt.count}
    details |= {f"price_{currency}": amount for currency, amount in attempt.cost.items()}
    if attempt.gateway != "richmsg":
        details["gateway"] = attempt.step.get("gateway", "high") if attempt.gateway == "sms" else "chatapp"
    shown: dict[str, Any] = {
        "message_id": message.name,
        "request_id": message.name.partition("/")[0],
        "gateway": attempt.gateway,
        "timestamp": at // 1000,
        "payload": message.request.get("payload", {}),
        "type": "outgoing",
        "to": {"phone_number": message.to},
        "result": state,
        "chatapp_body" if attempt.gateway == "chatapp_text" else attempt.gateway: details,
    }
    return shown if info is None else {**shown, "result_info": info}


def row(message: Message) -> dict[str, Any]:
    """The row of a message in the list of a day (§2.4)."""
    happened = sorted((at, state) for attempt in message.attempts for at, state, _ in attempt.timeline)
    first = {state: at for at, state in reversed(happened)}
    shown = message.shown
    return {
        "day": (EPOCH + timedelta(milliseconds=message.attempts[0].began)).date().isoformat(),
        "message_id": message.name,
        "message_parts": shown.count,
        "ts_sent": first.get("sent"),
        "ts_delivered": first.get("delivered"),
        "ts_seen": first.get("seen"),
        "ts_updated": happened[-1][0] if happened else None,
        "sent": int("sent" in first),
        "delivered": int("delivered" in first),
        "seen": int("seen" in first),
        "nondelivered": int(any(state in first for state in BAD)),
        "body": shown.body,
        "flow": shown.gateway,
        "sender": shown.sender,
        "phone_number": message.to,
        **{f"price_{currency}": amount for currency, amount in shown.cost.items()},
    }


def codes(message: Message) -> tuple[str | None, str | None] | None:
    """`status_code` and `delivery_code`; None where A30 leaves them open."""
    shown = message.shown
    if shown.state == "rejected":
        info = shown.timeline[-1][2] or ""
        return info[1 : info.index("]")], None
    if shown.state in BAD:
        return None
    return "200" if shown.rank >= RANKS["sent"] else None, DELIVERED.get(shown.state)
