"""Compiles the rules of `api:`: which calls go wrong, and how."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from sendbox.engine.durations import Span
from sendbox.engine.faults.calls import ANSWERED, AT_ONCE, ApiFault, ApiRule, ApiWhen
from sendbox.scenario import validate as lint
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, canonical, text_of, whole
from sendbox.services.operations import EMULATED

#: How long an answer trickles whose rule says no time.
TRICKLE: Final = Span(2_000, 2_000)


def compile_api_rules(nodes: list[Node], reader: Reader) -> tuple[ApiRule, ...]:
    """The rules of a list, in order. A name may stand once in a file, since draws and counts are keyed by it."""
    lint.names_differ(nodes, reader)
    return tuple(compile_api_rule(node, reader) for node in nodes)


def compile_api_rule(node: Node, reader: Reader) -> ApiRule:
    """One rule."""
    when = _when(node.get("when"), reader)
    fault = _fault(node.entries()["fault"], reader)
    processed, times, name = node.get("processed"), node.get("times"), node.get("name")
    effective = None if processed is None else processed.value is True
    if processed is not None and effective is False and fault.kind in ANSWERED:
        message = f"false leaves {fault.kind} no answer; a call whose answer comes in the end has its effect"
        reader.complain(processed, "processed", message)
    return ApiRule(
        key=text_of(name) or _canonical(when, fault, effective),
        when=when,
        fault=fault,
        processed=effective,
        times=None if times is None else whole(times),
        name=text_of(name),
        place=node.place,
    )


def _canonical(when: ApiWhen, fault: ApiFault, processed: bool | None) -> str:
    """The text by which a rule without a name is known: what it asks and decides, however its times are written."""
    asks, does = _given(when, ApiWhen()), _given(fault, ApiFault(fault.kind))
    return canonical({"when": asks, "fault": {**does, "kind": fault.kind}, "processed": processed})


def _given(record: Any, default: Any) -> dict[str, Any]:
    """The fields in which a record is not as usual."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def _when(node: Node | None, reader: Reader) -> ApiWhen:
    if node is None:
        return ApiWhen()
    asked = node.entries()
    if "call" in asked and "every" in asked:
        reader.complain(node, "every", '"every" stands beside "call"; a rule counts in one way', key="every")
    begins, ends = reader.window(asked)
    return ApiWhen(
        operation=reader.operations(asked.get("operation"), EMULATED, "no operation of an emulated interface"),
        key=reader.pattern(asked["key"]) if "key" in asked else None,
        phone=reader.phones(asked["phone"]) if "phone" in asked else None,
        begins=begins,
        ends=ends,
        share=reader.share(asked["share"]) if "share" in asked else None,
        call=whole(asked["call"]) if "call" in asked else None,
        every=whole(asked["every"]) if "every" in asked else None,
    )


def _fault(node: Node, reader: Reader) -> ApiFault:
    if not isinstance(node.value, dict):
        return ApiFault(str(node.value), time=TRICKLE if node.value == "trickle" else AT_ONCE)
    ((kind, given),) = node.value.items()
    match kind:
        case "status":
            return _status(given)
        case "delay" | "trickle":
            return ApiFault(kind, time=reader.span(given))
        case "disconnect":
            return ApiFault(kind, middle=given.value == "middle")
        case _:
            return _rate_limit(given, reader)


def _status(node: Node) -> ApiFault:
    code, message, headers = node.get("code"), node.get("message"), node.get("headers")
    return ApiFault(
        "status",
        status=whole(node if code is None else code),
        message=text_of(message),
        headers=() if headers is None else tuple((name, str(item.value)) for name, item in headers.entries().items()),
    )


def _rate_limit(node: Node, reader: Reader) -> ApiFault:
    per = node.get("per")
    rate = reader.rate(node if per is None else _without_per(node))
    return ApiFault("rate_limit", rate=rate, per="key" if per is None else str(per.value))


def _without_per(node: Node) -> Node:
    entries = {name: item for name, item in node.entries().items() if name != "per"}
    return Node(entries, node.source, node.path, node.line, node.column, node.keys, node.cut)
