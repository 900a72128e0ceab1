"""Compiles `webhooks:`, the faults of deliveries, into the rules that the engine applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.delivery.faults.several import Several, misfit
from sendbox.engine.delivery.faults.table import DELIVERIES
from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.faults.fault import read
from sendbox.scenario.keys.when import asked, compile_when, patterns, recipient
from sendbox.scenario.model import Node, plain, show
from sendbox.scenario.values import Reader, canonical, text_of, whole, words

if TYPE_CHECKING:
    from sendbox.engine.delivery.faults.fault import WebhookFault
    from sendbox.engine.rules.rule import When

#: The one kind of event that has a result.
_SENT: Final = "sentMessage"


def compile_webhook_rule(node: Node, reader: Reader) -> WebhookRule:
    """One rule."""
    when = compile_when(node, reader, _asks)
    fault = _fault(node.entries()["fault"], reader)
    name, times = node.get("name"), node.get("times")
    if fault.racing and _SENT not in (when.words("event") or (_SENT,)):
        message = f'"{fault.kind}" is about the answer to a request that sends, which only {_SENT} events follow'
        reader.complain(node, fault.kind, message, key="fault")
    return WebhookRule(
        key=text_of(name) or _canonical(when, fault),
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


def _canonical(when: When, fault: WebhookFault) -> str:
    """The text that identifies a rule without a name: its conditions and its fault, in one fixed order."""
    return canonical({"when": asked(when), "fault": fault.text})


def _asks(node: Node, reader: Reader) -> dict[str, Any]:
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
        **patterns(node, reader, "tag", "template"),
    }
