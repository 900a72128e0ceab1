"""Compiles the rules of `api:`: which calls go wrong, and how."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.faults.calls import ApiRule, Headers
from sendbox.engine.faults.fault import read
from sendbox.engine.faults.table import CALLS
from sendbox.engine.rules.conditions import several
from sendbox.scenario.keys.when import CALL, asked, compile_when, one_or_more, patterns, recipient
from sendbox.scenario.values import Reader, canonical, text_of, whole

if TYPE_CHECKING:
    from sendbox.engine.faults.fault import ApiFault
    from sendbox.engine.rules.rule import When
    from sendbox.scenario.model import Node

#: The names of a rule's conditions in this list, where they differ.
_SPELLED: Final = {"nth": CALL}


def compile_api_rule(node: Node, reader: Reader) -> ApiRule:
    """One rule."""
    when = compile_when(node, reader, _asks)
    fault = read(CALLS, node.entries()["fault"], reader)
    processed, times, name = node.get("processed"), node.get("times"), node.get("name")
    effective = None if processed is None else processed.value is True
    if processed is not None and effective is False and fault.late:
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


def _canonical(when: When, fault: ApiFault, processed: bool | None) -> str:
    """The text that identifies a rule without a name: its conditions and its fault, however its times are written."""
    does = _changed_fields(fault, type(fault)())
    asks = {_SPELLED.get(name, name): condition for name, condition in asked(when).items()}
    return canonical({"when": asks, "fault": {**does, "kind": fault.kind}, "processed": processed})


def _changed_fields(record: Any, default: Any) -> dict[str, Any]:
    """The fields of a record that differ from the default."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def _asks(when: Node, reader: Reader) -> dict[str, Any]:
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
