"""Message templates of a chatapp account, and whether the parameters of a step fit one (§2.2, §2.5).

A template is compiled once from its record; a step's parameters are then compared with it part by part. Whatever does
not fit makes the message rejected in the response (A08), so each `Problem` carries what a finding needs. A part that
the template does not have takes no parameters. Links are never fetched: the extension decides the kind (A76).

A phone shows parts besides the text: header, footer, buttons, cards. There a value that does not fit is ignored, and
the own text of the template stays: a template may have changed since it was used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.texts import regex
from sendbox.services.templates.buttons import (
    VARIABLE,
    Button,
    Problem,
    button_label,
    check_button,
    compile_button,
    forms,
    misfit,
    show,
)

_NUMBERED: Final = regex(r"[0-9]+")
_EXTENSIONS: Final = {
    ".jpg": "image",
    ".jpeg": "image",
    ".png": "image",
    ".mp4": "video",
    ".3gp": "video",
    ".pdf": "document",
}
#: Kinds of headers that take a parameter; `text` has one field, named by the variable.
_HEADERS: Final = ("text", "image", "video", "document", "location", "product")


class TemplateUse(msgspec.Struct):
    """The use of a template by a `chatapp_template` step (§2.2): values as the client gave them, aliases replaced."""

    name: str
    language: str
    params: list[str | JsonObject] | None = None
    header: list[str | JsonObject] | None = None
    buttons: list[str | JsonObject | None] | None = None
    carousel: list[str | JsonObject] | None = None
    lto: list[str | float] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text among its parameters, those of body, header and buttons first."""
        texts: list[str] = []
        rest: list[object] = [self.params, self.header, self.buttons, self.carousel, self.lto]
        while rest:
            value = rest.pop(0)
            if isinstance(value, str):
                texts.append(value)
            elif isinstance(value, dict | list):
                rest += value.values() if isinstance(value, dict) else value
        return tuple(texts)


class Template(msgspec.Struct, frozen=True):
    """A compiled template (§2.5).

    `variables` in the order in which values are given, `named` when they are not numbers. `header` is the kind of
    header that takes a parameter (`image`, `text` only when it has a variable), else None; `heading` the text of a text
    header. `cards` is the number of
    carousel cards, None without a carousel. `timed` says whether a limited-time offer wants its expiry.
    """

    name: str
    language: str
    category: str
    status: str
    body: str = ""
    variables: tuple[str, ...] = ()
    named: bool = False
    header: str | None = None
    header_variable: str = ""
    heading: str = ""
    footer: str = ""
    buttons: tuple[Button, ...] = ()
    cards: int | None = None
    timed: bool = False

    @property
    def title(self) -> str:
        """The name of the template in messages: `template 'otp' (en)`."""
        return f"template '{self.name}' ({self.language})"


def compile_template(record: JsonObject) -> Template:
    """Compile a template record (`name`, `language`, `category`, `status`, `components`) as §2.5 has it.

    Component, format and button types are taken in any case; components that are not known have no effect.
    """
    parts: dict[str, JsonObject] = {}
    for component in record.get("components") or ():
        parts.setdefault(str(component.get("type", "")).upper(), component)
    body = str(parts.get("BODY", {}).get("text") or "")
    variables, named = _variables(body)
    header, header_variable, heading = _header_of(parts.get("HEADER"))
    carousel = parts.get("CAROUSEL")
    return Template(
        name=str(record.get("name", "")),
        language=str(record.get("language", "")),
        category=str(record.get("category", "")),
        status=str(record.get("status", "")),
        body=body,
        variables=variables,
        named=named,
        header=header,
        header_variable=header_variable,
        heading=heading,
        footer=str(parts.get("FOOTER", {}).get("text") or ""),
        buttons=tuple(compile_button(button) for button in parts.get("BUTTONS", {}).get("buttons") or ()),
        cards=None if carousel is None else len(carousel.get("cards") or ()),
        timed=_timed(parts.get("LIMITED_TIME_OFFER")),
    )


