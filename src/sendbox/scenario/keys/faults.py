"""Compiles the rules of `api:` and of `webhooks:`: which calls and which deliveries go wrong, and how."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.delivery.faults.several import Several, misfit
from sendbox.engine.delivery.faults.table import DELIVERIES
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.faults.calls import ApiRule, Headers
from sendbox.engine.faults.fault import read
from sendbox.engine.faults.table import CALLS
from sendbox.engine.rules.conditions import several
from sendbox.scenario.keys.when import CALL, asked, compile_when, one_or_more, patterns, recipient
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.values import Reader, canonical, text_of, whole, words

if TYPE_CHECKING:
    from sendbox.engine.delivery.faults.fault import WebhookFault
    from sendbox.engine.faults.fault import ApiFault
    from sendbox.engine.rules.rule import When

#: The names of a rule's conditions in this list, where they differ.
_SPELLED: Final = {"nth": CALL}


def compile_api_rule(node: Node, reader: Reader) -> ApiRule:
    """One rule."""
    when = compile_when(node, reader, _asks_of_call)
    fault = read(CALLS, node.entries()["fault"], reader)
    processed, times, name = node.get("processed"), node.get("times"), node.get("name")
    effective = None if processed is None else processed.value is True
    if processed is not None and effective is False and fault.late:
        message = f"false leaves {fault.kind} no answer; a call whose answer comes in the end has its effect"
        reader.complain(processed, "processed", message)
    return ApiRule(
        key=text_of(name) or _call_key(when, fault, effective),
        when=when,
        fault=fault,
        processed=effective,
        times=None if times is None else whole(times),
        name=text_of(name),
        place=node.place,
    )


def _call_key(when: When, fault: ApiFault, processed: bool | None) -> str:
    """The text that identifies a rule without a name: its conditions and its fault, however its times are written."""
    does = _changed_fields(fault, type(fault)())
    asks = {_SPELLED.get(name, name): condition for name, condition in asked(when).items()}
    return canonical({"when": asks, "fault": {**does, "kind": fault.kind}, "processed": processed})


def _changed_fields(record: Any, default: Any) -> dict[str, Any]:
    """The fields of a record that differ from the default."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def _asks_of_call(when: Node, reader: Reader) -> dict[str, Any]:
    operation = when.get("operation")
    return {
        "operation": reader.operations(operation, reader.emulated, "not an operation of an emulated interface"),
        **patterns(when, reader, "key"),
        "headers": _headers(when, reader),
        # the last conditions, because they are searched for in the call
        **recipient(when, reader),
    }


def _headers(when: Node, reader: Reader) -> Headers | None:
    """The conditions on headers. Case does not matter in their names; `content_type` is one of them."""
    asked_headers = when.get("headers")
    conditions = {} if asked_headers is None else {key.lower(): item for key, item in asked_headers.entries().items()}
    if (content_type := when.get("content_type")) is not None:
        if "content-type" in conditions:
            message = '"content_type" stands beside the header Content-Type; ask for it once'
            reader.complain(when, "headers", message, key="content_type")
        conditions["content-type"] = content_type
    headers = tuple((name, several(one_or_more(item, reader.pattern))) for name, item in sorted(conditions.items()))
    return Headers(headers) if headers else None


#: The one kind of event that has a result.
_SENT: Final = "sentMessage"


def compile_webhook_rule(node: Node, reader: Reader) -> WebhookRule:
    """One rule."""
    when = compile_when(node, reader, _asks_of_delivery)
    fault = _fault(node.entries()["fault"], reader)
    name, times = node.get("name"), node.get("times")
    if fault.racing and _SENT not in (when.words("event") or (_SENT,)):
        message = f'"{fault.kind}" is about the answer to a request that sends, which only {_SENT} events follow'
        reader.complain(node, fault.kind, message, key="fault")
    return WebhookRule(
        key=text_of(name) or canonical({"when": asked(when), "fault": fault.text}),
        when=when,
        fault=fault,
        times=None if times is None else whole(times),
        name=text_of(name),
        place=node.place,
    )


def _fault(node: Node, reader: Reader) -> WebhookFault:
    """The fault of a rule, or several that meet an event together."""
    if not node.items():
        return read(DELIVERIES, node, reader)
    faults = tuple(read(DELIVERIES, item, reader) for item in node.items())
    if (why := misfit(faults)) is not None and not node.cut:
        reader.complain(node, "fault", f"{show(plain(node))} do not go together: {why}")
        return faults[0]
    return Several(faults) if len(faults) > 1 else faults[0]


def _asks_of_delivery(node: Node, reader: Reader) -> dict[str, Any]:
    gateways = words(node.get("gateway"))
    if gateways is not None:
        # a family means its steps, and what phones write on it
        gateways = tuple(dict.fromkeys(w for word in gateways for w in (*reader.families.get(word, ()), word)))
    results, events = words(node.get("result")), words(node.get("event"))
    if results is not None and events is not None and _SENT not in events:
        message = f"{show(list(results))} is asked of {show(list(events))}: only {_SENT} has a result (§6)"
        reader.complain(node, "result", message, key="result")
    return {
        "result": results,
        "event": events,
        "gateway": gateways,
        **recipient(node, reader),
        **patterns(node, reader, *reader.posted),
    }
