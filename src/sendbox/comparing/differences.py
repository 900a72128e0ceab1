"""One recorded answer beside ours: status and structure, and the recorded one beside the schema (§2.4, A98).

Passed over are values that differ between any two runs: ids, times and prices, by name and form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import orjson

from sendbox.contract.findings import MISSING, Pairs, Path, by_place, differing, json_path, show
from sendbox.contract.schemas import inlined, name_of
from sendbox.contract.validators import Contract
from sendbox.engine.answer import JsonObject


class Rule(NamedTuple):
    """Values that are passed over: by the end of a field's `name`, or by the `form` of a text, whatever its name."""

    name: re.Pattern[str]
    form: re.Pattern[str]


#: Ids, whose forms later calls use.
IDS: Final = Rule(
    re.compile(r"(?i:(?:^|_)(?:id|ids|token|proof|code|url|link|secret|hash|apikey))$|(?:Id|Token|Url)$"),
    re.compile(
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:-\d+)?|[0-9a-fA-F]{16,}[\w-]*|\d{10,}"
        r"|ey[\w-]+\.[\w-]+\.[\w-]*|https?://\S+|test-\S+"
    ),
)
_TIMES: Final = Rule(
    re.compile(
        r"(?i:(?:^|_)(?:at|on|time|timestamp|date|datetime|created|updated|start|end|expires?(?:_?in)?))$"
        r"|(?:At|Time|Date|Timestamp)$"
    ),
    re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
)
_PRICES: Final = Rule(re.compile(r"(?i)price|cost|credit|balance|amount"), re.compile(r"\d+\.\d+ ?(?:EUR|CZK|USD)"))
#: Everything that is passed over.
RULES: Final = (IDS, _TIMES, _PRICES)


def passed_over(name: str | int | None, value: object) -> bool:
    """True if a value is an id, a time or a price."""
    named = isinstance(name, str) and any(rule.name.search(name) for rule in RULES)
    return named or (isinstance(value, str) and any(rule.form.fullmatch(value) for rule in RULES))


def is_id(name: str, text: str) -> bool:
    """True if a text is an id. Digits are one only in a field of ids: a phone number has them too."""
    return IDS.form.fullmatch(text) is not None and (not text.isdigit() or IDS.name.search(name) is not None)


def is_label(name: str, text: str) -> bool:
    """True if a text is the same wherever a call is made: a word, or a phone number."""
    return not passed_over(name, "" if text.isdigit() else text)


_PERSONAL: Final = re.compile(r"[0-9a-fA-F-]*\d[0-9a-fA-F-]{6,}|ey[\w-]+\.[\w.-]+|test-[\w.~-]+|\d{6,}")


def mask_text(text: str) -> str:
    """A text without ids, keys and phone numbers."""
    return _PERSONAL.sub("…", text)


#: `extra`: only the recorded answer has the field; `missing`: only ours has it; `schema`: the recorded answer breaks
#: our schema there; `line`: a line of a plain text.
Kind = Literal["status", "extra", "missing", "type", "length", "schema", "line", "value"]
_INDEX: Final = re.compile(r"\[\d+\]")
_TYPES: Final = {str: "a text", bool: "true or false", int: "a number", float: "a number", dict: "an object"}
_NOT_JSON: Final = object()
#: The sign of a difference of statuses; then nothing else of the two answers is compared.
STATUS: Final[tuple[Kind, str]] = ("status", "status")
#: Rules about the fields of an object, of which each is a difference of its own.
_OF_FIELDS: Final = ("additionalProperties", "required")


class Difference(NamedTuple):
    """A difference of one call: its kind, its place, the recorded and the present answer, in words and without values.

    `values` are both in words too, with more detail. `assumed` is the assumption that the schema names there.
    """

    kind: Kind
    path: str
    recorded: str
    here: str
    values: tuple[str, str]
    assumed: str | None = None

    @property
    def sign(self) -> tuple[str, str]:
        """The key that identifies a difference within its call; entries of one array have the same key."""
        return self.kind, _INDEX.sub("[]", self.path)


class StatusAndBody(NamedTuple):
    """An answer: status and body."""

    status: int
    body: bytes


def compare(
    recorded: StatusAndBody,
    here: StatusAndBody,
    contract: Contract,
    schema: str | None,
    *,
    values: bool,
    pair: Pairs = by_place,
) -> list[Difference]:
    """The differences, each once for all entries of an array. `schema` is ours for the recorded status.

    `pair` yields the entries of two arrays that are compared with each other.
    """
    by_sign: dict[tuple[str, str], Difference] = {}
    node = None if schema is None else inlined(contract.definitions, name_of(schema))
    for difference in _differences(recorded, here, contract, schema, values, pair):
        named = difference
        if named.assumed is None and node is not None:
            named = named._replace(assumed=_assumed(node, _steps(difference.path)))
        by_sign.setdefault(named.sign, named)
    return list(by_sign.values())


