"""The rules of `api:` and of `webhooks:`: which calls and which deliveries go wrong, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import asdict

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.delivery.faults.several import Several, misfit
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.faults.answers import HEADER_NAMES
from sendbox.engine.faults.calls import ApiRule, Headers
from sendbox.engine.faults.fault import ApiFault
from sendbox.engine.faults.table import CALLS, DELIVERIES, read
from sendbox.engine.forms import Value, any_keys, reference, switch
from sendbox.engine.rules.conditions import several
from sendbox.engine.rules.rule import When
from sendbox.scenario.keys.rules import RuleForm
from sendbox.scenario.keys.when import CALL, Conditions, asked, key, one_of, one_or_more, pattern, recipient
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.values import Reader, canonical, words

#: The names of a rule's conditions in this list, where they differ.
_SPELLED: Final = {"nth": CALL}
_NEEDS_FAULT: Final = {"required": ["fault"]}


def _call_rule(values: dict[str, Any], when: When, node: Node, reader: Reader) -> tuple[str, dict[str, object]]:
    fault, effective = values["fault"], values.get("processed")
    if effective is False and fault.late:
        message = f"false leaves {fault.kind} no answer; a call whose answer comes in the end has its effect"
        reader.add_problem(node.entries()["processed"], "processed", message)
    return _call_key(when, fault, effective), {"fault": fault, "processed": effective}


def _call_key(when: When, fault: ApiFault, processed: bool | None) -> str:
    """The text that identifies a rule without a name: its conditions and its fault, however its times are written."""
    default = type(fault)()
    does = {name: value for name, value in asdict(fault).items() if value != getattr(default, name)}
    asks = {_SPELLED.get(name, name): condition for name, condition in asked(when).items()}
    return canonical({"when": asks, "fault": {**does, "kind": fault.kind}, "processed": processed})


def _join_headers(conditions: JsonObject, node: Node, reader: Reader) -> None:
    """Makes one condition of all headers. Case does not matter in their names; `content_type` is one of them."""
    headers = {name.lower(): value for name, value in conditions.pop("headers", {}).items()}
    content_type = conditions.pop("content_type", None)
    # the last conditions, because they are searched for in the call
    last: JsonObject = {name: conditions.pop(name) for name in ("phone", "country") if name in conditions}
    if content_type is not None and "content-type" in headers:
        message = '"content_type" stands beside the header Content-Type; ask for it once'
        reader.add_problem(node, "headers", message, key="content_type")
    if content_type is not None:
        headers["content-type"] = content_type
    if headers:
        conditions["headers"] = Headers(tuple((name, several(value)) for name, value in sorted(headers.items())))
    conditions |= last


API_RULES: Final = RuleForm(
    ("api",),
    ApiRule,
    Conditions(
        "api",
        "a call",
        {
            "operation": reference(
                "calls",
                "The operation that is called, or a list of operations.",
                lambda node, reader: reader.operations(
                    node, reader.emulated, "not an operation of an emulated interface"
                ),
            ),
            "path": pattern(
                "The path that is called. A call that no interface serves is met only by rules that ask for its path."
            ),
            "method": pattern("The HTTP method of the call, such as GET."),
            "key": key("The API key that calls."),
            "headers": any_keys(
                "call headers",
                "Headers that the call has, each with its value or a list of values; * stands for any characters.",
                pattern(""),
                'a mapping of headers, such as {X-Tenant: "acme*"}',
                minProperties=1,
                propertyNames=HEADER_NAMES | {"examples": ["X-Tenant"]},
            ),
            "content_type": pattern(
                "What the client says its body is, such as application/json*: the header Content-Type."
            ),
            **recipient("the first number that the call names"),
        },
        per=("phone", "key"),
        join=_join_headers,
        more={CALL: reference("nth", "Another name of nth.", lambda node, _: one_or_more(node, lambda one: one.value))},
    ),
    "A rule: which calls, and what goes wrong with them.",
    {
        "fault": reference("apiFault", read=lambda node, reader: read(CALLS, node, reader)),
        "processed": switch(
            "Whether the call has its effect although the client sees a fault; the usual value of the fault unless "
            "given."
        ),
    },
    "How often the rule may apply",
    "a rule such as {fault: {status: 500}}",
    _call_rule,
    requires=_NEEDS_FAULT,
    decides=(("fault",),),
    longest=300,
)

#: The one kind of event that has a result.
_SENT: Final = "sentMessage"


def _delivery_rule(values: dict[str, Any], when: When, node: Node, reader: Reader) -> tuple[str, dict[str, object]]:
    fault = values["fault"]
    if fault.racing and _SENT not in (when.words("event") or (_SENT,)):
        message = f'"{fault.kind}" is about the answer to a request that sends, which only {_SENT} events follow'
        reader.add_problem(node, fault.kind, message, key="fault")
    return canonical({"when": asked(when), "fault": fault.text}), {"fault": fault}


def _fault(node: Node, reader: Reader) -> WebhookFault:
    """The fault of a rule, or several that meet an event together."""
    if not node.items():
        return read(DELIVERIES, node, reader)
    faults = tuple(read(DELIVERIES, item, reader) for item in node.items())
    if (why := misfit(faults)) is not None and not node.incomplete:
        reader.add_problem(node, "fault", f"{show(plain(node))} do not go together: {why}")
        return faults[0]
    return Several(faults) if len(faults) > 1 else faults[0]


def _gateways(node: Node, reader: Reader) -> tuple[str, ...]:
    """The gateways of a condition; a family means its steps, and what phones write on it."""
    names = words(node) or ()
    return tuple(dict.fromkeys(word for name in names for word in (*reader.families.get(name, ()), name)))


def _check_delivery(conditions: JsonObject, node: Node, reader: Reader) -> None:
    results, events = conditions.get("result"), conditions.get("event")
    if results is not None and events is not None and _SENT not in events:
        message = f"{show(list(results))} is asked of {show(list(events))}: only {_SENT} has a result (§6)"
        reader.add_problem(node, "result", message, key="result")


def webhook_rules(posted: Mapping[str, Value]) -> RuleForm[WebhookRule]:
    """The form of the rules of deliveries; `posted` are the conditions about texts of events."""
    return RuleForm(
        ("webhooks",),
        WebhookRule,
        Conditions(
            "webhook",
            "an event",
            {
                "result": one_of("results", "The result that the event reports, or a list of them."),
                "event": one_of("webhookEvents", "The kind of event, or a list of them."),
                "gateway": reference(
                    "channels",
                    "The channel that the event is about, or a list of them; chatapp means chatapp_text, "
                    "chatapp_template, and what phones write on that channel.",
                    _gateways,
                ),
                **recipient("the recipient or the phone that writes", operator=True),
                **posted,
            },
            per=("phone",),
            join=_check_delivery,
        ),
        "A rule: which events, and what goes wrong with them on their way.",
        {"fault": reference("webhookFault", read=_fault)},
        "How many events (of answer: tries) it may meet",
        "a rule such as {when: {result: delivered}, fault: duplicate}",
        _delivery_rule,
        requires=_NEEDS_FAULT,
        decides=(("fault",),),
    )