def approved(template: Template) -> bool:
    """True if a step may use the template: its status is `APPROVED` (§2.2, A43)."""
    return template.status.upper() == "APPROVED"


def check(template: Template, use: TemplateUse) -> list[Problem]:
    """The problems of `use` with `template`, in the order of the fields of §2.2; empty if it fits."""
    return [
        *_check_params(template, use.params or []),
        *_check_header(template, use.header or []),
        *_check_buttons(template, use.buttons or []),
        *_check_carousel(template, use.carousel or []),
        *_check_lto(template, use.lto or []),
    ]


def render(template: Template, use: TemplateUse) -> str:
    """The text a phone shows: the body with its variables filled; one without a fitting value stays as written."""
    values: dict[str, str] = {}
    for name, parameter in zip(template.variables, use.params or (), strict=False):
        value = parameter.get(name) if isinstance(parameter, dict) else parameter
        if isinstance(value, str):
            values[name] = value
    return VARIABLE.sub(lambda match: values.get(match[1], match[0]), template.body)


# Compiling


def _variables(text: str) -> tuple[tuple[str, ...], bool]:
    names = tuple(dict.fromkeys(VARIABLE.findall(text)))
    if all(_NUMBERED.fullmatch(name) for name in names):
        return tuple(sorted(names, key=int)), False
    return names, True


def _header_of(component: JsonObject | None) -> tuple[str | None, str, str]:
    if component is None:
        return None, "", ""
    kind = str(component.get("format") or "TEXT").lower()
    if kind != "text":
        return (kind if kind in _HEADERS else None), "", ""
    text = str(component.get("text") or "")
    names, _ = _variables(text)
    return ("text", names[0], text) if names else (None, "", text)


def _timed(component: JsonObject | None) -> bool:
    if component is None:
        return False
    offer = component.get("limited_time_offer")
    return not (isinstance(offer, dict) and offer.get("has_expiration") is False)


# Checking


def _check_params(template: Template, values: list[str | JsonObject]) -> Iterator[Problem]:
    expected = template.variables
    if len(values) != len(expected):
        yield misfit("params", "count", f"{_values(values)} not fit {template.title}, which has {_listed(expected)}")
        return
    for at, (name, value) in enumerate(zip(expected, values, strict=True)):
        path = f"params[{at}]"
        if not template.named:
            if not isinstance(value, str):
                yield misfit(path, "type", f"{show(value)} is not a string, as numbered variable {{{{{name}}}}} takes")
        elif not isinstance(value, dict):
            yield misfit(path, "named", f'{show(value)} is not an object with the one key "{name}"')
        elif name not in value:
            yield misfit(
                path, "order", f'"{next(iter(value))}" is not the variable at this position, which is "{name}"'
            )


def _check_header(template: Template, values: list[str | JsonObject]) -> Iterator[Problem]:
    kind = template.header
    if len(values) != (kind is not None):
        takes = "header takes none" if kind is None else f"{kind} header takes exactly one"
        yield misfit("params_header", "count", f"{_values(values)} not fit {template.title}, whose {takes}")
    for value in values if kind is not None else ():
        yield from _check_header_value(template, kind or "", value)


def _check_header_value(template: Template, kind: str, value: str | JsonObject) -> Iterator[Problem]:
    path, key = "params_header[0]", kind_of(value) if isinstance(value, str) else next(iter(value))
    if key != kind:
        quoted = show(value if isinstance(value, str) else key)
        text = f"{quoted} is a value of kind {key}, but the header of {template.title} is of kind {kind}"
        yield misfit(path, "kind", text)
    elif not isinstance(value, str):
        yield from _check_fields(template, kind, value[kind], f"{path}.{kind}")


