"""Buttons of a template, and whether the value given at a button's position fits it (§2.2, `params_buttons`).

Also what every part of `services/templates/templates.py` needs: the record of a problem, and how messages show values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.texts import regex

SECTION: Final = "§2.2"
#: a variable of a text, numbered or named: `{{1}}`, `{{name}}`
VARIABLE: Final = regex(r"\{\{\s*([^{}\s]+)\s*\}\}")
#: Button type of a record to the keys its parameter may have. A type that is not here is static, as is a fixed URL.
_BUTTON_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "QUICK_REPLY": ("payload",),
    "COPY_CODE": ("code",),
    # The provider turns a one-time-password button into a dynamic URL that ends in the code.
    "OTP": ("url", "code"),
    "CATALOG": ("catalog",),
    "VOICE_CALL": ("voice_call",),
    "MPM": ("mpm",),
    "FLOW": ("flow",),
}


class Problem(msgspec.Struct, frozen=True):
    """A parameter that does not fit its template, with the reason; `path` is relative to the step (`params[1]`)."""

    path: str
    rule: str
    message: str
    section: str = SECTION


def misfit(path: str, rule: str, text: str) -> Problem:
    """A problem of §2.2, whose message ends with the section."""
    return Problem(path, rule, f"{text} ({SECTION})")


class Button(msgspec.Struct, frozen=True):
    """A button of a template: `keys` its parameter may have (empty: static), `required` whether it must be given.

    `leads` is the address, with its variable, or the phone number that it leads to.
    """

    type: str
    text: str
    keys: tuple[str, ...] = ()
    required: bool = False
    leads: str = ""


def compile_button(record: JsonObject) -> Button:
    """Compile a button of a record (§2.5); a type that is not known is static."""
    kind = str(record.get("type", "")).upper()
    keys = _BUTTON_KEYS.get(kind, ())
    if kind == "URL" and VARIABLE.search(str(record.get("url") or "")):
        keys = ("url",)
    # A quick reply without a payload answers with its title (A68), so its payload may be left out.
    required = bool(keys) and kind != "QUICK_REPLY"
    leads = str(record.get("url") or record.get("phone_number") or "")
    return Button(kind, str(record.get("text") or ""), keys, required, leads)


def check_button(button: Button, value: str | JsonObject, path: str) -> Iterator[Problem]:
    """The problems of `value`, which is not null, at a button that is not static; the schema checks its form."""
    key = "url" if isinstance(value, str) else next(iter(value))
    if key not in button.keys:
        yield misfit(path, "kind", f"{show(value)} is given to a {button_label(button)}, which takes {forms(button)}")
    elif key == "mpm" and not isinstance(value, str):
        yield from _check_products(value[key], f"{path}.mpm")


def _check_products(products: dict[str, list[JsonObject]], path: str) -> Iterator[Problem]:
    """A list of several products is not empty, nor is a section of it."""
    ((preview, sections),) = products.items()
    path = child(path, preview)
    if not sections:
        yield misfit(path, "shape", f"{show(sections)} is not an array with at least one section")
    for at, section in enumerate(sections):
        if not (items := section["product_items"]):
            place = f"{path}[{at}].product_items"
            yield misfit(place, "shape", f"{show(items)} is not an array with at least one product")


def child(path: str, name: str) -> str:
    """The path of a field: `params[0].name`, or `params[0]['a b']` for a name that is not an identifier."""
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{name!r}]"


def show(value: object) -> str:
    """A value as JSON, cut if it is long, as messages begin with it."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # nested too deep to be written
        return "{…}"
    return text if len(text) <= 80 else text[:79] + "…"


def button_label(button: Button) -> str:
    """The name of a button in messages: `URL button "Order"`."""
    return f'{button.type} button "{button.text}"'


def forms(button: Button) -> str:
    """The legal forms of the button's parameter, in words."""
    keys = [f'{{"{key}": …}}' for key in button.keys]
    return " or ".join(["a string", *keys] if "url" in button.keys else keys)
