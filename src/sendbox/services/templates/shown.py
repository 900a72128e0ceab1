"""The parts of a template that a phone shows besides its text: header, footer, buttons, cards (§2.2).

Values that do not fit leave what they were for as the template has it: a template may have changed since it was used.
"""

from __future__ import annotations

from typing import Any

from sendbox.services.templates.buttons import VARIABLE, Button
from sendbox.services.templates.templates import Template, TemplateUse, kind_of

#: The button that is pressed to answer.
QUICK_REPLY = "QUICK_REPLY"


def shown(template: Template, use: TemplateUse) -> dict[str, Any]:
    """`{header, footer, buttons, cards, offer}`; a part that does not exist is left out.

    `header` is `{kind, …}`: `text`, or what its value says. A button is `{type, text, …}`: `url`, `phone_number`,
    `code`, or the `value` that was given; `press` is the position by which a quick reply is pressed. `offer` is the
    Unix time in milliseconds at which an offer ends.
    """
    values = use.buttons or []
    buttons = [
        _button(at, button, values[at] if at < len(values) else None) for at, button in enumerate(template.buttons)
    ]
    parts = {
        "header": _header(template, use.header or []),
        "footer": template.footer,
        "buttons": buttons,
        "cards": [{"header": _value(card)} for card in use.carousel or () if isinstance(card, dict)],
        "offer": use.lto[0] if use.lto else None,
    }
    return {name: part for name, part in parts.items() if part}


def _header(template: Template, values: list[Any]) -> dict[str, Any] | None:
    kind = template.header
    if kind is None:
        return {"kind": "text", "text": template.heading} if template.heading else None
    value = values[0] if values else None
    if kind == "text":
        text = value["text"].get(template.header_variable) if isinstance(value, dict) and "text" in value else value
        return {"kind": kind, "text": VARIABLE.sub(lambda match: _or(text, match[0]), template.heading)}
    if isinstance(value, str):
        return {"kind": kind_of(value), "link": value}
    return _value(value) if isinstance(value, dict) else {"kind": kind}


def _value(parameter: dict[str, Any]) -> dict[str, Any]:
    """An object with one key as its kind and fields."""
    kind, fields = next(iter(parameter.items()), ("", {}))
    return {"kind": kind, **(fields if isinstance(fields, dict) else {})}


def _or(text: object, otherwise: str) -> str:
    return text if isinstance(text, str) else otherwise


def _button(at: int, button: Button, value: Any) -> dict[str, Any]:
    view: dict[str, Any] = {"type": button.type, "text": button.text}
    key, parameter = ("url", value) if isinstance(value, str) else next(iter((value or {}).items()), ("", None))
    if button.type == QUICK_REPLY:
        return view | {"press": at}
    if button.type == "URL":
        return view | {"url": VARIABLE.sub(lambda match: _or(parameter, match[0]), button.leads)}
    if button.type == "PHONE_NUMBER":
        return view | {"phone_number": button.leads}
    if isinstance(parameter, str) and key in ("url", "code"):
        return view | {"code": parameter}
    return view if parameter is None else view | {"value": parameter}