def _check_fields(template: Template, kind: str, fields: dict[str, str], path: str) -> Iterator[Problem]:
    """Checks of a header that the schema cannot make: the name of its variable, and the kind of its link's target."""
    name = template.header_variable
    if kind == "text" and name not in fields:
        yield misfit(path, "named", f'{show(fields)} is not an object with the one key "{name}"')
    if kind in _EXTENSIONS.values():
        link = fields["link"]
        if not _is_url(link):
            yield misfit(f"{path}.link", "url", f"{show(link)} is not an http or https address")
        elif (named := kind_of(link.partition("#")[0].partition("?")[0])) not in ("text", kind):
            yield misfit(f"{path}.link", "kind", f"{show(link)} has an extension of kind {named}, not of kind {kind}")


def _check_buttons(template: Template, values: list[str | JsonObject | None]) -> Iterator[Problem]:
    buttons = template.buttons
    for at, button in enumerate(buttons):
        path = f"params_buttons[{at}]"
        value = values[at] if at < len(values) else None
        if value is not None:
            if button.keys:
                yield from check_button(button, value, path)
            else:
                yield misfit(
                    path, "static", f"{show(value)} is given to a static {button_label(button)}, which takes null"
                )
        elif button.required:
            state = "null" if at < len(values) else "no value"
            yield misfit(path, "required", f"{state} is given to a {button_label(button)}, which takes {forms(button)}")
    if len(values) > len(buttons):
        path = f"params_buttons[{len(buttons)}]"
        yield misfit(
            path, "count", f"{_values(values)} not fit {template.title}, which has {_counted(len(buttons), 'button')}"
        )


def _check_carousel(template: Template, values: Sequence[object]) -> Iterator[Problem]:
    expected = template.cards or 0
    if len(values) != expected:
        yield misfit(
            "params_carousel",
            "count",
            f"{_values(values)} not fit {template.title}, which has {_counted(expected, 'carousel card')}",
        )


def _check_lto(template: Template, values: list[str | float]) -> Iterator[Problem]:
    expected = int(template.timed)
    if len(values) != expected:
        takes = "one timestamp" if template.timed else "none"
        yield misfit(
            "params_lto", "count", f"{_values(values)} not fit {template.title}, whose limited-time offer takes {takes}"
        )
        return
    for value in values:
        if not isinstance(value, str) and (value < 0 or value % 1):
            yield misfit("params_lto[0]", "timestamp", f"{show(value)} is not a timestamp in milliseconds")


# Reading values


def _is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def kind_of(text: str) -> str:
    """The kind of header that a string is: by its extension if it is an address, else text (§2.2, A76)."""
    if _is_url(text):
        return _EXTENSIONS.get("." + text.rpartition(".")[2].lower(), "text")
    return "text"


# Wording


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _values(values: Sequence[object]) -> str:
    return f"{_counted(len(values), 'value')} {'does' if len(values) == 1 else 'do'}"


def _listed(variables: tuple[str, ...]) -> str:
    if not variables:
        return "no variables"
    return f"{_counted(len(variables), 'variable')}: {', '.join(f'{{{{{name}}}}}' for name in variables)}"


#: The button that is pressed to answer.
QUICK_REPLY = "QUICK_REPLY"


def visible_parts(template: Template, use: TemplateUse) -> JsonObject:
    """The parts besides the text, `{header, footer, buttons, cards, offer}`, without those that do not exist.

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


def _header(template: Template, values: list[str | JsonObject]) -> JsonObject | None:
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


def _value(parameter: JsonObject) -> JsonObject:
    """An object with one key as its kind and fields."""
    kind, fields = next(iter(parameter.items()), ("", {}))
    return {"kind": kind, **(fields if isinstance(fields, dict) else {})}


def _or(text: object, otherwise: str) -> str:
    return text if isinstance(text, str) else otherwise


def _button(at: int, button: Button, value: str | JsonObject | None) -> JsonObject:
    view: JsonObject = {"type": button.type, "text": button.text}
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
