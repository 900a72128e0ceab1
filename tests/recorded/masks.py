"""What no record holds, because it differs from run to run or is recorded once for all, with the reasons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

#: Where this checkout stands.
ROOT: Final = Path(__file__).resolve().parents[2]
MASK: Final = "(masked)"
#: The name of a field, and why its value is masked wherever it stands.
FIELDS: Final = {
    "instance": "a process draws it when it starts",
    "idle_since": "real time: when the world was last asked for something",
    "version": "raised with each release, and says nothing about an outcome",
}
#: A pattern in texts, what stands in its place, and why.
TEXTS: Final = (
    (
        re.compile(re.escape(str(ROOT)) + r"(?=/)"),
        "(checkout)",
        "places of rules are paths, which differ between checkouts",
    ),
    (re.compile(r"/_sandbox/page/[0-9a-f]{12}/"), "/_sandbox/page/(stamp)/", "made of the files of the page"),
    (re.compile(r"exported by Sendbox [0-9][0-9a-z.]*"), "exported by Sendbox (version)", "raised with each release"),
)


def masked(value: Any) -> Any:
    """The value with what differs from run to run masked."""
    if isinstance(value, dict):
        hidden = FIELDS if "what_to_do" not in value else {"at": "real time: when a key was denied", **FIELDS}
        return {name: MASK if name in hidden else masked(each) for name, each in value.items()}
    if isinstance(value, list):
        return [masked(each) for each in value]
    if isinstance(value, str):
        for pattern, instead, _ in TEXTS:
            value = pattern.sub(instead, value)
    return value
