"""The values that differ between any two runs: ids, times and prices, by name and form."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple


class Rule(NamedTuple):
    """Values that are passed over: by the end of a field's `name`, or by the `form` of a text, whatever its name."""

    what: str
    name: re.Pattern[str]
    form: re.Pattern[str]


def _rule(kind: str, name: str, form: str) -> Rule:
    return Rule(kind, re.compile(name), re.compile(form))


#: Everything that is passed over.
RULES: Final = (
    _rule(
        "ids",
        r"(?i:(?:^|_)(?:id|ids|token|proof|code|url|link|secret|hash|apikey))$|(?:Id|Token|Url)$",
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:-\d+)?|[0-9a-fA-F]{16,}[\w-]*|\d{10,}"
        r"|ey[\w-]+\.[\w-]+\.[\w-]*|https?://\S+|test-\S+",
    ),
    _rule(
        "times",
        r"(?i:(?:^|_)(?:at|on|time|timestamp|date|datetime|created|updated|start|end|expires?(?:_?in)?))$"
        r"|(?:At|Time|Date|Timestamp)$",
        r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?",
    ),
    _rule("prices", r"(?i)price|cost|credit|balance|amount", r"\d+\.\d+ ?(?:EUR|CZK|USD)"),
)
#: Forms of ids, which later calls use.
IDS: Final = RULES[0]


def passed_over(name: str | int | None, value: Any) -> bool:
    """True if a value is an id, a time or a price."""
    named = isinstance(name, str) and any(rule.name.search(name) for rule in RULES)
    return named or (isinstance(value, str) and any(rule.form.fullmatch(value) for rule in RULES))


_PERSONAL: Final = re.compile(r"[0-9a-fA-F-]*\d[0-9a-fA-F-]{6,}|ey[\w-]+\.[\w.-]+|test-[\w.~-]+|\d{6,}")


def masked(text: str) -> str:
    """A text without ids, keys and phone numbers."""
    return _PERSONAL.sub("…", text)
