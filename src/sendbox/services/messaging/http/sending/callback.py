"""`callback`: where the deliveries of a message go, as a string or as the object of A01 (§2.1, §6).

Targets are shared and never change, so the target of an address is kept: most clients name the same one in each call.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from sendbox.engine.delivery.batches import Target
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.advice import CALLBACK_TEMPLATE_IGNORED, advise
from sendbox.services.http.names import unknown_fields
from sendbox.services.messaging.http.sending.errors import show

#: Legal lengths of the address, in characters (A01).
SHORTEST: Final = 8
LONGEST: Final = 2048

OBJECT_FIELDS: Final = frozenset(
    {"url", "method", "content_type", "headers", "batch_size", "timeout_ms", "item", "body"}
)
TEMPLATES: Final = ("item", "body")

_BLANK = re.compile(r"[\x00-\x20\x7f]")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def read_callback(
    value: str | dict[str, Any], path: str, problems: list[Finding], advice: list[Advice]
) -> Target | None:
    """The target that `callback` names, None for the empty string; what is wrong goes to `problems` (A01)."""
    if isinstance(value, str):
        if not value:
            return None
        target = _address(value)
        if isinstance(target, str):
            problems.append(_finding(f"{path}.callback", "callback", f"{show(value)} {target}"))
            return None
        return target
    return _read_object(value, f"{path}.callback", problems, advice)


def _read_object(value: dict[str, Any], path: str, problems: list[Finding], advice: list[Advice]) -> Target | None:
    if not OBJECT_FIELDS.issuperset(value):
        unknown_fields(value, OBJECT_FIELDS, path, "§2.1", advice)
    for name in TEMPLATES:
        if name in value:
            message = f"{show(value[name])} is a template, whose syntax is unknown: it has no effect"
            advice.append(advise(CALLBACK_TEMPLATE_IGNORED, message, f"{path}.{name}"))
    headers = tuple(value.get("headers", {}).items())
    for name, content in headers:
        if _TOKEN.fullmatch(name) is None:
            text = f"{show(name)} is not a header name; legal are letters, digits and !#$%&'*+.^_`|~- (A01)"
            problems.append(_finding(f"{path}.headers", "header-name", text))
        if _UNPRINTABLE.search(content) is not None:
            text = f"{show(content)} holds a control character, which no header may (A01)"
            problems.append(_finding(f"{path}.headers.{name}", "header-value", text))
    url = value["url"]
    target = _address(url)
    if isinstance(target, str):
        problems.append(_finding(f"{path}.url", "callback", f"{show(url)} {target}"))
        return None
    return Target(
        url,
        value.get("method", "POST"),
        value.get("content_type", "application/json"),
        headers,
        value.get("batch_size", 100),
        value.get("timeout_ms"),
    )


@lru_cache(maxsize=1024)
def _address(url: str) -> Target | str:
    """The plain target of an address, or what is wrong with it, as the message goes on after the value."""
    if not SHORTEST <= len(url) <= LONGEST:
        return f"has {len(url)} characters; a callback address has {SHORTEST} to {LONGEST} (A01)"
    if not url[:8].lower().startswith(("http://", "https://")):
        return "is not an http or https address, the only ones that a callback may have (A01)"
    if _BLANK.search(url) is not None:
        return "holds white space or a control character; an address has them percent-encoded (§2.1)"
    try:
        parts = urlsplit(url)
        legal = bool(parts.hostname) and parts.port != 0
    except ValueError:
        legal = False
    return Target(url) if legal else "is not an address: host or port is missing or malformed (§2.1)"


def _finding(path: str, rule: str, message: str) -> Finding:
    return Finding(path, rule, message, "§2.1", "A01")
