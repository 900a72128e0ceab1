"""The diagnosis of a refused call: the value at the place of each finding, and all other problems of the request.

The client is shown the first finding in the service's shape; the journal has all of them. Nothing here is on the way
of a call that is accepted.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qs

import orjson
from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.engine import bounds
from sendbox.services.http.exchange import Refused

if TYPE_CHECKING:
    from sendbox.engine.remarks import Finding
    from sendbox.services.http.exchange import Exchange

A = TypeVar("A")
B = TypeVar("B")
#: A body of more bytes is not read again for what stood in it.
READ_AGAIN: Final = 1 << 18
#: Headers whose value is shown; keys are not.
_SHOWN: Final = frozenset({"content-type"})
_STEP: Final = re.compile(r"\.([^.\[]+)|\[([0-9]+)\]|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\]")

Step = str | int


def valued(findings: Sequence[Finding], exchange: Exchange) -> list[Finding]:
    """The findings with the values at their paths, shortened; None if a path has no value."""
    request = _request(exchange)
    return [replace(finding, value=_value(finding.path, request, exchange)) for finding in findings]


def together(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """The results of both. Raises `Refused`: the refusal of the first, with the findings of the second as well."""
    try:
        value = first()
    except Refused as refused:
        try:
            second()
        except Refused as other:
            refused.findings += other.findings
        raise
    return value, second()


def beside(refused: Refused, findings: Iterable[Finding]) -> Refused:
    """The refusal with more findings, of places for which it has none yet."""
    places = {finding.path for finding in refused.findings}
    refused.findings += [finding for finding in findings if finding.path not in places]
    return refused


def steps_of(path: str) -> list[Step]:
    """The steps of a path: `$.flow[1].sms.ttl` is `flow`, 1, `sms`, `ttl`."""
    return [name or (int(index) if index else str(literal_eval(quoted))) for name, index, quoted in _STEP.findall(path)]


def _request(exchange: Exchange) -> Any:
    """The request as an object: its JSON, or its parameters; None if it is too long or neither."""
    body = exchange.body
    if len(body) > READ_AGAIN:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raw = body or exchange.query
        fields = {} if bounds.crowded(raw) else parse_qs(raw.decode("latin-1"), keep_blank_values=True)
        return {name: values[-1] for name, values in fields.items()}


def _value(path: str, request: Any, exchange: Exchange) -> str | None:
    if path.startswith("header "):
        name = path.removeprefix("header ")
        content = exchange.header(name.encode()) if name in _SHOWN else None
        return None if content is None else show(content.decode("latin-1"))
    steps = steps_of(path)
    if not steps:
        return None
    value = request
    for step in steps:
        held = dict(enumerate(value)) if isinstance(value, list) else value
        if not isinstance(held, dict) or step not in held:
            return None
        value = held[step]
    return show(value)
