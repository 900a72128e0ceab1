"""Buttons of a template, and whether the value given at a button's position fits it (§2.2, `params_buttons`).

Also what every part of `services/templates/templates.py` needs: the record of a problem and the checks of plain
objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

SECTION: Final = "§2.2"
#: a variable of a text, numbered or named: `{{1}}`, `{{name}}`
VARIABLE: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
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


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a parameter does not fit its template; `path` is relative to the step (`params[1]`)."""

    path: str
    rule: str
    message: str
    section: str = SECTION


def misfit(path: str, rule: str, text: str) -> Problem:
    """A problem of §2.2, whose message ends with the section."""
    return Problem(path, rule, f"{text} ({SECTION})")


@dataclass(frozen=True, slots=True)
class Button:
    """A button of a template: `keys` its parameter may have (empty: static), `required` whether it must be given."""

    type: str
    text: str
    keys: tuple[str, ...] = ()
    required: bool = False


def compile_button(record: dict[str, Any]) -> Button:
    """Compile a button of a record (§2.5); a type that is not known is static."""
    kind = str(record.get("type", "")).upper()
    keys = _BUTTON_KEYS.get(kind, ())
    if kind == "URL" and VARIABLE.search(str(record.get("url") or "")):
        keys = ("url",)
    # A quick reply without a payload answers with its title (A68), so its payload may be left out.
    return Button(kind, str(record.get("text") or ""), keys, required=bool(keys) and kind != "QUICK_REPLY")


def check_button(button: Button, value: Any, path: str) -> Iterator[Problem]:
    """Whether `value`, which is not null, fits a button that is not static."""
    if isinstance(value, str):
        if "url" not in button.keys:
            yield misfit(path, "kind", f"{show(value)} is given to a {called(button)}, which takes {forms(button)}")
        return
    key = only_key(value)
    if key == "coupon":
        yield misfit(path, "coupon", '"coupon" is not the key of a coupon button, the key is "code"')
    elif key not in button.keys:
        yield misfit(path, "kind", f"{show(value)} is given to a {called(button)}, which takes {forms(button)}")
    else:
        yield from _BUTTON_CHECKS[key](value[key], f"{path}.{key}")


def _check_string(value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield misfit(path, "type", f"{show(value)} is not a string")


def _check_voice_call(value: Any, path: str) -> Iterator[Problem]:
    minutes = value.get("ttl_minutes") if isinstance(value, dict) else None
    if isinstance(minutes, bool) or not isinstance(minutes, int | float):
        yield misfit(path, "shape", f"{show(value)} is not an object with the number ttl_minutes")


def _check_flow(value: Any, path: str) -> Iterator[Problem]:
    if value is not None and not isinstance(value, dict):
        yield misfit(path, "type", f"{show(value)} is neither an object of prefill data nor null")


def _check_mpm(value: Any, path: str) -> Iterator[Problem]:
    preview = only_key(value)
    if preview is None:
        yield misfit(path, "shape", f"{show(value)} is not an object whose one key is the preview product")
        return
    sections, path = value[preview], child(path, preview)
    if not (isinstance(sections, list) and sections):
        yield misfit(path, "shape", f"{show(sections)} is not an array with at least one section")
        return
    for at, section in enumerate(sections):
        place = f"{path}[{at}]"
        yield from check_fields(section, ("title",), place)
        if not isinstance(section, dict):
            continue
        items, place = section.get("product_items"), f"{place}.product_items"
        if not (isinstance(items, list) and items):
            yield misfit(place, "shape", f"{show(items)} is not an array with at least one product")
            continue
        for number, item in enumerate(items):
            yield from check_fields(item, ("product_retailer_id",), f"{place}[{number}]")


_BUTTON_CHECKS: Final[dict[str, Callable[[Any, str], Iterator[Problem]]]] = {
    "url": _check_string,
    "payload": _check_string,
    "code": _check_string,
    "catalog": _check_string,
    "voice_call": _check_voice_call,
    "mpm": _check_mpm,
    "flow": _check_flow,
}


def check_fields(value: Any, fields: tuple[str, ...], path: str) -> Iterator[Problem]:
    """`value` must be an object with these fields, all strings; others have no effect (A57)."""
    if not isinstance(value, dict):
        yield misfit(path, "type", f"{show(value)} is not an object with {', '.join(fields)}")
        return
    for name in fields:
        if name not in value:
            yield misfit(path, "required", f"{show(value)} has no {name}, which is required")
        elif not isinstance(value[name], str):
            yield misfit(f"{path}.{name}", "type", f"{show(value[name])} is not a string")


def child(path: str, name: str) -> str:
    """The path of a field: `params[0].name`, or `params[0]['a b']` for a name that is no identifier."""
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{name!r}]"


def only_key(value: Any) -> str | None:
    """The key of an object that has one only, else None."""
    return next(iter(value)) if isinstance(value, dict) and len(value) == 1 else None


def show(value: Any) -> str:
    """A value as JSON, cut where it is long: how messages begin."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # nested too deep to be written
        return "[…]" if isinstance(value, list) else "{…}"
    return text if len(text) <= 80 else text[:79] + "…"


def called(button: Button) -> str:
    """How messages call a button: `URL button "Order"`."""
    return f'{button.type} button "{button.text}"'


def forms(button: Button) -> str:
    """What the button's parameter may look like."""
    keys = [f'{{"{key}": …}}' for key in button.keys]
    return " or ".join(["a string", *keys] if "url" in button.keys else keys)
