"""Templates and uses of them, for the tests of `services/templates`."""

from __future__ import annotations

from typing import Any

from sendbox.services.templates.buttons import Problem
from sendbox.services.templates.templates import Template, TemplateUse, compile_template


def template(*components: dict[str, Any], status: str = "APPROVED") -> Template:
    """A template `t` in English of these components."""
    record = {"name": "t", "language": "en", "category": "UTILITY", "status": status, "components": list(components)}
    return compile_template(record)


def use(**parts: Any) -> TemplateUse:
    """A use of template `t` with these parameters."""
    return TemplateUse("t", "en", **parts)


def body(text: str) -> dict[str, Any]:
    """A BODY component."""
    return {"type": "BODY", "text": text}


def header(kind: str, text: str = "") -> dict[str, Any]:
    """A HEADER component."""
    return {"type": "HEADER", "format": kind, "text": text}


def buttons(*records: dict[str, Any]) -> dict[str, Any]:
    """A BUTTONS component."""
    return {"type": "BUTTONS", "buttons": list(records)}


def problem(path: str, rule: str, message: str) -> list[Problem]:
    """The one problem expected, of §2.2."""
    return [Problem(path, rule, f"{message} (§2.2)", "§2.2")]
