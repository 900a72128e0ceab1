"""Two journals in canonical form, and the first entry in which they differ.

They are compared as the digest reads them: the entries of one instant are compared as a whole, in any order.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec
import orjson

from sendbox.contract.findings import MISSING, differing, json_path
from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import show
from sendbox.scenario.model import article

#: How many entries are shown before the first difference, and how many characters of a value.
CONTEXT: Final = 3
SHOWN: Final = 70
NOTHING: Final = "(nothing)"
#: The name of a request in canonical form: its hash, and its ordinal among equal ones.
_REQUEST: Final = re.compile(rb'"([0-9a-f]{32}):[0-9]+(?=[:"])')

Entry = JsonObject


class Difference(msgspec.Struct):
    """The first difference of two journals. `a` and `b` are the entries, None where one journal has no similar entry.

    `fields` are (path, value in a, value in b); `before` are the entries that both have before it, the last of which
    are the `context`; `only_a` and `only_b` are all that differ.
    """

    a: Entry | None
    b: Entry | None
    fields: list[tuple[str, object, object]]
    before: list[Entry]
    only_a: list[Entry]
    only_b: list[Entry]

    @property
    def context(self) -> list[Entry]:
        """The entries that are shown before it."""
        return self.before[-CONTEXT:]

    @property
    def at(self) -> int:
        """Milliseconds from the start."""
        return int((self.a or self.b or {"at": 0})["at"])


class Journal(msgspec.Struct):
    """The entries of a journal in canonical form, and what it was read from.

    `lost` are the first ones, which were forgotten because of a `bound`; `more` says that others follow, which were not
    saved (limit).
    """

    name: str
    entries: list[Entry] = msgspec.field(default_factory=list)
    canonical: bool = True
    lost: int = 0
    bound: str = "--max-journal"
    more: bool = False


def comparable_entries(a: Journal, b: Journal) -> tuple[list[Entry], list[Entry]]:
    """The entries of the instants that are complete in both journals; the first or last instant may be incomplete.

    Equal requests are numbered again if a journal has forgotten some: each journal counts those that it has.
    """
    since = max((_edge(journal, 0) for journal in (a, b) if journal.lost), default=None)
    until = min((_edge(journal, -1) for journal in (a, b) if journal.more), default=None)
    for journal in (a, b):
        journal.entries = [
            entry
            for entry in journal.entries
            if (since is None or entry["at"] > since) and (until is None or entry["at"] < until)
        ]
        if since is not None:
            journal.entries = _numbered_again(journal.entries)
    return a.entries, b.entries


def _numbered_again(entries: list[Entry]) -> list[Entry]:
    """The entries with the ordinals of equal requests counted from 0, in the order in which the entries name them."""
    names: dict[bytes, bytes] = {}
    counts: Counter[bytes] = Counter()

    def rename(match: re.Match[bytes]) -> bytes:
        name = names.get(match[0])
        if name is None:
            name = names[match[0]] = b'"%b:%d' % (match[1], counts[match[1]])
            counts[match[1]] += 1
        return name

    return [orjson.loads(_REQUEST.sub(rename, orjson.dumps(entry))) for entry in entries]


def _edge(journal: Journal, at: int) -> int:
    """The instant of the first or last entry; without any, nothing can be compared."""
    return int(journal.entries[at]["at"]) if journal.entries else (-1 if at else sys.maxsize)


def notes(*journals: Journal) -> list[str]:
    """Notes about the entries that the comparison leaves out."""
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
        if entry["at"] <= at and not any(entry is other for other in (*now_a, *now_b)):
            before.append(entry)
    return Difference(first_a, first_b, fields, before, only_a, only_b)


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


def _fields(a: Entry, b: Entry) -> Iterator[tuple[str, object, object]]:
    """Every value that differs, by its path."""
    for path, left, right in differing(a, b):
        if path != ("n",):
            was, now = (NOTHING if value is MISSING else value for value in (left, right))
            yield json_path(path).removeprefix("$."), was, now


def as_text(a: Journal, b: Journal, difference: Difference | None) -> Iterator[str]:
    """The lines of the comparison for people."""
    yield from notes(a, b)
    if difference is None:
        yield f"equal: {len(a.entries)} entries"
        return
    yield headline(a, b, difference)
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
    only_a = f"{len(difference.only_a)} of {len(a.entries)} entries are only in {a.name}"
    yield f"in total {only_a}, {len(difference.only_b)} of {len(b.entries)} only in {b.name}"


def headline(a: Journal, b: Journal, difference: Difference) -> str:
    """The first difference in one line."""
    kind = (difference.a or difference.b or {})["kind"]
    if difference.a is None or difference.b is None:
        having, lacking = (b.name, a.name) if difference.a is None else (a.name, b.name)
        return f"first difference at +{show(difference.at)}: {having} has {article(kind)} that {lacking} does not have"
    numbers = f"{a.name}:{difference.a['n']}, {b.name}:{difference.b['n']}"
    return f"first difference at +{show(difference.at)}: {article(kind)}{_whose(difference.a)} ({numbers})"


def _whose(entry: Entry) -> str:
    """The phone that an entry is about, or the call that it is, in words that follow its kind."""
    if entry["kind"] == "request":
        return f" {entry.get('method')} {entry.get('path')}"
    events = [entry, entry.get("event"), *(entry.get("events") or ())]
    phones = (event.get("phone") or event.get("from") for event in events if isinstance(event, dict))
    phone = next(filter(None, phones), None)
    return "" if phone is None else f" of {phone}"


def _line(entry: Entry) -> str:
    """An entry on one line."""
    hidden = ("n", "at", "kind", "message")
    fields = [f"{key} {_value(value)}" for key, value in entry.items() if key not in hidden and value not in (None, "")]
    line = f"{entry.get('kind')}: {', '.join(fields)}"
    return line if len(line) <= 2 * SHOWN else f"{line[: 2 * SHOWN - 1]}…"


def _value(value: object) -> str:
    text = value if value == NOTHING else orjson.dumps(value).decode()
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
