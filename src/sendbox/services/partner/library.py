"""The provider's template library: a few common forms from which a template is made (§4.3, A42).

The contents of the real library are not known; a scenario adds its own templates (`partner.library`).
"""

from __future__ import annotations

from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.services.partner.records import Failure
from sendbox.services.templates.buttons import VARIABLE


def _entry(name: str, category: str, text: str, *buttons: JsonObject, header: str = "") -> JsonObject:
    components: list[JsonObject] = [{"type": "HEADER", "format": "TEXT", "text": header}] if header else []
    components += [{"type": "BODY", "text": text}, {"type": "BUTTONS", "buttons": list(buttons)}]
    return {"name": name, "category": category, "components": components}


LIBRARY: Final = (
    _entry("verify_code", "AUTHENTICATION", "{{1}} is your verification code.", {"type": "OTP", "text": "Copy code"}),
    _entry(
        "delivery_update",
        "UTILITY",
        "Hello {{1}}, your order {{2}} is on its way and should arrive on {{3}}.",
        {"type": "URL", "text": "Track it"},
        header="Your order",
    ),
    _entry(
        "appointment_reminder",
        "UTILITY",
        "Hello {{1}}, we expect you on {{2}} at {{3}}.",
        {"type": "QUICK_REPLY", "text": "I will come"},
        {"type": "QUICK_REPLY", "text": "I cannot"},
    ),
    _entry(
        "payment_reminder",
        "UTILITY",
        "Hello {{1}}, {{2}} is due on {{3}}.",
        {"type": "URL", "text": "Pay now"},
        {"type": "PHONE_NUMBER", "text": "Call us"},
    ),
    _entry("feedback_survey", "MARKETING", "Hello {{1}}, how was {{2}}?", {"type": "URL", "text": "Tell us"}),
)


def components_of(
    library: tuple[JsonObject, ...], name: str, category: str | None, button_inputs: list[JsonObject]
) -> tuple[str, list[JsonObject]]:
    """Category and components of a library template with the client's addresses and numbers in its buttons.

    `library` holds those of the scenario, which come before the built-in ones. Raises `Failure` for an unknown name,
    for another category than that of the entry, and for buttons without their input.
    """
    entries = (*library, *LIBRARY)
    entry = next((item for item in entries if item["name"] == name), None)
    if entry is None:
        legal = ", ".join(dict.fromkeys(str(item["name"]) for item in entries))
        text = f'"{name}" is not a template of the library; there are: {legal}'
        raise Failure(text, "$.template.library_template_name", "library", assumed="A42")
    if category is not None and category != entry["category"]:
        text = f'"{category}" is not the category of {name}, which is {entry["category"]}'
        raise Failure(text, "$.template.category", "category", assumed="A42")
    inputs = list(button_inputs)
    components = [_with_inputs(component, inputs) for component in entry["components"]]
    return str(entry["category"]), components


def _with_inputs(component: JsonObject, inputs: list[JsonObject]) -> JsonObject:
    if str(component.get("type", "")).upper() != "BUTTONS":
        return component
    return {**component, "buttons": [_button(button, inputs) for button in component.get("buttons") or ()]}


def _button(button: JsonObject, inputs: list[JsonObject]) -> JsonObject:
    """A button with the first input of its kind, which is used up; a button that needs no input is unchanged."""
    kind = str(button.get("type", "")).upper()
    field = {"URL": "url", "PHONE_NUMBER": "phone_number"}.get(kind)
    if field is None or field in button:
        return button
    value = next((item for item in inputs if str(item.get("type", "")).upper() == kind and item.get(field)), None)
    if value is None:
        text = f'the button "{button.get("text")}" of type {kind} has no input; give {{"type": "{kind}", "{field}": …}}'
        raise Failure(text, "$.template.library_template_button_inputs", "button-input", assumed="A42")
    inputs.remove(value)
    return {**button, field: _address(value[field]) if kind == "URL" else str(value[field])}


def _address(value: object) -> str:
    """The address of a button: a text, or an object with `base_url`; a suffix makes it dynamic."""
    if not isinstance(value, dict):
        return str(value)
    base = str(value.get("base_url") or "")
    dynamic = value.get("url_suffix_example") and not VARIABLE.search(base)
    return f"{base}{{{{1}}}}" if dynamic else base
