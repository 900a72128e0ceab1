"""`sendbox diff`: two journals, and the first entry in which they differ.

They are compared as the digest reads them: the entries of one instant are compared as a whole, in any order, and a name
counts as what it was derived from. A journal that was saved in the form for people is brought close to that form: its
names are numbered in the order of their first use.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import orjson

from sendbox.cli.address import call
from sendbox.cli.outcome import CANNOT, USAGE, Failure, json_of
from sendbox.contract.findings import json_path
from sendbox.contract.pairs import MISSING, differing
from sendbox.engine.classes import dataclass
from sendbox.engine.durations import instant, show
from sendbox.scenario.model import article

#: How many entries are shown before the first difference, and how many characters of a value.
CONTEXT: Final = 3
SHOWN: Final = 70
_WORLD: Final = re.compile(r"(.*)/_sandbox/worlds/([^/]+)(?:/journal)?/?")
#: Entries that the digest leaves out.
_CONTROL: Final = frozenset({"opened", "reset", "restored", "control", "timeline"})
#: Names that a world makes: UUIDs (and -index), tokens and codes with its tag, ids of digits, signed tokens.
_NAME: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|eyJ[\w-]*\.[\w-]*\.[\w-]*|\b[0-9a-f]{16}[\w-]{4,}|\b[0-9]{15,16}\b"
)
_ORIGIN: Final = re.compile(r"https?://[^/\s\"]+(?=/(?:s|upload|signup|_sandbox)/)")

Entry = dict[str, Any]
NOTHING: Final = "(nothing)"


@dataclass(slots=True)
class Difference:
    """The first difference of two journals. `a` and `b` are the entries, None where one journal has no similar entry.

    `fields` are (path, value in a, value in b); `context` the common entries before; counts are of all that differ.
    """

    a: Entry | None
    b: Entry | None
    fields: list[tuple[str, Any, Any]]
    context: list[Entry]
    only_a: int = 0
    only_b: int = 0

    @property
    def at(self) -> int:
        """Milliseconds from the start."""
        return int((self.a or self.b or {"at": 0})["at"])


@dataclass(slots=True)
class Journal:
    """The entries of a journal in canonical form, and what it was read from.

    `lost` are the first ones, which were forgotten because of a `bound`; `more` says that others follow, which were not
    saved (limit).
    """

    name: str
    entries: list[Entry] = field(default_factory=list)
    canonical: bool = True
    lost: int = 0
    bound: str = "--max-journal"
    more: bool = False


def diff(first: str, second: str) -> tuple[Journal, Journal, Difference | None]:
    """The journals, and their first difference. Raises `Failure` where one cannot be read."""
    a, b = read(first), read(second)
    if a.canonical != b.canonical:
        shown, plain = (b, a) if a.canonical else (a, b)
        raise Failure(
            USAGE, f"{shown.name} was saved without form=canonical, {plain.name} with it; save both in the same form"
        )
    return a, b, compare(*_left(a, b))


def _left(a: Journal, b: Journal) -> tuple[list[Entry], list[Entry]]:
    """The entries of those instants that both have whole. Entries at the edge of what is left may not be all."""
    since = max((_edge(journal, 0) for journal in (a, b) if journal.lost), default=None)
    until = min((_edge(journal, -1) for journal in (a, b) if journal.more), default=None)
    for journal in (a, b):
        journal.entries = [
            entry
            for entry in journal.entries
            if (since is None or entry["at"] > since) and (until is None or entry["at"] < until)
        ]
    return a.entries, b.entries


def _edge(journal: Journal, at: int) -> int:
    """The instant of the first or last entry; without any, nothing can be compared."""
    return int(journal.entries[at]["at"]) if journal.entries else (-1 if at else sys.maxsize)


def notes(*journals: Journal) -> list[str]:
    """What is left out of the comparison."""
    return [
        *(
            f"{journal.name}: the first {journal.lost} entries were forgotten ({journal.bound}); only later instants "
            "are compared"
            for journal in journals
            if journal.lost
        ),
        *(
            f"{journal.name}: it was saved with a limit, and more entries follow; only earlier instants are compared"
            for journal in journals
            if journal.more
        ),
    ]


# --- reading


def read(source: str) -> Journal:
    """The journal of a world at an address, or of a file. Raises `Failure`."""
    if source.startswith(("http://", "https://")):
        return _fetched(source)
    value = json_of(Path(source))
    entries = value.get("canonical", value.get("entries")) if isinstance(value, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and "at" in entry for entry in entries):
        message = f"{source} holds no journal; legal: what /worlds/ID/journal answers, or sendbox play --format json"
        raise Failure(CANNOT, message)
    lost, more = int(value.get("first") or 0), bool(value.get("more"))
    if "canonical" in value or value.get("form") == "canonical":
        return Journal(source, entries, lost=lost, bound=value.get("bound", "--max-journal"), more=more)
    if lost:
        message = f"{source}: the first {lost} entries were forgotten, so the start is not known; save it with form="
        raise Failure(CANNOT, f"{message}canonical")
    return Journal(source, _normal(entries), canonical=False, more=more)


def _fetched(address: str) -> Journal:
    match = _WORLD.fullmatch(address.partition("?")[0])
    if match is None:
        raise Failure(USAGE, f"{address} is not the address of a world; legal: http://HOST:PORT/_sandbox/worlds/ID")
    answer = call(match[1], "journal", unquote(match[2]), {"form": "canonical"})
    return Journal(address, answer["entries"], lost=answer["first"], bound=answer.get("bound", ""))


def _normal(entries: list[Entry]) -> list[Entry]:
    """Entries in the form for people, with instants from the start and numbered names."""
    start = instant(entries[0]["at"]) if entries else 0
    keys = {entry["key"].partition("~")[0] for entry in entries if isinstance(entry.get("key"), str)}
    worlds = re.compile("|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True)) or r"(?!)")
    numbers: dict[str, str] = {}

    def named(text: str) -> str:
        text = worlds.sub("WORLD", _ORIGIN.sub("ORIGIN", text))
        return _NAME.sub(lambda match: numbers.setdefault(match[0], f"NAME{len(numbers) + 1}"), text)

    return [
        {**_with(_decoded(entry), named), "at": instant(entry["at"]) - start}
        for entry in entries
        if entry.get("kind") not in _CONTROL
    ]


def _decoded(entry: Entry) -> Entry:
    """A request with body and answer as values, where they are JSON."""
    decoded = dict(entry)
    for name in ("body", "answer"):
        if entry.get("kind") == "request" and isinstance(entry.get(name), str):
            with contextlib.suppress(orjson.JSONDecodeError):
                decoded[name] = orjson.loads(entry[name])
    return decoded


def _with(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with(item, change) for key, item in value.items()}
    return [_with(item, change) for item in value] if isinstance(value, list) else value


# --- comparing


def compare(a: list[Entry], b: list[Entry]) -> Difference | None:
    """The first difference, None when there is none."""
    texts_a, texts_b = [_text(entry) for entry in a], [_text(entry) for entry in b]
    surplus_a, surplus_b = Counter(texts_a), Counter(texts_b)
    surplus_a, surplus_b = surplus_a - surplus_b, surplus_b - surplus_a
    only_a, only_b = _only(a, texts_a, Counter(surplus_a)), _only(b, texts_b, Counter(surplus_b))
    if not only_a and not only_b:
        return None
    at = min(entry["at"] for entry in (*only_a, *only_b))
    now_a, now_b = ([entry for entry in only if entry["at"] == at] for only in (only_a, only_b))
    first_a, first_b = _pair(now_a, now_b)
    fields = list(_fields(first_a, first_b)) if first_a is not None and first_b is not None else []
    side, stop = (a, first_a) if first_a is not None else (b, first_b)
    before = []
    for entry in side:
        if entry is stop:
            break
        if entry["at"] <= at and not any(entry is differing for differing in (*now_a, *now_b)):
            before.append(entry)
    return Difference(first_a, first_b, fields, before[-CONTEXT:], len(only_a), len(only_b))


def _text(entry: Entry) -> bytes:
    return orjson.dumps({key: value for key, value in entry.items() if key != "n"}, option=orjson.OPT_SORT_KEYS)


def _only(entries: list[Entry], texts: list[bytes], surplus: Counter[bytes]) -> list[Entry]:
    """The entries that the other side does not have; the last ones of equal entries."""
    missing = []
    for entry, text in zip(reversed(entries), reversed(texts), strict=True):
        if surplus[text] > 0:
            surplus[text] -= 1
            missing.append(entry)
    return missing[::-1]


def _pair(a: list[Entry], b: list[Entry]) -> tuple[Entry | None, Entry | None]:
    """The entry to show, and the most similar one of the other side: a request first, since it causes the others."""

    def rank(entry: Entry) -> bool:
        return entry.get("kind") != "request"

    a, b = sorted(a, key=rank), sorted(b, key=rank)
    if not a:
        return None, b[0]
    first = a[0]
    if b and rank(b[0]) < rank(first):
        return _most_like(b[0], a), b[0]
    return first, _most_like(first, b)


def _most_like(entry: Entry, candidates: list[Entry]) -> Entry | None:
    alike = [candidate for candidate in candidates if candidate.get("kind") == entry.get("kind")]
    return max(alike, key=lambda candidate: _likeness(entry, candidate), default=None)


def _likeness(a: Entry, b: Entry) -> int:
    same = sum(a[key] == b[key] for key in a.keys() & b.keys())
    return int(same + 4 * (a.get("phone") == b.get("phone")))


def _fields(a: Entry, b: Entry) -> Iterator[tuple[str, Any, Any]]:
    """Every value that differs, by its path."""
    for path, left, right in differing(a, b):
        if path != ("n",):
            was, now = (NOTHING if value is MISSING else value for value in (left, right))
            yield json_path(path).removeprefix("$."), was, now


# --- showing


def as_text(a: Journal, b: Journal, difference: Difference | None) -> Iterator[str]:
    """The lines."""
    yield from notes(a, b)
    if difference is None:
        yield f"equal: {len(a.entries)} entries"
        return
    kind = (difference.a or difference.b or {})["kind"]
    if difference.a is None or difference.b is None:
        having, lacking = (b.name, a.name) if difference.a is None else (a.name, b.name)
        yield f"first difference at +{show(difference.at)}: {having} has {article(kind)} that {lacking} does not have"
    else:
        numbers = f"{a.name}:{difference.a['n']}, {b.name}:{difference.b['n']}"
        yield f"first difference at +{show(difference.at)}: {article(kind)} ({numbers})"
    if difference.context:
        yield "before it:"
        yield from (f"    +{show(entry['at'])} {_line(entry)}" for entry in difference.context)
    if difference.fields:
        yield f"--- {a.name}"
        yield f"+++ {b.name}"
        for path, left, right in difference.fields:
            yield f"  {path}"
            yield f"    - {_value(left)}"
            yield f"    + {_value(right)}"
    else:
        sign, entry = ("-", difference.a) if difference.a is not None else ("+", difference.b)
        yield f"{sign} {_line(entry or {})}"
    only_a = f"{difference.only_a} of {len(a.entries)} entries are only in {a.name}"
    yield f"in total {only_a}, {difference.only_b} of {len(b.entries)} only in {b.name}"


def as_object(a: Journal, b: Journal, difference: Difference | None) -> dict[str, Any]:
    """The same as a plain object."""
    first = None
    if difference is not None:
        first = {
            "at": difference.at,
            "a": difference.a,
            "b": difference.b,
            "fields": [{"path": path, "a": left, "b": right} for path, left, right in difference.fields],
            "before": difference.context,
        }
    return {
        "equal": difference is None,
        "left_out": notes(a, b),
        "a": {"name": a.name, "entries": len(a.entries), "only": 0 if difference is None else difference.only_a},
        "b": {"name": b.name, "entries": len(b.entries), "only": 0 if difference is None else difference.only_b},
        "first": first,
    }


def _line(entry: Entry) -> str:
    """An entry on one line."""
    hidden = ("n", "at", "kind", "message")
    fields = [f"{key} {_value(value)}" for key, value in entry.items() if key not in hidden and value not in (None, "")]
    line = f"{entry.get('kind')}: {', '.join(fields)}"
    return line if len(line) <= 2 * SHOWN else f"{line[: 2 * SHOWN - 1]}…"


def _value(value: Any) -> str:
    text = value if value == NOTHING else orjson.dumps(value).decode()
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
