"""Values as text that a difference can be read in, and as short hashes."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, Final

#: A value that fits into so many characters stands in one line.
WIDTH: Final = 140


def hashed(value: Any) -> str:
    """Sixteen hex digits that stand for a text, or for JSON, whatever the order of its fields."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def pretty(value: Any, indent: str = "") -> str:
    """JSON whose short values stand in one line; a text is itself."""
    if isinstance(value, str) and not indent:
        return value
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + len(indent) <= WIDTH or not value or not isinstance(value, dict | list):
        return line
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {pretty(each, deeper)}" for name, each in value.items()]
    else:
        parts = [pretty(each, deeper) for each in value]
    inside = f",\n{deeper}".join(parts)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{deeper}{inside}\n{indent}{closing}"
