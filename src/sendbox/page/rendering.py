"""Templates: what is rendered here and not in the browser. Everything that comes from a client is escaped."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import Environment

#: The longest text that is shown whole.
TEXT: Final = 400


@functools.cache
def environment() -> Environment:
    """The templates. The first call imports jinja2, which takes too long for the event loop."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters["cut"] = cut
    return templates


def html(template: str, data: Mapping[str, Any]) -> str:
    """A template with its data."""
    return environment().get_template(template).render(data)


def cut(text: object, length: int = TEXT) -> str:
    """A text of bounded length."""
    complete = str(text)
    return complete if len(complete) <= length else f"{complete[: length - 1]}…"
