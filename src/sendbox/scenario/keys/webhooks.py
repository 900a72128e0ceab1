"""Compiles `webhooks:`, the faults of deliveries, into the rules the core asks."""

from __future__ import annotations

from typing import Any, Final

from sendbox.engine.delivery.rules import WebhookFault, WebhookRule, WebhookWhen
from sendbox.engine.durations import Span
from sendbox.scenario import validate as lint
from sendbox.scenario.model import Node, show
from sendbox.scenario.values import CHATAPP, Reader, canonical, text_of, whole, words

#: The window of `reorder` where none is given: the usual way of a message takes three seconds.
REORDER: Final = Span(5_000, 5_000)
#: `chatapp` means both of its steps, and what phones write there.
_CHATAPP: Final = (*CHATAPP, "chatapp")
#: The one kind of event that has a result.
_SENT: Final = "sentMessage"


def compile_webhooks(nodes: list[Node], reader: Reader) -> tuple[WebhookRule, ...]:
    """The rules of a list, in order. A name may stand once in a file, since draws and counts are keyed by it."""
    lint.names_differ(nodes, reader)
    return tuple(compile_webhook_rule(node, reader) for node in nodes)


def compile_webhook_rule(node: Node, reader: Reader) -> WebhookRule:
    """One rule."""
    when = _when(node.get("when"), reader)
    fault = _fault(node.entries()["fault"], reader)
    name, times = node.get("name"), node.get("times")
    if fault.kind == "overtake" and when.event is not None and _SENT not in when.event:
        message = '"overtake" is about the answer to a request that sends, which only sentMessage events follow'
        reader.complain(node, "overtake", message, key="fault")
    return WebhookRule(
        key=text_of(name) or _canonical(when, fault),
        when=when,
        fault=fault,
        times=None if times is None else whole(times),
        name=text_of(name),
        place=node.place,
    )


def _canonical(when: WebhookWhen, fault: WebhookFault) -> str:
    """The text by which a rule without a name is known: what it asks and what it does, in one fixed order."""
    asks = {field: getattr(when, field) for field in WebhookWhen.__slots__ if getattr(when, field) is not None}
    return canonical({"when": asks, "fault": fault.text})


def _when(node: Node | None, reader: Reader) -> WebhookWhen:
    if node is None:
        return WebhookWhen()
    asked = node.entries()
    begins, ends = reader.window(asked)
    gateways = words(node.get("gateway"))
    if gateways is not None:
        gateways = tuple(dict.fromkeys(w for word in gateways for w in (_CHATAPP if word == "chatapp" else (word,))))
    when = WebhookWhen(
        result=words(node.get("result")),
        event=words(node.get("event")),
        gateway=gateways,
        phone=reader.phones(asked["phone"]) if "phone" in asked else None,
        tag=reader.pattern(asked["tag"]) if "tag" in asked else None,
        nth=whole(asked["nth"]) if "nth" in asked else None,
        every=whole(asked["every"]) if "every" in asked else None,
        share=reader.share(asked["share"]) if "share" in asked else None,
        begins=begins,
        ends=ends,
    )
    if when.result is not None and when.event is not None and _SENT not in when.event:
        message = f"{show(list(when.result))} is asked of {show(list(when.event))}: only {_SENT} has a result (§6)"
        reader.complain(node, "result", message, key="result")
    return when


def _fault(node: Node, reader: Reader) -> WebhookFault:
    if isinstance(node.value, str):
        return WebhookFault(node.value, REORDER) if node.value == "reorder" else WebhookFault(node.value)
    ((kind, detail),) = node.entries().items()
    if kind == "duplicate":
        times, ids = detail.get("times"), detail.get("id")
        return WebhookFault(
            kind,
            reader.span(detail.get("after")),
            1 if times is None else whole(times),
            ids is not None and ids.value == "new",
        )
    if kind in ("content_type", "answer"):
        value: Any = detail.value
        return WebhookFault(kind, value=value)
    if kind in ("delay", "stale"):
        return WebhookFault(kind, reader.span(detail))
    window = reader.duration(detail)
    return WebhookFault(kind, Span(window, window))
