"""What views of the engine hold, as types: remarks on requests, webhooks, and entries of the journal.

An entry has `n`, `at` and `kind` beside what stands here.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

#: A fault of a call.
Fault = Annotated[
    str | dict[str, Any], {"description": "The fault as a scenario writes it: a word, or an object with one key."}
]
#: What a remark that belongs to no request is about.
About = Annotated[Any, {"description": "Any JSON value that the remark is about, null where there is none."}]


class Finding(TypedDict):
    """Why a request is illegal."""

    path: str
    value: str | None
    rule: str
    message: str
    section: str
    assumed: str | None


class Advice(TypedDict):
    """A remark on a legal request, or on the answer of a receiver; `docs` is its page in the documentation."""

    code: str
    message: str
    path: str
    section: str
    assumed: str | None
    note: bool
    docs: str


_From = TypedDict("_From", {"from": NotRequired[str]})


class ShortEvent(_From):
    """An event of a webhook in short: the kind of the event, and what it is about. A service may add fields."""

    event: str
    message_id: NotRequired[str | None]
    phone: NotRequired[str]
    result: NotRequired[str]
    body: NotRequired[str]


class RequestShown(TypedDict):
    """A call of an emulated interface; with a `fault`, `processed` says whether it had its effect.

    `traceparent` is the trace context with which it came.
    """

    operation: str
    method: str
    path: str
    key: str | None
    status: int
    body: str
    answer: str
    findings: list[Finding]
    advice: list[Advice]
    fault: NotRequired[Fault]
    processed: NotRequired[bool]
    traceparent: NotRequired[str]


class DeliveryShown(TypedDict):
    """A webhook was made."""

    delivery: str
    target: str
    events: list[ShortEvent]


class TryShown(TypedDict):
    """A webhook was tried."""

    delivery: str
    target: str
    number: int
    status: int | None
    error: str | None


class AdviceShown(TypedDict):
    """A remark on what a receiver did."""

    advice: Advice
    about: About


class FaultShown(TypedDict):
    """A fault of a call, as a rule wanted it."""

    operation: str
    key: str | None
    phone: str | None
    fault: Fault
    rule: str
    processed: bool
    message: str


class WebhookFaultShown(TypedDict):
    """A fault of a webhook, as a rule wanted it."""

    rule: str
    fault: str
    delivery: str | None
    events: list[ShortEvent]
    note: NotRequired[str]
