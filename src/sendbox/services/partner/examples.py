"""Parameters of a step made of the examples in a template's components, for a test of the template (§2.5, A42)."""

from __future__ import annotations

from typing import Any, Final

from sendbox.services.templates.templates import Template, TemplateUse

Record = dict[str, Any]

#: Where the provider keeps what a handle stands for.
_MEDIA: Final = "https://media.chatapp.example/"


def by_examples(template: Template, components: list[Record]) -> TemplateUse:
    """A use of the template with the examples of these components as values; a part without example gets no value."""
    parts: dict[str, Record] = {}
    for component in components:
        parts.setdefault(str(component["type"]).upper(), component)
    body, header, buttons = (parts.get(kind, {}) for kind in ("BODY", "HEADER", "BUTTONS"))
    return TemplateUse(
        template.name,
        template.language,
        _of_body(template, body.get("example") or {}),
        _of_header(str(header.get("format") or "TEXT").lower(), header.get("example") or {}),
        [_of_button(button) for button in buttons.get("buttons") or ()],
    )


def _of_body(template: Template, example: Record) -> list[Any] | None:
    """The first row of samples; where the variables have names, each sample under its name."""
    rows = example.get("body_text")
    if not rows:
        return None
    values = list(rows[0])
    if template.named and len(values) == len(template.variables):
        return [{name: value} for name, value in zip(template.variables, values, strict=True)]
    return values


def _of_header(kind: str, example: Record) -> list[Any] | None:
    if kind == "text":
        return example.get("header_text", [])[:1] or None
    for handle in example.get("header_handle", ())[:1]:
        link = handle if handle.lower().startswith(("http://", "https://")) else f"{_MEDIA}{handle}"
        named = {"filename": link.rpartition("/")[2]} if kind == "document" else {}
        return [{kind: {"link": link, **named}}]
    return None


def _of_button(button: Record) -> str | None:
    """The text that is appended to the address of a dynamic URL; its example may be the whole address."""
    example = button.get("example")
    if str(button["type"]).upper() != "URL" or not example:
        return None
    base = str(button.get("url") or "").partition("{{")[0]
    value: str = example if isinstance(example, str) else example[0]
    return value.removeprefix(base)
