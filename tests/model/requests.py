"""Requests: whether one is legal (§2.1, §2.2, §8), and which of its recipients are accepted (§2.3, A08)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

CHANNELS: Final = ("sms", "richmsg", "chatapp_text", "chatapp_template")
GATEWAYS: Final = ("high", "lowcost", "direct", "custom", "simhost", "gsm")
CONDITIONS: Final = ("sent", "delivered", "seen")

Json = dict[str, Any]


def flow_of(message: Json) -> list[tuple[str, Json]]:
    """The steps of a message, each with its channel; one sms where there is no flow (§2.1)."""
    flow = message.get("flow", [{"sms": {"gateway": "high"}}])
    return [(channel, step) for element in flow for channel, step in element.items()]


def _sender(channel: str, sender: object) -> bool:
    """§2.1, §2.2, A59: a name of at most eleven characters or a number; for the messaging app digits."""
    if not isinstance(sender, str):
        return sender is None and channel in ("sms", "root")
    if channel.startswith("chatapp"):
        return sender.isdecimal()
    return sender.isdecimal() or len(sender) <= 11


def _step(channel: str, step: Json, message: Json) -> bool:
    """§2.2."""
    ttl, condition = step.get("ttl", 1), step.get("ttl_condition", "sent")
    if channel == "chatapp_template":
        content = isinstance(step.get("template_name"), str) and len(step["template_name"]) <= 100
        content = content and isinstance(step.get("language"), str)
    else:
        content = isinstance(step.get("body", message.get("body")), str)
    return (
        content
        and None not in step.values()  # A56
        and isinstance(ttl, int | float)
        and ttl >= 0.5
        and condition in CONDITIONS  # A03
        and _sender(channel, step.get("sender"))
        and step.get("gateway", "high") in GATEWAYS
        and step.get("type", "utf") in ("sms", "utf")
        and len(step.get("buttons", [])) <= 1
    )


def legal(message: Json) -> bool:
    """Whether a message is what §2.1 and §2.2 ask for; what is not is answered with 400 (§7.1)."""
    recipients, flow = message.get("to"), message.get("flow", [{"sms": {}}])
    if not isinstance(recipients, list) or not 1 <= len(recipients) <= 10 or None in message.values():
        return False
    if any(not isinstance(recipient.get("phone_number"), str) for recipient in recipients):
        return False
    if not flow or any(len(element) != 1 or next(iter(element)) not in CHANNELS for element in flow):
        return False
    try:
        datetime.fromisoformat(message.get("datetime", "2026-03-01T00:00:00Z"))
    except ValueError:
        return False
    return _sender("root", message.get("sender")) and all(_step(*step, message) for step in flow_of(message))


def template_of(step: Json, templates: list[Json]) -> Json | None:
    """The account's template that a step names, in its language."""
    names = (step["template_name"], step["language"])
    return next((template for template in templates if (template["name"], template["language"]) == names), None)


def params_of(step: Json) -> list[Any]:
    """The body variables of a step, by their old name too (§9)."""
    params: list[Any] = step["params"] if "params" in step else step.get("parameters_body", [])
    return params


def fits(step: Json, templates: list[Json]) -> bool:
    """Whether the variables of a template step are those of its template, in count, kind and order (§2.2)."""
    template = template_of(step, templates)
    if template is None:
        return True
    wanted = re.findall(r"{{(\w+)}}", template["components"][0]["text"])
    params = params_of(step)
    names = [next(iter(param)) if isinstance(param, Mapping) else str(place) for place, param in enumerate(params, 1)]
    return names == wanted


def filled(step: Json, templates: list[Json]) -> str:
    """The text of a template step."""
    template = template_of(step, templates)
    if template is None:
        return ""
    text: str = template["components"][0]["text"]
    for place, param in enumerate(params_of(step), 1):
        name, value = next(iter(param.items())) if isinstance(param, Mapping) else (str(place), param)
        text = text.replace(f"{{{{{name}}}}}", value)
    return text


def tags_of(message: Json) -> list[str]:
    """The tags of a message: lower case, cleaned, without empty ones, `promotional` where none is left (§2.1, A60)."""
    tags = [re.sub(r"[^a-z0-9._-]", "", tag.lower()) for tag in message.get("tag", "").split(",")]
    return [tag for tag in tags if tag] or ["promotional"]