def _differences(
    recorded: StatusAndBody, here: StatusAndBody, contract: Contract, schema: str | None, values: bool, pair: Pairs
) -> Iterator[Difference]:
    recorded_body, local_body = (_parsed(answer.body) for answer in (recorded, here))
    places: set[str] = set()
    if recorded.status != here.status:
        statuses = str(recorded.status), str(here.status)
        yield Difference(*STATUS, *statuses, statuses)
        return
    if recorded_body is _NOT_JSON and local_body is _NOT_JSON:
        yield from _lines(recorded.body, here.body)
    elif recorded_body is _NOT_JSON or local_body is _NOT_JSON:
        kinds = tuple("no JSON" if value is _NOT_JSON else "JSON" for value in (recorded_body, local_body))
        yield Difference("type", "$", kinds[0], kinds[1], (kinds[0], kinds[1]))
    else:
        for path, a, b in differing(recorded_body, local_body, pair=pair):
            if (difference := _pair(path, a, b, values=values)) is not None:
                places.add(difference.path)
                yield difference
    if schema is not None and recorded_body is not _NOT_JSON:
        for finding in contract.checker(schema, recorded=True).findings(recorded_body):
            named = finding.rule in _OF_FIELDS and any(place.startswith(finding.path) for place in places)
            if not named and finding.path not in places:
                in_words = finding.message, "legal"
                yield Difference(
                    "schema", finding.path, f"breaks the rule {finding.rule}", "legal", in_words, finding.assumed
                )


def _pair(path: Path, a: object, b: object, *, values: bool) -> Difference | None:
    """The difference between two values at one place; None if they may differ."""
    in_words = _quoted(a), _quoted(b)
    place = json_path(path)
    if a is MISSING:
        return Difference("missing", place, "nothing", _kind(b), in_words)
    if b is MISSING:
        return Difference("extra", place, _kind(a), "nothing", in_words)
    if (a is None or b is None) and not isinstance(b if a is None else a, list | dict):
        return None  # where null is not legal, the schema says so
    if isinstance(a, list) and isinstance(b, list):
        return Difference("length", place, _entries(a), _entries(b), (_entries(a), _entries(b)))
    if _kind(a) != _kind(b):
        return Difference("type", place, _kind(a), _kind(b), in_words)
    name = next((step for step in reversed(path) if isinstance(step, str)), None)
    if not values or a == b or passed_over(name, a):
        return None
    return Difference("value", place, "another value", "", in_words)


def _lines(recorded: bytes, here: bytes) -> Iterator[Difference]:
    """Plain texts, line by line and word by word; ids are passed over (A13)."""
    recorded_lines, local_lines = (text.decode("utf-8", "replace").splitlines() for text in (recorded, here))
    for number, (left, right) in enumerate(zip(recorded_lines, local_lines, strict=False), 1):
        if _words(left) != _words(right):
            yield Difference("line", f"line {number}", _form(left), _form(right), (show(left), show(right)))
    if len(recorded_lines) != len(local_lines):
        counts = f"{len(recorded_lines)} lines", f"{len(local_lines)} lines"
        yield Difference("length", "lines", *counts, counts)


def _words(line: str) -> list[str]:
    """The words of a line, "…" for an id: the word after `OK` is one, whatever its form."""
    words = line.strip().split("|")
    return [
        "…" if index and ((index == 1 and words[0] == "OK") or IDS.form.fullmatch(word)) else word
        for index, word in enumerate(words)
    ]


def _form(line: str) -> str:
    """A line without the parts that a client or an id may have put into it: upper-case words and short numbers stay."""
    return "|".join(word if re.fullmatch(r"[A-Z]+|\d{1,4}", word) else "…" for word in _words(line))


def _parsed(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _NOT_JSON


def _kind(value: object) -> str:
    return "an array" if isinstance(value, list) else "null" if value is None else _TYPES[type(value)]


def _entries(value: list[object]) -> str:
    return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"


def _quoted(value: object) -> str:
    return "nothing" if value is MISSING else show(value)


# -- assumptions of a schema


_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]|\['([^']*)'\]")


def _steps(path: str) -> list[str | int]:
    return [int(index) if index else name or other for name, index, other in _STEP.findall(path)]


def _assumed(node: JsonObject, steps: list[str | int]) -> str | None:
    """The assumption of the deepest node on the way to a place, None if the schema names none."""
    assumed: str | None = None
    nodes = [node]
    for step in [*steps, None]:
        nodes = [branch for node in nodes for branch in _branches(node)]
        assumed = next((node["x-assumed"] for node in nodes if "x-assumed" in node), assumed)
        below = "items" if isinstance(step, int) else None
        nodes = [
            deeper
            for node in nodes
            if isinstance(deeper := node.get(below) if below else node.get("properties", {}).get(step), dict)
        ]
    return assumed


def _branches(node: JsonObject) -> Iterator[JsonObject]:
    yield node
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in node.get(keyword, ()):
            yield from _branches(branch)
