"""The interfaces between the modules of messaging: the messaging of a world, as one of its own parts sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from sendbox.engine.delivery.batches import Outlet, Target
from sendbox.engine.kept import Index, Kept
from sendbox.engine.world import World
from sendbox.services.assume import Assume
from sendbox.services.messaging.content.text import Prepared
from sendbox.services.messaging.model import Send
from sendbox.services.messaging.prices import Costs
from sendbox.services.messaging.records import Accepted, Attempt, Inbound, Link, Message, Plan, Rows
from sendbox.services.messaging.rules.rules import Attempts, Line
from sendbox.services.ports import Account, Key


class Movements(Protocol):
    """The part that moves attempts from result to result (`flow.py`)."""

    def schedule(self, messages: Sequence[Message], at: int) -> None:
        """Schedules the hand-over of a submission."""

    def goal_plan(self, channel: str, goal: str) -> Plan:
        """The default path and timing to a result."""

    def transition_due(self, attempts: Sequence[Attempt], first: int, last: int) -> int:
        """The next entry of the plan of attempts has come."""

    def enter(self, attempts: Sequence[Attempt], code: int, info: str | None, plan: Plan | None = None) -> None:
        """A result is reached, by one attempt or by some of the same kind."""

    def move_by_hand(self, message: Message, result: str, info: str | None) -> None:
        """Moves the current attempt of a message; the rest of its plan is dropped."""

    def move_attempt(self, attempt: Attempt, result: str, info: str | None) -> None:
        """The same for any attempt."""


class Handsets(Protocol):
    """The recipients' phones (`phones.py`)."""

    inbound: Kept[Inbound]

    def look_again(self) -> None:
        """Messages were forgotten."""

    @property
    def differ(self) -> bool:
        """True if the scenario has entries for phones, which say what these can receive."""
        ...

    @property
    def may_be_off(self) -> bool:
        """True if there may be a phone that is switched off."""
        ...

    def has(self, number: str, family: str) -> bool:
        """True if the phone can receive messages on `sms`, `richmsg` or `chatapp`."""

    def conversation_open(self, number: str) -> bool:
        """True if free text may be sent to this phone."""

    def message_before(self, number: str, ordinal: int) -> Message | None:
        """The client's message to a number that was accepted just before the one of that ordinal."""

    def park(self, attempt: Attempt) -> bool:
        """Keeps an attempt that would be delivered while the phone is offline."""

    def make_links(self, attempt: Attempt, prepared: Prepared) -> None:
        """Makes the short links of an attempt about to be handed over."""

    def reply_due(self, subject: tuple[Attempt, str | Line]) -> None:
        """A reply that a rule planned has come."""

    def click_due(self, subject: tuple[Attempt, int | None]) -> None:
        """A click that a rule planned has come."""


class BegunOutages(Protocol):
    """The outages that have begun (`outages.py`)."""

    @property
    def current(self) -> Iterable[object]: ...

    def cut_off(self, attempt: Attempt, plan: Plan) -> Plan:
        """The plan of an attempt that begins while what it goes over is out."""

    def hold(self, attempt: Attempt, plan: Plan, code: int) -> bool:
        """True if the entry of the plan that is due is postponed, or if the outage ends the attempt instead."""


class Home(Protocol):
    """The messaging of one world."""

    world: World
    account: Account
    assume: Assume
    costs: Costs
    messages: Kept[Message]
    links: dict[str, Link]
    accepted: int
    rows: Rows

    @property
    def by_id(self) -> Index[Message]: ...
    @property
    def attempts(self) -> Attempts: ...
    @property
    def simulator(self) -> Movements: ...
    @property
    def phones(self) -> Handsets: ...
    @property
    def outages(self) -> BegunOutages: ...

    def is_test(self, phone: str) -> bool:
        """True if it is the test number, to which nothing is handed over (A89)."""

    def outlet_for(self, key: Key, callback: Target | None) -> Outlet | None:
        """The line to the request's callback, or to the default of the key; None where no receiver is wanted."""

    def accept(self, operation: str, sends: list[Send], key: Key, content: bytes, origin: str = "") -> Accepted:
        """Takes the Message objects of one request."""
