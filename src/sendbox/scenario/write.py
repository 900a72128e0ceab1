"""Writes scenarios as YAML that this package reads as it was meant."""

from __future__ import annotations

import json
from typing import Any

from sendbox.scenario.model import Source, plain


def dump(value: dict[str, Any]) -> str:
    """A scenario as YAML, keys in their order. What plain YAML would make something else of is JSON, which is YAML."""
    import yaml

    from sendbox.scenario import parse

    text = str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110))
    node, problems = parse.parse(text, Source("scenario"))
    if problems or node is None or plain(node) != value:
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text
